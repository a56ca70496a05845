from __future__ import annotations

import math

import pytest

from pronmetric.text import strict_json


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NaN", "NaN is not valid JSON"),
        ('{"a": [-Infinity]}', "Infinity is not valid JSON"),
        ("1e999", "expected a finite number, got 1e999"),
        ("-1E400", "expected a finite number, got -1E400"),
        ("1" * 5000, "at most 4000 digits, got 5000"),
        ('{"a": 1, "b": {"c": 1, "c": 1}}', 'duplicate key "c"'),
        ("[" * 200_000, "nested too deep"),
        ('{"a":' * 200_000, "nested too deep"),
        ('{"a": ["\\ud800"]}', '"a" has a lone surrogate'),
        ('{"\\uDFFF": 1}', "a key has a lone surrogate"),
        ("", "Expecting value"),
        ("{} {}", "Extra data"),
    ],
    ids=[
        "nan",
        "infinity",
        "overflow",
        "negative",
        "digits",
        "twice",
        "lists",
        "objects",
        "half",
        "key",
        "empty",
        "two",
    ],
)
def test_what_is_no_json_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        strict_json.parse(text)


def test_whole_characters_and_great_numbers_stay() -> None:
    assert strict_json.parse('["\\ud83d\\ude00", 1e308, 123456789012345678901234567890]') == [
        "\U0001f600",
        1e308,
        123456789012345678901234567890,
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, [{"a": -math.inf}]])
def test_what_is_no_json_is_not_written(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json.dump(value)


def test_bytes_of_file_names_are_written_as_text_and_read_where_asked() -> None:
    written = strict_json.dump(["caf\udce9 é"])
    assert written == '["caf\\udce9 é"]' and written.encode()
    assert strict_json.parse(written, bytes_of_names=True) == ["caf\udce9 é"]
