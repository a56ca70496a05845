from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.human.labelled_pronouns import LabelledPronoun, is_record, read, read_scores
from pronmetric.text.context import Text

TOKEN: dict[str, Any] = {
    "id": "1",
    "context": ["Ann came.", "It rained."],
    "text": "Then He left.",
    "start": 5,
    "end": 7,
    "pronoun": "he",
    "label": "wrong",
    "doc": "d",
    "system": "Alder",
}


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_read(tmp_path: Path) -> None:
    bare = {"id": 2, "text": "It rained.", "start": 0, "end": 2, "label": "right"}
    one, other = read(written(tmp_path / "t", TOKEN, bare))
    assert one == LabelledPronoun("1", Text("Ann came. It rained.", "Then He left."), 5, 7, True, "d", "Alder")
    assert one.form == "he"
    assert other == LabelledPronoun("2", Text("", "It rained."), 0, 2, False)


def test_told_from_pairs_by_the_first_line() -> None:
    assert is_record(json.dumps(TOKEN))
    assert not is_record(json.dumps({"id": 1, "text_a": "", "text_b": ""}))
    assert not is_record("[1]") and not is_record("{") and not is_record("")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "bad"}, '"label" must be one of "right", "wrong"'),
        ({"label": True}, '"label" must be one of "right", "wrong"'),
        ({"start": 7}, "start 7, end 7 is not a span"),
        ({"end": 40}, "end 40 is not a span of a text of 13"),
        ({"start": "5"}, '"start" must be a whole number, got "5"'),
        ({"end": True}, '"end" must be a whole number, got true'),
        ({"pronoun": "she"}, "expected the pronoun 'she' at start, got 'He'"),
        ({"id": None}, '"id" must be a string'),
        ({"text": 3}, '"text" must be a string'),
        ({"context": "x"}, '"context" must be a list'),
    ],
)
def test_faults(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        read(written(tmp_path / "t", {**TOKEN, "id": "0"}, {**TOKEN, **change}))
    assert f"{tmp_path / 't'}:2: " in str(error.value) and message in str(error.value)


def test_missing_key_repeated_id_empty_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='"id" is missing'):
        read(written(tmp_path / "t", {key: value for key, value in TOKEN.items() if key != "id"}))
    with pytest.raises(InputError, match=r't:2: duplicate id "1", first in line 1'):
        read(written(tmp_path / "t", TOKEN, TOKEN))
    with pytest.raises(InputError, match="no pronouns"):
        read(written(tmp_path / "t"))


def test_scores(tmp_path: Path) -> None:
    tokens = read(written(tmp_path / "t", TOKEN, {**TOKEN, "id": "2"}))
    path = written(tmp_path / "s", {"id": "2", "score": None}, {"id": "1", "score": 0.25})
    assert read_scores(path, tokens) == [0.25, None]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"id": "1", "score": NaN}'], "s:1: "),
        (['{"id": "1", "score": 1e999}'], "s:1: "),
        (['{"id": "1", "score": "0.5"}'], '"score" must be a number or null'),
        (['{"id": "1"}'], '"score" is missing'),
        (['{"score": 1}'], 'the key "id" is missing'),
        (['{"id": "1", "score": 1}', '{"id": "1", "score": 1}'], 'duplicate id "1"'),
        (
            ['{"id": "2", "score": 1}'],
            '1 of the ids have no scores here, first "1"; score exactly the labelled pronouns',
        ),
        (['{"id": "1", "score": 1}', '{"id": "x", "score": 1}'], "are no labelled pronouns"),
        ([], "have no scores here"),
    ],
)
def test_faulty_scores(tmp_path: Path, lines: list[str], message: str) -> None:
    (tmp_path / "s").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_scores(tmp_path / "s", read(written(tmp_path / "t", TOKEN)))
    assert message in str(error.value)
