"""Winogender (Rudinger et al., NAACL 2018): sentences with an occupation, in which he or she fits equally well.

The sentences are test data: they are never used for training or tuning.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.lines import read_lines
from pronmetric.text.words import words

OCCUPATION, PARTICIPANT = "occupation", "participant"
_REFERENT = {"0": OCCUPATION, "1": PARTICIPANT}
_GENDERS = ("male", "female", "neutral")
_SHARES = ("bergsma_pct_female", "bls_pct_female")


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with a masculine and with a feminine pronoun.

    participant: the other person, or "someone". referent: whom the pronoun means, OCCUPATION or PARTICIPANT. start: of
    the pronoun, the same in both sentences.
    """

    occupation: str
    participant: str
    referent: str
    male: str
    female: str
    start: int


@dataclass(frozen=True, slots=True)
class WomenShares:
    """The share of women in an occupation, in percent: in web text (Bergsma and Lin 2006) and in the US (BLS)."""

    bergsma: float
    bls: float


def read(path: Path) -> list[Template]:
    """The templates of `all_sentences.tsv`, in order.

    Raises:
        InputError: with file and line, if a row is not of this format; a gender is missing, or the sentences of a
            template differ in other than one word.
    """
    sentences_of: dict[tuple[str, str, str], dict[str, str]] = {}
    first: dict[tuple[str, str, str], int] = {}
    for line, (name, sentence) in _rows(path, ("sentid", "sentence")):
        parts = name.split(".")
        if len(parts) != 5 or parts[2] not in _REFERENT or parts[3] not in _GENDERS:
            raise InputError(
                f"expected OCCUPATION.PARTICIPANT.0|1.male|female|neutral.txt, got {name!r}", file=path, line=line
            )
        key = parts[0], parts[1], parts[2]
        sentences_of.setdefault(key, {})[parts[3]] = sentence
        first.setdefault(key, line)
    templates = []
    for (occupation, participant, answer), sentences in sentences_of.items():
        line = first[occupation, participant, answer]
        if not {"male", "female"} <= sentences.keys():
            raise InputError(f"expected a male and a female sentence of {occupation}", file=path, line=line)
        male, female = sentences["male"], sentences["female"]
        one, other = words(male), words(female)
        differing = [a.start for a, b in zip(one, other, strict=False) if a.text != b.text]
        if len(one) != len(other) or len(differing) != 1:
            raise InputError("expected sentences that differ in one word", file=path, line=line)
        templates.append(Template(occupation, participant, _REFERENT[answer], male, female, differing[0]))
    return templates


def read_shares(path: Path) -> dict[str, WomenShares]:
    """The shares of women by occupation of `occupations-stats.tsv`.

    Raises:
        InputError: with file and line, if a column is missing or a share is no number.
    """
    shares = {}
    for line, (occupation, *given) in _rows(path, ("occupation", *_SHARES)):
        try:
            shares[occupation] = WomenShares(*map(float, given))
        except ValueError:
            raise InputError(f"expected shares in percent, got {', '.join(given)}", file=path, line=line) from None
    return shares


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """The line number and these columns of each row of a table with a header."""
    lines = read_lines(path)
    header = lines[0].split("\t") if lines else []
    if missing := [name for name in columns if name not in header]:
        raise InputError(f"expected a first line with {', '.join(missing)}", file=path, line=1)
    places = [header.index(name) for name in columns]
    for number, cells in enumerate(csv.reader(lines[1:], delimiter="\t", quoting=csv.QUOTE_NONE), start=2):
        if len(cells) != len(header):
            raise InputError(f"expected {len(header)} columns, got {len(cells)}", file=path, line=number)
        yield number, [cells[place] for place in places]
