"""The outputs of several systems, scored row by row: each text in its contexts, and each system's running score."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from pronmetric.scoring.comparison import average, beside_references
from pronmetric.scoring.score import SegmentScore, SystemScore, Tally
from pronmetric.text.context import Text
from pronmetric.text.corpus import Corpus, Row

Stream = Callable[[Iterable[Text]], Iterator[SegmentScore]]


class ScoredRow(NamedTuple):
    """A row; for each system its text's contexts, and the score of the text in each of them."""

    row: Row
    contexts: tuple[tuple[str, ...], ...]
    segments: list[tuple[SegmentScore, ...]]


class SystemResult(NamedTuple):
    """A system's score, and its score in the context of each of several references."""

    name: str
    score: SystemScore
    by_reference: Mapping[str, SystemScore]


def score_rows(corpus: Corpus, kind: str, *, size: int, stream: Stream) -> Iterator[ScoredRow]:
    """Score each row's texts in their contexts of `kind`, of `size` previous sentences; rows keep their order."""
    waiting: deque[tuple[Row, tuple[tuple[str, ...], ...]]] = deque()

    def texts() -> Iterator[Text]:
        for row, contexts in corpus.in_context(kind, size=size):
            waiting.append((row, contexts))
            for text, each in zip(row.texts, contexts, strict=True):
                yield from (Text(context, text, row.evidence, row.speaker) for context in each)

    scores = stream(texts())
    for first in scores:
        row, contexts = waiting.popleft()
        found = chain([first], scores)
        segments = [tuple(islice(found, len(each))) for each in contexts]
        yield ScoredRow(row, contexts, [beside_references(row, k, each) for k, each in enumerate(segments)])


class SystemTally:
    """Running sums of one system's segments, with those in the context of each of several references."""

    def __init__(self, name: str, references: Sequence[str]) -> None:
        self.name = name
        self._tally = Tally()
        self._by_reference = {reference: Tally() for reference in references}

    def add(self, each: Sequence[SegmentScore], doc: str | None) -> SegmentScore:
        """Count a segment, scored in one context or in that of each reference; gives the mean."""
        segment = average(*each)
        self._tally.add(segment, doc)
        for tally, one in zip(self._by_reference.values(), each, strict=False):
            tally.add(one, doc)
        return segment

    def result(self) -> SystemResult:
        """The system's scores so far."""
        parts = {name: tally.score() for name, tally in self._by_reference.items()}
        return SystemResult(self.name, self._tally.score(), parts)
