from __future__ import annotations

import numpy as np
import pytest

from benchmarks.checkpoint import reliability as calibration
from benchmarks.checkpoint.reliability import Bin
from pronmetric.errors import PronmetricError


def test_reliability_of_two_bins() -> None:
    # Sorted: .2 .3 .4 | .8 .9 with labels 0 1 0 | 1 1; array_split gives the first bin the odd one.
    table = calibration.reliability([0.9, 0.2, 0.4, 0.8, 0.3], [1, 0, 0, 1, 1], bins=2)
    assert table == [
        Bin(0.2, 0.4, 3, pytest.approx(0.3), pytest.approx(1 / 3)),
        Bin(0.8, 0.9, 2, pytest.approx(0.85), pytest.approx(1.0)),
    ]


def test_error_is_the_weighted_distance() -> None:
    # 3/5 * |1/3 - 0.3| + 2/5 * |1 - 0.85| = 0.02 + 0.06
    found = calibration.expected_calibration_error([0.9, 0.2, 0.4, 0.8, 0.3], [1, 0, 0, 1, 1], bins=2)
    assert found == pytest.approx(0.08)


def test_equal_probabilities_share_their_labels_whatever_the_order() -> None:
    p, y = [0.5] * 4, [1, 1, 0, 0]
    assert calibration.expected_calibration_error(p, y, bins=2) == pytest.approx(0.0)
    assert calibration.expected_calibration_error(p, y[::-1], bins=2) == pytest.approx(0.0)


def test_fewer_values_than_bins() -> None:
    assert [b.count for b in calibration.reliability([0.1, 0.9], [0, 1])] == [1, 1]


def test_calibrated_draws_have_a_small_error_and_shifted_ones_a_large() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    y = rng.random(20_000) < p
    assert calibration.expected_calibration_error(p, y) < 0.015
    assert calibration.expected_calibration_error(np.sqrt(p), y) == pytest.approx(1 / 6, abs=0.015)  # 2/3 - 1/2


@pytest.mark.parametrize(
    ("values", "labels", "message"),
    [
        ([0.1, 0.2], [1], "one label for each"),
        ([], [], "one label for each"),
        ([0.1, 1.2], [0, 1], r"\[0, 1\], got values from 0.1 to 1.2"),
        ([0.1, float("nan")], [0, 1], r"\[0, 1\]"),
        ([0.1, 0.2], [0, 2], "0 or 1"),
    ],
)
def test_bad_input(values: list[float], labels: list[float], message: str) -> None:
    with pytest.raises(PronmetricError, match=message):
        calibration.expected_calibration_error(values, labels)


def test_no_bin() -> None:
    with pytest.raises(PronmetricError, match="at least one bin"):
        calibration.reliability([0.1], [0], bins=0)
