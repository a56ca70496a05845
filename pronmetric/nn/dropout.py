"""Dropout for training on a CPU, where PyTorch draws the random number of each place by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

_BITS = 16


class QuickDropout(TorchFunctionMode):
    """Inside this context `torch.nn.functional.dropout`, and so each dropout of a model, is `dropout` of this module.

    A mode, since the dropout of attention weights is a call inside transformers and no module that could be replaced.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """`func` of its arguments, but for dropout."""
        return (dropout if func is functional.dropout else func)(*args, **(kwargs or {}))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """As `torch.nn.functional.dropout`, with four places from each 64-bit random number; never in place.

    p: from 0 to 1, taken to the nearest 1/65536. The shape and type are those of `input`.
    """
    lost = round(p * 2**_BITS)
    if not training or not lost:
        return input
    if lost == 2**_BITS:
        return torch.zeros_like(input)
    count = input.numel()
    numbers = torch.empty(math.ceil(count * _BITS / 64), dtype=torch.int64).random_(-(2**63), None)
    drawn = numbers.view(torch.int16)[:count]
    kept = (drawn >= lost - 2 ** (_BITS - 1)).to(input.dtype)
    return input * kept.mul_(2**_BITS / (2**_BITS - lost)).view_as(input)
