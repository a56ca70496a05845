"""Learning a table of counts from parallel text: lines of source, each with its references and system outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pronmetric.alignment import table as aligner_file
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.cells import KEY_BASE
from pronmetric.alignment.counts.table import CountTable, Item
from pronmetric.alignment.unmatched import person, unmatched
from pronmetric.errors import InputError, PronmetricError
from pronmetric.pronouns import finder
from pronmetric.text.corpus import TextFile
from pronmetric.text.files.columns import Role
from pronmetric.text.words import lower_words
from pronmetric.text.words import words as split

UNSEEN = 10  # pronouns added to the counts of each form, one of them without a counterpart


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Settings; a few values were tried on WMT23 from German and Ukrainian.

    aligned: the most line pairs that train the aligner. pairs: the most word pairs that are kept of it, each with an
    expected count of at least `least_count` and a product of conditional probabilities of at least `least_product`.
    """

    aligned: int = 10_000
    pairs: int = 1500
    least_count: float = 1.5
    least_product: float = 0.02


class Line(NamedTuple):
    """A source line with its distinct English texts, in order; the first is the first reference."""

    source: str
    texts: tuple[str, ...]


def make_line(source: str, texts: Iterable[str]) -> Line:
    """A line of a source and its English texts; empty ones are left out."""
    return Line(source, tuple(dict.fromkeys(text for text in texts if text.strip())))


def read_parallel(files: Sequence[str]) -> Iterator[Line]:
    """The lines of a source file and of English files parallel to it.

    Raises:
        InputError: a file that cannot be read, or files with different numbers of lines.
    """
    roles = [Role.SOURCE, *[Role.TRANSLATION] * (len(files) - 1)]
    columns = [list(TextFile(name, role)) for name, role in zip(files, roles, strict=True)]
    for name, column in zip(files, columns, strict=True):
        if len(column) != len(columns[0]):
            raise InputError(f"{len(column)} lines, but {files[0]} has {len(columns[0])}: expected the same", file=name)
    for source, *texts in zip(*columns, strict=True):
        yield make_line(source, texts)


Advance = Callable[[int], object]


def fit(
    lines: Sequence[Line],
    language: str,
    *,
    settings: Fitting | None = None,
    about: Mapping[str, Any] | None = None,
    advance: Advance = lambda _: None,
) -> CountTable:
    """Learn the table of `language` from parallel lines; `advance` is called with numbers that sum to `work(lines)`.

    Raises:
        PronmetricError: no English text has a pronoun.
    """
    untrained = CountTable(language, AgreementAligner(), about=dict(about or {}))
    table = replace(untrained, aligner=_aligner(lines, untrained, settings or Fitting()))
    advance(len(lines))
    kept, sourced = _matched(lines, table)
    if not sourced:
        raise PronmetricError("the English side has no pronoun in use: expected English text, line by line parallel")
    advance(len(lines))
    return replace(table, kept=kept, sourced=sourced)


def work(lines: Sequence[Line]) -> int:
    """The numbers that `fit` calls `advance` with, in all: one each for aligning and comparing a line."""
    return 2 * len(lines)


def _aligner(lines: Sequence[Line], table: CountTable, settings: Fitting) -> AgreementAligner:
    """The aligner trained on a regular sample of the line pairs, with its strongest word pairs only."""
    mean = max(1, sum(len(line.texts) for line in lines) // max(1, len(lines)))
    step = max(1, len(lines) * mean // settings.aligned)
    pairs = [(table.read(line.source).lower, lower_words(split(text))) for line in lines for text in line.texts[::step]]
    whole = AgreementAligner()
    whole.train(pairs)
    stored = whole.to_table()
    a, b = stored.keys // KEY_BASE, stored.keys % KEY_BASE
    of_a, of_b = (1 + np.bincount(side, stored.counts, len(stored.words)) for side in (a, b))
    product = stored.counts**2 / (of_a[a] * of_b[b])
    good = np.flatnonzero((stored.counts >= settings.least_count) & (product >= settings.least_product))
    kept = np.sort(good[np.argsort(-stored.counts[good], kind="stable")][: settings.pairs])
    used = np.unique(np.concatenate([a[kept], b[kept]]))
    number = np.zeros(len(stored.words), np.int64)
    number[used] = np.arange(len(used))
    pruned = aligner_file.Table(
        stored.settings,
        [stored.words[index] for index in used],
        stored.occurrences[:, used],
        number[a[kept]] * KEY_BASE + number[b[kept]],
        stored.counts[kept].astype(np.float32).astype(np.float64),
    )
    return AgreementAligner.of(pruned)


def _matched(lines: Sequence[Line], table: CountTable) -> tuple[dict[str, float], dict[str, float]]:
    """How often each source pronoun and each person of English pronouns has a counterpart, in first references."""
    forms: Counter[str] = Counter()
    persons: Counter[str] = Counter()
    without: Counter[str] = Counter()
    items = []
    for line in lines:
        text = line.texts[0] if line.texts else ""
        words = split(text)
        items.append(Item(line.source, words, finder.find(text, words)))
    for item, (source, links) in zip(items, table.aligned(items), strict=True):
        found = unmatched(source, table.closed, item.words, item.pronouns, links)
        forms.update(source.forms[k] for k in source.closed if source.forms[k] in table.closed.pronouns)
        persons.update(person(item.words, pronoun) for pronoun in item.pronouns)
        without.update(f"s {source.forms[k]}" for k in found.missing)
        without.update(f"e {person(item.words, item.pronouns[k])}" for k in found.surplus)
    del persons[""]
    kept = {form: 1 - (without[f"s {form}"] + 1) / (count + UNSEEN) for form, count in sorted(forms.items())}
    return kept, {name: 1 - (without[f"e {name}"] + 1) / (count + UNSEEN) for name, count in sorted(persons.items())}
