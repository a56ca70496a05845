"""Sentence log-probabilities of tiny models with random weights, against one piece at a time."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import shutil
import string
from collections.abc import Callable
from operator import gt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pronmetric.cli.main import main
from pronmetric.errors import InputError, MissingExtra, PronmetricError
from pronmetric.lab.seq2seq import forms
from pronmetric.lab.seq2seq.model import LanguageModel, ModelSettings, TranslationModel
from pronmetric.lab.seq2seq.resumable import folder_digest
from pronmetric.lab.suites.contrastive import Candidate
from pronmetric.lab.suites.export import Concatenation
from pronmetric.text.context import Text

KINDS = ("marian", "m2m100", "mbart", "t5", "gpt2")
PAIRS = [
    ("the boat is old", "das Boot ist alt"),
    ("it sank", "es sank"),
    ("the boat is old and it sank", "er sank , und es ist alt"),
    ("it", "das Boot sank und das Boot ist alt"),
    ("old", "es"),
]
WORDS = sorted({word for pair in PAIRS for text in pair for word in text.split()})
PAD, UNKNOWN, END, START = range(4)
SPECIAL = ["<pad>", "<unk>", "</s>", "<s>"]


def save_tokenizer(folder: Path, *, end: bool) -> None:
    """A tokenizer of words; `end`: with the end of sentence after each text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({w: k for k, w in enumerate([*SPECIAL, *WORDS])}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if end:
        tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", END)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", eos_token="</s>", bos_token="<s>"
    ).save_pretrained(folder)


def make_model(kind: str) -> Any:
    import transformers as t

    size = len(SPECIAL) + len(WORDS)
    tokens = {"pad_token_id": PAD, "eos_token_id": END, "bos_token_id": START}
    layers = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    wide = {"d_model": 16, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 24, **layers}
    configs: dict[str, Callable[[], Any]] = {
        "marian": lambda: t.MarianMTModel(
            t.MarianConfig(vocab_size=size, decoder_start_token_id=PAD, forced_eos_token_id=None, **wide, **tokens)
        ),
        "m2m100": lambda: t.M2M100ForConditionalGeneration(
            t.M2M100Config(vocab_size=size, decoder_start_token_id=END, **wide, **tokens)
        ),
        "mbart": lambda: t.MBartForConditionalGeneration(t.MBartConfig(vocab_size=size, **wide, **tokens)),
        "t5": lambda: t.T5ForConditionalGeneration(
            t.T5Config(
                vocab_size=size, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=PAD
            )
        ),
        "gpt2": lambda: t.GPT2LMHeadModel(
            t.GPT2Config(vocab_size=size, n_positions=24, n_embd=16, n_layer=1, n_head=2, **tokens)
        ),
    }
    with torch.random.fork_rng():
        torch.manual_seed(4)
        model = configs[kind]().eval()
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.data.normal_(std=0.5)  # far from uniform, so that a wrong position shows
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model of a kind, made once."""
    made: dict[str, Path] = {}

    def get(kind: str) -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind)
            make_model(kind).save_pretrained(made[kind])
            save_tokenizer(made[kind], end=kind != "gpt2")
        return made[kind]

    return get


def load(path: Path, **settings: Any) -> TranslationModel:
    return TranslationModel(path, ModelSettings(gpus=0, **settings))


def ids(text: str) -> list[int]:
    return [len(SPECIAL) + WORDS.index(word) if word in WORDS else UNKNOWN for word in text.split()]


@torch.no_grad()
def one_piece_at_a_time(kind: str, model: Any, source: str, target: str) -> float:
    """The sum of the log-probabilities, each from a forward pass of its own over what stands before."""
    pieces = [*ids(target), END]
    total = 0.0
    if kind == "gpt2":
        before = [START, *ids(source)]
    else:
        first = {"marian": PAD, "m2m100": END, "mbart": END, "t5": PAD}[kind]
        before = [first]
    for piece in pieces:
        given = torch.tensor([before])
        if kind == "gpt2":
            logits = model(input_ids=given).logits
        else:
            logits = model(input_ids=torch.tensor([[*ids(source), END]]), decoder_input_ids=given).logits
        total += float(logits[0, -1].double().log_softmax(-1)[piece])
        before = [*before, piece]
    return total


@pytest.mark.parametrize("kind", KINDS)
def test_log_probabilities_are_those_of_one_piece_at_a_time(kind: str, folder: Callable[[str], Path]) -> None:
    model = load(folder(kind))
    expected = [one_piece_at_a_time(kind, model.model, *pair) for pair in PAIRS]
    assert max(expected) - min(expected) > 5
    assert model.score(PAIRS, batch_size=2) == pytest.approx(expected, abs=1e-3)
    assert model.score(PAIRS, batch_size=1) == pytest.approx(expected, abs=1e-3)
    assert model.score(PAIRS, batch_size=9) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("kind", ["marian", "gpt2"])
def test_per_piece_divides_by_the_pieces_of_the_target(kind: str, folder: Callable[[str], Path]) -> None:
    whole = load(folder(kind)).score(PAIRS)
    pieces = [len(target.split()) + 1 for _, target in PAIRS]
    expected = [total / number for total, number in zip(whole, pieces, strict=True)]
    assert load(folder(kind), per_piece=True).score(PAIRS) == pytest.approx(expected, abs=1e-5)


def test_bfloat16_is_near(folder: Callable[[str], Path]) -> None:
    exact = load(folder("marian")).score(PAIRS)
    assert load(folder("marian"), precision="bf16").score(PAIRS) == pytest.approx(exact, rel=0.1)


def test_a_prompt_stands_before_the_target_or_is_read_by_the_encoder(folder: Callable[[str], Path]) -> None:
    for kind in ("gpt2", "marian"):
        given = load(folder(kind), prompt="old {source} alt").score(PAIRS)
        assert given == pytest.approx(load(folder(kind)).score([(f"old {s} alt", t) for s, t in PAIRS]), abs=1e-4)


def test_an_empty_prompt_gives_the_probability_of_the_target_alone(folder: Callable[[str], Path]) -> None:
    model = load(folder("gpt2"), prompt="")
    expected = [one_piece_at_a_time("gpt2", model.model, "", target) for _, target in PAIRS]
    assert model.score(PAIRS) == pytest.approx(expected, abs=1e-3)


def test_the_progress_adds_up(folder: Callable[[str], Path]) -> None:
    told: list[int] = []
    load(folder("t5")).score(PAIRS, batch_size=2, advance=told.append)
    assert told == [2, 2, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_longer_than_the_positions_is_refused(kind: str, folder: Callable[[str], Path]) -> None:
    long = [*PAIRS, ("old " * 30, "es sank")]
    scorer = load(folder(kind))
    scorer.check(PAIRS, file="set.json")
    if kind == "t5":  # relative positions
        scorer.check(long, file="set.json")
        assert scorer.score(long)[5] < 0
        return
    told = r"set.json: line 6 of `suite export` \('es sank'\) has 3\d pieces .* the model's 24 positions: give less"
    with pytest.raises(InputError, match=told):
        scorer.check(long, file="set.json")


def test_what_is_no_model_is_refused(tmp_path: Path, folder: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match="expected the folder of a Hugging Face model"):
        load(tmp_path)
    for file in folder("t5").iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"a pickle")
    with pytest.raises(InputError, match="cannot be loaded"):
        load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe \xc3\x28\n"], ids=["empty", "not UTF-8"])
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_broken_file_of_a_model_is_refused(
    name: str, content: bytes, tmp_path: Path, folder: Callable[[str], Path]
) -> None:
    broken = shutil.copytree(folder("gpt2"), tmp_path / "broken")
    (broken / name).write_bytes(content)
    with pytest.raises(InputError, match=r"broken: cannot be loaded"):
        load(broken)


def test_languages_and_gpus_that_are_not_there(folder: Callable[[str], Path]) -> None:
    with pytest.raises(PronmetricError, match="`source_language=`: the model's tokenizer has no languages"):
        load(folder("marian"), source_language="en")
    with pytest.raises(PronmetricError, match="`seq2seq=` runs on one GPU"):
        TranslationModel(folder("marian"), ModelSettings(gpus=2))


def test_a_tokenizer_with_languages_needs_them(folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import PreTrainedTokenizerFast

    monkeypatch.setattr(PreTrainedTokenizerFast, "src_lang", None, raising=False)
    monkeypatch.setattr(PreTrainedTokenizerFast, "tgt_lang", None, raising=False)
    with pytest.raises(PronmetricError, match="needs a language code: give `source_language=`"):
        load(folder("m2m100"))
    model = load(folder("m2m100"), source_language="en", target_language="de")
    assert (model.tokenizer.src_lang, model.tokenizer.tgt_lang) == ("en", "de")


CANDIDATE = Candidate("s3", "t3", ("s1", "s2"), ("t1", "t2"))


@pytest.mark.parametrize(
    ("mode", "size", "expected"),
    [
        ("none", 0, ("s3", "t3")),
        ("concat21", 0, ("s2 <b> s3", "t3")),
        ("concat22", 0, ("s2 <b> s3", "t2 <b> t3")),
        ("concatN", 2, ("s1 <b> s2 <b> s3", "t1 <b> t2 <b> t3")),
        ("concatN", 9, ("s1 <b> s2 <b> s3", "t1 <b> t2 <b> t3")),
    ],
)
def test_sentences_are_joined(mode: str, size: int, expected: tuple[str, str]) -> None:
    assert Concatenation.of(mode, size=size, separator="<b>").texts(CANDIDATE) == expected


def test_sentences_that_are_not_there_are_left_out() -> None:
    made = Concatenation.of("concatN", size=2, separator="")
    assert made.texts(Candidate("s", "t", ("", "s2"), ())) == ("s2 s", "t")


# A causal model as a baseline


TEXTS = [Text("the boat", "it sank"), Text("", "it sank"), Text("the boat", "es sank"), Text("the boat", "it sank")]


def test_a_language_model_reads_a_text_after_its_context(folder: Callable[[str], Path]) -> None:
    """As one run of text, equal ones once; its numbers are those of one piece at a time."""
    scorer, advanced = LanguageModel(folder("gpt2"), gpus=0), list[int]()
    found = scorer.read(TEXTS, advance=advanced.append)
    model = scorer.model.model
    expected = [one_piece_at_a_time("gpt2", model, text.context, text.text) for text in TEXTS]
    assert [each.total for each in found] == pytest.approx(expected, abs=1e-3)
    assert [each.pieces for each in found] == [3, 3, 3, 3] and sum(advanced) == 4
    assert found[0].per_piece == pytest.approx(found[0].total / 3) and found[0] == found[3] != found[1]


def test_a_blank_stands_between_context_and_text(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, str]] = []
    scorer = LanguageModel(folder("gpt2"), gpus=0)
    real = scorer.model.read
    monkeypatch.setattr(scorer.model, "read", lambda pairs, **how: given.extend(pairs) or real(pairs, **how))
    scorer.read(TEXTS)
    assert given == [("the boat", " it sank"), ("", "it sank"), ("the boat", " es sank")]


def test_a_form_is_doubted_against_the_most_probable_one(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the sum over its pieces; places of one text share a pass, and a long text loses its beginning."""
    scorer, advanced = LanguageModel(folder("gpt2"), gpus=0), list[int]()
    choices = (" it", " es", " er", " das Boot", " old boat is")
    texts = ["the boat", "the boat is old and", "", "old " * 40]
    places = [(text, (choices[k % 5], *choices)) for k, text in enumerate(texts * 5)]
    passes = list[int]()
    real = scorer.model.model.forward
    monkeypatch.setattr(scorer.model.model, "forward", lambda **given: passes.append(1) or real(**given))
    found = forms.doubts(scorer, places, advance=advanced.append)
    assert sum(advanced) == len(places)

    def log_probability(text: str, form: str) -> float:
        before, end = scorer.model.before(text), scorer.model.pieces(form)
        before = before[-22:]  # and a form of at most three pieces: the last one is not read
        logs = real(input_ids=torch.tensor([before + end[:-1]])).logits[0].log_softmax(dim=-1)
        return sum(float(logs[len(before) - 1 + n, piece]) for n, piece in enumerate(end))

    for (text, given), doubt in zip(places, found, strict=True):
        every = [log_probability(text, form) for form in given]
        assert doubt == pytest.approx(max(every) - every[0], abs=1e-4) and doubt >= 0
    for (text, given), missing in zip(places, forms.insertions(scorer, places), strict=True):
        every = [log_probability(text, form) for form in given]
        assert missing == pytest.approx(max(every[1:]) - every[0], abs=1e-4)
    passes.clear()
    forms.doubts(scorer, [("the", (" it", " es")), ("the boat", (" it", " es")), ("the boat is", (" it", " es"))])
    assert passes == [1]


def test_no_language_model_and_a_long_text_are_refused(folder: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match="expected a causal language model, got an encoder-decoder"):
        LanguageModel(folder("t5"), gpus=0)
    with pytest.raises(InputError, match=r"'it sank' has 3\d pieces .* the model's 24 positions: give `context=none`"):
        LanguageModel(folder("gpt2"), gpus=0).read([Text("old " * 30, "it sank")])


def test_evaluate_has_it_as_a_baseline(
    folder: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the scores of another metric, summed and by piece, in the context that is asked for."""
    contexts = ("the boat is old", "it", "das Boot sank")
    pairs = [(f"{n}", context, "it sank", "es sank und es ist alt") for n, context in enumerate(contexts)]
    keys = ("id", "context", "text_a", "text_b", "better")
    lines = [dict(zip(keys, (identity, [context], *texts, "A"), strict=True)) for identity, context, *texts in pairs]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    scores = [{"id": identity, "score_a": 1.0, "score_b": 0.0} for identity, *_ in pairs]
    (tmp_path / "scores.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in scores))
    out = tmp_path / "out.json"
    argv = ["evaluate", "pairs.jsonl", "--scores", "scores.jsonl", "--language-model", str(folder("gpt2"))]
    with contextlib.chdir(tmp_path):
        assert main([*argv, "--gpus", "0", "--to-json", str(out), "--quiet"]) == 0
    told, written = capsys.readouterr().out, json.loads(out.read_text(encoding="utf-8"))
    texts = [Text(context, text) for _, context, *both in pairs for text in both]
    read = LanguageModel(folder("gpt2"), gpus=0).read(texts)
    assert (
        "language models, zero-shot: the log-probability of the text after its context, or the answer when asked\n"
        in told
    )
    for name, values in {"sum": [r.total for r in read], "per piece": [r.per_piece for r in read]}.items():
        found = written["language_model"]["pairs"][name]
        assert found["second"]["accuracy"] == pytest.approx(sum(map(gt, values[::2], values[1::2])) / 3)
        assert found["first"]["accuracy"] == 1.0 and f"\n{name} " in told
        given = [value for pair in written["pairs"] for value in pair["language_model"][name]]
        assert given == pytest.approx(values, abs=1e-4)
    with contextlib.chdir(tmp_path):
        assert main([*argv, "--context", "none", "--to-json", str(out), "--quiet"]) == 0
    capsys.readouterr()
    alone = LanguageModel(folder("gpt2"), gpus=0).read([text._replace(context="") for text in texts])
    given = [value for pair in json.loads(out.read_text())["pairs"] for value in pair["language_model"]["sum"]]
    assert given == pytest.approx([each.total for each in alone], abs=1e-4)


def test_evaluate_has_it_as_a_baseline_of_what_people_mark(
    folder: Callable[[str], Path], with_gaps: Path, tmp_path: Path
) -> None:
    """In the tables of pronouns, of mended pairs and of missing pronouns."""
    (tmp_path / "edits" / "et-en").mkdir(parents=True)
    lines = {
        "src": ("Ta tuli .", "Ta l\u00e4ks ."),
        "mt": ("He came {} .", "Then left {} ."),
        "pe": ("She came {} .", "Then she left {} ."),
    }
    for suffix, both in lines.items():
        text = "".join(f"{line.format(number)}\n" for number in range(4) for line in both)
        (tmp_path / "edits" / "et-en" / f"test.{suffix}").write_text(text, encoding="utf-8")
    with contextlib.chdir(tmp_path):
        assert main(["prepare", "data.wmt=[]", "data.people=edits", "fidelity.passages=0", "out=data"]) == 0
        argv = [
            "evaluate",
            "data",
            "--split",
            "people_test",
            "--model",
            str(with_gaps),
            "--to-json",
            "out.json",
        ]
        assert main([*argv, "--language-model", str(folder("gpt2")), "--gpus", "0"]) == 0
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert written["pronouns"]["language model"]["marked"] == 4
    assert "frequency of the form's marks in other documents" in written["pronouns"]  # nothing is for training
    assert list(written["pairs"]["accuracy"])[-2:] == ["language model, sum", "language model, per piece"]
    found = written["missing"]["language model"]
    assert (found["insertions"], found["lacking"], found["texts"]) == (4, 4, 8) and found["likeliest"] is None
    assert found["area"] not in (None, written["missing"]["every gap alike: the longer text"]["area"])


# GGUF


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one GGUF file: a Qwen2 of one layer with random weights, and a tokenizer of bytes and one merge."""
    gguf = pytest.importorskip("gguf")
    pytest.importorskip("accelerate")
    folder = tmp_path_factory.mktemp("gguf")
    width, inner, heads = 16, 32, 2
    letters = [*string.ascii_lowercase, "\u0120", "."]  # with a blank as byte-level BPE has it
    tokens = ["<start>", "<end>", *letters, "it"]
    writer = gguf.GGUFWriter(folder / "tiny.gguf", "qwen2")
    writer.add_context_length(64)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, *[1] * (len(tokens) - 2)])
    writer.add_token_merges(["i t"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    rng = np.random.default_rng(7)
    shapes = {
        "token_embd.weight": (len(tokens), width),
        "output.weight": (len(tokens), width),
        "output_norm.weight": (width,),
        "blk.0.attn_norm.weight": (width,),
        "blk.0.ffn_norm.weight": (width,),
        **{f"blk.0.attn_{name}.weight": (width, width) for name in ("q", "k", "v", "output")},
        **{f"blk.0.attn_{name}.bias": (width,) for name in "qkv"},
        **{f"blk.0.ffn_{name}.weight": (inner, width) for name in ("gate", "up")},
        "blk.0.ffn_down.weight": (width, inner),
    }
    for name, shape in shapes.items():
        writer.add_tensor(name, rng.normal(0, 0.5, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return folder


def test_a_gguf_file_gives_what_its_copy_in_safetensors_gives(
    packed: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = [Text("it sank.", "it is a boat."), Text("", "a boat.")]
    scorer = LanguageModel(packed, gpus=0)
    assert capfd.readouterr().err == ""  # no progress of transformers
    found = scorer.read(texts)
    scorer.model.model.save_pretrained(tmp_path)
    scorer.model.tokenizer.save_pretrained(tmp_path)
    again = LanguageModel(tmp_path, gpus=0).read(texts)
    assert [each.pieces for each in found] == [each.pieces for each in again] == [len(" it is a boat."), 8]
    assert [each.total for each in found] == pytest.approx([each.total for each in again], rel=1e-4)
    assert found[0].total < -10 and len(folder_digest(packed)) == 32


def test_a_gguf_file_needs_its_packages_and_is_the_only_one(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"tiny.gguf: a GGUF file needs gguf, .*: pip install .*\[lm\]"):
        LanguageModel(packed)
    (packed / "other.gguf").touch()
    with pytest.raises(InputError, match=r"with config\.json, or of one GGUF file, got 2 of them"):
        LanguageModel(packed)
    (packed / "other.gguf").unlink()
