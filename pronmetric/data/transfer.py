"""Batches on their way to a device: one call for each tensor, which a GPU carries out while the host goes on."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

Record = TypeVar("Record")


def move(record: Record, device: torch.device | str) -> Record:
    """The same dataclass on another device.

    To a GPU of CUDA tensors are copied without waiting, which needs pinned memory (`pin`); elsewhere with waiting.
    """
    ahead = torch.device(device).type == "cuda"
    return _each(record, lambda tensor: tensor.to(device, non_blocking=ahead))


def pin(record: Record) -> Record:
    """The same dataclass in memory that a GPU reads by itself."""
    return _each(record, Tensor.pin_memory)


def _each(record: Record, change: Callable[[Tensor], Tensor]) -> Record:
    """A copy of a dataclass with changed tensors, also those of the dataclasses in it; nothing is computed anew."""
    found: Any = copy.copy(record)
    for field in fields(found):
        value = getattr(found, field.name)
        if isinstance(value, Tensor):
            object.__setattr__(found, field.name, change(value))
        elif is_dataclass(value):
            object.__setattr__(found, field.name, _each(value, change))
    return found
