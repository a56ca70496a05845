"""Figures and page of `benchmarks.bulk`, from the runs that it would measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import bulk


def run(seconds: float, finished: list[float]) -> dict[str, Any]:
    return {"seconds": seconds, "memory_mib": 900, "finished": finished, "over_time": [[0.0, 10], [seconds / 2, 900]]}


FOUND: dict[str, Any] = {
    "date": "2026-01-02",
    "command": "python -m benchmarks.bulk",
    "weights": "01234567",
    "machine": {"cores": 2, "processor": "x"},
    "compared_rows": 1000,
    "runs": {
        "score": [{"seconds": 100.0, "memory_mib": 300}],
        "1": [run(108.0, [20.0, 40.0, 60.0, 80.0, 100.0])],
        "2": [run(60.0, [22.0, 22.0, 42.0, 42.0, 62.0])],
    },
    "growth": [{"rows": 1000, **run(60.0, [22.0, 60.0])}, {"rows": 10_000, **run(500.0, [22.0, 490.0])}],
}


def test_speed_and_overhead() -> None:
    value = bulk.figures(FOUND)
    assert value["speedup"] == pytest.approx(108 / 60) and value["overhead"] == pytest.approx(0.08)
    assert value["steady_speedup"] == pytest.approx(20 / ((62 - 22) / 3))
    assert value["rows_per_second"] == pytest.approx(1000 / 108)


def test_page_and_plot(tmp_path: Path) -> None:
    page = bulk.page(FOUND)
    assert "| 10,000 | 500 | 20 | 900 |" in page and "1.80 times" in page and "+8.0 %" in page
    assert "27,778 core hours" in page  # 1e9 rows / 20 a second * 2 workers
    pytest.importorskip("matplotlib")
    bulk.plot(FOUND, tmp_path / "bulk.svg")
    assert (tmp_path / "bulk.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_rows_are_short_and_all_different(tmp_path: Path) -> None:
    bulk.make(tmp_path / "rows.jsonl", 500)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len({row["text"] for row in rows}) == 500
    assert max(len(row["text"].split()) for row in rows) < 15 and {row["system"] for row in rows} == {
        *"S0 S1 S2 S3".split()
    }
