"""The flag `--also` of `score` and `evaluate`: reference-based baselines in one table with the learned score."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from pronmetric.cli.output import Notes
from pronmetric.cli.parser import flag
from pronmetric.errors import PronmetricError
from pronmetric.lab.baselines.corpus_scores import OURS, SystemBaselines
from pronmetric.lab.baselines.reference_based import NAMES, OF_PRONOUNS
from pronmetric.pronouns.languages import Language


def parse_names(text: str) -> tuple[str, ...]:
    """The value of the flag: names of baselines, separated by commas."""
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    if unknown := [name for name in names if name not in NAMES]:
        known = ", ".join(NAMES)
        raise argparse.ArgumentTypeError(f"expected some of {known}, separated by commas; got {unknown[0]!r}")
    return names


def also_flag(group: str | None = None) -> Any:
    """The flag."""
    return flag(
        group=group,
        type=parse_names,
        metavar="NAMES",
        help=f"also compute these reference-based scores, separated by commas: {','.join(NAMES)}",
    )


def check_language(names: Sequence[str], language: Language) -> None:
    """Refuse baselines of English pronouns for texts in another language."""
    wrong = [name for name in names if name in OF_PRONOUNS]
    if wrong and not language.ruled:
        rest = ", ".join(name for name in NAMES if name not in OF_PRONOUNS)
        raise PronmetricError(
            f"--also {','.join(wrong)}: they count English pronouns, and the checkpoint scores {language.code}; "
            f"expected some of {rest}"
        )


def note_system_table(baselines: SystemBaselines, note: Notes) -> None:
    """Note the segments left out; with --verbose the units of the numbers in brackets and the signatures."""
    units: dict[str, list[str]] = {"pronouns": [OURS]}
    for baseline in baselines.scorer.baselines:
        units.setdefault(baseline.unit, []).append(baseline.name)
    note.detail("in brackets: " + "; ".join(f"{unit} ({', '.join(names)})" for unit, names in units.items()))
    if baselines.without_reference:
        note(f"left out of --also: {baselines.without_reference} segments without a reference")
    for name, signature in baselines.scorer.signatures().items():
        note.detail(f"signature of {name}: {signature}")
