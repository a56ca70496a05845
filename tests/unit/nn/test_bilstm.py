"""The BiLSTM over word vectors, against PyTorch's cell read word by word."""

from __future__ import annotations

from itertools import chain

import pytest
import torch
import yaml
from torch import Tensor, nn, tensor

from pronmetric.data.pieces import FIRST, PAD, SEPARATOR, UNKNOWN
from pronmetric.nn.encoder import Encoder
from pronmetric.nn.encoders.glove.encoder import BiLSTM

IDS = tensor([[FIRST, FIRST + 4, UNKNOWN, SEPARATOR, FIRST + 1], [FIRST + 2, FIRST, PAD, PAD, PAD], [PAD] * 5])
MASK = torch.arange(5) < tensor([[5], [2], [0]])


@pytest.fixture
def encoder() -> BiLSTM:
    torch.manual_seed(0)
    return BiLSTM(words=5, vector=4, hidden=3, layers=2).eval()


@torch.no_grad()
def states(encoder: BiLSTM, ids: Tensor, mask: Tensor) -> Tensor:
    return encoder(ids, mask)


def literally(encoder: BiLSTM, ids: list[int]) -> Tensor:
    """Vectors looked up one by one, then each layer's cell in each direction, word after word."""
    x = [encoder.vectors.weight[i - FIRST] if i >= FIRST else encoder.marks.weight[i] for i in ids]
    for layer in range(2):
        found = []
        for end, order in (("", range(len(x))), ("_reverse", range(len(x) - 1, -1, -1))):
            cell = nn.LSTMCell(len(x[0]), 3)
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                setattr(cell, part, getattr(encoder.lstm, f"{part}_l{layer}{end}"))
            h = c = torch.zeros(3)
            side: dict[int, Tensor] = {}
            for at in order:
                h, c = cell(x[at], (h, c))
                side[at] = h
            found.append(side)
        x = [torch.cat([side[at] for side in found]) for at in range(len(x))]
    return torch.stack(x)


def test_states_are_those_of_the_cells_word_by_word(encoder: BiLSTM) -> None:
    found = states(encoder, IDS, MASK)
    assert found.shape == (3, 5, encoder.width) == (3, 5, 6) and found.isfinite().all()
    for row, length in ((0, 5), (1, 2)):
        expected = literally(encoder, IDS[row, :length].tolist()).detach()
        torch.testing.assert_close(found[row, :length], expected, atol=1e-6, rtol=0)


def test_padding_and_other_rows_change_nothing(encoder: BiLSTM) -> None:
    alone = states(encoder, IDS[1:2, :2], MASK[1:2, :2])
    torch.testing.assert_close(states(encoder, IDS, MASK)[1:2, :2], alone, atol=1e-6, rtol=0)
    other = IDS.clone()
    other[1, 2:] = FIRST + 3  # any content of padded slots
    torch.testing.assert_close(states(encoder, other, MASK)[1, :2], alone[0], atol=1e-6, rtol=0)


def test_it_is_an_encoder_that_comes_back_from_its_config(encoder: BiLSTM) -> None:
    assert isinstance(encoder, Encoder)
    config = yaml.safe_load(yaml.safe_dump(encoder.config))
    assert config == {"kind": "glove", "words": 5, "vector": 4, "hidden": 3, "layers": 2}
    again = BiLSTM.from_config({**config, "lower": True}).eval()
    again.load_state_dict(encoder.state_dict())
    assert torch.equal(states(again, IDS, MASK), states(encoder, IDS, MASK))


def test_layers_are_every_parameter_once(encoder: BiLSTM) -> None:
    names = {id(p): name for name, p in encoder.named_parameters()}
    layers = [[names[id(p)] for p in layer] for layer in encoder.layers()]
    assert sorted(chain.from_iterable(layers)) == sorted(names.values())
    assert layers[0] == ["marks.weight", "vectors.weight"]
    assert all("_l0" in name for name in layers[1]) and all("_l1" in name for name in layers[2])


def test_the_unknown_word_is_learned_where_the_vectors_are_not(encoder: BiLSTM) -> None:
    encoder.vectors.requires_grad_(False)
    encoder(IDS, MASK)[MASK].sum().backward()
    assert encoder.vectors.weight.grad is None and encoder.marks.weight.grad is not None
    moved = encoder.marks.weight.grad.abs().sum(1) > 0
    assert moved[UNKNOWN] and moved[SEPARATOR] and not moved[PAD]


def test_bf16_stays_near(encoder: BiLSTM) -> None:
    full = states(encoder, IDS, MASK)
    torch.testing.assert_close(states(encoder.bfloat16(), IDS, MASK).float()[0], full[0], atol=0.02, rtol=0)
