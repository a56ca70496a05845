"""The dropout of training on a CPU: the given rate, unbiased, repeatable, for modules and calls."""

from __future__ import annotations

import pytest
import torch
from torch.nn import Dropout, functional

from pronmetric.nn.dropout import QuickDropout, dropout


@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.999])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_given_share_is_dropped_and_the_rest_is_scaled(p: float, dtype: torch.dtype) -> None:
    torch.manual_seed(5)
    out = dropout(torch.ones(501, 401, dtype=dtype), p)
    assert out.dtype == dtype and out.shape == (501, 401)
    lost = (out == 0).double().mean().item()
    assert lost == pytest.approx(p, abs=4 * (p * (1 - p) / out.numel()) ** 0.5 + 2**-16)
    assert out.max().item() == pytest.approx(1 / (1 - p), rel=0.02)
    assert sorted(out.unique().tolist()) == [0.0, out.max().item()]


def test_the_four_places_of_one_number_are_independent() -> None:
    torch.manual_seed(6)
    kept = (dropout(torch.ones(400_000), 0.5) != 0).view(-1, 4).double()
    correlation = torch.corrcoef(kept.T) - torch.eye(4)
    assert correlation.abs().max() < 0.02
    assert (torch.corrcoef(torch.stack([kept.flatten()[:-4], kept.flatten()[4:]]))[0, 1]).abs() < 0.02


def test_nothing_is_lost_out_of_training_or_at_0_and_all_at_1() -> None:
    x = torch.randn(7)
    assert dropout(x, 0.5, training=False) is x and dropout(x, 0.0) is x
    assert dropout(x, 1.0).tolist() == [0.0] * 7


def test_gradients_pass_where_the_input_did() -> None:
    x = torch.randn(1000, requires_grad=True)
    out = dropout(x, 0.3)
    out.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, torch.where(out == 0, 0.0, 1 / 0.7), rtol=1e-3, atol=0)


def test_inside_the_mode_modules_and_calls_take_it_and_outside_torchs_own() -> None:
    x = torch.ones(64, 64)
    module = Dropout(0.25)

    def drawn(what: object) -> torch.Tensor:
        torch.manual_seed(3)
        assert callable(what)
        return what(x)

    ours, torchs = drawn(lambda x: dropout(x, 0.25)), drawn(module)
    assert not torch.equal(ours, torchs)
    with QuickDropout():
        assert torch.equal(drawn(module), ours)
        assert torch.equal(drawn(lambda x: functional.dropout(x, p=0.25, training=True)), ours)
        assert drawn(lambda x: functional.dropout(x, p=0.25, training=False)) is x
        assert functional.relu(-x).sum() == 0
    assert torch.equal(drawn(module), torchs)
