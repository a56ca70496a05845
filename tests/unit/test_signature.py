from __future__ import annotations

import pytest

from pronmetric.signature import Signature


def test_one_line_in_the_order_given() -> None:
    signature = Signature.of(model="default", weights="ab12cd34", precision="bf16", seed=0)
    assert str(signature) == "model:default|weights:ab12cd34|precision:bf16|seed:0"
    assert signature["precision"] == "bf16"


@pytest.mark.parametrize("value", ["a|b", "10 %", "C:\\models", "ümlaut", "line\nbreak", "tab\there", "", "a:b|c:d"])
def test_any_value_comes_back(value: str) -> None:
    signature = Signature.of(model=value, version="0.1.0")
    line = str(signature)
    assert line.count("|") == 1 and len(line.split()) == 1
    assert Signature.parse(line) == signature


def test_differences_name_the_fields() -> None:
    first = Signature.of(model="default", context="common", seed=1)
    second = Signature.of(model="default", context="none", precision="32", seed=1)
    assert first.differences(second) == {"context": ("common", "none"), "precision": (None, "32")}
    assert first.differences(first) == {}


def test_what_is_no_signature_is_refused() -> None:
    with pytest.raises(ValueError, match="'nothing'"):
        Signature.parse("model:default|nothing")
    with pytest.raises(ValueError, match="distinct"):
        Signature.parse("model:default|model:other")
    with pytest.raises(ValueError, match="lower-case"):
        Signature((("a b", "c"),))


def test_further_fields_come_last() -> None:
    signature = Signature.of(model="x").plus(tie="0.5", seed=1)
    assert signature == Signature.of(model="x", tie="0.5", seed=1)
    with pytest.raises(ValueError, match="distinct"):
        signature.plus(tie="1")
