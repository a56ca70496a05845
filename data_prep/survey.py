"""A first pass over all test sets: the split of each segment, and lines to train the aligner."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import NamedTuple

from data_prep.documents import EnglishDocument
from data_prep.splits import DEVELOPMENT, TEST, TRAIN, Copies, SplitRule, Unit, divide, tokens, unit_of
from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.pronouns.known_words import KnownWords
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import Document
from pronmetric.text.context import is_sentence

_KEPT_FROM = {TEST: (DEVELOPMENT, TRAIN), DEVELOPMENT: (TRAIN,)}
_FEWEST_WORDS = 5  # of a line that counts as a copy; more: copies pass, fewer: "Yes, of course." keeps documents apart


class SegmentId(NamedTuple):
    """The identity of a segment."""

    testset: str
    lp: str
    seg: int


class Row(NamedTuple):
    """A segment in the survey: its identity, its unit, its source and its references by name.

    sentence: whether it takes a place in each context, as it has all references and outputs, and all are sentences.
    speaker: who says it, None or "" if that is not known.
    """

    segment: SegmentId
    unit: Unit
    src: str | None
    refs: dict[str, str]
    sentence: bool = True
    speaker: str | None = None

    @property
    def texts(self) -> list[str]:
        """The texts that must not occur in two splits."""
        return [text for text in (self.src, *self.refs.values()) if text]


@dataclass(slots=True)
class Survey:
    """The result of the first pass.

    splits: of each segment. barred: segments that must not give a pair, as they or their context also occur in another
    split. held_out: texts excluded from development (those of test) and from train (those of test and development).
    was_divided: whether documents were divided between train and development, as one of them had no test set. sample:
    (reference, output) lines for the aligner. counts: of what was read, by test set. doubts: of references and systems,
    by name, why they do not look like the target language.
    """

    splits: dict[SegmentId, str] = field(default_factory=dict)
    barred: set[SegmentId] = field(default_factory=set)
    held_out: dict[str, Copies] = field(default_factory=lambda: {DEVELOPMENT: Copies(), TRAIN: Copies()})
    was_divided: bool = False
    documents: list[list[Row]] = field(default_factory=list)
    sample: list[tuple[str, str]] = field(default_factory=list)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)


def survey(
    testsets: Iterable[TestSet],
    *,
    rule: SplitRule,
    context_size: int,
    sample_size: int,
    development_lines: Iterable[str],
    language: Language = ENGLISH,
) -> Survey:
    """Read all test sets once. `development_lines` are further texts excluded from training; language: the target."""
    surveyed = Survey()
    by_name: dict[Unit, str] = {}
    sample = _Sample(sample_size, rule.seed)
    for testset in testsets:
        split = rule.of(testset.name, testset.year, testset.lp)
        counts = surveyed.counts[testset.id] = Counter()
        systems: set[str] = set()
        refs: set[str] = set()
        known: defaultdict[str, KnownWords] = defaultdict(partial(KnownWords, language))
        for document in discovery.read(testset, tally=counts):
            rows = list(_rows(document, rule.block))
            surveyed.documents.append(rows)
            by_name.update((row.unit, split) for row in rows)
            counts["documents"] += document.exact
            for segment in document.segments:
                systems |= segment.hyps.keys()
                refs |= segment.refs.keys()
                for name, text in (*segment.refs.items(), *segment.hyps.items()):
                    known[f"{testset.id}, {name}"].add(text)
                sample.add((ref, hyp) for ref in segment.refs.values() for hyp in segment.hyps.values())
        counts["references"], counts["systems"] = len(refs), len(systems)
        surveyed.doubts |= {name: doubt for name, each in known.items() if (doubt := each.doubt()) is not None}
    units = divide(by_name, rule)
    surveyed.was_divided = units is not None
    units = units or by_name
    surveyed.splits = {row.segment: units[row.unit] for rows in surveyed.documents for row in rows}
    surveyed.sample = sample.lines
    _bar(surveyed, context_size, development_lines)
    return surveyed


def _rows(document: Document, block: int) -> Iterator[Row]:
    refs = dict.fromkeys(name for segment in document.segments for name in segment.refs)
    systems = dict.fromkeys(name for segment in document.segments for name in segment.hyps)
    for index, segment in enumerate(document.segments):
        identity = SegmentId(document.testset, document.lp, segment.seg)
        texts = *(segment.refs.get(name, "") for name in refs), *(segment.hyps.get(name, "") for name in systems)
        sentence = all(map(is_sentence, texts))
        yield Row(identity, unit_of(document, index, block), segment.src, dict(segment.refs), sentence, segment.speaker)


def _bar(surveyed: Survey, context_size: int, development_lines: Iterable[str]) -> None:
    """Bar copies: texts of test from development and train, texts of development from train.

    A segment with a barred context segment, or one of another split, is barred too.
    """
    rows = [row for document in surveyed.documents for row in document]
    for row in rows:
        for split in _KEPT_FROM.get(surveyed.splits[row.segment], ()):
            for text in row.texts:
                surveyed.held_out[split].add(text)
    for line in development_lines:
        if long_enough(line):
            surveyed.held_out[TRAIN].add(line)
    copied = {
        row.segment
        for row in rows
        if (held_out := surveyed.held_out.get(surveyed.splits[row.segment])) and any(map(held_out.near, row.texts))
    }
    for document in surveyed.documents:
        for index, row in enumerate(document):
            nearby = _with_context(document, index, context_size)
            if any(other in copied or surveyed.splits[other] != surveyed.splits[row.segment] for other in nearby):
                surveyed.barred.add(row.segment)


def _with_context(document: Sequence[Row], index: int, size: int) -> Iterator[SegmentId]:
    """A segment and those before it, as far back as the context of any text of it reaches."""
    yield document[index].segment
    sentences = 0
    for row in map(document.__getitem__, range(index - 1, -1, -1)):
        if sentences == size:
            break
        yield row.segment
        sentences += row.sentence


def long_enough(line: str) -> bool:
    """Whether a line is long enough to count as a copy, unlike "Yes, of course."."""
    return len(tokens(line)) >= _FEWEST_WORDS


class _Sample:
    """A seeded reservoir sample of at most `size` line pairs from a stream."""

    def __init__(self, size: int, seed: int) -> None:
        self.lines: list[tuple[str, str]] = []
        self._size = size
        self._seen = 0
        self._random = random.Random(seed)

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Offer pairs; empty and equal ones are ignored."""
        for ref, hyp in pairs:
            if not ref.strip() or not hyp.strip() or ref == hyp:
                continue
            self._seen += 1
            if len(self.lines) < self._size:
                self.lines.append((ref, hyp))
            elif (slot := self._random.randrange(self._seen)) < self._size:
                self.lines[slot] = (ref, hyp)


def reference_documents(surveyed: Survey, split: str) -> Iterator[EnglishDocument]:
    """The references of a split as plain English: runs of segments that are not barred, each reference on its own."""
    for document in surveyed.documents:
        names = dict.fromkeys(name for row in document for name in row.refs)
        for name in names:
            texts = (row.refs.get(name) if is_free(surveyed, row.segment, split) else None for row in document)
            first = document[0]
            yield from _runs(texts, "wmt", f"{first.segment.testset}.{first.segment.lp}/{name}/{first.unit[2]}")


def draw_systems(testset: TestSet, documents: Iterable[Document], number: int, seed: int) -> list[str]:
    """The names of `number` systems of a test set, or of all; the same ones for the same seed."""
    names = sorted({name for document in documents for segment in document.segments for name in segment.hyps})
    return random.Random(f"{seed} {testset.id}").sample(names, min(number, len(names)))


def is_free(surveyed: Survey, segment: SegmentId, split: str) -> bool:
    """Whether a segment is of a split, and neither it nor its context occurs in another one."""
    return surveyed.splits[segment] == split and segment not in surveyed.barred


def find_forms(text: str, language: Language) -> list[str]:
    """The forms of the pronouns of a text, in order."""
    return [occurrence.form for occurrence in language.find(text)]


def _runs(texts: Iterable[str | None], source: str, doc: str) -> Iterator[EnglishDocument]:
    """A document of each run of texts, None and empty ones between them."""
    runs = (tuple(filter(None, run)) for filled, run in groupby(texts, _is_filled) if filled)
    for number, run in enumerate(runs, start=1):
        yield EnglishDocument(source=source, doc=f"{doc}/{number}", lines=run)


def _is_filled(text: str | None) -> bool:
    return text is not None and bool(text.strip())
