"""Older scores of a text against its reference, in one form: counts of a segment that add up to a system's score.

APT and AutoPRF are run on translation into English alone, the reference in the place of the source: the instances are
the reference's pronouns in use, each linked to words of the output. APT has no equal and no similar pronouns and no
repair here, so that a pronoun is right (case 1), another word (3) or linked to nothing (4). With links that are one to
one, as the agreement aligner's are, the three pronoun scores are views of the same counts: `exact` is AutoPRF's
precision, APT its recall, and `autoprf` the F1 of both.

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

from pronmetric.baselines import apt, autoprf
from pronmetric.baselines.exact import Exact, exact
from pronmetric.errors import MissingExtra
from pronmetric.pronouns import finder
from pronmetric.pronouns.finder import Occurrence, form_of
from pronmetric.text.words import Word, words

APT, AUTOPRF, BLEU, CHRF, EXACT = NAMES = ("apt", "autoprf", "bleu", "chrf", "exact")
REFERENCE_PRONOUNS, ALIGNED, SEGMENTS = "reference pronouns", "aligned reference pronouns", "segments"
Counts = tuple[int, ...]
_WEIGHTS = {1: 1.0, 2: 0.0, 3: 0.0, 4: 0.0}
_RULES = apt.Rules(listed=frozenset(finder.FORMS))


class Beside(NamedTuple):
    """A text beside its reference, as words; found: the reference's pronouns; links: (reference word, text's word)."""

    reference: str
    text: str
    ref_words: Sequence[Word]
    words: Sequence[Word]
    found: Sequence[Occurrence]
    links: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class Peer:
    """One of `NAMES`: all scores are in [0, 100], higher is better, None without an instance.

    unit: what is counted as an instance. count: of one segment; counts add up place by place. instances: how many the
    counts stand for. system, segment: the score of many segments and of one. fields: the names of the counts, where
    they say more than the score. signature, segment_signature: of either score; what linked the words is to be added.
    """

    name: str
    unit: str
    count: Callable[[Beside], Counts]
    instances: Callable[[Counts], int]
    system: Callable[[Counts], float | None]
    segment: Callable[[Counts], float | None]
    signature: str
    segment_signature: str
    fields: tuple[str, ...] = ()

    @property
    def needs_links(self) -> bool:
        """Whether words must be linked before it can count."""
        return self.name in _OF_PRONOUNS


def peer(name: str) -> Peer:
    """The peer of that name.

    Raises:
        MissingExtra: BLEU and chrF need sacreBLEU.
    """
    return _OF_PRONOUNS.get(name) or _of_sacrebleu(name)


def beside(reference: str, text: str) -> Beside:
    """A text beside its reference, not linked yet.

    >>> [found.text for found in beside("She left.", "He left.").found]
    ['She']
    """
    ref_words, found = _reference(reference)
    return Beside(reference, text, ref_words, words(text), found)


def add(total: Counts | None, counts: Counts) -> Counts:
    """Both together; None is nothing yet.

    >>> add(add(None, (1, 2)), (3, 4))
    (4, 6)
    """
    return counts if total is None else tuple(a + b for a, b in zip(total, counts, strict=True))


@lru_cache(maxsize=64)
def _reference(text: str) -> tuple[tuple[Word, ...], tuple[Occurrence, ...]]:
    """The words and pronouns of a reference, which stands beside each system in turn."""
    found = words(text)
    return found, finder.find(text, found)


def _forms(found: Sequence[Word]) -> list[str]:
    """The words as APT and AutoPRF see them: lower-cased, a pronoun by its form."""
    return [form_of(found, place) or word.text.lower() for place, word in enumerate(found)]


def _positions(one: Beside) -> Iterable[int]:
    return (found.word for found in one.found)


def _apt(one: Beside) -> Counts:
    renderings = apt.from_reference(
        0,
        _forms(one.ref_words),
        _forms(one.words),
        positions=_positions(one),
        links=one.links,
        listed=_RULES.listed or (),
    )
    cases = Counter(apt.judge(list(renderings), rules=_RULES))
    return tuple(cases[case] for case in _WEIGHTS)


def _apt_score(counts: Counts) -> float | None:
    cases = chain.from_iterable(map(repeat, _WEIGHTS, counts))
    return _percent(apt.score(list(cases), weights=_WEIGHTS).score)


def _autoprf(one: Beside) -> Counts:
    found = autoprf.same_language(_forms(one.ref_words), _forms(one.words), one.links, positions=_positions(one))
    total = autoprf.tally(found).total
    return total.instances, total.matches, total.reference, total.candidate


def _f1(counts: Counts) -> float | None:
    """The F1 of AutoPRF, but 0 where there are pronouns and none is matched: the original has no number there."""
    total = autoprf.Counts(*counts)
    return _percent(None if not total.instances else total.f1 or 0.0)


def _exact(one: Beside) -> Counts:
    found = exact(one.found, one.words, one.links)
    return found.kept, found.aligned, found.pronouns


def _share(counts: Counts) -> float | None:
    return _percent(Exact(*counts).share)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _of_pronouns(
    name: str,
    unit: str,
    count: Callable[[Beside], Counts],
    instances: Callable[[Counts], int],
    score: Callable[[Counts], float | None],
    *fields: str,
) -> Peer:
    return Peer(name, unit, count, instances, score, score, name, name, fields)


_OF_PRONOUNS = {
    APT: _of_pronouns(APT, REFERENCE_PRONOUNS, _apt, sum, _apt_score, *(f"case_{case}" for case in _WEIGHTS)),
    AUTOPRF: _of_pronouns(
        AUTOPRF, REFERENCE_PRONOUNS, _autoprf, itemgetter(0), _f1, "instances", "matches", "reference", "candidate"
    ),
    EXACT: _of_pronouns(EXACT, ALIGNED, _exact, itemgetter(1), _share, "kept", "aligned", "pronouns"),
}


def _of_sacrebleu(name: str) -> Peer:
    """BLEU or chrF. The counts are sacreBLEU's own, taken segment by segment, so that no text need be kept.

    Of one segment BLEU is sentence BLEU: n-grams that are longer than the text don't count (`eff:yes`).
    """
    try:
        from sacrebleu import metrics
    except ImportError:
        raise MissingExtra("sacrebleu", "peers", "--also " + name) from None
    whole: Any = metrics.BLEU() if name == BLEU else metrics.CHRF()
    single: Any = metrics.BLEU(effective_order=True) if name == BLEU else whole

    def count(one: Beside) -> Counts:
        return (1, *whole._extract_corpus_statistics([one.text], [[one.reference]])[0])

    def scored(metric: Any) -> Callable[[Counts], float | None]:
        return lambda counts: metric._aggregate_and_compute([list(counts[1:])]).score if counts[0] else None

    def signature(metric: Any) -> str:
        return f"{metric.corpus_score(['x'], [['x']]).name}|{metric.get_signature()}"

    return Peer(
        name=name,
        unit=SEGMENTS,
        count=count,
        instances=itemgetter(0),
        system=scored(whole),
        segment=scored(single),
        signature=signature(whole),
        segment_signature=signature(single),
    )
