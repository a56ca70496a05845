from __future__ import annotations

import math

import pytest

from pronmetric.data.collate import Example
from pronmetric.training import examples
from pronmetric.training.examples import LabelledExample

Place = tuple[str, str] | None


def item(*labels: tuple[Place, float]) -> LabelledExample:
    return LabelledExample(Example("", "", ()), tuple(r for _, r in labels), True, (), tuple(p for p, _ in labels))


HER, HIM = ("object", "her"), ("object", "him")


def test_a_form_that_is_wrong_more_often_than_its_slot_is_below_zero_and_the_other_above() -> None:
    items = [item((HER, 0.0), (HER, float(k % 4 == 0)), (HIM, 1.0), (HIM, float(k % 4 != 0))) for k in range(4000)]
    odds = examples.log_odds(items)
    # her is right 1 in 8, him 7 in 8, the slot 1 in 2
    assert odds[HER] == pytest.approx(math.log(1 / 7), abs=0.05) and odds[HIM] == pytest.approx(-odds[HER], abs=0.01)


def test_slots_are_apart_and_a_rare_form_is_drawn_towards_zero() -> None:
    she = ("subject", "she")
    few = [item((HER, 0.0))] * 2 + [item((HIM, 1.0))] * 200
    odds = examples.log_odds([*few, *[item((she, 0.0), (None, 1.0))] * 100])
    assert odds[she] == pytest.approx(0.0, abs=1e-9)  # alone in its slot
    assert -2.0 < odds[HER] < 0.0 and set(odds) == {HER, HIM, she}
    more = examples.log_odds([*[item((HER, 0.0))] * 100, *[item((HIM, 1.0))] * 200])
    assert more[HER] < odds[HER] - 0.2


def test_what_is_added_to_each_logit() -> None:
    given = item((HER, 0.0), (None, 1.0), (HIM, 1.0), (("reflexive", "itself"), 1.0))
    assert examples.adjustment(given, {HER: -0.5, HIM: 0.25}) == (-0.5, 0.0, 0.25, 0.0)
    assert examples.adjustment(LabelledExample(Example("", "", ()), (1.0,), True), {HER: -0.5}) == ()
