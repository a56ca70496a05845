from __future__ import annotations

import math

import torch
from torch import tensor

from pronmetric.nn.attention import attend


def test_weights_and_states_are_those_of_the_formula() -> None:
    queries = tensor([[[2.0, 0.0]]])
    keys = tensor([[[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]]])
    values = tensor([[[10.0, 0.0], [0.0, 10.0], [99.0, 99.0]]])
    states, weights = attend(queries, keys, values, tensor([[True, True, False]]))
    # scores q.k / sqrt(2): 2 / sqrt(2) and 0; the third word is masked
    first = math.exp(2 / math.sqrt(2)) / (math.exp(2 / math.sqrt(2)) + 1)
    torch.testing.assert_close(weights, tensor([[[first, 1 - first, 0.0]]]))
    torch.testing.assert_close(states, tensor([[[10 * first, 10 * (1 - first)]]]))


def test_a_masked_word_gets_no_weight_whatever_it_holds() -> None:
    torch.manual_seed(0)
    queries, keys, mask = torch.randn(2, 3, 4), torch.randn(2, 5, 4), tensor([[True] * 3 + [False] * 2] * 2)
    other = keys.masked_fill(~mask[:, :, None], 1e4)
    torch.testing.assert_close(attend(queries, keys, keys, mask)[0], attend(queries, other, other, mask)[0])
    weights = attend(queries, keys, keys, mask)[1]
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3))
    assert (weights[:, :, 3:] == 0).all() and (weights[:, :, :3] > 0).all()


def test_a_row_without_words_gets_zeros_and_sends_back_no_nan() -> None:
    queries = torch.randn(2, 1, 4, requires_grad=True)
    keys = torch.randn(2, 3, 4, requires_grad=True)
    states, weights = attend(queries, keys, keys, tensor([[False] * 3, [True] * 3]))
    assert (states[0] == 0).all() and (weights[0] == 0).all()
    assert weights[1].sum() > 0.99
    states.sum().backward()
    assert queries.grad is not None and keys.grad is not None
    assert (queries.grad[0] == 0).all() and (keys.grad[0] == 0).all() and queries.grad.isfinite().all()


def test_low_precision_is_attended_in_full() -> None:
    torch.manual_seed(0)
    queries, keys = torch.randn(1, 2, 8), torch.randn(1, 4, 8)
    mask = torch.ones(1, 4, dtype=torch.bool)
    full, _ = attend(queries, keys, keys, mask)
    half, weights = attend(queries.bfloat16(), keys.bfloat16(), keys.bfloat16(), mask)
    assert half.dtype == weights.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), full, atol=0.03, rtol=0.03)
