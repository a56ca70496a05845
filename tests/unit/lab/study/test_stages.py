"""A study in two stages: each of two translations alone, then both in context, then the phenomenon."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.eval.agreement import gwet_ac1
from pronmetric.lab.study import candidates, folder, stages
from pronmetric.lab.study.answers import TaskAnswer
from pronmetric.lab.study.folder import TWO_STAGES, Item, Study, Task
from pronmetric.lab.study.sample import sample
from tests.unit.lab.study.test_page import data_of

ITEMS = {name: Item(name, "de", "", "", ("A lamp.",), f"It {name}.", "", "S.", ("T.",), doc=name) for name in "abcd"}
STUDY = Study(
    ITEMS, replace(TWO_STAGES, annotators=2), {n: tuple(Task(item, False, False) for item in ITEMS) for n in "12"}
)
GIVEN = {
    "1": tuple(map(TaskAnswer, range(4), ("good", "anaphora", "alone", "invalid"))),
    "2": (
        TaskAnswer(0, "good"),
        TaskAnswer(1, "deixis", 3.0, "Or ellipsis?"),
        TaskAnswer(2, "alone"),
        TaskAnswer(3, "ellipsis"),
    ),
}


def record(number: int, **changed: object) -> dict[str, object]:
    before = {"context": ["Far.", f"A lamp {number}."], "source_context": ["Fern.", f"Eine Lampe {number}."]}
    return {"id": number, "text": f"He fell {number}.", **before, "source": "Sie fiel.", "doc": number // 2, **changed}


def write(path: Path, *records: object) -> str:
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return str(path)


def test_the_figures_of_two_stages() -> None:
    found = stages.measure(STUDY, GIVEN)
    alone, context, phenomenon = found.levels.values()
    assert alone.counts == {"good": 5, "bad": 2} and alone.won == {"good": 3, "bad": 1}
    assert alone.ac1 == gwet_ac1([[2, 0], [2, 0], [0, 2], [1, 0]]) and alone.bad is not None
    assert alone.bad.value == 0.25
    assert context.counts == {"good": 2, "bad": 3} and context.won == {"good": 1, "bad": 2}
    assert phenomenon.won == {"": 1, "ellipsis": 1} and phenomenon.bad is None
    assert {name: number for name, number in phenomenon.counts.items() if number} == dict.fromkeys(
        ("anaphora", "deixis", "ellipsis"), 1
    )
    assert found.invalid == 1 and found.comments[0].text == "Or ellipsis?"
    lines = stages.format_findings(found).splitlines()
    assert "one or both bad alone                              1  25.0 %" in lines
    assert "both good alone, bad in context                    2  50.0 %" in lines


def test_nothing_of_the_second_stage_is_answered() -> None:
    found = stages.measure(STUDY, {"1": (TaskAnswer(0, "alone"),)})
    assert found.levels["in context"].won == {} and found.levels["in context"].ac1 is None
    assert "ellipsis        0      -        0      -" in stages.format_findings(found)


def test_records_become_pairs_of_translations(tmp_path: Path) -> None:
    notes: list[str] = []
    path = write(tmp_path / "r.jsonl", record(0, context=[]), record(1), record(2, group="de"))
    found = candidates.read_translations(path, note=notes.append)  # type: ignore[arg-type]
    assert [(item.id, item.language) for item in found] == [("1", "all"), ("2", "de")]
    assert (found[0].context, found[0].text_a, found[0].text_b) == (("A lamp 1.",), "He fell 1.", "")
    assert (found[0].source_context, found[0].source, found[0].doc) == (("Eine Lampe 1.",), "Sie fiel.", "0")
    assert notes == ["left out: 1 records without a previous sentence and its source"]
    study = sample(found, replace(TWO_STAGES, repeated=1.0))
    assert not any(task.swapped for own in study.assignments.values() for task in own)
    assert sum(task.repeated for task in study.assignments["1"]) == 1


def test_the_commands_of_two_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, place, given = write(tmp_path / "r.jsonl", *map(record, range(6))), str(tmp_path / "s"), tmp_path / "given"
    assert main(["study", "sample", data, "-o", place, "--preset", "two-stage", "--annotators", "2", "--quiet"]) == 0
    assert "pronoun pairs" not in capsys.readouterr().out
    study = folder.read(place)
    assert study.design == replace(TWO_STAGES, annotators=2) and study.design.answers[-1] == "invalid"
    assert main(["study", "page", place, "-o", str(tmp_path / "p.html")]) == 0
    page = data_of((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert page["stages"] and page["items"][0][1:] == [["A lamp 0."], "Sie fiel.", ["Eine Lampe 0."], [["He fell 0."]]]
    assert main(["study", "simulate", place, "-o", str(given)]) == 0
    files = sorted(map(str, given.iterdir()))
    capsys.readouterr()
    assert main(["study", "report", place, *files, "--to_json", str(tmp_path / "f.json")]) == 0
    assert "pairs of sentences" in capsys.readouterr().out
    assert json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))["items"] == 6
    assert main(["study", "report", place, *files, "--table", str(tmp_path / "t.tsv")]) == 1
    assert "--table: the study is in two stages" in capsys.readouterr().err
    assert main(["study", "export", place, "--to", "appraise", "-o", str(tmp_path / "out")]) == 1
    assert "is in two stages, which these tools do not have" in capsys.readouterr().err


def test_what_two_stages_do_not_have_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["study", "sample", write(tmp_path / "r.jsonl", record(1)), "-o", str(tmp_path / "s")]
    with pytest.raises(SystemExit):
        main([*command, "--preset", "two-stage", "--highlight"])
    assert "--highlight is for two versions of a sentence" in capsys.readouterr().err
    without = write(tmp_path / "first.jsonl", record(1, context=[]))
    assert main(["study", "sample", without, "-o", str(tmp_path / "s"), "--preset", "two-stage", "--quiet"]) == 1
    assert 'expected at least one record with "context" and "source_context"' in capsys.readouterr().err
