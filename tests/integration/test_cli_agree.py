from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main

CELLS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def issue_table() -> None:
    rows = [(a, b) for a in range(3) for b in range(3) for _ in range(CELLS[a][b])]
    lines = [f"{number},{'xyz'[a]},{'xyz'[b]}\n" for number, (a, b) in enumerate(rows)]
    Path("table.csv").write_text("item,one,two\n" + "".join(lines))


def records(name: str, *rows: dict[str, Any]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def pairs() -> None:
    def pair(number: int, group: str, **votes: str) -> dict[str, Any]:
        texts = {"text_a": "She fed it.", "text_b": "He fed it.", "context": []}
        return {"id": f"p{number}", **texts, "better": "A", "votes": votes, "group": group, "doc": f"d{number // 2}"}

    records(
        "pairs.jsonl",
        pair(1, "elvish", ann="A", bob="A"),
        pair(2, "elvish", ann="A", bob="tie"),
        pair(3, "dwarvish", ann="B", bob="B"),
        pair(4, "dwarvish", ann="A", bob="A"),
        pair(5, "dwarvish", ann="tie", bob="A"),
    )
    records(
        "scores.jsonl",
        {"id": "p1", "score_a": 0.9, "score_b": 0.1},
        {"id": "p2", "score_a": 0.5, "score_b": 0.45},
        {"id": "p3", "score_a": 0.9, "score_b": 0.1},
        {"id": "p4", "score_a": None, "score_b": 0.1},
        {"id": "p5", "score_a": 0.2, "score_b": 0.1},
    )


def test_the_table_of_the_issue(capsys: pytest.CaptureFixture[str]) -> None:
    issue_table()
    assert main(["agree", "--ratings", "table.csv", "--to_json", "out.json"]) == 0
    out = capsys.readouterr().out
    assert "100 items, 2 raters, 3 categories: x, y, z" in out
    assert ["Gwet's", "AC1", "0.84933", "0.04322", "0.76358..0.93508"] == out.splitlines()[2].split()[:5]
    found = json.loads(Path("out.json").read_text())
    assert {key: found["ac1"][key] for key in ("categories", "items", "raters")} == {
        "categories": 3,
        "items": 100,
        "raters": 2,
    }
    assert found["ac1"]["estimate"] == pytest.approx(0.84933, abs=5e-6)
    assert found["ac1"]["se"] == pytest.approx(0.04322, abs=5e-6)
    assert found["ac1"]["ci_low"] == pytest.approx(0.76358, abs=5e-6)
    assert found["ac1"]["ci_high"] == pytest.approx(0.93508, abs=5e-6)
    assert (found["ac1"]["pa"], found["ac1"]["pe"]) == (pytest.approx(0.89), pytest.approx(0.269925))
    assert found["fleiss_kappa"]["estimate"] == pytest.approx(0.79624, abs=5e-6)


def test_the_other_formula_and_the_other_variant(capsys: pytest.CaptureFixture[str]) -> None:
    issue_table()
    assert main(["agree", "--ratings", "table.csv", "--se", "ratings"]) == 0
    assert "0.04344" in capsys.readouterr().out
    assert main(["agree", "--ratings", "table.csv", "--variant", "published", "--to_json", "out.json"]) == 0
    assert "AC1, published variant" in capsys.readouterr().out
    found = json.loads(Path("out.json").read_text())["ac1"]
    # The last item is z, z: pi = 1/100 for z, chance 0.01 * 0.99 / 2.
    assert found["pe"] == pytest.approx(0.00495) and found["se"] is None and found["variant"] == "published"


def test_declared_categories_gaps_and_marks(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_bytes(
        b'\xef\xbb\xbfitem,ann,bob,cleo\r\n1,"so, so",good, \r\n2,good,good,good\r\n,,,\r\n3,,bad,bad\r\n'
    )
    assert main(["agree", "--ratings", "t.csv", "--categories", "awful,good", "--to-json", "out.json"]) == 0
    found = json.loads(Path("out.json").read_text())
    assert found["names"] == {"raters": ["ann", "bob", "cleo"], "categories": ["awful", "good", "bad", "so, so"]}
    assert (found["ac1"]["items"], found["ac1"]["categories"], found["ac1"]["se_formula"]) == (3, 4, "ratings")
    assert found["raw_agreement"] == pytest.approx(2 / 3)
    assert [p["raters"] for p in found["cohen_kappa"]["pairs"]] == [["ann", "bob"], ["ann", "cleo"], ["bob", "cleo"]]


def test_one_category_only(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("item,a,b\n1,x,x\n2,x,x\n")
    assert main(["agree", "--ratings", "t.csv", "--to_json", "out.json"]) == 0
    found = json.loads(Path("out.json").read_text())
    assert (found["ac1"]["estimate"], found["ac1"]["se"], found["ac1"]["ci_low"]) == (1.0, None, None)
    assert found["fleiss_kappa"]["estimate"] is None


def test_raters_of_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    pairs()
    assert main(["agree", "pairs.jsonl", "--to_json", "out.json"]) == 0
    out = capsys.readouterr().out
    assert "5 pairs, 2 raters: ann, bob" in out and "between the raters, without ties" in out
    found = json.loads(Path("out.json").read_text())
    assert found["raw_agreement"] == pytest.approx(3 / 5)
    assert (found["ac1"]["items"], found["ac1"]["categories"], found["ac1"]["raters"]) == (5, 3, 2)
    assert (found["without_ties"]["ac1"]["estimate"], found["without_ties"]["ac1"]["items"]) == (1.0, 3)
    shares = found["preference"]
    assert shares["of"] == "the better text"
    assert shares["all"]["by_rater"]["ann"] == {
        "preferred": 3,
        "other": 1,
        "tied": 1,
        "share": 0.6,
        "share_without_ties": 0.75,
    }
    assert shares["all"]["average"] == pytest.approx(0.6)
    assert shares["group elvish"]["average"] == pytest.approx((2 / 2 + 1 / 2) / 2)
    assert shares["group elvish"]["average_without_ties"] == 1.0
    assert shares["group dwarvish"]["pairs"] == 3
    assert "metric" not in found


def test_a_metric_against_the_raters(capsys: pytest.CaptureFixture[str]) -> None:
    pairs()
    command = ["agree", "pairs.jsonl", "--scores", "scores.jsonl", "--tie", "0.06", "--to_json", "out.json"]
    assert main(command) == 0
    assert "the metric, ties within 0.06, 1 pairs without a score" in capsys.readouterr().out
    found = json.loads(Path("out.json").read_text())["metric"]
    assert (found["tie"], found["unscored"]) == (0.06, 1)
    assert list(found["raters"]) == ["ann", "bob", "better, as given"]
    # The metric says A, tie, A, -, A; ann A, A, B, A, tie; bob A, tie, B, A, A.
    assert found["raters"]["ann"]["raw_agreement"] == pytest.approx(1 / 4)
    assert found["raters"]["bob"]["raw_agreement"] == pytest.approx(3 / 4)
    assert found["raters"]["bob"]["without_ties"]["raw_agreement"] == pytest.approx(2 / 3)
    assert found["raters"]["better, as given"]["without_ties"]["ac1"]["estimate"] == 1.0


def test_the_study_form_is_held_against_the_reference_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    sample = {"lang": "elvish", "context": [], "reference": ["it", "is", "."], "noisy": ["he", "is", "."]}
    records("study.jsonl", {"id": "1", **sample}, {"id": "2", **sample})
    records("s.jsonl", *({"id": i, "score_a": 1, "score_b": 0} for i in "12"))
    assert main(["agree", "study.jsonl", "--scores", "s.jsonl"]) == 0
    out = capsys.readouterr().out
    assert "the metric against the reference is better, ties as a category" in out and "human" not in out
    assert main(["agree", "study.jsonl"]) == 1
    assert 'no pair has "votes"' in capsys.readouterr().err


def test_raters_who_never_meet(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {"text_a": "x", "text_b": "y"}
    records("p", {"id": 1, **texts, "votes": {"a": "A"}}, {"id": 2, **texts, "votes": {"b": "B"}})
    assert main(["agree", "p"]) == 1
    assert "p: no pair has votes of two raters (raters: a, b)" in capsys.readouterr().err
    records("s", {"id": 1, "score_a": 2, "score_b": 1}, {"id": 2, "score_a": 2, "score_b": 1})
    assert main(["agree", "p", "--scores", "s"]) == 0
    assert "the metric against a, ties as a category" in capsys.readouterr().out


@pytest.mark.parametrize("flags", [["none.jsonl"], ["pairs.jsonl", "--to_json", "no/folder.json"]])
def test_files_that_are_not_there(capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    pairs()
    assert main(["agree", *flags]) == 1
    assert capsys.readouterr().err.startswith("pronmetric: error: no")


def test_an_input_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    pairs()
    assert main(["agree", "pairs.jsonl", "--to_json", "pairs.jsonl"]) == 1
    assert "would be overwritten" in capsys.readouterr().err


def test_marks_of_missing_ratings_are_no_categories(capsys: pytest.CaptureFixture[str]) -> None:
    Path("marks.csv").write_text("item,r1,r2\n1,a,a\n2,a,NA\n3,b,NaN\n4,b,b\n5,a,None\n6,b,-\n7,a,na\n8,b,\n")
    Path("blank.csv").write_text("item,r1,r2\n1,a,a\n2,a,\n3,b,\n4,b,b\n5,a,\n6,b,\n7,a,\n8,b,\n")
    assert main(["agree", "--ratings", "blank.csv"]) == 0
    wanted = capsys.readouterr()
    assert main(["agree", "--ratings", "marks.csv", "--to_json", "out.json"]) == 0
    found = capsys.readouterr()
    assert found.out == wanted.out and "2 categories: a, b" in found.out and wanted.err == ""
    counts = "- (1), NA (1), NaN (1), None (1), na (1)"
    cure = "to count one as a category, name it in --categories"
    assert found.err == f"pronmetric: missing ratings, besides empty fields: {counts}; {cure}\n"
    assert json.loads(Path("out.json").read_text())["missing"] == {"-": 1, "NA": 1, "NaN": 1, "None": 1, "na": 1}
    assert main(["agree", "--ratings", "marks.csv", "--quiet"]) == 0
    assert capsys.readouterr() == (wanted.out, "")


@pytest.mark.parametrize(
    ("rows", "flags", "categories", "noted"),
    [
        (("a,b", "none,none"), ["--categories", "none"], "none, a, b", ""),
        (("a,none", "none,none"), [], "a, none", ""),  # one other category: it is one itself
        (("a,b", "b,b", "x,none"), ["--missing", "x"], "a, b, none", "missing ratings, besides empty fields: x (1)"),
        (("a,b", "b,b", "a,NA"), ["--missing"], "NA, a, b", ""),
        (
            ("Yes,yes", "no,no"),
            [],
            "Yes, no, yes",
            "differ in case only are different ones: Yes, yes; write them alike",
        ),
    ],
)
def test_what_counts_as_missing(
    rows: tuple[str, ...], flags: list[str], categories: str, noted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{number},{row}\n" for number, row in enumerate(rows)]
    Path("t.csv").write_text("item,r1,r2\n" + "".join(lines))
    assert main(["agree", "--ratings", "t.csv", *flags]) == 0
    out, err = capsys.readouterr()
    assert f"categories: {categories}\n" in out
    assert (noted in err and err.count("\n") == 1) if noted else err == ""


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_other_separators_are_named(sign: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text(sign.join(["item", "r1", "r2"]) + "\n" + sign.join("1ab") + "\n")
    assert main(["agree", "--ratings", "t.csv"]) == 1
    told = f"has {name} between its cells; expected a header item,rater1,rater2,..., with commas"
    assert capsys.readouterr().err == f"pronmetric: error: t.csv:1: {told}\n"
