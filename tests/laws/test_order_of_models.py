"""The law of order for studies, reports, bulk runs, and `evaluate` with a model; see test_order.py."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.lab.study import arms, findings, folder, stages
from pronmetric.lab.study.answers import Answers, TaskAnswer, dump
from pronmetric.lab.study.folder import TWO_STAGES, Design, Item, Study, Task
from pronmetric.report import buckets, tables
from pronmetric.text import strict_json
from tests.tools.order import assert_same, by_document, figures, judged, plain, shuffled
from tests.tools.row_files import jsonl, write
from tests.tools.serial_bulk import serial

__all__ = ["serial"]

Run = Callable[..., tuple[str, str]]
FORMS = (("he", "it"), ("she", "it"), ("who", "that"))
DESIGN = Design(annotators=3, neither=True, invalid=True)


# --- studies


def studied(design: Design, seed: int) -> tuple[Study, Answers]:
    """A study of 24 items in 6 documents and its answers; each annotator answers some items twice, and leaves some."""
    drawn = random.Random(seed)
    items = {
        f"i{k:02}": Item(
            f"i{k:02}", "de" if k % 3 else "fr", *FORMS[k % 3], (), f"He {k}.", f"It {k}.", doc=f"d{k // 4}"
        )
        for k in range(24)
    }
    tasks, given = {}, {}
    for name in map(str, range(design.annotators)):
        once = [Task(item, drawn.random() < 0.5, False) for item in items]
        again = [] if design.stages else [Task(one.item, not one.swapped, True) for one in once[::6]]
        tasks[name] = (*once, *again)
        given[name] = tuple(
            TaskAnswer(
                k, drawn.choice(design.answers), float(drawn.randint(1, 60)), "Hm." if drawn.random() < 0.1 else ""
            )
            for k in range(len(tasks[name]))
            if drawn.random() < 0.8
        )
    return Study(items, design, tasks), given


def turned(study: Study, given: Answers, seed: int) -> tuple[Study, Answers]:
    """The same study with its items, annotators and tasks in another order; repeated tasks stay behind the others."""
    drawn = random.Random(seed)
    tasks, said = {}, {}
    for name in drawn.sample(list(study.assignments), len(study.assignments)):
        own = study.assignments[name]
        order = sorted(range(len(own)), key=lambda k: (own[k].repeated, drawn.random()))
        tasks[name] = tuple(own[k] for k in order)
        said[name] = tuple(
            sorted((replace(one, task=order.index(one.task)) for one in given[name]), key=lambda a: a.task)
        )
    items = drawn.sample(list(study.items), len(study.items))
    return Study({item: study.items[item] for item in items}, study.design, tasks), said


def without_id(found: Any) -> Any:
    """The figures without the study's id, which its order is part of; pairs of annotators by their names."""
    content = plain(strict_json.plain(found))
    if content.get("agreement"):
        content["agreement"]["by_pair"] = sorted(
            [sorted((one, other)), ac1] for one, other, ac1 in content["agreement"]["by_pair"]
        )
    for one in (content, *content.get("arms", {}).values()):
        one.pop("study", None)
    return content


def test_findings_of_a_study() -> None:
    first = studied(DESIGN, 1)
    for seed in (2, 3):
        other = turned(*first, seed)
        assert other[0].id != first[0].id
        one, two = (findings.measure(*arm, draws=50) for arm in (first, other))
        assert one.by_document is not None and one.won[""] and len(one.comments) > 2
        assert_same(without_id(one), without_id(two))
        lines = [sorted(findings.agreement_lines(each)) for each in (one, two)]
        assert lines[0] == lines[1] and len(lines[0]) > 6
        judged = [
            sorted(findings.judged_pairs(study, findings.collect(study, given)), key=lambda pair: pair.id)
            for study, given in (first, other)
        ]
        assert [each.better for each in judged[0]] == [each.better for each in judged[1]]
        assert [dict(each.votes or {}) for each in judged[0]] == [dict(each.votes or {}) for each in judged[1]]


def test_arms_of_a_study() -> None:
    first, second = studied(DESIGN, 1), studied(replace(DESIGN, source=True), 4)
    found = without_id(arms.compare(first, second, draws=50))
    assert len(found["common"]) > 5 and found["difference"]["low"] is not None
    assert_same(found, without_id(arms.compare(turned(*first, 2), turned(*second, 3), draws=50)))


def test_a_study_in_two_stages() -> None:
    first = studied(replace(TWO_STAGES, annotators=3), 5)
    found = without_id(stages.measure(*first))
    assert found["levels"]["in context"]["bad"]["low"] is not None
    assert_same(found, without_id(stages.measure(*turned(*first, 2))))


def test_files_of_answers(tmp_path: Path) -> None:
    """Files in another order, and answers in another order in a file."""
    study, given = studied(DESIGN, 1)
    folder.write(study, tmp_path / "study", data="d")
    found = []
    for order in (1, -1):
        files = []
        for name in list(given)[::order]:
            content = json.loads(dump(study, name, given[name]))
            content["answers"] = content["answers"][::order]
            files.append(tmp_path / f"{name}.json")
            files[-1].write_text(json.dumps(content), encoding="utf-8")
        outputs = [
            "--to_json",
            tmp_path / "out.json",
            "--table",
            tmp_path / "t.tsv",
            "--to_pairs",
            tmp_path / "p.jsonl",
        ]
        assert main([*map(str, ["study", "report", tmp_path / "study", *files, *outputs, "--quiet"])]) == 0
        found.append([(tmp_path / name).read_bytes() for name in ("out.json", "t.tsv", "p.jsonl")])
    assert found[0] == found[1]


# --- reports


def rows_of(text: str, *, skip: int) -> list[list[str | float]]:
    """The rows of a TSV table in alphabetical order, numbers as such, without the first columns."""
    return sorted([[_cell(cell) for cell in line.split("\t")[skip:]] for line in text.splitlines()], key=repr)


def _cell(text: str) -> str | float:
    try:
        return float(text.replace("\u2212", "-"))
    except ValueError:
        return text


def test_tables_of_a_report(run_tiny: Run, tmp_path: Path, sample: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Documents in another order; systems stay, as tables compare with the first one."""
    names = [name for name in (*tables.TABLES, *buckets.TABLES) if name != "gaps"]
    found: list[dict[str, Any]] = []
    for number, is_turned in enumerate((False, True)):
        files = by_document(sample, tmp_path / str(number), turned=is_turned)
        texts = ["-t", *files[:3], "-r", files[3], "--docids", files[4], "--quiet"]
        made = {}
        for verb in ("score", "compare"):
            run_tiny(verb, *texts, "--to_json", tmp_path / f"{verb}.json")
        for name in names:
            out = tmp_path / f"{'compare' if name == 'pairs' else 'score'}.json"
            shown = ["report", out, "--quiet", "--format", "tsv", "--show", name]
            if name == "distances":
                printed, _ = run_tiny(*shown)
            else:
                assert main([*map(str, shown), "--no-model"]) == 0
                printed = capsys.readouterr().out
            made[name] = printed.replace(str(tmp_path / str(number)), "")
        found.append(made)
    for name in names:
        numbered = name == "pronouns"  # the first column is the number of the segment
        first, second = (rows_of(each[name], skip=numbered) for each in found)
        assert len(first) > 2, name
        assert_same(first, second, name)


# --- bulk runs


def test_a_bulk_run(serial: list[int], tiny_checkpoint: Callable[..., Path], tmp_path: Path, sample: Path) -> None:
    """Rows in another order, in other files and other shards."""
    docs = (sample / "docids.txt").read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = []
    for name in ("a", "b"):
        lines = (sample / f"system-{name}.txt").read_text(encoding="utf-8").splitlines()
        for at, line in enumerate(lines):
            context = lines[max(0, at - 1) : at]
            rows.append({"id": f"{name}{at}", "text": line, "context": context, "system": name, "doc": docs[at]})
    found = []
    for number, order in enumerate((rows, random.Random(6).sample(rows, len(rows)))):
        cut = len(rows) // (2 + number)
        parts = [write(tmp_path / f"{number}-{k}.jsonl", each) for k, each in enumerate((order[:cut], order[cut:]))]
        out = tmp_path / f"out{number}"
        flags = ["-o", out, "--shard-rows", 12 + number, "--model", tiny_checkpoint()]
        assert main([*map(str, ["bulk", "score", *parts, *flags])]) == 0
        told = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        found.append([figures(told["systems"]), told["signature"], told["scored"]])
    assert found[0][0][0]["interval"] is not None
    assert_same(*found)


# --- evaluate with a model


def evaluated(run_tiny: Run, *argv: object) -> Any:
    run_tiny("evaluate", *argv, "--quiet", "--to_json", "out.json")
    return plain(json.loads(Path("out.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("context", ["common", "shuffled", "none"])
def test_pairs_by_a_model(run_tiny: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: str) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = [{**pair, "reference": f"And in {pair['id']} they left."} for pair in judged()]
    found = []
    for seed in (None, 4):
        jsonl(tmp_path / "pairs.jsonl", pairs if seed is None else shuffled(pairs, seed))
        found.append(evaluated(run_tiny, "pairs.jsonl", "--context", context, "--tie", "0.001", "--also", "apt"))
        found[-1]["also"].pop("signatures")  # the aligner's names the lines that it learned from, in order
    assert_same(*found)


def test_labelled_pronouns_by_a_model(run_tiny: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    drawn = random.Random(7)
    records: list[Mapping[str, Any]] = []
    for k in range(40):
        form = drawn.choice(["She", "He", "It"])
        text = {"context": [f"Anna saw number {k}."], "text": f"{form} left at {k}.", "start": 0, "end": len(form)}
        label = drawn.choice(["right", "wrong"])
        records.append({"id": f"p{k:02}", **text, "pronoun": form.lower(), "label": label, "doc": f"d{k // 4}"})
    found = []
    for order in (records, drawn.sample(records, len(records))):
        jsonl(tmp_path / "pronouns.jsonl", order)
        found.append(evaluated(run_tiny, "pronouns.jsonl"))
    assert_same(*found)


def people(folder: Path, lines: Sequence[int]) -> list[object]:
    """A prepared folder of post-edits of these numbers, in order; the flags of `evaluate` for it."""
    place = folder / "edits" / "et-en"
    place.mkdir(parents=True)
    for part in ("train", "test"):
        rows = {
            "src": ["Ta tuli ." if k % 2 else "Ta l\u00e4ks ." for k in lines],
            "mt": [f"He came {part} {k} ." if k % 2 else f"She left it {part} {k} ." for k in lines],
            "pe": [f"She came {part} {k} ." if k % 3 else f"She left {part} {k} ." for k in lines],
        }
        for suffix, texts in rows.items():
            (place / f"{part}.{suffix}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    given = ["data.wmt=[]", f"data.people={folder / 'edits'}", "fidelity.passages=0", f"out={folder / 'data'}"]
    assert main(["prepare", *given]) == 0
    return [folder / "data", "--split", "people_test"]


def test_peoples_marks_by_a_model(run_tiny: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    orders = (range(24), random.Random(8).sample(range(24), 24))
    found = []
    for number, order in enumerate(orders):
        found.append(evaluated(run_tiny, *people(tmp_path / str(number), order)))
        found[-1].pop("input")
    assert found[0]["pairs"]["pairs"] > 10
    assert_same(*found)
