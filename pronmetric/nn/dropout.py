"""Fast dropout for training on a CPU, where PyTorch draws one random number for each element."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

_BITS = 16  # of each element: four share a random number (quicker training: experiments.md, speed)


class QuickDropout(TorchFunctionMode):
    """A context in which `torch.nn.functional.dropout`, used by all dropout layers, is this module's `dropout`.

    transformers calls the function itself for attention weights, so that replacing modules would not be enough.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call `func`, with dropout replaced."""
        return (dropout if func is functional.dropout else func)(*args, **(kwargs or {}))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Like `torch.nn.functional.dropout`, but each 64-bit random number serves four elements; never in place.

    p: from 0 to 1, rounded to a multiple of 1/65536. Shape and type are those of `input`.
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
