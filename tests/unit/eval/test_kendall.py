"""Kendall's variants and calibrated ties against loops over all pairs, scipy, and counts written out."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from pronmetric.errors import PronmetricError
from pronmetric.eval import kendall
from pronmetric.eval.kendall import calibrate, only_right, pairs, tau


def counted(metric: list[float], human: list[float], threshold: float = 0.0) -> Counter[str]:
    """Each pair by itself; pairs without both scores of both sides don't count."""
    kinds: Counter[str] = Counter()
    for (m1, h1), (m2, h2) in combinations(zip(metric, human, strict=True), 2):
        if any(math.isnan(x) for x in (m1, m2, h1, h2)):
            continue
        tied, people = abs(m1 - m2) <= threshold, h1 == h2
        if tied or people:
            kinds["B" if tied and people else "M" if tied else "H"] += 1
        else:
            kinds["C" if (m1 > m2) == (h1 > h2) else "D"] += 1
    return kinds


def formula(variant: str, k: Counter[str], metric: list[float], human: list[float]) -> float:
    """The variants as Deutsch et al. 2023 and mt-metrics-eval define them."""
    n = k.total()
    if variant == "b":
        return (k["C"] - k["D"]) / math.sqrt((k["C"] + k["D"] + k["H"]) * (k["C"] + k["D"] + k["M"]))
    if variant == "c":
        classes = min(len(set(metric)), len(set(human)))
        return 2 * (k["C"] - k["D"]) / (len(metric) ** 2 * (classes - 1) / classes)
    if variant == "10":
        return (k["C"] - k["D"] - k["M"]) / (k["C"] + k["D"] + k["M"])
    if variant == "23":
        return (k["C"] + k["B"] - k["D"] - k["H"] - k["M"]) / n
    return (k["C"] + k["B"]) / n


def tied_scores(seed: int, size: int) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    human = rng.integers(5, size=size)
    return (human + rng.integers(-3, 4, size=size)).astype(float).tolist(), human.astype(float).tolist()


def found(metric: list[float], human: list[float], threshold: float = 0.0) -> dict[str, float]:
    p = pairs(metric, human, threshold=threshold)
    columns = (p.concordant, p.discordant, p.human_ties, p.metric_ties, p.both_ties)
    return {kind: float(column[0]) for kind, column in zip("CDHMB", columns, strict=True) if column[0]}


def test_one_pair_of_each_kind() -> None:
    metric, human = [1.0, 2.0, 2.0, 0.0], [1.0, 1.0, 1.0, 5.0]
    # pairs: 01 H, 02 H, 03 D, 12 B, 13 D, 23 D
    assert found(metric, human) == {"D": 3, "H": 2, "B": 1}
    assert float(tau(metric, human, variant="23")[0]) == pytest.approx((1 - 3 - 2) / 6)
    assert float(tau(metric, human, variant="acc23")[0]) == pytest.approx(1 / 6)
    assert float(tau(metric, human, variant="10")[0]) == -1


@pytest.mark.parametrize("size", [3, 17, 64, 65, 150])
@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_counts_of_all_pairs(size: int, threshold: float) -> None:
    metric, human = tied_scores(size, size)
    metric[1] = math.nan
    assert found(metric, human, threshold) == dict(counted(metric, human, threshold))


@pytest.mark.parametrize("variant", kendall.VARIANTS)
@pytest.mark.parametrize("size", [12, 90])
def test_variants_are_their_formulas(variant: str, size: int) -> None:
    metric, human = tied_scores(1, size)
    expected = formula(variant, counted(metric, human), metric, human)
    assert float(tau(metric, human, variant=variant)[0]) == pytest.approx(expected)


@pytest.mark.parametrize("variant", ["b", "c"])
@pytest.mark.parametrize("size", [9, 64, 400])
def test_scipy_has_the_same_tau(variant: str, size: int) -> None:
    metric, human = tied_scores(2, size)
    expected = stats.kendalltau(metric, human, variant=variant).statistic
    assert float(tau(metric, human, variant=variant)[0]) == pytest.approx(expected)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    metric, human = tied_scores(3, 80)
    rows = np.array([tied_scores(seed, 10) for seed in range(7)])
    whole = found(metric, human, 1.0), tau(rows[:, 0], rows[:, 1]).tolist(), calibrate(rows[:, 0], rows[:, 1])
    monkeypatch.setattr(kendall, "_BLOCK", 50)
    assert found(metric, human, 1.0) == whole[0]
    assert tau(rows[:, 0], rows[:, 1]).tolist() == whole[1]
    assert calibrate(rows[:, 0], rows[:, 1]).threshold == whole[2].threshold


def best_of_all(metric: np.ndarray, human: np.ndarray) -> tuple[float, float]:
    """Mean accuracy of the groups at each threshold there can be; the best one, the smallest of equals."""
    groups = [
        ([m for m, h in zip(x, y, strict=True) if m == m and h == h], [h for m, h in zip(x, y, strict=True) if m == m])
        for x, y in zip(metric.tolist(), human.tolist(), strict=True)
    ]
    groups = [(x, y) for x, y in groups if len(x) > 1]
    candidates = sorted({0.0, *(abs(a - b) for x, _ in groups for a, b in combinations(x, 2))})

    def accuracy(threshold: float) -> float:
        counts = [counted(x, y, threshold) for x, y in groups]
        return sum((k["C"] + k["B"]) / k.total() for k in counts) / len(counts)

    best = max(candidates, key=lambda threshold: (round(accuracy(threshold), 12), -threshold))
    return best, accuracy(best)


@pytest.mark.parametrize("seed", range(6))
def test_calibration_tries_every_threshold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human = rng.integers(3, size=(8, 6)).astype(float)
    metric = human + rng.normal(size=human.shape)
    metric[0, 2], metric[3, :5] = np.nan, np.nan  # a group of five, and one of a single score
    human[0, 2], human[3, :5] = np.nan, np.nan
    threshold, accuracy = best_of_all(metric, human)
    result = calibrate(metric, human)
    assert result.threshold == pytest.approx(threshold)
    assert np.nanmean(result.accuracy) == pytest.approx(accuracy)
    assert np.isnan(result.accuracy[3]) and (result.pairs, result.sought) == (6 * 15 + 10, 6 * 15 + 10)


def test_calibration_of_one_large_group() -> None:
    rng = np.random.default_rng(0)
    human = rng.integers(3, size=(1, 70)).astype(float)
    metric = np.round(human + rng.normal(size=human.shape), 1)
    threshold, accuracy = best_of_all(metric, human)
    result = calibrate(metric, human)
    assert (result.threshold, float(result.accuracy[0])) == pytest.approx((threshold, accuracy))


def test_more_pairs_than_the_limit_are_drawn_for_the_threshold_alone() -> None:
    rng = np.random.default_rng(0)
    human = rng.integers(2, size=(2, 100)).astype(float)
    metric = 10 * human + rng.uniform(-1, 1, size=human.shape)  # people's ties differ by 2 at most
    drawn = calibrate(metric, human, limit=2000, seed=1)
    assert (drawn.pairs, drawn.sought) == (9900, 2000)
    assert drawn.threshold == calibrate(metric, human, limit=2000, seed=1).threshold
    at_threshold = tau(metric, human, variant="acc23", threshold=drawn.threshold)
    assert drawn.accuracy.tolist() == at_threshold.tolist()  # of all pairs
    assert 0.98 < drawn.accuracy.mean() <= calibrate(metric, human).accuracy.mean() == 1


def test_ties_everywhere() -> None:
    same = [1.0] * 5
    ordered = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert [float(tau(same, same, variant=v)[0]) for v in ("23", "acc23")] == [1, 1]  # ties that people have too
    assert [float(tau(same, ordered, variant=v)[0]) for v in ("10", "23", "acc23")] == [-1, -1, 0]
    assert all(math.isnan(tau(x, y, variant=v)[0]) for v in "bc" for x, y in ((same, ordered), (ordered, same)))
    assert math.isnan(tau(ordered, same, variant="10")[0])  # people order nothing
    assert (calibrate(same, ordered).threshold, float(calibrate(same, ordered).accuracy[0])) == (0, 0)
    assert (calibrate(ordered, same).threshold, float(calibrate(ordered, same).accuracy[0])) == (4, 1)


def test_one_score_has_no_pair() -> None:
    assert all(math.isnan(tau([1.0], [2.0], variant=variant)[0]) for variant in kendall.VARIANTS)
    with pytest.raises(PronmetricError, match="two or more scores on both sides in some group, found none"):
        calibrate([[1.0, math.nan], [2.0, math.nan]], [[1.0, 2.0], [math.nan, 1.0]])


def test_pairs_that_one_metric_alone_gets_right() -> None:
    human = [[0.0, 0.0, 1.0]]
    first, second = [[0.0, 0.5, 1.0]], [[0.0, 0.0, -1.0]]
    # 01: tied by people, and by the first from 0.5, by the second. 02 and 12: right by the first at 0
    assert [x.tolist() for x in only_right(first, second, human, (0.0, 0.0))] == [[2], [1], [3]]
    # at 0.5 the first ties 01 (right) and 12 (wrong)
    assert [x.tolist() for x in only_right(first, second, human, (0.5, 0.0))] == [[1], [0], [3]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tau([1.0, 2.0], [1.0], variant="b"), r"alike on both sides, got \(1, 2\) and \(1, 1\)"),
        (lambda: tau([1.0, math.inf], [1.0, 2.0]), "infinite score"),
        (lambda: tau([1.0, 2.0], [1.0, 2.0], variant="a"), "one of b, c, 10, 23, acc23 as the variant, got 'a'"),
        (lambda: tau([1.0, 2.0], [1.0, 2.0], variant="c", threshold=0.1), "variant c"),
        (lambda: pairs([1.0, 2.0], [1.0, 2.0], threshold=-1), "threshold from 0, got -1"),
        (lambda: pairs([1.0, 2.0], [1.0, 2.0], threshold=math.nan), "threshold from 0, got nan"),
    ],
)
def test_wrong_input_is_refused(call: object, message: str) -> None:
    with pytest.raises(PronmetricError, match=message):
        call()  # type: ignore[operator]
