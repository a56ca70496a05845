"""Preference pairs: read as judged pairs, made of the candidates of a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.human import judged_pairs
from pronmetric.scoring.rerank import Preference, Weighting
from pronmetric.text.context import Source


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_the_chosen_text_is_the_better_one(tmp_path: Path) -> None:
    plain = {"prompt": "Translate: Sie ging.", "chosen": "She left.", "rejected": "It left."}
    chat = {
        "id": "x",
        "prompt": [{"role": "user", "content": "Sie ging."}],
        "chosen": [{"role": "user", "content": "Sie ging."}, {"role": "assistant", "content": "She left."}],
        "rejected": [{"role": "assistant", "content": "It left."}],
        "context": ["Anna came."],
        "source": "Sie ging.",
        "doc": 3,
    }
    one, other = judged_pairs.read(write(tmp_path / "pairs.jsonl", plain, chat))
    assert (one.id, one.text_a, one.text_b, one.better, one.context) == ("1", "She left.", "It left.", "A", ())
    assert (other.id, other.text_a, other.text_b, other.better) == ("x", "She left.", "It left.", "A")
    assert (other.context, other.source, other.doc) == (("Anna came.",), Source("Sie ging."), "3")


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (3, '"chosen" must be a string, got a number'),
        (None, '"chosen" must be a string, got null'),
        ([], r'the last message of "chosen": expected \{"role", "content"\}, got null'),
        ([{"role": "assistant"}], r'the last message of "chosen": the key "content" is missing'),
    ],
)
def test_bad_pairs(tmp_path: Path, chosen: Any, said: str) -> None:
    path = write(tmp_path / "pairs.jsonl", {"chosen": chosen, "rejected": "It left."})
    with pytest.raises(InputError, match=rf"pairs\.jsonl:1: {said}"):
        judged_pairs.read(path)


def test_candidates_are_paired_in_the_order_of_their_differences() -> None:
    texts, scores = ["a", "b", "c", "d", "a"], [0.5, 0.9, 0.1, None, 0.5]
    found = Weighting().preferences(texts, scores)
    assert [(pair.chosen, pair.rejected) for pair in found] == [("b", "c"), ("b", "a"), ("a", "c")]
    assert [pair.difference for pair in found] == pytest.approx([0.8, 0.4, 0.4])
    assert len(Weighting(margin=0.5).preferences(texts, scores)) == 1
    weighted = Weighting(weight=0.5).preferences(["a", "b"], [0.5, None], [1.0, 3.0])
    assert weighted == [Preference("b", "a", 1.0)]
