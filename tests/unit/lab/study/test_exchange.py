"""The tasks of a study in the formats of Label Studio and Appraise, and answers from their exports."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from defusedxml import ElementTree

from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.lab.study import answers, appraise, folder, label_studio
from pronmetric.lab.study.answers import TaskAnswer
from pronmetric.lab.study.folder import Design, Item, Study, Task

ITEMS = {
    "x": Item("x", "de", "it", "he", ("One.", "Two."), "It came.", "He came.", "Er kam.", ("Eins.",)),
    "y": Item("y", "de", "he", "it", (), "He <left>.", "It <left>."),
}
TASKS = {
    "ann": (Task("x", False, False), Task("y", True, False), Task("x", True, True)),
    "ben": (Task("y", False, False),),
}
STUDY = Study(ITEMS, Design(annotators=2), TASKS)
GIVEN = {
    "ann": (TaskAnswer(0, "first", 2.5), TaskAnswer(1, "second", 1.0), TaskAnswer(2, "both", 3.0)),
    "ben": (TaskAnswer(0, "first", 4.0),),
}


def exported(study: Study = STUDY) -> list[dict[str, Any]]:
    """The tasks as Label Studio exports them when `GIVEN` was answered."""
    rows = []
    for name, given in GIVEN.items():
        for row, answer in zip(json.loads(label_studio.tasks(study, name)), given, strict=True):
            result = [
                {"from_name": "answer", "to_name": "first", "type": "choices", "value": {"choices": [answer.answer]}}
            ]
            rows.append({**row, "id": len(rows), "annotations": [{"result": result, "lead_time": answer.seconds}]})
    return rows


def save(path: Path, rows: object) -> Path:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_label_studio_shows_the_versions_in_their_order() -> None:
    rows = [row["data"] for row in json.loads(label_studio.tasks(STUDY, "ann"))]
    assert [(row["first"], row["second"]) for row in rows] == [
        ("It came.", "He came."),
        ("It <left>.", "He <left>."),
        ("He came.", "It came."),
    ]
    assert rows[0]["context"] == "One. Two." and "source" not in rows[0] and rows[2]["task"] == 2
    shown = replace(STUDY, design=Design(annotators=2, source=True))
    assert json.loads(label_studio.tasks(shown, "ann"))[0]["data"]["source"] == "Er kam."


def test_the_label_studio_configuration_is_xml_and_uses_the_data() -> None:
    root = ElementTree.fromstring(label_studio.config(replace(STUDY, design=Design(annotators=2, source=True))))
    assert [e.get("value") for e in root.iter("Choice")] == ["first", "second", "both"]
    used = {e.get("value", "").removeprefix("$") for e in root.iter("Text")}
    assert used == {"source", "source_context", "context", "first", "second"}


def test_label_studio_answers_are_read_as_given(tmp_path: Path) -> None:
    rows = exported()
    assert label_studio.read(STUDY, [save(tmp_path / "e.json", rows[::-1])]) == {
        "ben": GIVEN["ben"],
        "ann": GIVEN["ann"],
    }
    rows[0]["annotations"][0]["was_cancelled"] = True
    rows[1]["annotations"] = []
    rows[3]["annotations"][0]["result"] = []
    tally: Counter[str] = Counter()
    found = label_studio.read(STUDY, [save(tmp_path / "e.json", rows)], tally=tally)
    assert found == {"ann": GIVEN["ann"][2:], "ben": ()}
    assert +tally == {label_studio.SKIPPED: 1, label_studio.UNANSWERED: 1, label_studio.EMPTY: 1}


def minimal() -> list[dict[str, Any]]:
    """The tasks as Label Studio exports them as JSON-MIN; its own annotator overwrites that of the study."""
    return [
        {
            **row["data"],
            "id": row["id"],
            "answer": annotation["result"][0]["value"]["choices"][0],
            "annotator": 7,
            "annotation_id": row["id"],
            "lead_time": annotation["lead_time"],
        }
        for row in exported()
        for annotation in row["annotations"]
    ]


def test_label_studio_answers_in_json_min(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = minimal()
    assert label_studio.read(STUDY, [save(tmp_path / "e.json", rows)]) == GIVEN
    del rows[1]["answer"]
    tally: Counter[str] = Counter()
    label_studio.read(STUDY, [save(tmp_path / "e.json", rows)], tally=tally)
    assert tally == {label_studio.EMPTY: 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.update(assigned="eve"), 'unknown annotator "eve"'),
        (lambda row: row.update(study="0"), "expected tasks of the study"),
        (lambda row: row.update(answer="third"), 'task 0: expected one choice of first, second, both, got "third"'),
        (lambda row: row.update(answer={"choices": ["first", "both"]}), "expected one choice of first, second, both"),
        (lambda row: row.pop("assigned"), "unknown annotator null"),
        (lambda row: row.update(task=True), "annotator ann has no task true"),
    ],
)
def test_broken_json_min_is_refused(tmp_path: Path, change: Any, said: str) -> None:
    rows = minimal()
    change(rows[0])
    with pytest.raises(InputError, match=f"e.json: .*{said}"):
        label_studio.read(STUDY, [save(tmp_path / "e.json", rows)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[0]["data"].update(study="0"), "expected tasks of the study"),
        (lambda rows: rows[0]["data"].update(annotator="eve"), 'unknown annotator "eve"'),
        (lambda rows: rows[0]["data"].update(task=3), "annotator ann has no task 3"),
        (lambda rows: rows[0].pop("annotations"), 'task 0 has no list "annotations"'),
        (lambda rows: rows[0]["annotations"].extend(rows[0]["annotations"]), "two answers to task 0 of annotator ann"),
        (lambda rows: rows[0]["annotations"][0].update(result=1), 'no list "result"'),
        (lambda rows: rows[0]["annotations"][0]["result"][0].update(value={"choices": ["A"]}), "one choice of first"),
        (lambda rows: rows[0]["annotations"][0]["result"][0].update(value=1), "one choice of first, second"),
        (lambda rows: rows.append(1), "expected a list of tasks"),
    ],
)  # fmt: skip
def test_broken_label_studio_exports_are_refused(tmp_path: Path, change: Any, said: str) -> None:
    rows = exported()
    change(rows)
    with pytest.raises(InputError, match=f"e.json: .*{said}"):
        label_studio.read(STUDY, [save(tmp_path / "e.json", rows)])


def scored(path: Path, *rows: tuple[int, str, object, object], kind: str = "TGT") -> Path:
    """Scores as Appraise exports them: item, the version, score, end; the start is 10."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for item, version, score, end in rows:
            writer.writerow(["engeng01", version, item, kind, "eng", "eng", score, 10.0, end])
    return path


def test_appraise_batches_have_a_hundred_items() -> None:
    (batch,) = json.loads(appraise.batches(STUDY, "ann"))
    items = batch["items"]
    assert len(items) == 100 and [item["itemType"] for item in items].count("TGT") == 3
    assert [item["itemID"] for item in items[:4]] == [1_000_000, 1_000_001, 1_000_002, 1_000_000]
    assert [target["targetText"] for target in items[1]["targets"]] == ["It <left>.", "He <left>."]
    assert [item["sourceText"] for item in items[:2]] == ["One. Two.", "(no sentence before)"]
    assert json.loads(appraise.batches(STUDY, "ben"))[0]["items"][0]["itemID"] == 2_000_000


def test_appraise_batches_name_the_language_of_the_texts() -> None:
    for code, long in (("en", "eng"), ("de", "deu")):
        (batch,) = json.loads(appraise.batches(replace(STUDY, design=Design(annotators=2, target=code)), "ann"))
        assert (batch["task"]["sourceLanguage"], batch["task"]["targetLanguage"]) == (long, long)


def test_appraise_scores_are_answers(tmp_path: Path) -> None:
    study = replace(STUDY, design=Design(annotators=2, neither=True))
    rows = [(1_000_000, "first", 80, 12.5), (1_000_000, "second", 20, 12.5)]
    rows += [(1_000_001, "second", 60, 11), (1_000_001, "first", 60, 11), (1_000_002, "first", 10, 13)]
    rows += [(1_000_002, "second", 10, 13), (2_000_000, "first", 1, 14), (2_000_000, "second", 2, 14)]
    extra = scored(tmp_path / "extra.csv", (1_000_000, "first", 0, 11), kind="CHK")
    assert appraise.read(study, [scored(tmp_path / "e.csv", *rows), extra]) == {
        "ann": (TaskAnswer(0, "first", 2.5), TaskAnswer(1, "both", 1.0), TaskAnswer(2, "neither", 3.0)),
        "ben": (TaskAnswer(0, "second", 4.0),),
    }
    with pytest.raises(InputError, match='task 2 of annotator ann: equal scores mean "neither"'):
        appraise.read(STUDY, [tmp_path / "e.csv"])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(3_000_000, "first", 80, 12)], "e.csv:1: item 3000000 is no task of the study"),
        ([(1_000_003, "first", 80, 12)], "e.csv:1: item 1000003 is no task"),
        ([(1_000_000, "A", 80, 12)], 'e.csv:1: expected "first" or "second"'),
        ([(1_000_000, "first", 180, 12)], "a score from 0 to 100"),
        ([(1_000_000, "first", "high", 12)], "expected numbers in columns 3, 7, 8 and 9"),
        ([(1_000_000, "first", 80, 12)], "task 0 of annotator ann: only one version is scored"),
        ([(1_000_000, "first", 80, 12)] * 2, 'e.csv:2: "first" of item 1000000 is scored twice'),
    ],
)
def test_broken_appraise_scores_are_refused(tmp_path: Path, rows: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        appraise.read(STUDY, [scored(tmp_path / "e.csv", *rows)])


def test_a_table_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("a,b\n")
    with pytest.raises(InputError, match=r"e\.csv:1: expected at least 9 columns"):
        appraise.read(STUDY, [path])


def test_the_commands_export_and_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write(STUDY, tmp_path / "study", data="x")
    place = str(tmp_path / "study")
    assert main(["study", "export", place, "--to", "label-studio", "-o", str(tmp_path / "ls")]) == 0
    assert sorted(p.name for p in (tmp_path / "ls").iterdir()) == [
        "label-studio.xml",
        "tasks-ann.json",
        "tasks-ben.json",
    ]
    assert main(["study", "export", place, "--to", "appraise", "-o", str(tmp_path / "ap")]) == 0
    results = str(save(tmp_path / "e.json", exported()))
    assert main(["study", "import", place, results, "--from", "label-studio", "-o", str(tmp_path / "in")]) == 0
    assert "4 answers of 2 annotators" in capsys.readouterr().out
    assert answers.read(STUDY, sorted((tmp_path / "in").iterdir())) == GIVEN
    unanswered = str(save(tmp_path / "u.json", [{**row, "annotations": []} for row in exported()]))
    assert main(["study", "import", place, unanswered, "--from", "label-studio", "-o", str(tmp_path / "no")]) == 1
    assert "no task is answered" in capsys.readouterr().err and not (tmp_path / "no").exists()
