"""Texts of a file that is no plain list of lines: its units, and where each stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Unit:
    """A text of a file.

    place: where it stands, in the format's words, such as "cue 3, 00:00:01". line: its first line in the file, from 1.
    of: what tells the line to translate of which it is a candidate, where a file may have several of each.
    """

    text: str
    line: int
    place: str
    source: str | None = None
    reference: str | None = None
    doc: str | None = None
    system: str | None = None
    speaker: str | None = None
    of: str | None = None


@dataclass(frozen=True, slots=True)
class FileTexts:
    """The units of a file.

    format: its name. in_order: whether the units are a running text, whose earlier units are the context of later ones.
    left_out: how many units were left out, by reason.
    """

    format: str
    units: tuple[Unit, ...]
    in_order: bool
    left_out: Mapping[str, int] = field(default_factory=dict)
