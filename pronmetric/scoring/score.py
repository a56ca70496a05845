"""Scores: of a pronoun, a segment, a system.

Direction: higher is better everywhere. With the shipped head a pronoun's score is a probability in [0, 1] that it
is right here in this context, a segment's is one number in [0, 1] from its pronouns (their mean), and a system's is
100 x the mean over all its pronouns. The paper's heads give unbounded numbers; they have no probability, and a
system's score is then the plain mean over all pronouns.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.eval.decision import ERRORS, PREFERENCE, SCORE
from pronmetric.eval.ratio_sums import COUNT
from pronmetric.eval.significance import Totals, interval, totals
from pronmetric.text.readable import readable
from pronmetric.text.words import Word

Array = NDArray[np.float64]
LISTED = 0.1  # least probability of a missing pronoun of a gap that is listed; chosen by hand, not tuned
SPEAKERS = "named"  # in the signature of scores of texts whose speakers are given
MOST = 4.0  # log-odds of the source beyond this count as this; chosen by hand, not tuned


class Evidence(NamedTuple):
    """What the source says about one pronoun.

    log_odds: what the reader of sources adds to the pronoun's logit, its own logit times its weight: above 0 where it
    supports the form, below 0 where it contradicts it; in [-MOST, MOST]. The checkpoint's share and the bias are not in
    it, so that it is not the change of the logit. word, start, end: the source word that decides most, its span in the
    source; "" and -1 where it is none of this sentence.
    """

    log_odds: float
    word: str
    start: int
    end: int


class PronounScore(NamedTuple):
    """One pronoun: its surface text, its half-open span of code points in the segment's text, and its score.

    score: higher is better. probability: the same number, in [0, 1], where the head gives one; None where the score is
    unbounded. evidence: what the source says about the pronoun; None where no source counts. surplus: the probability
    that it is wrong because it should not be there, a part of 1 - probability; None where it is not told.
    """

    text: str
    start: int
    end: int
    score: float
    probability: float | None
    evidence: Evidence | None = None
    surplus: float | None = None


UNKNOWN = "?"  # the form of a missing pronoun, where it is not told


class Gap(NamedTuple):
    """A place where a pronoun may be missing: before the word that starts at `start`, in code points of the text.

    form: the likeliest one; `UNKNOWN` in a language that the model was not trained on. probability: that one is
    missing there, in [0, 1].
    """

    start: int
    form: str
    probability: float


class Unmatched(NamedTuple):
    """Pronouns of the source or reference without a counterpart in the text, and those of the text without one there.

    Their spans are those of code points in the source or reference, and in the text.
    """

    missing: tuple[Word, ...]
    surplus: tuple[Word, ...]


class SegmentScore(NamedTuple):
    """One text: its score from its pronouns, higher is better, in [0, 1] where they have probabilities.

    score: None where the text has no pronoun. preference: the unbounded score of the pair head, by which two texts of
    one segment are compared, higher is better; None without a pair head, and without a pronoun unless a reader of
    sources has a preference that was fitted on pairs that people judged. words: of the text, between white space.
    unmatched: missing and surplus pronouns; None where neither a source nor a reference is compared. attended: for each
    pronoun the start of the word that it attends to most, itself and marks left out, in code points from the start of
    the text, below 0 in the context; None without another word, without attention and where the model reads the source
    with the text, and None for all where it was not asked for. missing: the expected number of missing pronouns, lower
    is better, and gaps: the places with a probability of at least `LISTED`; None and empty where no reader with a gap
    head read the source. surplus: the expected number of surplus pronouns, a part of those that are not right; None
    where missing is, and where the reader does not tell them apart. no_translation: why the text is no translation,
    such as "refusal" (`pronmetric.text.no_translation`); None where it may be one.
    """

    score: float | None
    pronouns: tuple[PronounScore, ...]
    preference: float | None = None
    words: int = 0
    unmatched: Unmatched | None = None
    attended: tuple[int | None, ...] | None = None
    missing: float | None = None
    gaps: tuple[Gap, ...] = ()
    no_translation: str | None = None
    surplus: float | None = None

    @property
    def not_right(self) -> float | None:
        """The expected number of wrong or surplus pronouns, the sum of 1 - p; None where a score is no probability."""
        not_right = [1 - p.probability for p in self.pronouns if p.probability is not None]
        return fsum(not_right) if len(not_right) == len(self.pronouns) else None

    @property
    def wrong(self) -> float | None:
        """The expected number of wrong pronouns, with surplus ones where these are not told apart; None as above."""
        return None if self.not_right is None else self.not_right - (self.surplus or 0.0)

    @property
    def errors(self) -> float | None:
        """The expected number of wrong, surplus and missing pronouns; None where a score is no probability.

        >>> SegmentScore(0.75, (PronounScore("It", 0, 2, 0.5, 0.5), PronounScore("he", 9, 11, 1.0, 1.0))).errors
        0.5
        >>> SegmentScore(None, (), missing=0.25).errors
        0.25
        """
        return None if self.not_right is None else self.not_right + (self.missing or 0.0)

    def value(self, by: str) -> float | None:
        """The number by which texts are compared, higher is better; by: one of `DECISIONS`, of errors the negative.

        None without a pronoun, but for the errors of a text whose missing pronouns are known, and where the checkpoint
        gives no such number.
        """
        if by == PREFERENCE:
            return self.preference
        if by == SCORE or (self.score is None and self.missing is None):
            return self.score
        errors = self.errors
        return None if errors is None else -errors


class Rate(NamedTuple):
    """A ratio of a system, and its 95 % interval over the units of its score; None with too few."""

    value: float
    interval: tuple[float, float] | None


class SystemScore(NamedTuple):
    """One system: 100 x the mean probability over all its pronouns, in [0, 100], higher is better.

    With an unbounded head it is the plain mean. None where there is no pronoun at all.

    interval: 95 % interval of Student's t over `units` documents or segments (`resampled` says which) with a pronoun,
    see `pronmetric.eval.ratio_sums`; None with fewer than 4. pronouns, segments: how many there are; with_pronoun:
    segments that have one.
    errors, errors_in_words: expected wrong and missing pronouns in 100 pronouns and in 1,000 words, lower is better;
    None without probabilities, pronouns or words. wrong_in_pronouns, missing_in_pronouns: the wrong and the missing
    ones apart, in 100 pronouns; None where the missing ones are not known of all segments. surplus_in_pronouns: the
    surplus ones; None where they are not told apart in all segments, so that they are among the wrong ones. preference:
    the mean over its segments with one; None without a pair head.
    missing, surplus: the numbers of missing and of surplus pronouns; None where no segment has them.
    no_translations: segments that are no translation; the first of them, from 0.
    """

    score: float | None
    interval: tuple[float, float] | None
    resampled: str
    units: int
    pronouns: int
    segments: int
    with_pronoun: int
    errors: Rate | None = None
    errors_in_words: Rate | None = None
    preference: Rate | None = None
    missing: int | None = None
    surplus: int | None = None
    wrong_in_pronouns: Rate | None = None
    missing_in_pronouns: Rate | None = None
    no_translations: int = 0
    first_no_translation: int | None = None
    surplus_in_pronouns: Rate | None = None

    def no_translation_note(self, unit: str = "line") -> str | None:
        """What a user should know of segments that are no translation; unit: what a segment is; None without any."""
        if self.first_no_translation is None:
            return None
        return no_translation_note(self.no_translations, self.segments, self.first_no_translation, unit)


def no_translation_note(number: int, segments: int, first: int, unit: str) -> str:
    """The note on segments that are no translation; first: that of the first, from 0. unit: what a segment is."""
    return (
        f"{number} of {segments} {unit}s look like what a language model says instead of a translation, and their "
        f"pronouns count as they stand (the first is {unit} {first + 1})"
    )


@dataclass(slots=True)
class Counts:
    """What was encoded: distinct (context, text) with a pronoun, and what the encoder's length did to them.

    cut: texts whose context lost pieces on its left. shortened: those whose given context had more sentences than the
    model was trained on, of which it reads the last ones. windowed: texts too long for the encoder that were read in
    overlapping windows, each pronoun scored once. surplus: texts with more pronouns than the paper's head has slots;
    those beyond them have a score but no weight in the segment's. unread: texts with words whose ends the encoder does
    not read. with_source: texts with a source that counts. source_cut: those whose source is too long for the model, so
    that a part of it was not read. source_ignored: texts with a source that counts nothing, because with it scores
    agree less with what people marked. source_unnamed: texts whose source counts as one in a language that the reader
    was trained on, because its language is not known, though in others it would count nothing.
    with_speaker: texts whose speakers are given.

    entities, apostrophes, letters, markup: texts, with a pronoun or without, in which or in whose context such was read
    as plain text (`pronmetric.text.readable`).
    """

    encoded: int = 0
    cut: int = 0
    shortened: int = 0
    windowed: int = 0
    surplus: int = 0
    unread: int = 0
    with_source: int = 0
    source_cut: int = 0
    source_ignored: int = 0
    source_unnamed: int = 0
    with_speaker: int = 0
    entities: int = 0
    apostrophes: int = 0
    letters: int = 0
    markup: int = 0

    def add_reading(self, *texts: str) -> None:
        """Count a text, with its context, by what was changed to read it."""
        for kind in frozenset[str]().union(*(readable(text).changes for text in texts)):
            setattr(self, kind, getattr(self, kind) + 1)

    def notes(self) -> Iterator[str]:
        """What a user should know: how many texts were changed to read them, and how many were too long."""
        read = {
            "entities": self.entities,
            "odd apostrophes": self.apostrophes,
            "odd letters": self.letters,
            "mark-up": self.markup,
        }
        if any(read.values()):
            kinds = ", ".join(f"{what} in {number}" for what, number in read.items() if number)
            yield f"read as plain text: {kinds} texts"
        of = f"of {self.encoded} distinct texts"
        if self.cut:
            yield f"context cut on the left to fit the encoder: {self.cut} {of}"
        if self.shortened:
            why = "more sentences of context than the model was trained on, the last ones are read"
            yield f"{why}: {self.shortened} {of}"
        if self.windowed:
            yield f"longer than the encoder, split into windows, every pronoun scored: {self.windowed} {of}"
        if self.surplus:
            why = "more pronouns than the head has slots, surplus pronouns not in the segment score"
            yield f"{why}: {self.surplus} {of}"
        if self.unread:
            yield f"words longer than the encoder reads, their ends ignored: in {self.unread} {of}"
        if self.source_cut:
            yield f"sources longer than the model reads, read in part: {self.source_cut}"
        if self.source_ignored:
            why = "with it the scores agree less with what people marked, in their language or in all"
            yield f"texts whose source does not affect their score: {self.source_ignored}; {why}"
        if self.source_unnamed:
            yield (
                f"sources in a language that is not named: {self.source_unnamed}; if the reader was not trained on it "
                "(its card has the list), ignore the sources"
            )


class Tally:
    """Running sums of one system's segments; keeps eight numbers a segment, no text."""

    def __init__(self) -> None:
        self.sums, self.counts, self.docs = array("d"), array("l"), array("l")
        self.errors, self.words, self.preferences = array("d"), array("l"), array("d")
        self.expected_missing, self.expected_surplus = array("d"), array("d")
        self.scale = 100.0
        self.missing: int | None = None
        self.surplus: int | None = None
        self.no_translations = 0
        self.first_no_translation: int | None = None
        self._codes: dict[Hashable, int] = {}

    @property
    def documents(self) -> list[Hashable]:
        """The documents, in order of first appearance; `docs` holds each segment's position here, -1 without one."""
        return list(self._codes)

    def add(self, segment: SegmentScore, doc: Hashable = None) -> None:
        """Count one segment; `doc` None is an unknown document."""
        if segment.no_translation is not None:
            if not self.no_translations:
                self.first_no_translation = len(self.sums)
            self.no_translations += 1
        self.sums.append(sum(pronoun.score for pronoun in segment.pronouns))
        self.counts.append(len(segment.pronouns))
        self.docs.append(-1 if doc is None else self._codes.setdefault(doc, len(self._codes)))
        errors, preference = segment.errors, segment.preference
        self.errors.append(nan if errors is None else errors)
        self.expected_missing.append(nan if segment.missing is None else segment.missing)
        self.expected_surplus.append(nan if segment.surplus is None else segment.surplus)
        self.words.append(segment.words)
        self.preferences.append(nan if preference is None else preference)
        if errors is None:
            self.scale = 1.0
        if segment.unmatched is not None:
            self.missing = (self.missing or 0) + len(segment.unmatched.missing)
            self.surplus = (self.surplus or 0) + len(segment.unmatched.surplus)

    def totals(self, by: str = SCORE) -> tuple[str, Totals]:
        """The kind of units, and the sums and counts of each unit, whose ratio is compared, higher is better.

        Units are documents where two or more are known for all segments, else segments. by: one of `DECISIONS`. The
        ratio is a system's score, or 100 x the errors of a segment, negative, or the preference of a segment with one.
        """
        if by == ERRORS:
            return self._units(-100.0 * np.array(self.errors), np.ones(len(self.errors)))
        if by == PREFERENCE:
            return self._units(np.nan_to_num(np.array(self.preferences)), ~np.isnan(self.preferences))
        resampled, parts = self._units(self.sums, self.counts)
        return resampled, Totals(self.scale * parts.sums, parts.counts)

    def score(self) -> SystemScore:
        """The system's score so far, with its interval."""
        resampled, parts = self.totals()
        pronouns = int(parts.counts.sum())
        errors, missing, surplus = map(np.array, (self.errors, self.expected_missing, self.expected_surplus))
        known, apart, told = (bool(np.isfinite(each).all()) for each in (errors, missing, surplus))
        most = COUNT if np.isfinite(missing).any() else None  # a text may lack more pronouns than it has
        in_pronouns = partial(self._rate, counts=self.counts, scale=100.0)
        return SystemScore(
            score=parts.mean() if pronouns else None,
            interval=interval(parts, bounds(self.scale)),
            resampled=resampled,
            units=int((parts.counts > 0).sum()),
            pronouns=pronouns,
            segments=len(self.counts),
            with_pronoun=len(self.counts) - self.counts.count(0),
            errors=in_pronouns(errors, limits=most) if known else None,
            errors_in_words=self._rate(errors, counts=self.words, scale=1000.0, limits=most) if known else None,
            preference=_rate(self.totals(PREFERENCE)[1], None),
            missing=self.missing,
            surplus=self.surplus,
            wrong_in_pronouns=in_pronouns(errors - missing - (surplus if told else 0.0)) if known and apart else None,
            missing_in_pronouns=in_pronouns(missing, limits=most) if apart else None,
            no_translations=self.no_translations,
            first_no_translation=self.first_no_translation,
            surplus_in_pronouns=in_pronouns(surplus) if told else None,
        )

    def _rate(
        self, values: Array, *, counts: ArrayLike, scale: float, limits: tuple[float, float] | None = None
    ) -> Rate | None:
        """A rate of the system; limits: of its interval, by default those of `scale` times a probability."""
        return _rate(self._units(scale * values, counts)[1], limits or bounds(scale))

    def _units(self, sums: ArrayLike, counts: ArrayLike) -> tuple[str, Totals]:
        if len(self._codes) > 1 and -1 not in self.docs:
            return "documents", totals(sums, counts, self.docs)
        return "segments", totals(sums, counts)


def _rate(parts: Totals, limits: tuple[float, float] | None) -> Rate | None:
    return Rate(parts.mean(), interval(parts, limits)) if parts.counts.sum() else None


def bounds(scale: float) -> tuple[float, float] | None:
    """The least and the greatest of a ratio `scale` times a probability; None for 1, where it is unbounded."""
    return None if scale == 1 else (0.0, scale)


def tally_segments(segments: Sequence[SegmentScore], docs: Sequence[Hashable] | None = None) -> Tally:
    """The tally of these segments."""
    tally = Tally()
    documents: Iterator[Hashable] = iter([None] * len(segments) if docs is None else docs)
    for segment, doc in zip(segments, documents, strict=True):
        tally.add(segment, doc)
    return tally
