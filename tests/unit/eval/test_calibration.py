from __future__ import annotations

import numpy as np
import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval import calibration


def test_bias_of_equal_logits_is_their_log_odds() -> None:
    # One point of the curve alone: scale * 0 + bias = log(3 / 1) with labels 1 1 1 0.
    found = calibration.fit_platt([0.0] * 4, [1, 1, 1, 0])
    assert found.bias == pytest.approx(np.log(3), abs=1e-4)
    assert found.scale == pytest.approx(1.0)  # nothing moves it from its start
    assert found([0.0]) == pytest.approx([0.75], abs=1e-4)


def test_temperature_of_two_points() -> None:
    # Logits +-1 right three times in four: sigmoid(scale) = 3/4, scale = log 3.
    found = calibration.fit_platt([1, 1, 1, 1, -1, -1, -1, -1], [1, 1, 1, 0, 0, 0, 0, 1], bias=False)
    assert found.scale == pytest.approx(np.log(3), abs=1e-4) and found.bias == 0.0


def test_fit_finds_what_spoilt_the_logits() -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=50_000)
    y = rng.random(50_000) < 1 / (1 + np.exp(-(0.5 * z - 1)))
    found = calibration.fit_platt(z, y)
    assert found.scale == pytest.approx(0.5, abs=0.03) and found.bias == pytest.approx(-1, abs=0.03)


def test_separable_labels_end_with_finite_numbers() -> None:
    found = calibration.fit_platt([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    assert np.isfinite([found.scale, found.bias]).all() and found.scale > 1
    assert np.isfinite(found([-1000.0, 1000.0])).all()


def test_logit_inverts_the_curve() -> None:
    assert calibration.logit([0.5, 0.75]) == pytest.approx([0.0, np.log(3)])
    assert np.isfinite(calibration.logit([0.0, 1.0])).all()


@pytest.mark.parametrize(("labels", "message"), [([1], "one label for each"), ([0, 2], "0 or 1")])
def test_labels_that_do_not_fit(labels: list[float], message: str) -> None:
    with pytest.raises(PronmetricError, match=message):
        calibration.fit_platt([0.1, 0.2], labels)


def test_infinite_logits() -> None:
    with pytest.raises(PronmetricError, match="finite logits"):
        calibration.fit_platt([float("inf"), 0.0], [1, 0])


def test_the_sum_of_two_logits_is_fitted_at_the_rate() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 20_000))
    labels = (rng.random(20_000) < 1 / (1 + np.exp(-(0.5 * first + 2.0 * second)))).astype(float)
    one, two, bias = calibration.fit_sum([first, second], labels, rate=1 - labels.mean())
    assert one == pytest.approx(0.5, abs=0.1) and two == pytest.approx(2.0, abs=0.1)
    assert bias == pytest.approx(0.0, abs=0.1)
    # at another rate the labels are weighted, so that the bias moves by the difference of the log-odds
    *weights, moved = calibration.fit_sum([first, second], labels, rate=0.1)
    assert weights == pytest.approx([one, two], abs=0.2) and moved > bias + 1.5
    alone = calibration.fit_platt(first, labels)
    assert calibration.fit_sum([first], labels, rate=1 - labels.mean()) == pytest.approx(
        (alone.scale, alone.bias), abs=1e-6
    )
    with pytest.raises(PronmetricError, match="expected labels of both kinds"):
        calibration.fit_sum([first], np.ones(20_000), rate=0.1)
