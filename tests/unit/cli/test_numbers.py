from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from pronmetric.cli.parser import number, whole

Type = Callable[[str], float]

FITTING = [
    (whole(0), "0", 0),
    (whole(0), "12", 12),
    (whole(1), "1", 1),
    (number(), "-2.5", -2.5),
    (number(0), "0", 0.0),
    (number(0), "1e-3", 0.001),
    (number(above=0), "0.5", 0.5),
    (number(0, 1), "0", 0.0),
    (number(0, 1), "1", 1.0),
]
OTHERS = [
    (whole(0), ("-1", "1.5", "", "x", "²", "٣"), "a whole number from 0"),
    (whole(1), ("0",), "a whole number from 1"),
    (number(), ("nan", "inf", "-inf", "x", ""), "a number"),
    (number(0), ("-0.1", "nan", "inf", "x"), "a number from 0"),
    (number(above=0), ("0", "-1", "nan", "inf", "x"), "a number above 0"),
    (number(0, 1), ("-0.1", "1.1", "nan", "x"), "a number from 0 to 1"),
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
        number(0, other="auto or ")("much")
