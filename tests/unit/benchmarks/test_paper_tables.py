"""The page of the paper's tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.checkpoint import paper_tables


def test_the_page_has_table_4_the_findings_and_table_5(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for head, row, noisy in (("average", 6, 0.5), ("paper", 7, 0.75)):
        told = {"column": "glove", "name": "BiLSTM", "context": "common", "head": head, "row": row, "seed": 1}
        test = {kind: {"accuracy": value} for kind, value in (("noisy", noisy), ("system", 0.625))}
        folder = tmp_path / "grid" / f"glove-common-{head}-1"
        folder.mkdir(parents=True)
        cell = {**told, "test": test, "pairs": {"test": {"noisy": 4, "system": 8}}, "seconds": 60.0}
        (folder / "cell.json").write_text(json.dumps(cell), encoding="utf-8")
    people = {
        "benchmark": "people",
        "weights": "01234567",
        "date": "2026-01-02",
        "command": "python -m benchmarks.checkpoint.people",
    }
    people_file = tmp_path / "people.json"
    people_file.write_text(json.dumps({**people, "figures": {"sets": {}, "study": None}}), encoding="utf-8")
    flags = ["--people", str(people_file), "--minutes", "1.6", "--how", "on two cores"]
    monkeypatch.setattr("sys.argv", ["paper_tables", str(tmp_path / "grid"), *flags])
    paper_tables.main()
    page = capsys.readouterr().out
    assert "2 cells in 2 minutes, on two cores. pairs: test 4 R vs R' + 8 R vs S." in page
    assert "| 7 | common | attention (the paper's) | 75.0 | 89.1 |" in page
    assert "| attention over averaging | R vs R' | 1 | +25.0 | - | - | open |" in page
    assert "Weights `01234567`" in page and "Not measured with these weights" in page
    monkeypatch.setattr("sys.argv", ["paper_tables", str(tmp_path / "grid"), *flags, "--page", str(tmp_path / "x.md")])
    paper_tables.main()
    assert (tmp_path / "x.md").read_text(encoding="utf-8").startswith("# The paper's tables")
    kept = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert kept["people"]["weights"] == "01234567" and "JSON: `paper-tables.json`" in page
    assert any("75.0" in row for table in kept["tables"] for row in table["rows"])
