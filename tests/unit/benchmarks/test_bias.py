from __future__ import annotations

import pytest

from benchmarks.checkpoint.bias import difference_of_means
from pronmetric.errors import PronmetricError


def test_the_difference_of_two_groups_is_over_clusters() -> None:
    values, first = [1, 1, 0, 1, 0, 0, 1, 0], [True] * 4 + [False] * 4
    found = difference_of_means(values, first, ["a", "b", "c", "d", "d", "e", "f", "g"])
    assert found.value == pytest.approx(3 / 4 - 1 / 4)
    assert found.low is not None and found.high is not None and found.low < found.value < found.high
    alone = difference_of_means(values, first, ["a"] * 8)
    assert (alone.low, alone.high) == (None, None)
    with pytest.raises(PronmetricError, match=r"values on both sides.* got 3 of 3 on the first, 3 clusters"):
        difference_of_means([1, 0, 1], [True] * 3, "abc")
