"""Laws of translation models: padding and batch size change nothing, masks are causal, gates and search are right."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.lab.nmt.layers import (
    GATE,
    SELF,
    Add,
    DropNet,
    Gate,
    GatedResidual,
    Hierarchy,
    Layer,
    Memory,
    Past,
    Reading,
    Recurrent,
    Sizes,
)
from pronmetric.lab.nmt.network import CONTEXT, SOURCE, Memories, Network
from pronmetric.lab.nmt.pieces import BEGIN, END, SEPARATOR, Pieces
from pronmetric.lab.nmt.search import search
from pronmetric.lab.nmt.settings import Shape
from pronmetric.lab.nmt.training import _rows
from pronmetric.lab.nmt.translator import Translator
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder

SIZES = Sizes(width=8, heads=2, feedforward=16, dropout=0.0, cell="attention")
SWITCHES: dict[str, dict[str, Any]] = {
    "none": {},
    "gru": {"cell": "gru"},
    "concat21": {"context": "concat21"},
    "concat22": {"context": "concat22"},
    "concatN": {"context": "concatN"},
    "shared_gate": {"context_encoder": "shared_gate"},
    "thumt": {"context_encoder": "thumt"},
    "s-hier": {"context_encoder": "s-hier", "tied": False},
    "s-t-hier": {"context_encoder": "s-t-hier", "cell": "gru", "tied": False},
    "s-hier-to-2": {"context_encoder": "s-hier-to-2"},
    "cadec": {"cadec": True},
}
TEXT = ["the lamp is old", "die Lampe ist alt", "it shines", "sie leuchtet"]
PAIRS = [
    ("the lamp is old\nit shines", "die Lampe ist alt\nsie leuchtet"),
    ("it shines", "sie leuchtet"),
    ("the lamp\nis old\nthe lamp shines and shines", "die Lampe\nist alt\ndie Lampe leuchtet"),
]


def make_shape(**switches: Any) -> Shape:
    sizes = {"vocabulary": 300, "width": 8, "heads": 2, "layers": 2, "feedforward": 16, "dropout": 0.1, "size": 2}
    off = {"context": "none", "context_encoder": "none", "cadec": False, "bert_fused": None}
    return Shape(**{**off, **sizes, "cell": "attention", "tied": True, **switches})


def make(**switches: Any) -> Translator:
    torch.manual_seed(1)
    return Translator.make(make_shape(**switches), Pieces.train(TEXT, size=300)).to("cpu")


@pytest.mark.parametrize("name", SWITCHES)
def test_neither_padding_nor_the_size_of_a_batch_changes_anything(name: str) -> None:
    model = make(**SWITCHES[name])
    whole, alone = model.read(PAIRS, batch_size=3), model.read(PAIRS, batch_size=1)
    assert [one.total for one in whole] == pytest.approx([one.total for one in alone], abs=1e-4)
    assert [one.pieces for one in whole] == [one.pieces for one in alone]
    documents = [["the lamp is old", "", "it shines"], ["it shines and shines"], ["old"]]
    made = [model.translate(documents, beam=2, penalty=1.0, batch_size=size) for size in (3, 1)]
    assert made[0] == made[1]
    assert [len(one) for one in made[0]] == [3, 1, 1] and made[0][0][1] == ""


@pytest.mark.parametrize("name", [*SWITCHES, "bert_fused"])
def test_a_search_that_keeps_states_finds_what_one_that_computes_them_anew_finds(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = make_fused(tmp_path) if name == "bert_fused" else make(**SWITCHES[name])
    model.network.double()
    for parameter in model.network.parameters():
        parameter.data *= 2.0  # translations that differ from sentence to sentence
    documents = [["the lamp is old", "", "it shines"], ["it shines and shines", "old"], ["old"]]

    def found() -> list[Any]:
        made: list[Any] = [model.translate(documents, beam=3, penalty=1.0, batch_size=2)]
        if name in ("none", "cadec"):
            noise = torch.Generator().manual_seed(1)
            made.append(model.draft_pieces(model.reader.pieces.encode(TEXT), batch_size=2, noise=noise))
        return made

    steps: list[int] = []
    states = Network.states

    def anew(network: Network, ids: Tensor, memories: Memories, *, base: bool = False, past: Any = None) -> Tensor:
        steps.append(past is not None)
        return states(network, ids, memories, base=base)

    kept = found()
    with monkeypatch.context() as patch:
        patch.setattr(Network, "states", anew)
        model._drafts.clear()
        assert found() == kept
    assert sum(steps) > 20 and len({text for texts in kept[0] for text in texts}) > 3


def make_fused(folder: Path) -> Translator:
    """bert_fused with an encoder of random weights."""
    from transformers import AutoModel, AutoTokenizer

    from tests.tools.word_encoder import write_encoder

    write_encoder(folder, sorted({word for text in TEXT for word in text.split()}))
    bert = HuggingFaceEncoder(AutoModel.from_pretrained(folder)), Subwords(AutoTokenizer.from_pretrained(folder))
    torch.manual_seed(1)
    return Translator.make(make_shape(bert_fused="x"), Pieces.train(TEXT, size=300), bert=bert).to("cpu")


@pytest.mark.parametrize("name", SWITCHES)
def test_a_later_piece_of_the_target_changes_no_earlier_one(name: str) -> None:
    model = make(**SWITCHES[name])
    rows = model.reader.rows([model_passage(pair) for pair in PAIRS[:1]], [[7, 8]] if name == "cadec" else None)
    batch = model.reader.pad(rows)
    memories = model.network.encode(batch)
    changed = batch.target.clone()
    changed[:, -2] = 9
    before, after = (model.network.states(ids, memories) for ids in (batch.target, changed))
    assert torch.allclose(before[:, :-2], after[:, :-2], atol=1e-6)
    assert not torch.allclose(before[:, -2:], after[:, -2:], atol=1e-6)


def model_passage(pair: tuple[str, str]) -> Any:
    from pronmetric.lab.nmt.data import Passage

    return Passage.of(pair)


@pytest.mark.parametrize("name", [name for name in SWITCHES if name not in ("none", "gru")])
def test_the_context_is_read_and_without_one_a_score_is_finite(name: str) -> None:
    model = make(**SWITCHES[name])
    source, target = "it shines", "sie leuchtet"
    contexts = ("the lamp is old", "old old old")
    texts = [(f"{context}\n{source}", f"ist alt\n{target}") for context in contexts]
    first, second = model.score(texts)
    assert first != pytest.approx(second, abs=1e-6)
    assert torch.tensor(model.score([(source, target)])).isfinite().all()


@pytest.mark.parametrize("encoder", ["shared_gate", "thumt"])
def test_an_open_gate_gives_the_base_model(encoder: str) -> None:
    """The gate of shared_gate at the source, and that of thumt at what was before: nothing of the context is left."""
    base, model = make(), make(context_encoder=encoder)
    model.network.load_state_dict(base.network.state_dict(), strict=False)
    for name, parameter in model.network.named_parameters():
        if "gate" in name:
            nn.init.constant_(parameter, 100.0 if name.endswith("bias") else 0.0)
    assert model.score(PAIRS) == pytest.approx(base.score([(s.split("\n")[-1], t.split("\n")[-1]) for s, t in PAIRS]))


@pytest.mark.parametrize("encoder", ["s-hier", "s-t-hier", "s-hier-to-2"])
def test_tied_embeddings_are_the_same_network_with_one_table(encoder: str) -> None:
    """Müller et al. 2018, section 4.1: tying shares the matrices of source, context and target, and nothing else."""
    tied, free = (make(context_encoder=encoder, tied=tied) for tied in (True, False))
    shared = tied.network.embeddings["all"].weight
    state = {name: value for name, value in tied.network.state_dict().items() if not name.startswith("embeddings.")}
    state |= {f"embeddings.{name}.weight": shared for name in free.network.embeddings}
    free.network.load_state_dict(state)
    assert [one.total for one in free.read(PAIRS, batch_size=3)] == pytest.approx(
        [one.total for one in tied.read(PAIRS, batch_size=3)], abs=1e-5
    )


def test_the_combinations_are_those_of_the_papers() -> None:
    x, first, second = torch.randn(3, 1, 2, 8, generator=torch.Generator().manual_seed(1))
    assert torch.equal(Add(SIZES, 1)(x, [first]), x + first)
    gate = Gate(SIZES, 2)
    share = torch.sigmoid(torch.cat([first, second], -1) @ gate.gate.weight.T + gate.gate.bias)
    assert torch.allclose(gate(x, [first, second]), x + share * first + (1 - share) * second, atol=1e-6)
    residual = GatedResidual(SIZES, 1)
    share = torch.sigmoid(torch.cat([x, first], -1) @ residual.gate.weight.T + residual.gate.bias)
    assert torch.allclose(residual(x, [first]), share * x + (1 - share) * first, atol=1e-6)
    both = Hierarchy(SIZES, 2)
    energies = [both.energy(torch.tanh(both.state(x) + both.texts[k](read))) for k, read in enumerate((first, second))]
    share = torch.sigmoid(energies[0] - energies[1])  # of two, the softmax
    mixed = share * both.values[0](first) + (1 - share) * both.values[1](second)
    assert torch.allclose(both(x, [first, second]), x + mixed, atol=1e-5)
    dropped = DropNet(SIZES, 2)
    assert torch.allclose(dropped.eval()(x, [first, second]), x + (first + second) / 2, atol=1e-6)
    dropped.train()
    torch.manual_seed(1)
    shares = {
        round(float(((dropped(x, [first, second]) - x - second) / (first - second)).mean()), 3) for _ in range(40)
    }
    assert shares == {0.0, 1.0}


def test_a_gru_reads_a_padded_text_like_a_short_one() -> None:
    torch.manual_seed(1)
    text = torch.randn(1, 3, 8)
    padded = torch.cat([text, torch.randn(1, 2, 8)], dim=1)
    for causal in (True, False):
        cell = Recurrent(8, causal=causal)
        short = cell(text, Memory(text, torch.ones(1, 3, dtype=torch.bool)))
        long = cell(padded, Memory(padded, torch.tensor([[True] * 3 + [False] * 2])))
        assert torch.allclose(short, long[:, :3], atol=1e-6) and not long[:, 3:].any()


def test_a_layer_names_its_sublayers_by_what_they_read_first() -> None:
    """So that the weights of a model without context fit one with a context."""
    layer = Layer([Reading((SELF, CONTEXT), GATE), Reading((SOURCE,))], SIZES)
    assert list(layer.sublayers) == [SELF, SOURCE]


def table(*rows: list[float]) -> Any:
    """A model of the next piece by the number of pieces so far, with seven pieces: 5 and 6 are words."""

    def step(ids: Tensor, memories: Memories, past: Past) -> Tensor:
        return torch.tensor(rows[min(ids.shape[1], len(rows)) - 1]).repeat(len(ids), 1)

    return step


MEMORY = {SOURCE: Memory(torch.zeros(1, 1, 8), torch.ones(1, 1, dtype=torch.bool))}


def test_the_search_finds_the_best_of_all_texts() -> None:
    """Against all texts of up to three words, with a step that depends on the last piece."""
    torch.manual_seed(3)
    weights = torch.randn(7, 7)

    def step(ids: Tensor, memories: Memories, past: Past) -> Tensor:
        return weights[ids[:, -1]]

    allowed = weights.clone()
    allowed[:, [0, 1, 3, 4]] = -torch.inf
    costs = allowed.log_softmax(-1)

    def score(text: tuple[int, ...]) -> float:
        whole = [BEGIN, *text, END]
        return sum(float(costs[a, b]) for a, b in itertools.pairwise(whole)) / (len(text) + 1)

    best = max((t for n in range(4) for t in itertools.product((5, 6), repeat=n)), key=score)
    assert search(step, MEMORY, [[BEGIN]], most=[4], beam=30) == [list(best)]


def test_a_prefix_is_forced_and_costs_nothing() -> None:
    step = table([0, 0, 0, 0, 0, 5.0, 0], [0, 0, 0, 0, 0, 5.0, 0], [0, 0, 0, 0, 0, 0, 5.0], [0, 0, 9.0, 0, 0, 0, 0])
    assert search(step, MEMORY, [[BEGIN, 6, SEPARATOR]], most=[5], beam=3) == [[6]]
    assert search(step, MEMORY, [[BEGIN]], most=[2], beam=1) == [[5, 5]]  # cut


def test_samples_have_the_frequencies_of_the_model() -> None:
    memories = {SOURCE: Memory(torch.zeros(2000, 1, 8), torch.ones(2000, 1, dtype=torch.bool))}
    step = table([0, 0, -50.0, 0, 0, 1.0986123, 0])  # 3 to 1
    noise = torch.Generator().manual_seed(1)
    made = search(step, memories, [[BEGIN]] * 2000, most=[1] * 2000, beam=1, noise=noise)
    assert sum(one == [5] for one in made) / 2000 == pytest.approx(0.75, abs=0.04)


def test_the_drafts_of_cadec_are_those_of_its_base_and_do_not_depend_on_the_candidate() -> None:
    base, model = make(), make(cadec=True)
    model.network.load_state_dict(base.network.state_dict(), strict=False)
    sentences = ["the lamp is old", "it shines", "the lamp is old"]
    drafts = model.draft(sentences, batch_size=2)
    texts = base.translate([[one] for one in sentences], beam=4, penalty=1.0)
    assert [model.reader.pieces.decode(draft) for draft in drafts] == [text for (text,) in texts]
    assert len(model._drafts) == 2


def test_the_base_of_cadec_has_no_dropout_in_training() -> None:
    """Neither its layers nor the embeddings that it reads: it gives the same states as in the search for a draft."""
    model = make(cadec=True, dropout=0.5)
    batch = model.reader.pad(model.reader.rows([model_passage(PAIRS[0])], [[7, 8]]))
    expected = model.network.encode(batch)
    model.network.train()
    assert all(
        torch.equal(expected[name].states, memory.states) for name, memory in model.network.encode(batch).items()
    )
    first, second = (model.network(batch) for _ in range(2))
    assert not torch.equal(first, second)  # the second decoder has


def test_a_sentence_that_is_too_long_for_the_frozen_encoder_is_refused_or_left_out(tmp_path: Path) -> None:
    model = make_fused(tmp_path)
    long = model_passage((f"the lamp\n{'old ' * 600}", "die Lampe\nalt"))
    short = model_passage((f"{'old ' * 600}\nthe lamp", "alt\ndie Lampe"))  # its context is left out
    counts: Counter[str] = Counter()
    (kept,) = _rows(model, [long, short], most=2000, counts=counts)
    assert kept.bert == model.reader.rows([model_passage(("the lamp", "die Lampe"))])[0].bert
    assert counts == {"longer than the frozen encoder reads": 1, "longer than data.max_pieces": 0}
    with pytest.raises(InputError, match=r"'old old .* pieces, more than the 512 of the frozen encoder"):
        model.score([("old " * 600, "alt")])


def test_a_model_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    for name in ("s-t-hier", "cadec"):
        model = make(**SWITCHES[name])
        model.save(tmp_path / name, about={"seed": 1})
        again = Translator.load(tmp_path / name)
        assert again.score(PAIRS) == pytest.approx(model.score(PAIRS), rel=1e-6)
        assert Translator.load(tmp_path / name, per_piece=True).score(PAIRS)[0] == pytest.approx(
            model.read(PAIRS)[0].per_piece
        )
    (tmp_path / "cadec" / "nmt.yaml").write_text("nmt: {width: x}\n")
    with pytest.raises(InputError, match="broken translation model"):
        Translator.load(tmp_path / "cadec")
    (tmp_path / "s-t-hier" / "tokenizer.json").unlink()
    with pytest.raises(InputError, match="no pieces of a translation model"):
        Translator.load(tmp_path / "s-t-hier")
    with pytest.raises(InputError, match=r"expected nmt\.yaml and model\.safetensors"):
        Translator.load(tmp_path)
