"""Callbacks for the progress of preparation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reporter:
    """Callbacks of preparation: `note` takes a line; `progress` wraps an iterable, with its label, length and unit."""

    note: Callable[[str], None]
    progress: Callable[[Iterable[Any], str, int | None, str], Iterable[Any]]
