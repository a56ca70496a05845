"""Sentence frames, and the tables of roles, names and things that fill them (tables/*.tsv, written for pronmetric).

In a frame {X} is a person or thing and {Y} another one; {s}, {o}, {p}, {a} and {r} are X's pronouns (he, him, his, his,
himself); [is|are] is the verb after a pronoun, with its form for they; {w} is "was" or "were" after X; {t} is a time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

PRONOUNS: Mapping[str, Mapping[str, str]] = {
    "he": {"s": "he", "o": "him", "p": "his", "a": "his", "r": "himself"},
    "she": {"s": "she", "o": "her", "p": "her", "a": "hers", "r": "herself"},
    "they": {"s": "they", "o": "them", "p": "their", "a": "theirs", "r": "themselves"},
    "it": {"s": "it", "o": "it", "p": "its", "a": "its", "r": "itself"},
}
"""Sets of pronouns by name: subject, object, possessive determiner, independent possessive, reflexive."""

_SLOT = re.compile(r"\{(\w)\}|\[([^|\]]*)\|([^\]]*)\]")


class FilledFrame(NamedTuple):
    """A filled frame; `spans` are those of its pronouns, in order."""

    text: str
    spans: tuple[tuple[int, int], ...]


def fill(frame: str, words: Mapping[str, str], sets: Sequence[str]) -> FilledFrame:
    """The sentence of a frame: `words` by slot, and the set of each pronoun, in order.

    A verb agrees with the last pronoun before it.

    >>> fill("{t}, {X} said that {s} [is|are] ill.", {"X": "the cook", "t": "yesterday"}, ["they"])
    Filled(text='Yesterday, the cook said that they are ill.', spans=((29, 33),))
    """
    left = iter(sets)
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    last, length, current = 0, 0, ""
    for match in _SLOT.finditer(frame):
        slot, singular, plural = match.groups()
        if slot is None:
            new = plural if current == "they" else singular
        elif slot in PRONOUNS["he"]:
            current = next(left)
            new = PRONOUNS[current][slot]
        else:
            new = words[slot]
        pieces += [frame[last : match.start()], new]
        length += match.start() - last
        if slot in PRONOUNS["he"]:
            spans.append((length, length + len(new)))
        length += len(new)
        last = match.end()
    text = "".join([*pieces, frame[last:]])
    first = next(at for at, letter in enumerate(text) if letter.isalpha())
    return FilledFrame(text[:first] + text[first].upper() + text[first + 1 :], tuple(spans))


def pronouns(frame: str) -> int:
    """The number of pronouns of a frame."""
    return sum(match[1] in PRONOUNS["he"] for match in _SLOT.finditer(frame))


class Tables(NamedTuple):
    """What passages are made of, by kind; a split has its own of everything.

    frames: by kind. roles: by the set of pronouns that the noun demands ("any": every set). names: "neutral" first
    names, those of "he" and of "she", and "last" names. things: "singular" and "plural".
    """

    frames: Mapping[str, Sequence[str]]
    roles: Mapping[str, Sequence[str]]
    names: Mapping[str, Sequence[str]]
    things: Mapping[str, Sequence[str]]
    times: Sequence[str]


@cache
def tables(split: str) -> Tables:
    """The tables of "train" or "development"; the two have no frame, role, name, thing or time in common."""
    frames, roles, names, things = (_by_kind(f"{name}.tsv", split) for name in ("frames", "roles", "names", "things"))
    return Tables(frames, roles, names, things, [time for use, time in _rows("times.tsv") if use == split])


def _by_kind(name: str, split: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for use, kind, value in _rows(name):
        if use == split:
            found.setdefault(kind, []).append(value)
    return found


def _rows(name: str) -> list[list[str]]:
    """The rows of a table below its source and its header."""
    text = files(__package__).joinpath("tables", name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[2:]]
