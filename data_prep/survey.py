"""One reading of all test sets before the work: where each segment belongs, and lines to train the aligner on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from data_prep.documents import EnglishDocument
from data_prep.splits import DEVELOPMENT, TEST, TRAIN, Copies, Rule, Unit, divided, tokens, unit_of
from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.pronouns import finder
from pronmetric.schema import Document

_KEPT_FROM = {TEST: (DEVELOPMENT, TRAIN), DEVELOPMENT: (TRAIN,)}
_FEWEST_WORDS = 5


class Place(NamedTuple):
    """A segment of a test set."""

    testset: str
    lp: str
    seg: int


class Row(NamedTuple):
    """A segment as the survey keeps it: its place, its unit, its source and its references by name."""

    place: Place
    unit: Unit
    src: str | None
    refs: dict[str, str]

    @property
    def texts(self) -> list[str]:
        """What must not stand on two sides."""
        return [text for text in (self.src, *self.refs.values()) if text]


@dataclass(slots=True)
class Survey:
    """What is known of all test sets together.

    splits: of each segment. barred: the segments that must not give a pair, as they or their context stand on
    another side too. held_out: what development must not hold (the texts of test), and train (those of test and
    development). was_divided: whether the documents of train or
    development went to both, for want of the other. sample: (reference, output) lines for the aligner. counts: what
    was read, by test set.
    """

    splits: dict[Place, str] = field(default_factory=dict)
    barred: set[Place] = field(default_factory=set)
    held_out: dict[str, Copies] = field(default_factory=lambda: {DEVELOPMENT: Copies(), TRAIN: Copies()})
    was_divided: bool = False
    documents: list[list[Row]] = field(default_factory=list)
    sample: list[tuple[str, str]] = field(default_factory=list)
    counts: dict[str, Counter[str]] = field(default_factory=dict)


def survey(
    testsets: Iterable[TestSet],
    *,
    rule: Rule,
    context_size: int,
    sample_size: int,
    development_lines: Iterable[str],
) -> Survey:
    """Read all test sets once. `development_lines` are further texts that training must not hold."""
    found = Survey()
    by_name: dict[Unit, str] = {}
    sample = _Sample(sample_size, rule.seed)
    for testset in testsets:
        split = rule.of(testset.name, testset.year, testset.lp)
        counts = found.counts[testset.id] = Counter()
        systems: set[str] = set()
        refs: set[str] = set()
        for document in discovery.read(testset, tally=counts):
            rows = list(_rows(document, rule.block))
            found.documents.append(rows)
            by_name.update((row.unit, split) for row in rows)
            counts["documents"] += document.exact
            for segment in document.segments:
                systems |= segment.hyps.keys()
                refs |= segment.refs.keys()
                sample.add((ref, hyp) for ref in segment.refs.values() for hyp in segment.hyps.values())
        counts["references"], counts["systems"] = len(refs), len(systems)
    units = divided(by_name, rule)
    found.was_divided = units is not None
    units = units or by_name
    found.splits = {row.place: units[row.unit] for rows in found.documents for row in rows}
    found.sample = sample.lines
    _bar(found, context_size, development_lines)
    return found


def _rows(document: Document, block: int) -> Iterator[Row]:
    for index, segment in enumerate(document.segments):
        place = Place(document.testset, document.lp, segment.seg)
        yield Row(place, unit_of(document, index, block), segment.src, dict(segment.refs))


def _bar(found: Survey, context_size: int, development_lines: Iterable[str]) -> None:
    """Bar the copies: what stands in test from development and train, what stands in development from train.

    A segment whose context holds a barred one, or one of another split, is barred too.
    """
    rows = [row for document in found.documents for row in document]
    for row in rows:
        for split in _KEPT_FROM.get(found.splits[row.place], ()):
            for text in row.texts:
                found.held_out[split].add(text)
    for line in development_lines:
        if long_enough(line):
            found.held_out[TRAIN].add(line)
    copied = {
        row.place
        for row in rows
        if (held_out := found.held_out.get(found.splits[row.place])) and any(map(held_out.near, row.texts))
    }
    for document in found.documents:
        for index, row in enumerate(document):
            nearby = [other.place for other in document[max(0, index - context_size) : index + 1]]
            if any(place in copied or found.splits[place] != found.splits[row.place] for place in nearby):
                found.barred.add(row.place)


def long_enough(line: str) -> bool:
    """Whether a line of plain English can be somebody's copy: "Yes, of course." is nobody's."""
    return len(tokens(line)) >= _FEWEST_WORDS


class _Sample:
    """A seeded sample of at most `size` line pairs out of a stream of unknown length (reservoir sampling)."""

    def __init__(self, size: int, seed: int) -> None:
        self.lines: list[tuple[str, str]] = []
        self._size = size
        self._seen = 0
        self._random = random.Random(seed)

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Offer some pairs; empty and equal ones are passed over."""
        for ref, hyp in pairs:
            if not ref.strip() or not hyp.strip() or ref == hyp:
                continue
            self._seen += 1
            if len(self.lines) < self._size:
                self.lines.append((ref, hyp))
            elif (slot := self._random.randrange(self._seen)) < self._size:
                self.lines[slot] = (ref, hyp)


def reference_documents(found: Survey, split: str) -> Iterator[EnglishDocument]:
    """The references of a split as plain English: runs of segments that are not barred, each reference by itself."""
    for document in found.documents:
        names = dict.fromkeys(name for row in document for name in row.refs)
        for name in names:
            texts = (row.refs.get(name) if _free(found, row.place, split) else None for row in document)
            first = document[0]
            yield from _runs(texts, "wmt", f"{first.place.testset}.{first.place.lp}/{name}/{first.unit[2]}")


def output_documents(
    testsets: Iterable[TestSet], found: Survey, split: str, *, systems: int, seed: int, counts: Counter[str]
) -> Iterator[EnglishDocument]:
    """Outputs of a split as plain English: runs of segments whose pronouns are, form by form, those of a reference.

    Of each test set `systems` systems are drawn. `counts` takes their segments of the split: "outputs.taken",
    "outputs.dropped.other pronouns" and "outputs.dropped.empty".
    """
    for testset in testsets:
        documents = list(discovery.read(testset))
        names = sorted({name for document in documents for segment in document.segments for name in segment.hyps})
        chosen = random.Random(f"{seed} {testset.id}").sample(names, min(systems, len(names)))
        for document in documents:
            places = [Place(document.testset, document.lp, segment.seg) for segment in document.segments]
            right = [
                [_forms(text) for text in segment.refs.values()] if _free(found, place, split) else None
                for place, segment in zip(places, document.segments, strict=True)
            ]
            for name in chosen:
                texts = (
                    None if forms is None else _with_forms(segment.hyps.get(name), forms, counts)
                    for segment, forms in zip(document.segments, right, strict=True)
                )
                yield from _runs(texts, "wmt-system", f"{testset.id}/{name}/{document.doc}")


def _with_forms(text: str | None, forms: list[list[str]], counts: Counter[str]) -> str | None:
    """The text where its pronouns are one of `forms`; counted."""
    if not _filled(text):
        counts["outputs.dropped.empty"] += 1
        return None
    assert text is not None
    if _forms(text) not in forms:
        counts["outputs.dropped.other pronouns"] += 1
        return None
    counts["outputs.taken"] += 1
    return text


def _free(found: Survey, place: Place, split: str) -> bool:
    return found.splits[place] == split and place not in found.barred


def _forms(text: str) -> list[str]:
    return [occurrence.form for occurrence in finder.find(text)]


def _runs(texts: Iterable[str | None], source: str, doc: str) -> Iterator[EnglishDocument]:
    """A document of each run of texts, None and empty ones between them."""
    runs = (tuple(filter(None, run)) for filled, run in groupby(texts, _filled) if filled)
    for number, run in enumerate(runs, start=1):
        yield EnglishDocument(source=source, doc=f"{doc}/{number}", lines=run)


def _filled(text: str | None) -> bool:
    return text is not None and bool(text.strip())
