"""The cross-lingual pronoun prediction task of WMT 2016 and DiscoMT 2017: its language pairs and its data files.

A line of a data file has five tab-separated columns: the classes of the pronoun slots, separated by one space; the
words of the slots; the source, tokenised; the target, where slot k is `REPLACE_k`, k the 0-based index of the source
token that it is aligned to, and the other tokens are `lemma|POS`; the word alignment `s-t ...`. A prediction file has
a line for each line of the data file; only its first column is read.

Guillou et al. 2016, Findings of the 2016 WMT Shared Task on Cross-lingual Pronoun Prediction, sections 3 and 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.lines import iter_lines

OTHER, NONE = "OTHER", "NONE"
COLUMNS = 5
"""Of a data file: classes, words of the slots, source, target, alignment (Guillou et al. 2016)."""
SLOT = re.compile(r"REPLACE_([0-9]{1,9})")
_LABEL_END = re.compile(r"[\t\r]")
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Task:
    """A language pair of the task.

    classes: in the order of the report; OTHER is the last. spellings: further words of a class, case-sensitive.
    triggers: the source pronouns, lower-cased; none for a language without subject pronouns, where the finite verb of
    the third person stands for its subject (Spanish, 2017).
    """

    pair: str
    classes: tuple[str, ...]
    spellings: Mapping[str, str]
    triggers: frozenset[str]

    def class_of(self, label: str) -> str | None:
        """The class of a label or a word; None where there is none of that spelling."""
        return label if label in self.classes else self.spellings.get(label)


_ALL = {NONE: OTHER}
_DEMONSTRATIVE = {"that": "this", "those": "these"}


def _task(pair: str, classes: str, spellings: Mapping[str, str], triggers: str) -> Task:
    return Task(pair, (*classes.split(), OTHER), {**spellings, **_ALL}, frozenset(triggers.split()))


TASKS = {
    task.pair: task
    for task in (
        _task(
            "en-fr",
            "ce elle elles il ils cela on",
            {"c'": "ce", "ça": "cela", "ca": "cela", "ç'": "cela"},
            "it they",
        ),
        _task("fr-en", "he she it they this these there", _DEMONSTRATIVE, "il elle ils elles"),
        _task("en-de", "er sie es man", {}, "it they"),
        _task("de-en", "he she it they you this these there", _DEMONSTRATIVE, "er sie es"),
        _task("es-en", "he she it they you there", {}, ""),
    )
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a data file; slots are positions in `target`, `sources` their source tokens, both left to right."""

    labels: tuple[str, ...]
    words: tuple[str, ...]
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]

    @property
    def slots(self) -> tuple[int, ...]:
        """The positions of the slots in the target."""
        return tuple(at for at, token in enumerate(self.target) if SLOT.fullmatch(token))

    @property
    def sources(self) -> tuple[int, ...]:
        """The index of the source token of each slot."""
        return tuple(int(match[1]) for token in self.target if (match := SLOT.fullmatch(token)))


def task(pair: str) -> Task:
    """The task of a language pair.

    Raises:
        InputError: there is no such pair.
    """
    if pair not in TASKS:
        raise InputError(f"`pair={pair}`: expected one of {', '.join(TASKS)}")
    return TASKS[pair]


def labels_of(cell: str, of: Task, *, file: str | Path, line: int) -> tuple[str, ...]:
    """The classes that a cell of labels names.

    Raises:
        InputError: an unknown label, or labels that are not separated by one space.
    """
    labels = cell.split(" ")
    if "" in labels:
        raise InputError(f"expected labels separated by one space, got {cell!r}", file=file, line=line)
    found = [of.class_of(label) for label in labels]
    if None in found:
        wrong = labels[found.index(None)]
        known = " ".join((*of.classes, *of.spellings))
        raise InputError(f"unknown label {wrong!r} for {of.pair}; expected {known}", file=file, line=line)
    return tuple(label for label in found if label is not None)


def rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """The number (from 1) and the five columns of each line of a data file.

    Raises:
        InputError: a line with another number of columns, or without source or target.
    """
    for number, text in enumerate(iter_lines(path), start=1):
        cells = text.split("\t")
        if len(cells) != COLUMNS:
            message = f"expected {COLUMNS} tab-separated columns, got {len(cells)}"
            raise InputError(message, file=path, line=number)
        for name, cell in (("source", cells[2]), ("target", cells[3])):
            if not cell:
                raise InputError(f"expected a {name} sentence, got an empty column", file=path, line=number)
        yield number, cells


def predictions(path: str | Path) -> Iterator[str]:
    """The first column of each line of a prediction file."""
    return (_LABEL_END.split(text, maxsplit=1)[0] for text in iter_lines(path))


def read(path: str | Path, of: Task, *, labels: bool = True) -> list[Line]:
    """The lines of a data file; labels may be missing, as in unlabelled test data.

    labels: whether they are read; otherwise the lines have none.

    Raises:
        InputError: with the line: columns, labels, links or slots that do not go together.
    """
    return [_line(cells if labels else ["", *cells[1:]], of, file=path, line=number) for number, cells in rows(path)]


def _line(cells: Sequence[str], of: Task, *, file: str | Path, line: int) -> Line:
    links = []
    for link in cells[4].split():
        if not (match := _LINK.fullmatch(link)):
            raise InputError(f"expected links s-t, got {link!r}", file=file, line=line)
        links.append((int(match[1]), int(match[2])))
    found = Line(
        labels=labels_of(cells[0], of, file=file, line=line) if cells[0] else (),
        words=tuple(cells[1].split(" ")) if cells[1] else (),
        source=tuple(cells[2].split(" ")),
        target=tuple(cells[3].split(" ")),
        links=tuple(links),
    )
    if found.labels and len(found.labels) != len(found.slots):
        message = f"expected a label for each slot, got {len(found.labels)} labels, {len(found.slots)} slots"
        raise InputError(message, file=file, line=line)
    if outside := [k for k in found.sources if k >= len(found.source)]:
        message = f"REPLACE_{outside[0]}: the source has {len(found.source)} tokens, counted from 0"
        raise InputError(message, file=file, line=line)
    return found
