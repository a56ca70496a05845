from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from pronmetric.cli.parser import (
    any_number,
    number_above_zero,
    number_from_zero,
    number_up_to_one,
    whole_from_one,
    whole_from_zero,
)

Type = Callable[[str], float]

FITTING = [
    (whole_from_zero, "0", 0),
    (whole_from_zero, "12", 12),
    (whole_from_one, "1", 1),
    (any_number, "-2.5", -2.5),
    (number_from_zero, "0", 0.0),
    (number_from_zero, "1e-3", 0.001),
    (number_above_zero, "0.5", 0.5),
    (number_up_to_one, "0", 0.0),
    (number_up_to_one, "1", 1.0),
]
OTHERS = [
    (whole_from_zero, ("-1", "1.5", "", "x", "²", "٣"), "a whole number from 0"),
    (whole_from_one, ("0",), "a whole number from 1"),
    (any_number, ("nan", "inf", "-inf", "x", ""), "a number"),
    (number_from_zero, ("-0.1", "nan", "inf", "x"), "a number from 0"),
    (number_above_zero, ("0", "-1", "nan", "inf", "x"), "a number above 0"),
    (number_up_to_one, ("-0.1", "1.1", "nan", "x"), "a number from 0 to 1"),
]


@pytest.mark.parametrize(("kind", "text", "value"), FITTING)
def test_what_fits(kind: Type, text: str, value: float) -> None:
    found = kind(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(("kind", "text", "expected"), [(k, t, e) for k, texts, e in OTHERS for t in texts])
def test_what_does_not_is_refused_by_name(kind: Type, text: str, expected: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        kind(text)
    assert str(refused.value) == f"expected {expected}, got {text!r}"


def test_other_values_of_a_flag_are_named() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected auto or a number from 0, got 'much'"):
        number_from_zero("much", other="auto or ")
