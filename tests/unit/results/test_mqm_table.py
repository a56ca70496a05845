"""Doubtful pronouns as MQM errors, read back by the reader of MQM annotations."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.human import mqm as annotations
from pronmetric.results import mqm
from pronmetric.results.mqm import Severities
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.scoring.surplus import tell_surplus
from pronmetric.text.corpus import Row

TEXT = "She said\the left it."


def segment(*probabilities: float | None) -> SegmentScore:
    places = [(0, 3), (9, 11), (17, 19)]
    scored = [
        PronounScore(TEXT[start:end], start, end, 1.0 if p is None else p, p)
        for (start, end), p in zip(places, probabilities, strict=False)
    ]
    return SegmentScore(0.5 if scored else None, tuple(scored))


def test_errors_have_spans_and_severities_by_the_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "errors.tsv"
    with mqm.writer(str(path), Severities(0.7, 0.3)) as add:
        add("A", 0, Row((TEXT,), "d1", "Sie ging.", ()), TEXT, segment(0.69, 0.7, 0.29))
        add("A", 1, Row((TEXT,), None, None, ()), TEXT, segment(0.9))
        add("A", 2, Row(("Rain.",), None, None, ()), "Rain.", segment())
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines[0] == list(mqm.COLUMNS) == list(annotations.COLUMNS)
    kind = "Accuracy/Mistranslation"
    assert lines[1] == ["A", "d1", "1", "pronmetric", "Sie ging.", "<v>She</v> said he left it.", kind, "Minor"]
    assert lines[2][5:] == ["She said he left <v>it</v>.", kind, "Major"]
    assert [line[2:] for line in lines[4:]] == [["3", "pronmetric", "", "Rain.", "No-error", "No-error"]]
    first, second, third = annotations.read(path, strict=True)
    assert [(error.severity, error.spans) for error in first.errors] == [("Minor", ((0, 3),)), ("Major", ((17, 19),))]
    assert first.penalty() == 6.0 and not second.errors and not third.errors


def test_a_pronoun_that_is_likelier_surplus_than_wrong_is_an_addition(tmp_path: Path) -> None:
    path = tmp_path / "errors.tsv"
    doubtful = tell_surplus(segment(0.25, 0.25, 0.25), {"": 0.5, "she": 0.75})
    with mqm.writer(str(path), Severities()) as add:
        add("A", 0, Row((TEXT,), None, None, ()), TEXT, doubtful)
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[6] for line in lines] == ["Accuracy/Addition", *["Accuracy/Mistranslation"] * 2]


def test_line_ends_and_tabs_of_names_and_sources_are_blanks(tmp_path: Path) -> None:
    path = tmp_path / "errors.tsv"
    with mqm.writer(str(path), Severities()) as add:
        add("a\nb", 0, Row((TEXT,), "d\t1", "Sie\rging.", ()), TEXT, segment(0.1))
    _, row = path.read_bytes().splitlines()
    assert row.decode().split("\t")[:5] == ["a b", "d 1", "1", "pronmetric", "Sie ging."]


def test_without_a_file_nothing_is_written() -> None:
    with mqm.writer(None, Severities()) as add:
        add("A", 0, Row((TEXT,), None, None, ()), TEXT, segment(None))


def test_unbounded_scores_and_marks_in_the_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "errors.tsv"
    with pytest.raises(PronmetricError, match="no probabilities"), mqm.writer(str(path), Severities()) as add:
        add("A", 0, Row((TEXT,), None, None, ()), TEXT, segment(None))
    with pytest.raises(InputError, match="the marks of a span"), mqm.writer(str(path), Severities()) as add:
        add("A", 0, Row(("<v>It</v>",), None, None, ()), "<v>It</v>", segment())
    assert not path.exists()
