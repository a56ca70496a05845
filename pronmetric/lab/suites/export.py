"""What a translation model has to score or translate for a suite: line-parallel files, an index, JSONL; and its scores.

A file of scores has one on each line, one line for each candidate of each item. Sentence and context become one text as
in Tiedemann and Scherrer (2017).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import Candidate, Item, Scores
from pronmetric.output import tsv
from pronmetric.text import strict_json
from pronmetric.text.lines import read_lines

SOURCE, TARGET, INDEX, LINES = "source.txt", "target.txt", "index.tsv", "lines.jsonl"
SOURCE_CONTEXT, TARGET_CONTEXT = "source.context.txt", "target.context.txt"
COLUMNS = ("line", "item", "candidate", "right", "document", "groups")
NONE, TWO_TO_ONE, TWO_TO_TWO, MANY = "none", "concat21", "concat22", "concatN"
MODES = (NONE, TWO_TO_ONE, TWO_TO_TWO, MANY)


class Opening(Protocol):
    """How a file of the export is opened, by its name."""

    def __call__(self, name: str) -> IO[str]:
        """The file to write to."""


def write(items: Sequence[Item], opening: Opening, *, context: int, join: str | None = None) -> int:
    """Write one line for each candidate of each item; the number of lines.

    The context files have `context` lines for each line, oldest first, empty where there is no sentence. With `join`
    there are none: the context stands before the sentence, joined by this text.

    Raises:
        InputError: a text has a line end in it.
    """
    contexts = join is None and context > 0
    names = (SOURCE, TARGET, INDEX, LINES, *((SOURCE_CONTEXT, TARGET_CONTEXT) if contexts else ()))
    files = {name: opening(name) for name in names}
    files[INDEX].write(tsv.line(COLUMNS))
    number = 0
    for item in items:
        for place, candidate in enumerate(item.candidates):
            number += 1
            source, target = _texts(item, candidate, join)
            files[SOURCE].write(f"{source}\n")
            files[TARGET].write(f"{target}\n")
            if contexts:
                files[SOURCE_CONTEXT].writelines(_padded(candidate.source_context, context))
                files[TARGET_CONTEXT].writelines(_padded(candidate.target_context, context))
            right = place == item.right
            groups = "; ".join(f"{name}: {group}" for name, group in item.groups.items())
            row = (number, item.id, place, "yes" if right else "no", item.document, groups)
            files[INDEX].write(tsv.line(row))
            files[LINES].write(strict_json.dump(_record(item, candidate, place)) + "\n")
    return number


def _texts(item: Item, candidate: Candidate, join: str | None) -> tuple[str, str]:
    texts = (*candidate.source_context, candidate.source, *candidate.target_context, candidate.target)
    if any("\n" in text for text in texts):
        raise InputError(f"item {item.id}: a text has a line end in it; the export has one text on each line")
    if join is None:
        return candidate.source, candidate.target
    source = join.join((*candidate.source_context, candidate.source))
    return source, join.join((*candidate.target_context, candidate.target))


def _padded(sentences: Sequence[str], size: int) -> list[str]:
    return [f"{sentence}\n" for sentence in (*[""] * (size - len(sentences)), *sentences)]


def _record(item: Item, candidate: Candidate, place: int) -> dict[str, object]:
    return {
        "item": item.id,
        "candidate": place,
        "right": place == item.right,
        "source": candidate.source,
        "target": candidate.target,
        "source_context": list(candidate.source_context),
        "target_context": list(candidate.target_context),
        "document": item.document,
        "groups": dict(item.groups),
    }


def read_scores(
    path: str | Path, items: Sequence[Item], *, maximize: bool, compat: bool = False, surplus: bool = False
) -> list[Scores]:
    """The scores of each item's candidates, higher is better (the file's are costs unless `maximize`).

    compat: as in the original programs, a line may have more fields after the score, and NaN compares as false.
    surplus: surplus lines are not read, whatever they hold.

    Raises:
        InputError: with the line, where it is blank or no number, NaN, or where there are too few or too many lines.
    """
    sign = 1.0 if maximize else -1.0
    values = _numbers(path, compat, _expected(items) if surplus else None)
    return [[sign * value for value in one] for one in cut(values, items, path, surplus=surplus)]


def _numbers(path: str | Path, compat: bool, most: int | None) -> list[float]:
    """The number on each line, of at most `most` lines."""
    return [_number(line, path, number, compat) for number, line in enumerate(read_lines(path)[:most], start=1)]


def _expected(items: Sequence[Item]) -> int:
    return sum(len(item.candidates) for item in items)


def cut(values: Iterable[float], items: Sequence[Item], file: str | Path, *, surplus: bool = False) -> list[Scores]:
    """Numbers in the order of the items' candidates, item by item.

    Raises:
        InputError: another number of values than of candidates.
    """
    flat = list(values)
    expected = _expected(items)
    if len(flat) < expected or (len(flat) > expected and not surplus):
        cure = "score exactly the lines that `pronmetric suite export` writes"
        cure += "; `compat=True` ignores surplus lines" if len(flat) > expected else ""
        message = f"expected {expected} scores, one for each candidate of {len(items)} items, got {len(flat)}: {cure}"
        raise InputError(message, file=file, line=min(len(flat), expected) + 1)
    rest = iter(flat)
    return [list(islice(rest, len(item.candidates))) for item in items]


def _number(line: str, path: str | Path, number: int, compat: bool) -> float:
    text = line.split()[0] if compat and line.split() else line.strip()
    if not text:
        raise InputError("a blank line; expected a score on each line", file=path, line=number)
    try:
        value = float(text) if compat or (text.isascii() and "_" not in text) else math.nan
    except ValueError:
        cure = "; `compat=True` reads the first field" if len(text.split()) > 1 else ""
        raise InputError(f"expected one number, got {text[:40]!r}{cure}", file=path, line=number) from None
    if math.isnan(value) and not compat:
        raise InputError(f"expected a number, got {text[:40]!r}; each candidate needs a score", file=path, line=number)
    return value


class Concatenation(NamedTuple):
    """How many previous sentences stand before the source and before the target, and the text between sentences."""

    source: int
    target: int
    separator: str

    @classmethod
    def of(cls, mode: str, *, size: int, separator: str) -> Concatenation:
        """none: no context; concat21: one previous source sentence; concat22: one of each; concatN: `size` of each."""
        sizes = {NONE: (0, 0), TWO_TO_ONE: (1, 0), TWO_TO_TWO: (1, 1), MANY: (size, size)}
        return cls(*sizes[mode], separator)

    def texts(self, candidate: Candidate) -> tuple[str, str]:
        """The source and target text; a sentence that is not there is left out.

        >>> candidate = Candidate("He left.", "Er ging.", ("Hi.",), ("Hallo.",))
        >>> Concatenation.of("concat21", size=0, separator="<sep>").texts(candidate)
        ('Hi. <sep> He left.', 'Er ging.')
        """
        return (
            self._joined(candidate.source_context, candidate.source, self.source),
            self._joined(candidate.target_context, candidate.target, self.target),
        )

    def _joined(self, context: tuple[str, ...], text: str, size: int) -> str:
        before = [sentence for sentence in context[max(0, len(context) - size) :] if sentence.strip()]
        return f" {self.separator} ".join([*before, text]) if self.separator else " ".join([*before, text])
