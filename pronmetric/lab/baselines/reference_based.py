"""Reference-based baselines behind one interface: counts for each segment that add up to a system's score.

APT and AutoPRF are computed on English alone, with the reference in place of the source: the instances are the
reference's pronouns in use, each linked to words of the output. APT is used without lists of equal and similar pronouns
and without repair, so a pronoun is correct (case 1), another word (case 3) or unaligned (case 4). With one-to-one
links, such as those of the agreement aligner, the three pronoun scores are views of the same counts: `exact` is
AutoPRF's precision, APT its recall, and `autoprf` the F1 of both.

BLEU (Papineni et al. 2002) and chrF (Popović 2015) are sacreBLEU's with its own settings (Post 2018).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from pronmetric.errors import MissingExtra, PronmetricError
from pronmetric.lab.baselines import apt, autoprf
from pronmetric.pronouns import finder
from pronmetric.pronouns.finder import Occurrence, form_of
from pronmetric.pronouns.languages import Language
from pronmetric.text.words import Word, words

APT, AUTOPRF, BLEU, CHRF, EXACT = NAMES = ("apt", "autoprf", "bleu", "chrf", "exact")
OF_PRONOUNS = (APT, AUTOPRF, EXACT)  # of English ones
REFERENCE_PRONOUNS, ALIGNED, SEGMENTS = "reference pronouns", "aligned reference pronouns", "segments"
Counts = tuple[int, ...]
_WEIGHTS = {1: 1.0, 2: 0.0, 3: 0.0, 4: 0.0}
_RULES = apt.Rules(listed=frozenset(finder.FORMS))


def check_language(names: Sequence[str], language: Language) -> None:
    """Refuse baselines of English pronouns for texts in another language.

    Raises:
        PronmetricError: there are such.
    """
    wrong = [name for name in names if name in OF_PRONOUNS]
    if wrong and not language.ruled:
        rest = ", ".join(name for name in NAMES if name not in OF_PRONOUNS)
        raise PronmetricError(
            f"`also={','.join(wrong)}`: they count English pronouns, and the checkpoint scores {language.code}; "
            f"expected some of {rest}"
        )


class SegmentWords(NamedTuple):
    """A text and its reference, split into words.

    ref_pronouns: the reference's pronouns in use. links: (index of the reference's word, index of the text's word).
    """

    reference: str
    text: str
    ref_words: Sequence[Word]
    words: Sequence[Word]
    ref_pronouns: Sequence[Occurrence]
    links: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class ReferenceBaseline:
    """One of `NAMES`. Scores are in [0, 100], higher is better, None without an instance.

    unit: what an instance is. count: the counts of one segment; counts are added element by element. instances: the
    number of instances in the counts. system, segment: the score of many segments and of one. fields: the names of the
    counts, empty where they are internal. signature, segment_signature: of the two scores, without the aligner.
    """

    name: str
    unit: str
    count: Callable[[SegmentWords], Counts]
    instances: Callable[[Counts], int]
    system: Callable[[Counts], float | None]
    segment: Callable[[Counts], float | None]
    signature: str
    segment_signature: str
    fields: tuple[str, ...] = ()

    @property
    def needs_links(self) -> bool:
        """Whether it needs word links."""
        return self.name in _OF_PRONOUNS


def get_baseline(name: str) -> ReferenceBaseline:
    """The baseline called `name`.

    Raises:
        MissingExtra: BLEU and chrF need sacreBLEU.
    """
    return _OF_PRONOUNS.get(name) or _of_sacrebleu(name)


def split_segment(reference: str, text: str) -> SegmentWords:
    """Split a text and its reference into words, without links.

    >>> [pronoun.text for pronoun in split_segment("She left.", "He left.").ref_pronouns]
    ['She']
    """
    ref_words, pronouns = _split_reference(reference)
    return SegmentWords(reference, text, ref_words, words(text), pronouns)


def add_counts(total: Counts | None, counts: Counts) -> Counts:
    """The sum of two counts, element by element; None is an empty total.

    >>> add_counts(add_counts(None, (1, 2)), (3, 4))
    (4, 6)
    """
    return counts if total is None else tuple(a + b for a, b in zip(total, counts, strict=True))


@lru_cache(maxsize=64)
def _split_reference(text: str) -> tuple[tuple[Word, ...], tuple[Occurrence, ...]]:
    """The words and pronouns of a reference; cached, because each system is compared with it in turn."""
    split = words(text)
    return split, finder.find(text, split)


def _forms(split: Sequence[Word]) -> list[str]:
    """The words for APT and AutoPRF: lower-cased, pronouns in their normalised form."""
    return [form_of(split, place) or word.text.lower() for place, word in enumerate(split)]


def _positions(segment: SegmentWords) -> Iterable[int]:
    return (found.word for found in segment.ref_pronouns)


def _apt(segment: SegmentWords) -> Counts:
    renderings = apt.from_reference(
        0,
        _forms(segment.ref_words),
        _forms(segment.words),
        positions=_positions(segment),
        links=segment.links,
        listed=_RULES.listed or (),
    )
    cases = Counter(apt.judge(list(renderings), rules=_RULES))
    return tuple(cases[case] for case in _WEIGHTS)


def _apt_score(counts: Counts) -> float | None:
    cases = chain.from_iterable(map(repeat, _WEIGHTS, counts))
    return _percent(apt.score(list(cases), weights=_WEIGHTS).score)


def _autoprf(segment: SegmentWords) -> Counts:
    matches = autoprf.same_language(
        _forms(segment.ref_words), _forms(segment.words), segment.links, positions=_positions(segment)
    )
    total = autoprf.tally(matches).total
    return total.instances, total.matches, total.reference, total.candidate


def _f1(counts: Counts) -> float | None:
    """AutoPRF's F1, but 0 where there are pronouns and none is matched; the original is undefined there."""
    total = autoprf.Counts(*counts)
    return _percent(None if not total.instances else total.f1 or 0.0)


def _exact(segment: SegmentWords) -> Counts:
    counts = exact(segment.ref_pronouns, segment.words, segment.links)
    return counts.kept, counts.aligned, counts.pronouns


def _share(counts: Counts) -> float | None:
    return _percent(Exact(*counts).share)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _of_pronouns(
    name: str,
    unit: str,
    count: Callable[[SegmentWords], Counts],
    instances: Callable[[Counts], int],
    score: Callable[[Counts], float | None],
    *fields: str,
) -> ReferenceBaseline:
    return ReferenceBaseline(name, unit, count, instances, score, score, name, name, fields)


_OF_PRONOUNS = {
    APT: _of_pronouns(APT, REFERENCE_PRONOUNS, _apt, sum, _apt_score, *(f"case_{case}" for case in _WEIGHTS)),
    AUTOPRF: _of_pronouns(
        AUTOPRF, REFERENCE_PRONOUNS, _autoprf, itemgetter(0), _f1, "instances", "matches", "reference", "candidate"
    ),
    EXACT: _of_pronouns(EXACT, ALIGNED, _exact, itemgetter(1), _share, "kept", "aligned", "pronouns"),
}


def _of_sacrebleu(name: str) -> ReferenceBaseline:
    """BLEU or chrF from sacreBLEU's own counts of each segment, so that no text is kept in memory.

    For one segment, BLEU is sentence BLEU with effective order (`eff:yes`).
    """
    try:
        from sacrebleu import metrics
    except ImportError:
        raise MissingExtra("sacrebleu", "peers", f"`also={name}`") from None
    whole: Any = metrics.BLEU() if name == BLEU else metrics.CHRF()
    single: Any = metrics.BLEU(effective_order=True) if name == BLEU else whole

    def count(segment: SegmentWords) -> Counts:
        return (1, *whole._extract_corpus_statistics([segment.text], [[segment.reference]])[0])

    def make_score(metric: Any) -> Callable[[Counts], float | None]:
        return lambda counts: metric._aggregate_and_compute([list(counts[1:])]).score if counts[0] else None

    def signature(metric: Any) -> str:
        return f"{metric.corpus_score(['x'], [['x']]).name}|{metric.get_signature()}"

    return ReferenceBaseline(
        name=name,
        unit=SEGMENTS,
        count=count,
        instances=itemgetter(0),
        system=make_score(whole),
        segment=make_score(single),
        signature=signature(whole),
        segment_signature=signature(single),
    )


@dataclass(frozen=True, slots=True)
class Exact:
    """Exact pronoun match: the share of a reference's aligned pronouns that an output keeps; of a segment or of many.

    The simplest reference-based score. Unaligned pronouns are counted separately and are not in the share: the links do
    not show whether the translator chose other words or the system dropped the pronoun.

    kept: pronouns linked to the same pronoun. aligned: pronouns linked to some word. pronouns: all of the reference.
    """

    kept: int = 0
    aligned: int = 0
    pronouns: int = 0

    @property
    def share(self) -> float | None:
        """The share of kept among aligned, in [0, 1], higher is better; None if nothing is aligned."""
        return self.kept / self.aligned if self.aligned else None


def exact(ref_pronouns: Sequence[Occurrence], hyp_words: Sequence[Word], links: Iterable[tuple[int, int]]) -> Exact:
    """Count one segment: the reference's pronouns in use and the words of an output.

    links: (index in the reference's words, index in the output's), as `schema.Alignment.links`. Case is ignored, and a
    pronoun with several links is kept if one of them leads to it.

    >>> from pronmetric.pronouns.finder import find
    >>> from pronmetric.text.words import words
    >>> exact(find("She knows what he saw."), words("She knows what it saw."), [(0, 0), (2, 2), (3, 3)])
    Exact(kept=2, aligned=3, pronouns=3)
    """
    linked: dict[int, set[str]] = {}
    for here, there in links:
        linked.setdefault(here, set()).add(form_of(hyp_words, there) or hyp_words[there].text.lower())
    there_of = [(pronoun.form, linked.get(pronoun.word)) for pronoun in ref_pronouns]
    return Exact(
        kept=sum(forms is not None and form in forms for form, forms in there_of),
        aligned=sum(forms is not None for _, forms in there_of),
        pronouns=len(ref_pronouns),
    )
