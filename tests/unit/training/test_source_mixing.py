"""The share of a change by the source that the pair head's preference takes."""

from __future__ import annotations

import numpy as np
import pytest

from pronmetric.training.source.mixing import WHOLE, fit_share


def pairs(share: float) -> tuple[np.ndarray, np.ndarray]:
    """Differences of pairs of which the better text is the more probable, the higher own + share * change is."""
    rng = np.random.default_rng(0)
    own, change = rng.normal(scale=2, size=(2, 20_000))
    sign = np.where(rng.random(own.shape) < 1 / (1 + np.exp(-own - share * change)), 1.0, -1.0)
    return sign * own, sign * change


@pytest.mark.parametrize("share", [0.0, 0.5, 2.0])
def test_the_share_is_that_by_which_labels_were_drawn(share: float) -> None:
    assert fit_share(*pairs(share)) == pytest.approx(share, abs=0.1)


def test_a_change_that_counts_against_the_labels_is_not_taken() -> None:
    own, change = pairs(1.0)
    assert fit_share(own, -change) == 0.0


def test_without_a_preference_that_agrees_with_the_labels_the_whole_change_is_taken() -> None:
    own, change = pairs(1.0)
    assert fit_share(-own, change) == WHOLE
