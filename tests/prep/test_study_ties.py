"""Ties of a study: read from judged pairs, found by their texts, and without a better text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from data_prep.ties import Ties, as_tie
from pronmetric.errors import InputError
from pronmetric.schema import Mismatch, Pair

PAIR = Pair(
    *("i", "noisy", "t", "de-en", "d", 2, "A", "N", "She saw this.", "She saw that."),
    *(("One.", "Two."), ("Uno.",), (Mismatch("pronoun", "this", "that", 8, 12, 8, 12),)),
)


def write(path: Path, **changed: object) -> str:
    rows = [
        {"id": "1", "context": ["One.", "Two."], "text_a": "She saw this.", "text_b": "She saw that.", "better": "tie"},
        {"id": "2", "context": [], "text_a": "He left.", "text_b": "It left.", "better": "A"},
        {"id": "3", "context": [], "text_a": "Who left?", "text_b": "Whom left?"},
    ]
    path.write_text("".join(json.dumps({**row, **changed}) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_a_tie_is_found_by_its_texts_and_context(tmp_path: Path) -> None:
    ties = Ties(write(tmp_path / "pairs.jsonl"))
    assert len(ties) == 1 and not ties.found
    assert not ties.has(replace(PAIR, context=("One.",))) and not ties.has(replace(PAIR, kind="system"))
    assert not ties.has(replace(PAIR, context=(), better="He left.", worse="It left.")) and not ties.found
    assert ties.has(replace(PAIR, id="another")) and len(ties.found) == 1
    assert as_tie(PAIR) == replace(PAIR, kind="tie", system_context=("One.", "Two."))


def test_without_a_file_nothing_is_tied_and_a_file_needs_a_tie(tmp_path: Path) -> None:
    assert len(Ties(None)) == 0 and not Ties(None).has(PAIR)
    with pytest.raises(InputError, match=r'pairs.jsonl: expected at least one pair with "better": "tie"'):
        Ties(write(tmp_path / "pairs.jsonl", better="B"))
