"""Weights and calibrations that are fitted on what people marked."""

from __future__ import annotations

import numpy as np
import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.calibration import fit_shares
from pronmetric.training import people_fit

RNG = np.random.default_rng(1)


def test_shares_of_raters_give_back_the_weights_they_were_made_with() -> None:
    first, second = RNG.normal(size=(2, 4000))
    shares = 1 / (1 + np.exp(-(0.5 * first + 2.0 * second - 1.0)))
    assert fit_shares([first, second], shares) == pytest.approx((0.5, 2.0, -1.0), abs=1e-2)


@pytest.mark.parametrize(
    ("shares", "why"), [([0.5, 0.5], "different shares"), ([0.0, 1.5], r"in \[0, 1\]"), ([0.0], "one share")]
)
def test_shares_that_cannot_be_fitted_are_refused(shares: list[float], why: str) -> None:
    with pytest.raises(PronmetricError, match=why):
        fit_shares([[0.0, 1.0]], shares)


def test_a_reader_without_a_say_keeps_the_checkpoint_as_it_is() -> None:
    right = (RNG.random(400) < 0.8).astype(float)
    own, read = right + RNG.normal(size=400), right + RNG.normal(size=400)
    mixing = people_fit._mixing(own, read, right)
    assert mixing is not None and mixing.model > 0 and mixing.reader > 0
    assert people_fit._mixing(own, -read, right) is None  # it would count against the labels
    assert people_fit._mixing(own[:20], read[:20], right[:20]) is None  # too few marks


def test_gaps_are_calibrated_at_their_own_rate() -> None:
    missing = (RNG.random(3000) < 0.05).astype(float)
    logits = 3 * missing + RNG.normal(size=3000)
    fitted = people_fit._calibration(logits, missing)
    assert fitted is not None
    probabilities = 1 / (1 + np.exp(-(fitted.scale * logits + fitted.bias)))
    assert probabilities.mean() == pytest.approx(missing.mean(), abs=1e-4)
    assert people_fit._calibration(-logits, missing) is None
    assert people_fit._calibration(logits, np.zeros(3000)) is None


def test_areas_by_set_and_of_all() -> None:
    sets = np.array(["a", "a", "b", "b"])
    found = people_fit._areas("model", sets, np.array([1.0, 0.5, 1.0, 1.0]), np.array([1.0, -1.0, 0.0, 2.0]))
    assert found == {"people/model": 1.0, "people/model_a": 1.0}
