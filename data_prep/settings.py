"""What a preparation needs to know, and how it speaks while it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_prep.manifest import NAME as MANIFEST
from data_prep.splits import Rule
from pronmetric import pronouns
from pronmetric.errors import InputError

STAGES = ".stages"
INVENTORIES: Mapping[str, frozenset[str]] = {
    "all": frozenset(pronouns.FORMS),
    "paper": frozenset(pronouns.FORMS) - {"theirs"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a preparation needs to know; the values, and what they mean, stand in conf/prepare.yaml."""

    wmt: Path
    out: Path
    english: Path | None
    years: tuple[int, ...] | None
    pairs: tuple[str, ...] | None
    exclude: tuple[str, ...]
    inventory: str
    context_size: int
    align_backend: str
    align_lines: int
    agreement: str
    min_agreement: float
    rule: Rule
    english_share: float
    pieces: int
    outputs: int
    seed: int

    def check(self) -> None:
        """Refuse what cannot work before anything is read.

        Raises:
            InputError: a value that is none, or an `out` that is something else than a prepared folder.
        """
        if self.inventory not in INVENTORIES:
            raise InputError(f"inventory={self.inventory}: expected one of {', '.join(INVENTORIES)}")
        for key, value, least in (
            ("context.size", self.context_size, 0),
            ("align.lines", self.align_lines, 1),
            ("splits.block", self.rule.block, 1),
            ("passages.pieces", self.pieces, 1),
            ("passages.outputs", self.outputs, 0),
            ("seed", self.seed, 0),
        ):
            if not isinstance(value, int) or value < least:
                raise InputError(f"{key}={value}: expected a whole number, {least} or more")
        for key, share in (
            ("splits.development_share", self.rule.development_share),
            ("splits.english_share", self.english_share),
            ("filter.min_agreement", self.min_agreement),
        ):
            if not isinstance(share, int | float) or not 0 <= share <= 1:
                raise InputError(f"{key}={share}: expected a number from 0 to 1")
        out = self.out
        if out.exists() and not out.is_dir():
            raise InputError("is a file; out= names the folder to write", file=out)
        if out.is_dir() and not (out / MANIFEST).is_file() and {path.name for path in out.iterdir()} - {STAGES}:
            raise InputError("holds other things than prepared data; name a new folder with out=", file=out)

    def told(self) -> dict[str, Any]:
        """The settings for the manifest: all but where things stand on this machine."""
        values = dataclasses.asdict(self)
        return {name: value for name, value in values.items() if name not in ("wmt", "english", "out")}


@dataclass(frozen=True, slots=True)
class Talk:
    """How preparation speaks while it runs: `note` takes a line, `progress` an iterable, its label, length and unit."""

    note: Callable[[str], None]
    progress: Callable[[Iterable[Any], str, int | None, str], Iterable[Any]]
