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


def test_scores(tmp_path: Path) -> None:
    tokens = read(written(tmp_path / "t", TOKEN, {**TOKEN, "id": "2"}))
    path = written(tmp_path / "s", {"id": "2", "score": None}, {"id": "1", "score": 0.25})
    assert read_scores(path, tokens) == [0.25, None]
    with pytest.raises(InputError, match='1 of the ids have no scores here, first "1"; score exactly the labelled'):
        read_scores(written(tmp_path / "s", {"id": "2", "score": 1}), tokens)
    with pytest.raises(InputError, match="are no labelled pronouns"):
        read_scores(written(tmp_path / "s", *({"id": name, "score": 1} for name in "12x")), tokens)
    with pytest.raises(InputError, match="no pronouns"):
        read(written(tmp_path / "t"))
