from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import consistency, export
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites.contrastive import Candidate, Judging, Reading, SuiteVerdicts


def entry(candidates: int, right: int, distance: int, *, equal: bool = False) -> dict[str, Any]:
    last = ["x" if equal else f"d{n}" for n in range(candidates)]
    return {
        "src": "s1 _eos s2 _eos s3 _eos s4",
        "dst": [f"t1 _eos t2 _eos t3 _eos {text}" for text in last],
        "true_ind": right,
        "ctx_dist": distance,
    }


ENTRIES = [entry(2, 0, 1), entry(2, 0, 1, equal=True), entry(3, 2, 3)]


def judged(tmp_path: Path, costs: list[float], entries: list[dict[str, Any]] = ENTRIES) -> SuiteVerdicts:
    path = tmp_path / "deixis.json"
    path.write_text(json.dumps(entries))
    items = consistency.read(path, Reading())
    return consistency.judge(items, export.cut([-c for c in costs], items, "x"), Judging())


def test_sentences_are_cut_into_context_and_last(tmp_path: Path) -> None:
    path = tmp_path / "deixis.json"
    path.write_text(json.dumps(ENTRIES))
    assert consistency.read(path, Reading(context=2))[0].candidates[1] == Candidate(
        "s4", "d1", ("s2", "s3"), ("t2", "t3")
    )
    assert consistency.read(path, Reading(context=9))[0].candidates[1].source_context == ("s1", "s2", "s3")


def test_the_first_of_the_best_counts_as_published_and_a_tie_is_wrong_in_the_strict_figure(tmp_path: Path) -> None:
    found = judged(tmp_path, [1, 2, 5, 5, 3, 1, 1])
    assert [v.right for v in found.verdicts] == [True, True, False]
    assert found.further["strict correct (a tie is wrong)"] == 1
    assert found.further["strict accuracy (a tie is wrong)"] == 1 / 3
    assert found.further["items with equal candidates"] == 1
    groups = suite_figures.figures(found.verdicts).by["distance"]
    assert {name: (one.correct, one.total) for name, one in groups.items()} == {"1": (2, 2), "3": (0, 1)}


def test_constant_scores_are_right_where_the_right_candidate_comes_first(tmp_path: Path) -> None:
    found = judged(tmp_path, [7.0] * 7)
    assert [v.right for v in found.verdicts] == [True, True, False]
    assert found.further["strict correct (a tie is wrong)"] == 0


def test_nan_counts_as_the_best_as_in_the_program(tmp_path: Path) -> None:
    assert [v.right for v in judged(tmp_path, [1, math.nan, math.nan, 1, 3, 2, 1]).verdicts] == [False, True, True]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"src": "s1 _eos s2"}, 'expected 4 sentences joined by " _eos ", got 2'),
        ({"true_ind": 2}, '"true_ind" must be below the number of candidates, 2; got 2'),
        ({"ctx_dist": 0}, '"ctx_dist" must be a whole number from 1, got 0'),
        ({"dst": "t"}, '"dst" must be a list, got a string'),
    ],
)
def test_what_is_no_item_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        judged(tmp_path, [], [ENTRIES[0] | change])
    assert str(error.value).endswith(f"deixis.json: item 1: {said}")


def test_translations_are_not_judged(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="judges scores of its candidates, not translations"):
        consistency.judge_translations("a", "b", Judging())
