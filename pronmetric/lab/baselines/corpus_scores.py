"""Reference-based baselines of whole systems: the aligner is trained on the scored lines, counts are added up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.lab.baselines.reference_based import (
    Counts,
    ReferenceBaseline,
    SegmentWords,
    add_counts,
    get_baseline,
    split_segment,
)
from pronmetric.output.tsv import DIGITS
from pronmetric.report.text import table
from pronmetric.schema import Alignment
from pronmetric.scoring.score import SystemScore
from pronmetric.text.corpus import Corpus
from pronmetric.text.words import lower_words
from pronmetric.version import __version__

Line = tuple[str | None, str]
"""A reference (None or blank: there is none) and a text."""
MAX_TRAINING_LINES = 20_000
"""Line pairs that the aligner is trained on at most, spread evenly over the corpus."""
OURS = "pronmetric"


class BaselineScorer:
    """Some reference-based baselines, with the word aligner that those of pronouns need.

    The aligner is trained on the lines that are scored, so the links of one system depend slightly on the other
    systems; the signature identifies these lines.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.baselines: tuple[ReferenceBaseline, ...] = tuple(map(get_baseline, names))
        self._aligner: AgreementAligner | None = None
        self._aligner_signature = ""

    def train_aligner(self, lines: Iterable[Line], *, number: int) -> None:
        """Train the aligner on `number` lines, if a baseline needs it."""
        if not any(baseline.needs_links for baseline in self.baselines):
            return
        digest, known = blake2b(digest_size=4), []
        for segment in map(_split, islice(lines, 0, None, -(-number // MAX_TRAINING_LINES))):
            if segment is not None and segment.ref_words and segment.words:
                known.append((lower_words(segment.ref_words), lower_words(segment.words)))
                digest.update(f"{segment.reference}\n{segment.text}\n".encode(errors="surrogatepass"))
        self._aligner = AgreementAligner()
        self._aligner.train(known)
        trained_on = f"learned:{len(known)}|lines:{digest.hexdigest()}"
        self._aligner_signature = f"|aligner:agreement|{trained_on}|version:{__version__}"

    def count_segments(self, lines: Iterable[Line]) -> Iterator[tuple[Counts, ...] | None]:
        """The counts of each baseline for each line, in order; None without a reference.

        `lines` is read some hundred lines ahead.
        """
        waiting: deque[SegmentWords | None] = deque()

        def split_lines() -> Iterator[tuple[list[str], list[str]]]:
            for segment in map(_split, lines):
                waiting.append(segment)
                yield ([], []) if segment is None else (lower_words(segment.ref_words), lower_words(segment.words))

        if self._aligner is None:
            unaligned = Alignment(())
            alignments: Iterator[Alignment] = (unaligned for _ in split_lines())
        else:
            alignments = self._aligner.align_all(split_lines())
        for alignment in alignments:
            segment = waiting.popleft()
            yield None if segment is None else self._count(segment._replace(links=alignment.links))

    def score_segment(self, counts: tuple[Counts, ...] | None) -> dict[str, float | None]:
        """The scores of one segment by baseline; None without a reference or without an instance."""
        if counts is None:
            return {baseline.name: None for baseline in self.baselines}
        return {baseline.name: baseline.segment(its) for baseline, its in zip(self.baselines, counts, strict=True)}

    def signatures(self, *, segment: bool = False) -> dict[str, str]:
        """The signature of each baseline's system score, or of its segment score."""
        return {
            baseline.name: (baseline.segment_signature if segment else baseline.signature)
            + (self._aligner_signature if baseline.needs_links else "")
            for baseline in self.baselines
        }

    def _count(self, segment: SegmentWords) -> tuple[Counts, ...]:
        return tuple(baseline.count(segment) for baseline in self.baselines)


class SystemBaselines:
    """The baselines of several systems, added up row by row; keeps no text."""

    def __init__(self, scorer: BaselineScorer, systems: Sequence[str]) -> None:
        self.scorer = scorer
        self.systems = systems
        self._totals: list[list[Counts | None]] = [[None] * len(scorer.baselines) for _ in systems]
        self.without_reference = 0
        """Rows without a reference, which are left out."""

    @classmethod
    def of(cls, corpus: Corpus, names: Sequence[str]) -> SystemBaselines:
        """Those of the baselines `names`, with their word alignment learned from the corpus."""
        scorer = BaselineScorer(names)
        scorer.train_aligner(_lines(corpus), number=corpus.segments * len(corpus.systems))
        return cls(scorer, corpus.systems)

    def score_corpus(self, corpus: Corpus) -> Iterator[list[dict[str, float | None]]]:
        """The segment scores of all systems, row by row."""
        return self.score_rows(_lines(corpus))

    def score_rows(self, lines: Iterable[Line]) -> Iterator[list[dict[str, float | None]]]:
        """The segment scores of all systems, row by row; `lines` has a line for each system, then the next row's."""
        counts = self.scorer.count_segments(lines)
        while row := list(islice(counts, len(self.systems))):
            self.without_reference += row[0] is None
            for total, found in zip(self._totals, row, strict=True):
                if found is not None:
                    total[:] = map(add_counts, total, found)
            yield [self.scorer.score_segment(found) for found in row]

    def score_systems(self) -> list[dict[str, dict[str, Any]]]:
        """For each system its scores so far by baseline: score, instances, unit and counts, for JSON."""
        return [
            {
                baseline.name: _describe(baseline, counts)
                for baseline, counts in zip(self.scorer.baselines, total, strict=True)
            }
            for total in self._totals
        ]

    def signatures(self) -> dict[str, dict[str, str]]:
        """The signatures of the system scores and of the segment scores, for JSON."""
        return {"signatures": self.scorer.signatures(), "segment_signatures": self.scorer.signatures(segment=True)}


def _lines(corpus: Corpus) -> Iterator[Line]:
    """Each text with its reference, row by row."""
    return ((row.reference, text) for row in corpus.rows() for text in row.texts)


def _split(line: Line) -> SegmentWords | None:
    reference, text = line
    return split_segment(reference, text) if reference and reference.strip() else None


def _describe(baseline: ReferenceBaseline, counts: Counts | None) -> dict[str, Any]:
    if counts is None:
        return {"score": None, "instances": 0, "unit": baseline.unit}
    score = baseline.system(counts)
    return {
        "score": None if score is None else round(score, DIGITS),
        "instances": baseline.instances(counts),
        "unit": baseline.unit,
        **({"counts": dict(zip(baseline.fields, counts, strict=True))} if baseline.fields else {}),
    }


def format_units(baselines: SystemBaselines) -> str:
    """The units of the numbers in brackets of `format_systems`."""
    units: dict[str, list[str]] = {"pronouns": [OURS]}
    for baseline in baselines.scorer.baselines:
        units.setdefault(baseline.unit, []).append(baseline.name)
    return "; ".join(f"{unit} ({', '.join(names)})" for unit, names in units.items())


def format_systems(baselines: SystemBaselines, learned: Sequence[SystemScore]) -> str:
    """All scores of all systems with their numbers of instances, the learned score first."""
    rows: list[list[object]] = []
    for name, own, scores in zip(baselines.systems, learned, baselines.score_systems(), strict=True):
        cells = [(own.score, own.pronouns), *((its["score"], its["instances"]) for its in scores.values())]
        rows.append([name, *(f"{'-' if score is None else f'{score:.2f}'} ({number})" for score, number in cells)])
    return table(["", OURS, *(baseline.name for baseline in baselines.scorer.baselines)], rows)
