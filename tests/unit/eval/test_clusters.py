"""Significance clusters and rank ranges."""

from __future__ import annotations

from itertools import combinations

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.clusters import Place, places


def test_two_clusters_by_hand() -> None:
    """A and B do not differ, both beat C and D, which do not differ."""
    scores = [70.0, 90.0, 60.0, 89.0]  # C A D B
    p = {(0, 1): 0.01, (0, 2): 0.3, (0, 3): 0.04, (1, 2): 0.001, (1, 3): 0.6, (2, 3): 0.02}
    assert places(scores, p) == [Place(2, 3, 4), Place(1, 1, 2), Place(2, 3, 4), Place(1, 1, 2)]


def test_one_pair_without_a_difference_joins_clusters() -> None:
    """A beats B and C, B beats C: three clusters. If A does not beat C, no line separates A from C."""
    scores, p = [90.0, 80.0, 70.0], {(0, 1): 0.01, (0, 2): 0.01, (1, 2): 0.01}
    assert places(scores, p) == [Place(1, 1, 1), Place(2, 2, 2), Place(3, 3, 3)]
    assert places(scores, p | {(0, 2): 0.05}) == [Place(1, 1, 2), Place(1, 2, 2), Place(1, 2, 3)]


def test_a_system_without_a_score_has_no_place_and_no_test_is_no_difference() -> None:
    assert places([None, 80.0, 70.0], {(1, 2): None}) == [None, Place(1, 1, 2), Place(1, 1, 2)]
    assert places([], {}) == []
    assert places([80.0], {}) == [Place(1, 1, 1)]


def test_equal_scores_are_no_difference_whatever_p_is() -> None:
    assert places([80.0, 80.0], {(0, 1): 0.001}) == [Place(1, 1, 2), Place(1, 1, 2)]


def test_the_order_of_the_systems_does_not_matter() -> None:
    scores = [70.0, 90.0, 60.0, 89.0]
    p = {(0, 1): 0.01, (0, 2): 0.3, (0, 3): 0.04, (1, 2): 0.001, (1, 3): 0.6, (2, 3): 0.02}
    turned = [3, 2, 0, 1]
    swapped = {(a, b): p[min(turned[a], turned[b]), max(turned[a], turned[b])] for a, b in combinations(range(4), 2)}
    found = places(scores, p)
    assert places([scores[k] for k in turned], swapped) == [found[k] for k in turned]


def test_a_missing_pair_is_an_error() -> None:
    with pytest.raises(PronmetricError, match=r"expected a p value for each two systems, got none for \(0, 1\)"):
        places([80.0, 70.0], {})
