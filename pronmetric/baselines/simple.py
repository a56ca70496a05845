"""Floors: rules without a model that a metric must beat on judged pairs to have earned its place.

- Fewer pronouns: the text with fewer pronouns in use is better. A pronoun that is not there cannot be wrong, so that
  whoever looks for wrong pronouns finds fewer in it.
- chrF to the reference: the text that shares more character n-grams with a reference of the segment is better (Popović
  2015, as sacreBLEU computes it).
- Better system overall: the text of the system that does better elsewhere is better. Elsewhere are the other documents,
  so that no pair is judged by its own answer.

A floor leaves many pairs undecided (as many pronouns on both sides). So it is held against the metric on the pairs that
it decides: there both have to choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from pronmetric.errors import PronmetricError
from pronmetric.eval.accuracy import DRAWS, Estimate, cluster_bootstrap
from pronmetric.pronouns.finder import find
from pronmetric.suites.judged_pairs import TIE, A, B, JudgedPair, decide
from pronmetric.suites.pair_accuracy import Scores, answer, clusters_of

FEWER, CHRF, SYSTEM = "fewer pronouns", "chrF to the reference", "better system overall"
Both = tuple[float | None, float | None]
"""A floor's scores of text A and text B, higher is better; None where it has nothing to go by."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor and a metric on the same pairs, all with an answer A or B.

    pairs: that have what the floor needs. decided: those of them that it decides, on which the rest stands: the share
    that the floor gets right, the share that the metric gets right (equal and missing scores are wrong), and the
    metric's minus the floor's, paired.
    """

    pairs: int
    decided: int
    floor: Estimate
    metric: Estimate
    difference: Estimate


class Standings:
    """How well each system does on the average, from (system, document, value) with higher values for better."""

    def __init__(self, observations: Iterable[tuple[str, Hashable, float]]) -> None:
        self._sums: defaultdict[str, defaultdict[Hashable, list[float]]] = defaultdict(lambda: defaultdict(list))
        for system, doc, value in observations:
            self._sums[system][doc].append(value)

    def elsewhere(self, system: str | None, doc: Hashable) -> float | None:
        """The system's mean over all documents but `doc`; None of an unknown one, or where there is no other.

        >>> Standings([("a", 1, 0.0), ("a", 2, 1.0), ("a", 3, 0.0)]).elsewhere("a", 1)
        0.5
        """
        values = [v for d, found in self._sums.get(system or "", {}).items() if d != doc for v in found]
        return sum(values) / len(values) if values else None


def fewer_pronouns(pair: JudgedPair) -> Both:
    """The numbers of pronouns in use, less being more.

    >>> fewer_pronouns(JudgedPair("1", (), "She left.", "She left when it rained."))
    (-1.0, -2.0)
    """
    return -float(len(find(pair.text_a))), -float(len(find(pair.text_b)))


def chrf(pair: JudgedPair) -> Both:
    """The chrF of both texts to the pair's reference, from 0 to 100.

    Raises:
        ImportError: sacreBLEU is not installed.
    """
    from sacrebleu.metrics import CHRF as Metric

    if pair.reference is None:
        return None, None
    metric = Metric()
    a, b = (metric.sentence_score(text, [pair.reference]).score for text in (pair.text_a, pair.text_b))
    return a, b


def better_system(pair: JudgedPair, standings: Standings, doc: Hashable) -> Both:
    """How well the systems of both texts do in other documents than `doc`, the pair's own."""
    return standings.elsewhere(pair.system_a, doc), standings.elsewhere(pair.system_b, doc)


def won(pairs: Sequence[JudgedPair]) -> Standings:
    """Standings by the pairs themselves: +1 for the system of the better text, -1 for the other's, 0 for a tie."""
    found: list[tuple[str, Hashable, float]] = []
    for pair, doc in zip(pairs, clusters_of(pairs)[1], strict=True):
        said = answer(pair)
        if said is not None and pair.system_a is not None and pair.system_b is not None:
            value = {A: 1.0, TIE: 0.0, B: -1.0}[said]
            found += [(pair.system_a, doc, value), (pair.system_b, doc, -value)]
    return Standings(found)


def floors(pairs: Sequence[JudgedPair], *, standings: Standings | None = None) -> dict[str, list[Both]]:
    """The scores of each floor that decides at least one pair; chrF where sacreBLEU is there.

    standings: of the systems; None takes `won`.
    """
    known = won(pairs) if standings is None else standings
    rules: dict[str, Callable[[JudgedPair, Hashable], Both]] = {
        FEWER: lambda pair, _: fewer_pronouns(pair),
        CHRF: lambda pair, _: chrf(pair),
        SYSTEM: lambda pair, doc: better_system(pair, known, doc),
    }
    docs = clusters_of(pairs)[1]
    found = {}
    for name, rule in rules.items():
        if name == CHRF and not _has_sacrebleu():
            continue
        scores = [rule(pair, doc) for pair, doc in zip(pairs, docs, strict=True)]
        if any(decide(a, b) in (A, B) for a, b in scores):
            found[name] = scores
    return found


def beside(
    pairs: Sequence[JudgedPair], scores: Scores, floor: Sequence[Both], *, seed: int = 0, draws: int = DRAWS
) -> Floor | None:
    """A metric's scores beside those of a floor; None where the floor decides no pair with an answer A or B.

    Intervals resample documents; see `pronmetric.suites.pair_accuracy.clusters_of`.
    """
    if not len(pairs) == len(scores) == len(floor):
        raise PronmetricError(
            f"each pair needs its scores and those of the floor: got {len(scores)} and {len(floor)} for {len(pairs)}"
        )
    rows = [
        (pair, decide(*own) == answer(pair), decide(*other))
        for pair, own, other in zip(pairs, scores, floor, strict=True)
        if answer(pair) in (A, B) and None not in other
    ]
    kept = [(pair, float(right), float(said == answer(pair))) for pair, right, said in rows if said != TIE]
    if not kept:
        return None
    clusters = clusters_of([pair for pair, _, _ in kept])[1]
    metric, plain = [right for _, right, _ in kept], [right for _, _, right in kept]

    def share(values: Sequence[float]) -> Estimate:
        return cluster_bootstrap(values, clusters, draws=draws, seed=seed)

    gaps = [a - b for a, b in zip(metric, plain, strict=True)]
    return Floor(len(rows), len(kept), share(plain), share(metric), share(gaps))


def _has_sacrebleu() -> bool:
    from importlib.util import find_spec

    return find_spec("sacrebleu") is not None
