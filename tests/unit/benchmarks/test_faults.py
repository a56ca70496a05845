"""The scripts that break things: moments, what counts as refused, fuzzing, and the page that they write."""

from __future__ import annotations

import errno
import json
import os
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.cost import faults, reliability_page
from tests.tools import bad_inputs, fault_points, fuzz
from tests.tools.fault_moments import Moments

ROOT = pages.ROOT


def test_moments_are_files_of_the_output_that_are_written_renamed_or_made(tmp_path: Path) -> None:
    acted: list[int] = []
    moments = Moments(tmp_path / "out", 2, lambda: acted.append(moments.number))
    moments("open", (str(tmp_path / "out" / "a"), "r", os.O_RDONLY))
    moments("open", (str(tmp_path / "other"), "w", os.O_WRONLY))
    moments("open", (3, "w", os.O_WRONLY))
    moments("import", ("os",))
    assert (moments.number, acted) == (0, [])
    moments("open", (str(tmp_path / ".out.new" / "a"), "w", os.O_WRONLY | os.O_CREAT))
    moments("os.rename", (str(tmp_path / ".out.new"), str(tmp_path / "out"), -1, -1))
    moments("os.mkdir", (str(tmp_path / "out"), 511, -1))
    assert (moments.number, acted) == (3, [2])


def test_what_is_written_again_must_have_the_same_bytes_but_for_the_seconds(tmp_path: Path) -> None:
    folder = tmp_path / "model" / "checkpoint"
    folder.mkdir(parents=True)
    found = []
    for seconds, weights in ((40, b"a"), (42, b"a"), (42, b"b")):
        (folder / "config.yaml").write_text(f"training:\n  seconds: {seconds}\n")
        (folder / "model.safetensors").write_bytes(weights)
        (folder / ".config.yaml.12345678.part").write_bytes(b"")
        found.append(fault_points.results(tmp_path, fault_points.TRAIN))
    assert found[0] == found[1] and found[1].keys() == {"checkpoint/config.yaml", "checkpoint/model.safetensors"}
    assert found[1] != found[2]
    assert fault_points.left(tmp_path) == ["model/checkpoint/.config.yaml.12345678.part"]


def test_points_are_at_least_20_and_of_every_fault() -> None:
    assert len(fault_points.POINTS) >= 20
    assert {point.verb.name for point in fault_points.POINTS} == {
        *("prepare", "train", "checkpoint average", "score", "bulk score", "board build", "nmt train", "study sample")
    }
    kills = Counter(point.verb.name for point in fault_points.POINTS if point.fault == "SIGKILL")
    assert all(number > 10 for verb, number in kills.items() if verb != "bulk score"), kills
    moments = [point.when for point in fault_points.POINTS if point[:2] == (fault_points.TRAIN, "SIGKILL")]
    assert len(set(moments)) == len(moments)


def test_bad_inputs_are_at_least_200_and_of_every_verb() -> None:
    assert bad_inputs.every_verb()
    cases = list(bad_inputs.cases())
    assert len(cases) >= 200 and len(set(cases)) == len(cases)


def test_a_case_that_is_not_refused_is_seen() -> None:
    good = {"kind": "missing", "exit": 1, "lines": 1, "written": False, "said": "pronmetric: error: x"}
    assert bad_inputs.is_refused(good)
    for change in ({"exit": 0}, {"exit": None}, {"lines": 2}, {"lines": 0}, {"written": True}, {"kind": "flags"}):
        assert not bad_inputs.is_refused({**good, **change})


def test_new_figures_replace_those_of_the_same_verb_and_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def row(verb: str, fault: str, moment: int | None, exit: int) -> dict[str, object]:
        return {"verb": verb, "fault": fault, "moment": moment, "exit": exit}

    points = [row("train", "SIGKILL", 9, 0), row("train", "full disk", 5, 0), row("score", "full disk", 5, 0)]
    cases = [{"verb": "bulk", "cases": 1}, {"verb": "score", "cases": 1}]
    monkeypatch.setattr(faults, "JSON", tmp_path / "faults.json")
    (tmp_path / "faults.json").write_text(json.dumps({"points": points, "inputs": cases, "note": "n"}))
    new = {
        "points": [row("train", "full disk", moment, 1) for moment in (7, 3)],
        "inputs": [{"verb": "bulk", "cases": 2}],
    }
    merged = faults.merge(new)
    assert [(r["verb"], r["fault"], r["moment"], r["exit"]) for r in merged["points"]] == [
        ("train", "SIGKILL", 9, 0),
        ("train", "full disk", 3, 1),
        ("train", "full disk", 7, 1),
        ("score", "full disk", 5, 0),
    ]
    assert merged["inputs"] == [cases[1], {"verb": "bulk", "cases": 2}] and merged["note"] == "n"


def test_the_same_seed_gives_the_same_damage() -> None:
    once, again = (
        [fuzz.damaged(draw, fuzz.XML.encode()) for _ in range(20)] for draw in (random.Random(1), random.Random(1))
    )
    assert once == again and len(set(once)) > 15


def test_fuzzing_counts_results_errors_and_faults(tmp_path: Path) -> None:
    def read(path: Path) -> None:
        raise OSError(errno.EIO, "broken")

    found = fuzz.fuzz(fuzz.Parser(b"a\n", "a", Path.read_bytes), tmp_path, seconds=0.01, seed=1)
    assert found["files"] == found["results"] > 0 and found["faults"] == []
    found = fuzz.fuzz(fuzz.Parser(b"a\n", "a", read), tmp_path, seconds=0, seed=1)
    assert found["files"] == len(found["faults"]) == 1 and "OSError" in found["faults"][0]


@pytest.mark.parametrize("name", fuzz.NAMES)
def test_the_good_file_of_each_parser_is_read(name: str, tmp_path: Path) -> None:
    if name == "HTML report":
        assert fuzz.fuzz_report(tmp_path / "result.json", seconds=0, seed=1)["faults"] == []
        return
    parser = fuzz.parsers(tmp_path)[name]
    (tmp_path / parser.name).write_bytes(parser.content)
    parser.read(tmp_path / parser.name)


def test_elements_of_a_page_are_seen() -> None:
    assert fuzz.elements("<p>a<img src=x onerror='y'></p>") == [("p",), ("img", "src", "onerror")]


def test_the_page_is_that_of_its_figures() -> None:
    contents = [json.loads((pages.PUBLISHED / f"{n}.json").read_text(encoding="utf-8")) for n in ("faults", "fuzz")]
    assert (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8") == reliability_page.page(*contents)


def test_each_test_that_the_page_names_exists() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", page)
    tests = ROOT / "tests"
    files = {path.relative_to(tests).as_posix(): path.read_text(encoding="utf-8") for path in tests.rglob("test_*.py")}
    assert len(named) > 10
    assert [(file, name) for file, name in named if f"def {name}(" not in files.get(file, "")] == []
