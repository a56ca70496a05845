"""The load measurement of `study serve`: its study, its figures, and that the page names other work."""

from __future__ import annotations

from collections import Counter

from benchmarks.cost.study_load import Stored, figures, make_study, page


def test_each_item_has_ten_annotators_and_nobody_runs_out_of_tasks() -> None:
    study = make_study(20)
    assert len(study.assignments) == 20 and min(map(len, study.assignments.values())) == 66
    times = Counter(task.item for own in study.assignments.values() for task in own if not task.repeated)
    assert set(times.values()) == {10}


def test_the_share_within_the_goal_counts_its_limit() -> None:
    stored = [Stored("1", task, seconds) for task, seconds in enumerate([0.001, 0.1, 0.2, 0.201])]
    assert figures(stored) == {"answers": 4, "within": 0.75, "median": 150.0, "p95": 200.8, "max": 201.0}


def test_the_page_says_whether_the_machine_was_busy() -> None:
    content = {"date": "2026-01-02", "annotators": 200, "seconds": 20.0, "cores": 2, "load": 0.1, "nice": 0}
    run = {"database": "SQLite", "pattern": "at their own pace", **figures([Stored("1", 0, 0.01)])}
    assert "had no other work" in page({**content, "runs": [run]})
    busy = page({**content, "load": 7.5, "nice": -5, "runs": [run]})
    assert "load average 7.5 before" in busy and "at nice -5" in busy
    assert "| SQLite, at their own pace | 1 | 100.0 | 10.0 | 10.0 | 10.0 |" in busy
