"""Figures and page of `benchmarks.cost.bulk`, from the runs that it would measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cost import bulk


def run(seconds: float, finished: list[float]) -> dict[str, Any]:
    return {"seconds": seconds, "memory_mib": 900, "finished": finished, "over_time": [[0.0, 10], [seconds / 2, 900]]}


ORIGIN = {"date": "2026-01-02", "command": "python -m benchmarks.cost.bulk"}
FOUND: dict[str, Any] = {
    **ORIGIN,
    "weights": "01234567",
    "machine": {"cores": 2, "processor": "x"},
    "compared": {
        **ORIGIN,
        "rows": 1000,
        "runs": {
            "score": [{"seconds": 100.0, "memory_mib": 300}],
            "1": [run(108.0, [20.0, 40.0, 60.0, 80.0, 100.0])],
            "2": [run(60.0, [22.0, 22.0, 42.0, 42.0, 62.0])],
        },
    },
    "growth": {
        **ORIGIN,
        "runs": [{"rows": 1000, **run(60.0, [22.0, 60.0])}, {"rows": 10_000, **run(500.0, [22.0, 490.0])}],
    },
}
SPEED: dict[str, Any] = {
    "name": "pronmetric",
    "precision": "bf16",
    "pieces_a_line": 43.2,
    "lines_per_cpu_second": 100.0,
    "preparing_seconds_a_line": 0.00032,
    "flops_a_line": 9.4e8,
}


def test_speed_and_overhead() -> None:
    value = bulk.figures(FOUND)
    assert value["speedup"] == pytest.approx(108 / 60) and value["overhead"] == pytest.approx(0.08)
    assert value["steady_speedup"] == pytest.approx(20 / ((62 - 22) / 3))
    assert value["rows_per_second"] == pytest.approx(1000 / 108)


def test_page_and_plot(tmp_path: Path) -> None:
    page = bulk.page({**FOUND, "billion": bulk.billion(FOUND["growth"]["runs"][-1], [SPEED])})
    assert "| 10,000 | 500 | 20 | 900 |" in page and "1.80 times" in page and "+8.0 %" in page
    assert "| the rows above, fp32 | 27,778 | - |" in page  # 1e9 rows / 20 a second * 2 workers
    # 1e9 rows / 100 a second; the preparation of a row takes longer than its model at 40 % of 312 TFLOP/s
    assert "| pronmetric, bf16: texts with context, 43 pieces | 2,778 | 11 |" in page
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
