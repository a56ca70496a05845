"""`suite build wmt`: pronoun errors of WMT systems with their noisy references and sources, as entries of a test suite.

An entry has the source sentence with its previous source sentences, the reference with its context, what the system
wrote, and the reference with the system's pronoun (Jwalapuram et al. 2019, section 3.2).
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import NamedTuple

from data_prep.filters import Filter, Reader, filter_pair, judge, sources
from data_prep.noise import noisy_references
from data_prep.pairs import system_pairs
from data_prep.testset_to_pairs import train_aligner
from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.errors import InputError
from pronmetric.pronouns.languages import Language
from pronmetric.schema import Document, Pair
from pronmetric.text import strict_json
from pronmetric.text.context import History

TABLE = "entries"
ALL, AGREEMENT, SOURCE = "none", "agreement", "source"
"""The stages of filtering: all errors, those that pass the filter of pronoun pairs, and then that of the source."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A pronoun error of a system.

    Contexts are the previous sentences of the document, the nearest one last. start, end: the span of the right pronoun
    in `reference`. agrees: False where the verb or noun beside the wrong pronoun shows that it is wrong.
    """

    id: str
    testset: str
    lp: str
    doc: str
    seg: int
    system: str
    reference_name: str
    source_context: tuple[str, ...]
    source: str
    reference_context: tuple[str, ...]
    reference: str
    output_context: tuple[str, ...]
    output: str
    noisy_reference: str
    right: str
    wrong: str
    start: int
    end: int
    agrees: bool


class CandidateError(NamedTuple):
    """An error, and the filter that drops it ("": none)."""

    entry: Entry
    dropped: str


@dataclass(frozen=True, slots=True)
class Filters:
    """What is kept: pronoun pairs; with a reader of sources clean labels only."""

    pairs: Filter
    reader: Reader | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """A line of the paper's Table 2 for a source language, after a filter.

    contexts: distinct source sentences with their context. entries: errors, of which `pronoun_pairs` kinds.
    without_source: errors that were left out, as their test set has no source.
    """

    language: str
    filter: str
    testsets: int
    contexts: int
    entries: int
    pronoun_pairs: int
    without_source: int


def build(
    testsets: Iterable[TestSet],
    language: Language,
    *,
    filters: Filters,
    context_size: int,
    seed: int,
    without_source: dict[str, int],
    words: Counter[str] | None = None,
) -> Iterator[CandidateError]:
    """The errors of test sets, each pair of reference and noisy reference of a source language once.

    The aligner is trained on each test set alone. `without_source` takes the number of errors without a source by
    source language, `words` those of the lower-cased words of the references, split at blanks.
    """
    seen: set[tuple[str, str, str]] = set()
    for testset in testsets:
        documents = list(discovery.read(testset))
        if words is not None:
            for text in (text for document in documents for each in document.segments for text in each.refs.values()):
                words.update(text.lower().split())
        texts = _sources(documents, context_size)
        judged = None if filters.reader is None else judge(sources(documents), filters.reader)
        for pair, noisy in _errors(documents, language, context_size, seed):
            key = (testset.source, noisy.better, noisy.worse)
            if key in seen:
                continue
            seen.add(key)
            found = _entry(pair, noisy, texts)
            if found is None:
                without_source[testset.source] = without_source.get(testset.source, 0) + 1
            elif filter_pair(noisy, filters.pairs) is None:
                yield CandidateError(found, AGREEMENT)
            else:
                yield CandidateError(found, SOURCE if judged is not None and judged(noisy) is not None else "")


def _errors(
    documents: Sequence[Document], language: Language, context_size: int, seed: int
) -> Iterator[tuple[Pair, Pair]]:
    """The system pairs with each of their noisy references."""
    aligner = train_aligner(documents, seed, language)
    if aligner is None:
        return
    pairs = system_pairs(
        documents,
        aligner.align_all,
        forms=language.forms,
        context_size=context_size,
        counts=Counter(),
        language=language,
    )
    for pair in pairs:
        for noisy in noisy_references(pair, language):
            yield pair, noisy


_Sources = Mapping[tuple[str, str], Mapping[int, tuple[str | None, tuple[str, ...]]]]


def _sources(documents: Sequence[Document], context_size: int) -> _Sources:
    """The source of each segment, with the `context_size` source sentences before it in its document."""
    found: defaultdict[tuple[str, str], dict[int, tuple[str | None, tuple[str, ...]]]] = defaultdict(dict)
    for document in documents:
        history = History(size=context_size)
        for segment in document.segments:
            before = history.before(segment.src or "")
            found[document.doc, document.lp][segment.seg] = (segment.src, tuple(before))
    return found


def _entry(pair: Pair, noisy: Pair, sources: _Sources) -> Entry | None:
    source, before = sources[pair.doc, pair.lp][pair.seg]
    if not source:
        return None
    (mismatch,) = noisy.mismatches
    return Entry(
        id=noisy.id,
        testset=pair.testset,
        lp=pair.lp,
        doc=pair.doc,
        seg=pair.seg,
        system=pair.system,
        reference_name=pair.ref,
        source_context=before,
        source=source,
        reference_context=pair.context,
        reference=pair.better,
        output_context=pair.system_context,
        output=pair.worse,
        noisy_reference=noisy.worse,
        right=mismatch.ref_form,
        wrong=mismatch.hyp_form,
        start=mismatch.ref_start,
        end=mismatch.ref_end,
        agrees=noisy.agrees,
    )


def counts(found: Sequence[CandidateError], without_source: Mapping[str, int]) -> list[Count]:
    """The figures of each source language and of all together ("all"), after each filter that dropped an error."""
    groups: defaultdict[str, list[CandidateError]] = defaultdict(list)
    for one in found:
        groups[one.entry.lp.split("-")[0]].append(one)
    for code in without_source:
        groups.setdefault(code, [])
    stages = [ALL, *(name for name in (AGREEMENT, SOURCE) if any(one.dropped == name for one in found))]
    rows = [(code, groups[code], without_source.get(code, 0)) for code in sorted(groups)]
    rows.append(("all", list(found), sum(without_source.values())))
    return [_count(*row, stages[: number + 1]) for row in rows for number in range(len(stages))]


def _count(code: str, found: Sequence[CandidateError], without_source: int, stages: Sequence[str]) -> Count:
    entries = [one.entry for one in found if one.dropped not in stages]
    return Count(
        language=code,
        filter=stages[-1],
        testsets=len({(entry.testset, entry.lp) for entry in entries}),
        contexts=len({(entry.lp.split("-")[0], entry.source_context, entry.source) for entry in entries}),
        entries=len(entries),
        pronoun_pairs=len({(entry.right, entry.wrong) for entry in entries}),
        without_source=without_source,
    )


def json_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """One JSON object an entry."""
    return (strict_json.dump(asdict(entry)) + "\n" for entry in entries)


def write_sqlite(path: Path, entries: Iterable[Entry], figures: Iterable[Count]) -> None:
    """A database with the tables `entries` (contexts as JSON lists) and `counts`; it appears whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    try:
        connection = sqlite3.connect(new)
        try:
            with connection:
                _fill(connection, TABLE, [field.name for field in fields(Entry)], map(asdict, entries))
                _fill(connection, "counts", [field.name for field in fields(Count)], map(asdict, figures))
        finally:
            connection.close()
        new.replace(path)
    except sqlite3.Error as error:
        raise InputError(f"cannot be written: {error}", file=path) from None
    finally:
        new.unlink(missing_ok=True)


def _fill(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[Mapping[str, object]]
) -> None:
    named = ", ".join(f'"{name}"' for name in columns)
    connection.execute(f"CREATE TABLE {table} ({named})")
    marks = ", ".join("?" for _ in columns)
    values = ([_plain(row[name]) for name in columns] for row in rows)
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)


def _plain(value: object) -> object:
    return strict_json.dump(value) if isinstance(value, tuple) else value
