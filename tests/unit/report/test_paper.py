"""Tables like the paper's, from cells and from the JSON of `agree` and `evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.report import paper

ROWS = ["none-average", "none-paper", "none-logit", "respective-average", "respective-paper", "common-average"]
ROWS += ["common-paper", "common-logit"]
NAMES = {"glove": "BiLSTM", "minilm": "frozen <MiniLM>"}


def cell(column: str, row: int, seed: int, noisy: float, system: float) -> dict[str, Any]:
    context, head = ROWS[row - 1].split("-")
    told = {"column": column, "name": NAMES[column], "row": row, "context": context, "head": head, "seed": seed}
    pairs = {"train": {"noisy": 25, "system": 25}, "test": {"noisy": 10, "system": 10}}
    test = {"noisy": {"accuracy": noisy}, "system": {"accuracy": system}}
    return {**told, "test": test, "pairs": pairs, "seconds": 30.0}


CELLS = [
    cell("glove", 6, 1, 0.50, 0.60),
    cell("glove", 6, 2, 0.54, 0.60),
    cell("glove", 7, 1, 0.60, 0.70),
    cell("minilm", 6, 1, 0.60, 0.60),
    cell("minilm", 7, 1, 0.71, 0.80),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for told in CELLS:
        place = tmp_path / "grid" / f"{told['column']}-{told['row']}-{told['seed']}"
        place.mkdir(parents=True)
        (place / "cell.json").write_text(json.dumps(told), encoding="utf-8")
    return tmp_path / "grid"


def test_table_4_has_a_line_for_each_row_and_a_column_for_each_encoder() -> None:
    table = paper.table4(CELLS, "noisy")
    assert table.header == ("row", "context", "head", "BiLSTM", "frozen <MiniLM>", "paper's best")
    assert table.rows == (
        ("6", "common", "average", "52.0 ± 2.8 (2)", "60.0", "-"),
        ("7", "common", "attention (the paper's)", "60.0", "71.0", "89.1"),
    )
    assert paper.table4(CELLS[:1], "system").rows == (("6", "common", "average", "60.0", "-"),)


def test_findings_are_mean_differences_between_settings_that_differ_in_one_thing() -> None:
    rows = {row[:2]: row[2:] for row in paper.findings(CELLS, {}).rows}
    # 60 - 52 and 71 - 60: mean 9.5, standard error 1.5
    assert rows["attention over averaging", "R vs R'"] == ("2", "+9.5", "1.5", "-", "confirmed")
    assert rows["frozen <MiniLM> over BiLSTM", "R vs S"] == ("2", "+5.0", "5.0", "-", "open")
    assert rows["R vs S above R vs R'", "both"] == ("4", "+6.8", "2.3", "-", "confirmed")  # 8, 10, 0, 9
    assert not any("context" in text for text, _ in rows)


def test_a_difference_of_nothing_is_open() -> None:
    alike = [cell(column, row, 1, 0.5, 0.5) for column in ("glove", "minilm") for row in (6, 7)]
    assert {row[-1] for row in paper.findings(alike, {}).rows} == {"open"}


def test_findings_have_an_interval_over_source_sentences_if_won_pairs_are_known() -> None:
    def told(column: str, row: int, seed: int, won: str) -> dict[str, Any]:
        made = cell(column, row, seed, won.count("1") / len(won), 0.5)
        made["test"]["noisy"]["won"] = won
        return made

    cells = [told("glove", 6, 1, "110000"), told("glove", 6, 2, "100000"), told("glove", 7, 1, "111111")]
    ids = ["set.de-en/A/one/1#1", "set.de-en/A/two/1#1", "set.de-en/A/one/2#1", "set.de-en/A/one/3#2"]
    rows = {row[:2]: row[2:] for row in paper.findings(cells, {"noisy": list("112345")}).rows}
    # won more, of two seeds: 0, 50 and four times 100 points, mean 75; source 1 has the first two. Residuals of the
    # sources: -100, 25, 25, 25, 25; their squares sum to 12500; 36 / 8 = 4.5 units; t of 3.5: 2.938
    # 2.938 * sqrt(4.5 / 3.5 * 12500) / 6 = 62.1
    number, mean, error, ends, verdict = rows["attention over averaging", "R vs R'"]
    assert (number, mean, error, verdict) == ("1", "+75.0", "-", "confirmed")
    low, high = map(float, ends.split(" to "))
    assert (low, high) == pytest.approx((75 - 62.1, 75 + 62.1), abs=1)
    assert rows["attention over averaging", "R vs S"] == ("1", "+0.0", "-", "-", "open")
    assert paper._sources({"splits": {"test": {"noisy": {"ids": ids}}}}) == {
        "noisy": ["set.de-en/1", "set.de-en/1", "set.de-en/2", "set.de-en/3"]
    }


def test_the_tables_of_a_folder_in_three_formats(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "tables", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "## Table 4, R vs S: pair accuracy, %" in told and "| 90.7 |" in told
    assert "5 cells, 2 minutes" in told and "pairs: train 25 R vs R' + 25 R vs S; test" in told
    assert main(["report", "tables", str(folder), "--format", "latex"]) == 0
    assert "\\begin{tabular}{lllrrr}" in capsys.readouterr().out
    page = folder.parent / "page.html"
    assert main(["report", "tables", str(folder), "--format", "html", "-o", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "frozen &lt;MiniLM&gt;" in html and "<MiniLM>" not in html and html.count("<table>") == 3


def test_tables_1_and_5_come_from_agree_and_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [
        {
            "id": str(k),
            "text_a": f"She left {k}.",
            "text_b": f"It left {k}.",
            "better": "A",
            "group": lang,
            "doc": str(k),
        }
        | {"votes": {"x": "A", "y": "B" if k == 3 else "A"}}
        for k, lang in enumerate(["french", "french", "german", "german"])
    ]
    scores = [{"id": str(k), "score_a": 0.9, "score_b": 0.1 + 0.3 * k} for k in range(4)]
    for name, rows in (("pairs.jsonl", pairs), ("scores.jsonl", scores)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made = tmp_path / "made"
    made.mkdir()
    files = [str(tmp_path / "pairs.jsonl"), "--scores", str(tmp_path / "scores.jsonl"), "--to_json"]
    assert main(["evaluate", *files, str(made / "study.json")]) == 0
    assert main(["agree", *files, str(made / "agree.json")]) == 0
    capsys.readouterr()
    assert main(["report", "tables", str(made)]) == 0
    told = capsys.readouterr().out
    assert "## Table 1, agree.json" in told and "| group german | 2 | 75.0 | 75.0 |" in told
    assert "| pairs | french | 2 | 100.0 | - | 82.0 | 67.6 |" in told
    assert "| pairs | german | 2 | 50.0 |" in told and "agreement" in told


def test_what_has_nothing_to_show_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="nothing to show"):
        paper.read([str(tmp_path)])
    (tmp_path / "x.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="expected JSON of `agree` or `evaluate`, or a cell"):
        paper.read([str(tmp_path / "x.json")])
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    assert main(["report", "tables", str(tmp_path)]) == 1
    assert "broken JSON" in capsys.readouterr().err
    assert main(["report", "tables", str(tmp_path / "none")]) == 1
    assert "no such file or folder" in capsys.readouterr().err


def test_a_result_called_tables_is_still_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tables").write_bytes((Path(__file__).parents[2] / "fixtures" / "report" / "score.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert main(["report", "./tables", "--no-model", "--format", "md", "--show", "systems", "--quiet"]) == 0
    assert "## Systems" in capsys.readouterr().out
