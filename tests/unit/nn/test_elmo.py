"""ELMo against a computation in plain loops, written from the paper's formulas and the names of the file's arrays."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from torch import Tensor, nn, tensor

from pronmetric.checkpoint import elmo as elmo_files
from pronmetric.data import characters
from pronmetric.errors import InputError
from pronmetric.nn.encoders.elmo import encoder as module
from pronmetric.nn.encoders.elmo.encoder import Elmo, ProjectedLSTM, ScalarMix, Shape, State, reading

Files = tuple[dict[str, Any], dict[str, np.ndarray]]
Vector = list[float]

SENTENCES = [
    "It was hers .".split(),
    [],
    ["Ärzte", "x" * 60, "x" * 47 + "yyy", "<S>", "日本語", "n't", "a", "b", "a"],
    ["she"],
]


# The loops. -----------------------------------------------------------------------------------------------------------


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def times(x: Vector, columns: np.ndarray, bias: np.ndarray | None = None) -> Vector:
    """X W + b, where W is (inputs, outputs)."""
    out = []
    for j in range(columns.shape[1]):
        total = float(bias[j]) if bias is not None else 0.0
        for i in range(columns.shape[0]):
            total += x[i] * float(columns[i, j])
        out.append(total)
    return out


def clip(x: Vector, bound: float | None) -> Vector:
    return x if bound is None else [max(-bound, min(bound, value)) for value in x]


def numbers(token: str) -> list[int]:
    """The rows of `char_embed`: 0 to 255 bytes, then the markers of sentences and words, and padding."""
    if token in ("<S>", "</S>"):
        inside = [256 if token == "<S>" else 257]
    else:
        inside = list(token.encode())[:48]
    row = [258, *inside, 259]
    return row + [260] * (50 - len(row))


def by_characters(token: str, options: dict[str, Any], arrays: dict[str, np.ndarray]) -> Vector:
    cnn = options["char_cnn"]
    letters = [arrays["char_embed"][number] for number in numbers(token)]
    x = []
    for f, (span, channels) in enumerate(cnn["filters"]):
        weight, bias = arrays[f"CNN/W_cnn_{f}"][0], arrays[f"CNN/b_cnn_{f}"]
        for channel in range(channels):
            found = []
            for start in range(50 - span + 1):
                total = float(bias[channel])
                for k in range(span):
                    for d in range(cnn["embedding"]["dim"]):
                        total += float(letters[start + k][d]) * float(weight[k, d, channel])
                found.append(max(0.0, total) if cnn["activation"] == "relu" else math.tanh(total))
            x.append(max(found))
    for layer in range(cnn["n_highway"]):
        name = f"CNN_high_{layer}"
        share = [sigmoid(value) for value in times(x, arrays[f"{name}/W_carry"], arrays[f"{name}/b_carry"])]
        new = [max(0.0, v) for v in times(x, arrays[f"{name}/W_transform"], arrays[f"{name}/b_transform"])]
        x = [s * n + (1 - s) * old for s, n, old in zip(share, new, x, strict=True)]
    return times(x, arrays["CNN_proj/W_proj"], arrays["CNN_proj/b_proj"])


def lstm(
    inputs: list[Vector], state: tuple[Vector, Vector], place: str, options: dict[str, Any], arrays: dict[str, Any]
) -> tuple[list[Vector], tuple[Vector, Vector]]:
    cell, lengths = options["lstm"]["dim"], options["lstm"]
    (hidden, memory), outputs = state, []
    for x in inputs:
        gates = times([*x, *hidden], arrays[f"{place}/W_0"], arrays[f"{place}/B"])
        for n in range(cell):  # TensorFlow's order: input, candidate, forget, output; 1 is added to forget
            let_in, candidate = sigmoid(gates[n]), math.tanh(gates[cell + n])
            keep = sigmoid(gates[2 * cell + n] + 1.0)
            memory = [*memory[:n], keep * memory[n] + let_in * candidate, *memory[n + 1 :]]
        memory = clip(memory, lengths["cell_clip"])
        shown = [sigmoid(gates[3 * cell + n]) * math.tanh(memory[n]) for n in range(cell)]
        hidden = clip(times(shown, arrays[f"{place}/W_P_0"]), lengths["proj_clip"])
        outputs.append(hidden)
    return outputs, (hidden, memory)


def literal(words: Sequence[str], files: Files, memory: dict[tuple[int, int], Any]) -> list[list[Vector]]:
    """Layers, tokens with their markers, values; `memory` has the LSTM states by direction and layer."""
    options, arrays = files
    size = options["lstm"]
    tokens = [by_characters(token, options, arrays) for token in ("<S>", *words, "</S>")]
    layers = [[[*x, *x] for x in tokens]]
    halves: list[list[list[Vector]]] = [[], []]
    for direction in range(2):
        x = tokens if direction == 0 else tokens[::-1]
        for layer in range(size["n_layers"]):
            start = memory.get((direction, layer), ([0.0] * size["projection_dim"], [0.0] * size["dim"]))
            place = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            out, memory[direction, layer] = lstm(x, start, place, options, arrays)
            if layer and size["use_skip_connections"]:
                out = [[a + b for a, b in zip(new, old, strict=True)] for new, old in zip(out, x, strict=True)]
            x = out
            halves[direction].append(x if direction == 0 else x[::-1])
    for forward, backward in zip(*halves, strict=True):
        layers.append([[*a, *b] for a, b in zip(forward, backward, strict=True)])
    return layers


# Ours. ----------------------------------------------------------------------------------------------------------------


def build(files: Files, **how: Any) -> Elmo:
    options, arrays = files
    shape = elmo_files.shape(options, characters=1 + len(arrays["char_embed"]))
    made = Elmo(shape, **how)
    made.bilm.load_state_dict(elmo_files.parameters(arrays, shape))
    return made.eval()


def pad(sentences: Sequence[Sequence[str]], *, width: int | None = None) -> tuple[Tensor, Tensor]:
    width = max(map(len, sentences)) if width is None else width
    ids = torch.full((len(sentences), width, characters.WIDTH), 7)  # the content of padded words has no effect
    mask = torch.zeros(len(sentences), width, dtype=torch.bool)
    for row, words in enumerate(sentences):
        ids[row, : len(words)] = torch.from_numpy(characters.ids(words))
        mask[row, : len(words)] = True
    return ids, mask


def changed(files: Files, **settings: Any) -> Files:
    options = copy.deepcopy(files[0])
    for group in options.values():
        group.update({name: value for name, value in settings.items() if name in group})
    return options, files[1]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"activation": "tanh"},
        {"cell_clip": None},
        {"proj_clip": None},
        {"use_skip_connections": False},
        {"n_layers": 1},
        {"n_highway": 1},
    ],
    ids=str,
)
def test_all_layers_are_those_of_the_loops(tiny_elmo: Files, settings: dict[str, Any]) -> None:
    files = changed(tiny_elmo, **settings)
    with torch.inference_mode():
        states = build(files).bilm(*pad(SENTENCES))
    assert states.shape == (1 + files[0]["lstm"]["n_layers"], 4, 9 + 2, 6)
    for row, words in enumerate(SENTENCES):
        expected = tensor(literal(words, files, {}))
        torch.testing.assert_close(states[:, row, : len(words) + 2], expected, atol=1e-5, rtol=1e-5)
        assert (states[:, row, len(words) + 2 :] == 0).all()


def test_the_carried_state_is_that_of_the_loops_whatever_the_batch_sizes(tiny_elmo: Files) -> None:
    elmo = build(tiny_elmo, stateful=True)
    memories: list[dict[tuple[int, int], Any]] = [{}, {}, {}, {}]
    batches = [SENTENCES[:2], SENTENCES[3:], SENTENCES[::-1], [[]], SENTENCES[1:]]
    for sentences in batches:
        with torch.inference_mode():
            states = elmo.bilm(*pad(sentences))
        for row, words in enumerate(sentences):
            expected = tensor(literal(words, tiny_elmo, memories[row]))
            torch.testing.assert_close(states[:, row, : len(words) + 2], expected, atol=1e-5, rtol=1e-5)


def test_both_clips_bite(tiny_elmo: Files) -> None:
    ids, mask = pad(SENTENCES)
    with torch.inference_mode():
        clipped = build(tiny_elmo).bilm(ids, mask)
        for name in ("cell_clip", "proj_clip"):
            free = build(changed(tiny_elmo, **{name: None})).bilm(ids, mask)
            assert (free[1] - clipped[1]).abs().max() > 1e-3
    assert clipped[1].abs().max() == tensor(0.7) and free[1].abs().max() > 0.7


def test_the_lstm_is_torchs_own_where_nothing_is_clipped() -> None:
    torch.manual_seed(0)
    shape = Shape(
        characters=262,
        character_width=2,
        filters=((1, 2),),
        highway=0,
        activation="relu",
        layers=1,
        cell=6,
        projection=4,
        cell_clip=None,
        projection_clip=None,
        residual=False,
    )
    ours, theirs = ProjectedLSTM(shape), nn.LSTM(4, 6, proj_size=4)
    order = [0, 1, 3, 2]  # theirs: input, forget, candidate, output

    def gates(x: Tensor) -> Tensor:
        return torch.cat([x.chunk(4)[part] for part in order])

    with torch.no_grad():
        theirs.weight_ih_l0.copy_(gates(ours.input.weight))
        theirs.weight_hh_l0.copy_(gates(ours.recurrent.t()))
        theirs.weight_hr_l0.copy_(ours.projection.weight)
        theirs.bias_ih_l0.copy_(gates(ours.input.bias))
        theirs.bias_hh_l0.zero_()
        x = torch.randn(7, 4)
        packed = nn.utils.rnn.PackedSequence(x, tensor([3, 3, 1]))
        hidden, memory = torch.randn(3, 4), torch.randn(3, 6)
        expected, (last_hidden, last_memory) = theirs(packed, (hidden[None], memory[None]))
        found, state = ours(x, [3, 3, 1], State(hidden, memory))
    torch.testing.assert_close(found, expected.data)
    torch.testing.assert_close(state.hidden, last_hidden[0])
    torch.testing.assert_close(state.memory, last_memory[0])


def test_neither_padding_nor_order_nor_size_of_the_batch_changes_a_sentence(tiny_elmo: Files) -> None:
    elmo = build(tiny_elmo)
    with torch.inference_mode():
        together = elmo(*pad(SENTENCES))
        padded = elmo(*pad(SENTENCES, width=14))
        backwards = elmo(*pad(SENTENCES[::-1])).flip(0)
        alone = [elmo(*pad([words])) for words in SENTENCES]
    torch.testing.assert_close(padded[:, :9], together)
    assert (padded[:, 9:] == 0).all()
    torch.testing.assert_close(backwards, together)
    for row, state in enumerate(alone):
        torch.testing.assert_close(state[0], together[row, : state.shape[1]])
        assert (together[row, state.shape[1] :] == 0).all()


def test_each_batch_starts_anew_unless_stateful(tiny_elmo: Files) -> None:
    batch = pad(SENTENCES)
    with torch.inference_mode():
        elmo = build(tiny_elmo)
        first = elmo(*batch)
        assert (elmo(*batch) == first).all()
        stateful = build(tiny_elmo, stateful=True)
        torch.testing.assert_close(stateful(*batch), first)
        assert (stateful(*batch)[0] - first[0]).abs().max() > 1e-3
        stateful.reset()
        torch.testing.assert_close(stateful(*batch), first)


def test_empty_sentences(tiny_elmo: Files) -> None:
    elmo = build(tiny_elmo)
    with torch.inference_mode():
        assert elmo(*pad([[], []])).shape == (2, 0, 6)
        assert elmo.bilm(*pad([[], []])).shape == (3, 2, 2, 6)
        assert (elmo(*pad([[], []], width=3)) == 0).all()


def test_of_long_words_the_first_48_bytes_count(tiny_elmo: Files) -> None:
    elmo = build(tiny_elmo)
    with torch.inference_mode():
        states = [elmo(*pad([[word]])) for word in ("x" * 48, "x" * 48 + "tail", "x" * 47 + "y")]
    assert (states[0] == states[1]).all()
    assert (states[0] - states[2]).abs().max() > 1e-4


def test_blocks_of_inputs_change_nothing(tiny_elmo: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    elmo = build(tiny_elmo)
    with torch.inference_mode():
        whole = elmo(*pad(SENTENCES))
        for tokens in (1, 7):
            monkeypatch.setattr(module, "_BLOCK", tokens)
            torch.testing.assert_close(elmo(*pad(SENTENCES)), whole)


def test_the_reading_order() -> None:
    plan = reading(tensor([2, 3]), 4)
    assert plan.rows.tolist() == [1, 0] and plan.sizes == [2, 2, 1]
    assert [place.tolist() for place in plan.places] == [[4, 0, 5, 1, 6], [6, 1, 5, 0, 4]]


def test_the_mixture(tiny_elmo: Files) -> None:
    mix = ScalarMix(2)
    states = tensor([[[[1.0, 2.0]]], [[[5.0, -2.0]]]])
    torch.testing.assert_close(mix(states), tensor([[[3.0, 0.0]]]))
    with torch.no_grad():
        mix.weights.copy_(tensor([math.log(3), 0.0]))  # 3/4 and 1/4
        mix.scale.fill_(2.0)
    torch.testing.assert_close(mix(states), tensor([[[4.0, 2.0]]]))
    elmo = build(tiny_elmo)
    with torch.inference_mode():
        layers = elmo.bilm(*pad([["she", "saw"]]))
        torch.testing.assert_close(elmo(*pad([["she", "saw"]])), layers.mean(0)[:, 1:-1])


def test_dropout_in_training_alone(tiny_elmo: Files) -> None:
    batch = pad([["she", "saw", "it"]] * 40)
    elmo = build(tiny_elmo, dropout=0.5)
    with torch.no_grad():
        plain = elmo(*batch)
        torch.manual_seed(0)
        dropped = elmo.train()(*batch)
    kept = dropped != 0
    assert 0.4 < kept.float().mean() < 0.6
    torch.testing.assert_close(dropped[kept], 2 * plain[kept])


def test_every_weight_learns_and_gradients_end_between_batches(tiny_elmo: Files) -> None:
    elmo = build(changed(tiny_elmo, cell_clip=None, proj_clip=None), stateful=True).train()
    for _ in range(2):
        elmo.zero_grad()
        elmo(*pad(SENTENCES)).square().sum().backward()
    for name, parameter in elmo.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.any(), name


def test_half_precision_runs(tiny_elmo: Files) -> None:
    elmo = build(tiny_elmo)
    with torch.inference_mode():
        full = elmo(*pad(SENTENCES))
        half = elmo.bfloat16()(*pad(SENTENCES))
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), full, atol=0.1, rtol=0.1)


def test_what_is_refused(tiny_elmo: Files) -> None:
    with pytest.raises(InputError, match=r"do_layer_norm=false, got true: .* whole batch"):
        build(tiny_elmo, do_layer_norm=True)
    ids, mask = pad([["a", "b", "c"]])
    mask[0, 1] = False
    with pytest.raises(ValueError, match="real words before its padding"):
        build(tiny_elmo)(ids, mask)


def test_shape_and_state_dict_make_the_same_elmo(tiny_elmo: Files) -> None:
    elmo = build(tiny_elmo)
    other = Elmo(Shape(**yaml.safe_load(yaml.safe_dump(asdict(elmo.bilm.shape))))).eval()  # as a checkpoint keeps it
    other.load_state_dict(elmo.state_dict())
    assert not any("markers" in name for name in elmo.state_dict())
    with torch.inference_mode():
        assert (other(*pad(SENTENCES)) == elmo(*pad(SENTENCES))).all()
