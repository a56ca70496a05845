"""Student's t against scipy."""

from __future__ import annotations

import pytest
from scipy import special

from pronmetric.errors import PronmetricError
from pronmetric.eval import student


@pytest.mark.parametrize("freedom", [0.5, 1, 1.7, 2, 3, 4.2, 19, 99.5, 1000, 1001, 5000, 1e6, 1e9])
def test_quantiles_and_tails_are_those_of_scipy(freedom: float) -> None:
    for probability in (0.6, 0.9, 0.975, 0.995, 0.9999):
        expected = special.stdtrit(freedom, probability)
        assert student.quantile(probability, freedom) == pytest.approx(expected, rel=1e-7)
    for t in (0.0, 1e-9, 0.5, 1.0, -2.0, 3.0, 6.0):
        assert student.two_sided(t, freedom) == pytest.approx(2 * special.stdtr(freedom, -abs(t)), rel=1e-5)


def test_a_quantile_and_its_tail_belong_together() -> None:
    for freedom in (1.5, 3, 12, 250):
        assert student.two_sided(student.quantile(0.975, freedom), freedom) == pytest.approx(0.05, rel=1e-9)


def test_the_middle_is_zero() -> None:
    assert student.quantile(0.5, 7) == 0.0


@pytest.mark.parametrize(("probability", "freedom"), [(0.4, 3), (1.0, 3), (0.975, 0), (0.975, float("nan"))])
def test_what_has_no_quantile_is_refused(probability: float, freedom: float) -> None:
    with pytest.raises(PronmetricError, match="expected"):
        student.quantile(probability, freedom)
