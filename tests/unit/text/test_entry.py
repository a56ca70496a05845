"""The checker of records: each value is checked, and an error names file, line, place and key."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.text.entry import Entry, kind, read, shown

RECORD: dict[str, Any] = {
    "id": 7,
    "text": "She left.",
    "context": ["Anna came.", "She sat."],
    "empty": None,
    "start": 0,
    "score": 0.5,
    "label": "right",
    "side": {"score": 1},
    "sides": [{"score": 1}, {"score": None}],
}


def test_values() -> None:
    entry = Entry(RECORD)
    assert (entry.identity(), entry.label("id"), entry.label("empty"), entry.label("none")) == ("7", "7", None, None)
    assert (entry.string("text"), entry.text("text"), entry.name_of("text"), entry.name_of("empty")) == (
        *("She left.",) * 3,
        None,
    )
    assert entry.sentences("context") == entry.strings("context", length=2) == ("Anna came.", "She sat.")
    assert (entry.sentences("empty"), entry.sentences("none")) == ((), ())
    assert (entry.whole("start", least=0, most=0), entry.number("score"), entry.number("id")) == (0, 0.5, 7.0)
    assert (entry.number_or_null("empty"), entry.number_or_null("score")) == (None, 0.5)
    assert entry.one_of("label", ("right", "wrong")) == "right" and entry.get("none") is None
    assert entry.entry("side").number("score") == 1
    assert [side.get("score") for side in entry.entries("sides")] == [1, None]


REFUSED: list[tuple[Callable[[Entry], object], str]] = [
    (lambda entry: entry.required("none"), "the key \"none\" is missing; the record has ['context', 'empty', "),
    (lambda entry: entry.string("id"), '"id" must be a string, got a number'),
    (lambda entry: entry.text("empty"), '"empty" must be a string, got null'),
    (lambda entry: entry.sentences("text"), '"text" must be a list of strings, got a string'),
    (lambda entry: entry.sentences("sides"), '"sides" must be a list of strings, got a list with other items'),
    (lambda entry: entry.strings("empty"), '"empty" must be a list, got null'),
    (lambda entry: entry.strings("context", length=3), '"context" must be a list of 3 strings'),
    (lambda entry: entry.name_of("id"), '"id" must be a string or null, got a number'),
    (lambda entry: entry.label("score"), '"score" must be a string, got a number'),
    (lambda entry: entry.whole("score"), '"score" must be a whole number, got 0.5'),
    (lambda entry: entry.whole("start", least=1), '"start" must be a whole number from 1, got 0'),
    (lambda entry: entry.whole("id", least=0, most=5), '"id" must be a whole number from 0 to 5, got 7'),
    (lambda entry: entry.number("empty"), '"empty" must be a number, got null'),
    (lambda entry: entry.number_or_null("label"), '"label" must be a number or null, got "right"'),
    (lambda entry: entry.number("id", most=5), '"id" must be a number from -5 to 5, got 7'),
    (lambda entry: entry.one_of("label", ("a", None)), '"label" must be one of "a", null, got "right"'),
    (lambda entry: entry.one_of("start", (False,)), '"start" must be one of false, got 0'),
    (lambda entry: entry.entry("sides"), '"sides": expected an object, got a list'),
    (lambda entry: entry.entries("context"), '"context", entry 1: expected an object, got a string'),
    (lambda entry: entry.entries("sides")[1].number("score"), '"sides", entry 2: "score" must be a number, got null'),
    (lambda entry: entry.entry("side").number("x"), '"side": the key "x" is missing; the record has [\'score\']'),
]


@pytest.mark.parametrize(("take", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused_values(take: Callable[[Entry], object], message: str) -> None:
    with pytest.raises(InputError) as error:
        take(Entry(RECORD, file="f.jsonl", line=3))
    assert str(error.value).startswith(f"f.jsonl:3: {message}") and error.value.line == 3
    with pytest.raises(InputError) as error:
        take(Entry(RECORD, file="f.json", name="item 2", cure="write it again"))
    joint = ", " if message.startswith(('"side":', '"sides":', '"sides",', '"context",')) else ": "
    assert str(error.value).startswith(f"f.json: item 2{joint}{message}")
    assert str(error.value).endswith("; write it again")


@pytest.mark.parametrize(
    ("value", "said"), [("a\0", "holds a NUL character"), ("\ud800", "has a lone surrogate")], ids=("NUL", "surrogate")
)
def test_text_that_cannot_be_printed_is_refused(value: str, said: str) -> None:
    entry = Entry({"id": value, "list": [value]})
    for take in (entry.text, entry.name_of, entry.label):
        with pytest.raises(InputError, match=f'"id" {said}'):
            take("id")
    with pytest.raises(InputError, match=f'"id" {said}'):
        entry.identity()
    with pytest.raises(InputError, match=f'"list" {said}'):
        entry.sentences("list")
    assert entry.string("id") == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
def test_numbers_that_no_float_holds_are_refused(value: float) -> None:
    with pytest.raises(InputError, match='"x" must be a finite number or null, got '):
        Entry({"x": value}).number_or_null("x")


@pytest.mark.parametrize("value", [None, True, 1.5, "", ["a"], {"a": 1}])
def test_ids_are_strings_or_whole_numbers(value: object) -> None:
    with pytest.raises(InputError, match='"id" must be a string or a whole number, got '):
        Entry({"id": value}).identity()


def test_lines_are_read_as_entries(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n[]\n', encoding="utf-8")
    entries = read(path)
    assert [(entry.line, entry.get("a")) for entry in (next(entries), next(entries))] == [(1, 1), (3, 2)]
    with pytest.raises(InputError, match=r"f\.jsonl:4: expected a JSON object, got a list"):
        next(entries)
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"f\.jsonl:1: broken JSON \(.*\); expected one object a line"):
        next(read(path))


def test_values_in_words() -> None:
    assert [kind(value) for value in ("", True, None, [], {}, 1, 0.5, (1,))] == [
        *("a string", "true or false", "null", "a list", "an object", "a number", "a number", "tuple"),
    ]
    assert shown("x" * 50) == f'"{"x" * 36}...'
