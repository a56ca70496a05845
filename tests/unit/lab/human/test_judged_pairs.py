from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.eval.decision import decide
from pronmetric.lab.human.judged_pairs import JudgedPair, read, read_scores, scores_of, to_line

FULL: dict[str, Any] = {
    "id": "p1",
    "context": ["Ann came in.", "The dog barked."],
    "text_a": "She fed it.",
    "text_b": "He fed it.",
    "better": "A",
    "votes": {"r1": "A", "r2": "tie"},
    "group": "de-en",
    "doc": "d1",
    "pronoun_a": "she",
    "pronoun_b": "he",
}
BARE = {"id": 7, "text_a": "It is.", "text_b": "He is."}
STUDY = {
    "id": "x-1",
    "lang": "elvish",
    "context": ["the", "cat", "slept", "."],
    "reference": ["it", "was", "tired", "."],
    "noisy": ["he", "was", "tired", "."],
    "reference_pronoun": "it",
    "noisy_pronoun": "he",
    "one_token": True,
}


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_full_record_and_a_bare_one(tmp_path: Path) -> None:
    full, bare = read(written(tmp_path / "p", FULL, BARE))
    assert full == JudgedPair(**{**FULL, "context": ("Ann came in.", "The dog barked.")})
    assert bare == JudgedPair("7", (), "It is.", "He is.", None, {}, None, None, None, None, None)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    pairs = read(written(tmp_path / "p", FULL, BARE, STUDY))
    (tmp_path / "q").write_text("".join(f"{to_line(pair)}\n" for pair in pairs), encoding="utf-8")
    assert read(tmp_path / "q") == pairs


def test_the_study_files_form(tmp_path: Path) -> None:
    """Tokens joined by blanks, lower case as it is; the reference is A and better; one reference sentence, one doc."""
    found = read(written(tmp_path / "p", STUDY, {**STUDY, "id": "x-2", "context": []}))
    assert found[0] == JudgedPair(
        id="x-1",
        context=("the cat slept .",),
        text_a="it was tired .",
        text_b="he was tired .",
        better="A",
        group="elvish",
        doc="it was tired .",
        pronoun_a="it",
        pronoun_b="he",
        judge="the reference is better",
    )
    assert found[1].context == ()


def test_empty_lines_and_keys_of_others_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_text("\n" + json.dumps({**BARE, "comment": 3, "systems": ["x"]}) + "\n\n", encoding="utf-8")
    assert len(read(path)) == 1


def test_scores(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s", {"id": "7", "score_a": 1, "score_b": -0.5}, {"id": "p1", "score_a": None, "score_b": 2}
    )
    scores = read_scores(path)
    assert scores == {"7": (1.0, -0.5), "p1": (None, 2.0)}
    pairs = read(written(tmp_path / "p", FULL, BARE))
    assert scores_of(pairs, scores, file=path) == [(None, 2.0), (1.0, -0.5)]
    with pytest.raises(InputError, match='1 of the ids have no scores here, first "p1"'):
        scores_of(pairs, {"7": (1.0, 1.0)}, file=path)
    with pytest.raises(InputError, match='1 of the ids are scored, but are no pairs, first "p1"'):
        scores_of(pairs[1:], scores, file=path)


def test_decisions() -> None:
    assert decide(0.5, 0.5) == "tie"
    assert decide(0.5, 0.500001) == "B"
    assert decide(0.75, 0.5, tie=0.25) == "tie"  # a difference of exactly the threshold is a tie
    assert decide(0.76, 0.5, tie=0.25) == "A"
    assert decide(0.5, None, tie=1.0) is None


@pytest.mark.shared
def test_the_real_study_files(shared: Path) -> None:
    for language in ("french", "german"):
        pairs = read(shared / "data" / "study" / f"{language}.jsonl")
        assert len(pairs) == 500
        assert {pair.better for pair in pairs} == {"A"} and {pair.group for pair in pairs} == {language}
        assert sum(not pair.context for pair in pairs) == {"french": 21, "german": 2}[language]
        assert len({pair.doc for pair in pairs}) == {"french": 369, "german": 420}[language]
