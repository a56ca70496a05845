"""The statistics of a shard, which can be merged, whatever the order of rows and their number: sums and counts.

Intervals are over documents, of which an input may have more than fit in memory. Up to `MOST` documents are kept one
by one. Beyond that their hashes divide them into `MOST` random groups, and the groups take their place: the spread of
the groups' sums estimates the same variance (the method of random groups, Wolter 2007, chapter 2).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from pronmetric.eval.ratio_sums import COUNT, SHARE, RatioSums
from pronmetric.scoring.score import Counts, Rate, SystemScore, Tally

MOST = 1024
"""Documents, or groups of them, whose sums are kept. More: more exact intervals, larger statistics of each shard."""
Limits = tuple[float, float] | None


class DocumentSum(NamedTuple):
    """The sums of a document's segments, or of a group of documents."""

    score: float
    pronouns: int
    errors: float
    words: int
    preference: float
    preferences: int
    missing: float = 0.0
    surplus: float = 0.0

    @property
    def not_right(self) -> float:
        """The errors that are no missing pronouns."""
        return self.errors - self.missing

    @property
    def wrong(self) -> float:
        """The errors that are neither missing nor surplus pronouns, where both are known."""
        return self.not_right - self.surplus

    def plus(self, other: DocumentSum) -> DocumentSum:
        """The sums of both."""
        return DocumentSum(*map(operator.add, self, other))


@dataclass(frozen=True, slots=True)
class DocumentSums:
    """The sums of documents by name, or of groups of documents by number."""

    sums: Mapping[str, DocumentSum]
    grouped: bool = False

    @classmethod
    def of(cls, tally: Tally) -> DocumentSums | None:
        """The sums of a tally's documents; None where a segment has none."""
        codes = np.array(tally.docs, dtype=np.int64)
        if (codes < 0).any():
            return None
        names = [str(name) for name in tally.documents]

        def add(values: object) -> list[float]:
            return np.bincount(codes, np.nan_to_num(np.array(values, dtype=float)), len(names)).tolist()

        preferences = np.array(tally.preferences, dtype=float)
        whole = [add(tally.counts), add(tally.words), add(~np.isnan(preferences))]
        pronouns, words, known = ([int(value) for value in values] for values in whole)
        apart = add(tally.expected_missing), add(tally.expected_surplus)
        rows = zip(add(tally.sums), pronouns, add(tally.errors), words, add(preferences), known, *apart, strict=True)
        return cls(dict(zip(names, (DocumentSum(*row) for row in rows), strict=True)))._within(MOST)

    def merge(self, other: DocumentSums) -> DocumentSums:
        """The sums of both."""
        if self.grouped != other.grouped:
            return self._group().merge(other._group())
        merged = dict(self.sums)
        for name, sums in other.sums.items():
            merged[name] = merged[name].plus(sums) if name in merged else sums
        return DocumentSums(merged, self.grouped)._within(MOST)

    def ratio(self, numerator: str, denominator: str) -> RatioSums:
        """The sums of a ratio of two fields of `DocumentSum`, by document."""
        values = [(getattr(one, numerator), getattr(one, denominator)) for one in self.sums.values()]
        return RatioSums.of(*zip(*values, strict=True)) if values else RatioSums()

    def _within(self, most: int) -> DocumentSums:
        return self if self.grouped or len(self.sums) <= most else self._group()

    def _group(self) -> DocumentSums:
        return self if self.grouped else DocumentSums(_add_up(self.sums), grouped=True)

    @classmethod
    def read(cls, record: Mapping[str, object]) -> DocumentSums:
        """The sums that `dataclasses.asdict` wrote."""
        sums = record["sums"]
        assert isinstance(sums, Mapping)
        return cls({name: DocumentSum(*one) for name, one in sums.items()}, bool(record["grouped"]))


def _add_up(sums: Mapping[str, DocumentSum]) -> dict[str, DocumentSum]:
    groups: dict[str, DocumentSum] = {}
    for number, one in _numbered(sums.items()):
        groups[number] = groups[number].plus(one) if number in groups else one
    return groups


def _numbered(sums: Iterable[tuple[str, DocumentSum]]) -> Iterable[tuple[str, DocumentSum]]:
    for name, one in sums:
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        yield str(int.from_bytes(digest, "big") % MOST), one


_NONE = RatioSums()
_NO_DOCUMENTS = DocumentSums({})
_APART = ("expected_not_right", "expected_missing", "expected_wrong", "expected_surplus")
GROUPS = "groups of documents"
"""What intervals are over where documents are too many to be kept one by one."""


@dataclass(frozen=True, slots=True)
class SystemSums:
    """Sums of one system's segments.

    score: pronoun scores by pronouns. errors, errors_in_words: expected errors by pronouns and by words.
    preference: preferences by segments that have one. documents: of the system; None where a segment has none.
    unbounded: some scores are no probabilities. missing, surplus: pronouns without a counterpart; None where these are
    not counted. expected_not_right, expected_missing: wrong or surplus pronouns and missing ones; None where missing
    pronouns are not known of all segments. expected_wrong, expected_surplus: the former apart; None where surplus
    pronouns are not known of all. more: missing ones are known of some, so that a text may have more errors than
    pronouns. no_translations: segments that are none.
    """

    segments: int = 0
    score: RatioSums = _NONE
    errors: RatioSums = _NONE
    errors_in_words: RatioSums = _NONE
    preference: RatioSums = _NONE
    documents: DocumentSums | None = _NO_DOCUMENTS
    unbounded: bool = False
    missing: int | None = None
    surplus: int | None = None
    expected_not_right: RatioSums | None = _NONE
    expected_missing: RatioSums | None = _NONE
    expected_wrong: RatioSums | None = _NONE
    expected_surplus: RatioSums | None = _NONE
    more: bool = False
    no_translations: int = 0

    @classmethod
    def of(cls, tally: Tally) -> SystemSums:
        """The sums of a tally's segments."""
        errors, preferences = np.array(tally.errors), np.array(tally.preferences)
        unbounded = bool(np.isnan(errors).any())
        absent, surplus = np.array(tally.expected_missing), np.array(tally.expected_surplus)
        apart = not unbounded and not np.isnan(absent).any()
        told = apart and not np.isnan(surplus).any()
        return cls(
            segments=len(tally.counts),
            score=RatioSums.of(tally.sums, tally.counts),
            errors=_NONE if unbounded else RatioSums.of(errors, tally.counts),
            errors_in_words=_NONE if unbounded else RatioSums.of(errors, tally.words),
            preference=RatioSums.of(np.nan_to_num(preferences), ~np.isnan(preferences)),
            documents=DocumentSums.of(tally),
            unbounded=unbounded,
            missing=tally.missing,
            surplus=tally.surplus,
            expected_not_right=RatioSums.of(errors - absent, tally.counts) if apart else None,
            expected_missing=RatioSums.of(absent, tally.counts) if apart else None,
            expected_wrong=RatioSums.of(errors - absent - surplus, tally.counts) if told else None,
            expected_surplus=RatioSums.of(surplus, tally.counts) if told else None,
            more=not np.isnan(absent).all(),
            no_translations=tally.no_translations,
        )

    def merge(self, other: SystemSums) -> SystemSums:
        """The sums of the segments of both."""
        both = {field.name: _merge(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)}
        counted = {name: _add(getattr(self, name), getattr(other, name)) for name in ("missing", "surplus")}
        return SystemSums(**{**both, **counted})

    def system_score(self) -> SystemScore:
        """The system's score, as `Tally.score` gives it; over random groups of documents if there are very many."""
        documents = self.documents if self.documents is not None and len(self.documents.sums) > 1 else None

        def rate(
            by_segment: RatioSums | None, scale: float, above: str, below: str, limits: Limits = SHARE
        ) -> Rate | None:
            if by_segment is None:
                return None
            over = by_segment if documents is None else documents.ratio(above, below)
            return _rate(by_segment, over, scale, limits)

        scale, bounded = (1.0, None) if self.unbounded else (100.0, SHARE)
        errors = COUNT if self.more else SHARE
        score = rate(self.score, scale, "score", "pronouns", bounded)
        units = self.score if documents is None else documents.ratio("score", "pronouns")
        return SystemScore(
            score=None if score is None else score.value,
            interval=None if score is None else score.interval,
            resampled="segments" if documents is None else GROUPS if documents.grouped else "documents",
            units=units.units,
            pronouns=int(self.score.y),
            segments=self.segments,
            with_pronoun=self.score.units,
            errors=None if self.unbounded else rate(self.errors, 100.0, "errors", "pronouns", errors),
            errors_in_words=None if self.unbounded else rate(self.errors_in_words, 1000.0, "errors", "words", errors),
            preference=rate(self.preference, 1.0, "preference", "preferences", None),
            missing=self.missing,
            surplus=self.surplus,
            wrong_in_pronouns=rate(self.expected_wrong, 100.0, "wrong", "pronouns")
            or rate(self.expected_not_right, 100.0, "not_right", "pronouns"),
            missing_in_pronouns=rate(self.expected_missing, 100.0, "missing", "pronouns", COUNT),
            no_translations=self.no_translations,
            surplus_in_pronouns=rate(self.expected_surplus, 100.0, "surplus", "pronouns"),
        )

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> SystemSums:
        """The sums that `asdict` wrote."""
        ratios: dict[str, RatioSums | None] = {
            name: RatioSums(*record[name]) for name in ("score", "errors", "errors_in_words", "preference")
        }
        for name in _APART:
            ratios[name] = None if record.get(name) is None else RatioSums(*record[name])
        documents = None if record["documents"] is None else DocumentSums.read(record["documents"])
        return cls(**{**record, **ratios, "documents": documents})


@dataclass(frozen=True, slots=True)
class ShardStatistics:
    """What a shard holds: its rows, those that were skipped, the sums of each system, what was encoded."""

    rows: int
    skipped: int
    systems: Mapping[str | None, SystemSums]
    counts: Counts

    @classmethod
    def empty(cls) -> ShardStatistics:
        """Those of no rows."""
        return cls(0, 0, {}, Counts())

    def merge(self, other: ShardStatistics) -> ShardStatistics:
        """Those of the rows of both; systems are in order of first appearance."""
        systems = dict(self.systems)
        for name, sums in other.systems.items():
            systems[name] = systems[name].merge(sums) if name in systems else sums
        counts = merge_counts(self.counts, other.counts)
        return ShardStatistics(self.rows + other.rows, self.skipped + other.skipped, systems, counts)

    def record(self) -> dict[str, Any]:
        """In JSON."""
        systems = [[name, asdict(sums)] for name, sums in self.systems.items()]
        return {"rows": self.rows, "skipped": self.skipped, "systems": systems, "counts": asdict(self.counts)}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> ShardStatistics:
        """What `record` wrote."""
        systems = {name: SystemSums.read(sums) for name, sums in record["systems"]}
        return cls(record["rows"], record["skipped"], systems, Counts(**record["counts"]))


def merge_counts(one: Counts, other: Counts) -> Counts:
    """What was encoded in both."""
    return Counts(**{field.name: getattr(one, field.name) + getattr(other, field.name) for field in fields(Counts)})


def _rate(sums: RatioSums, over: RatioSums, scale: float, limits: Limits) -> Rate | None:
    """`scale` times a ratio in `limits`; over: its sums by the units of the interval."""
    ratio = sums.ratio()
    if ratio is None:
        return None
    ends = over.interval(limits)
    return Rate(scale * ratio, None if ends is None else (scale * ends[0], scale * ends[1]))


def _merge(one: Any, other: Any) -> Any:
    """Numbers, truths or sums of both; None where one of them is unknown."""
    if one is None or other is None:
        return None
    if isinstance(one, bool):
        return one or other
    return one + other if isinstance(one, int) else one.merge(other)


def _add(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)
