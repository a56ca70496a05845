"""Each page of figures names its weights and its JSON; where it claims one, the figures are those of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import (
    board,
    bulk,
    clpp_comparison,
    intervals,
    paper_wmt13,
    people_page,
    prepare,
    scoring,
    segment_level,
    source_page,
    source_suite,
    study_load,
    study_simulation,
    study_ties,
    suggest_threshold,
    system_level,
    training_memory,
)
from pronmetric.checkpoint import config, locate

PAGES = sorted(path.name for path in scoring.BENCHMARKS.glob("*.md") if path.name != "README.md")
WRITERS = {
    "board.md": board.page,
    "bulk.md": bulk.page,
    "clpp-comparison.md": clpp_comparison.page,
    "intervals.md": intervals.page,
    "paper-wmt13.md": paper_wmt13.page,
    "people.md": people_page.page,
    "prepare.md": prepare.page,
    "segment-level.md": segment_level.page,
    "source.md": source_page.page,
    "source-suite.md": source_suite.page,
    "study-load.md": study_load.page,
    "study-simulation.md": study_simulation.page,
    "study-ties.md": study_ties.page,
    "suggest-threshold.md": suggest_threshold.page,
    "system-level.md": system_level.page,
    "training-memory.md": training_memory.page,
}  # pages that are all of the JSON
HEAD = 5  # lines
_HASH = re.compile(r"`([0-9a-f]{8})`")
_JSON = re.compile(r"JSON: `([\w.-]+\.json)`")
_TABLE = re.compile(r"figures in `([\w.-]+\.json)`\):\n\n((?:\|.*\n)+)")
_FIGURE = re.compile(r"(?<![\w.`-])[-+]?\d+\.\d+(?![\w`.-])")


def head(name: str) -> str:
    return "\n".join((scoring.BENCHMARKS / name).read_text(encoding="utf-8").splitlines()[:HEAD])


def numbers(content: Any) -> list[float]:
    if isinstance(content, dict | list):
        return [n for part in (content.values() if isinstance(content, dict) else content) for n in numbers(part)]
    if isinstance(content, str):
        return [float(n) for n in _FIGURE.findall(content)]
    return [] if content is None or isinstance(content, bool) else [float(content)]


@pytest.mark.parametrize("name", PAGES)
def test_the_first_lines_name_the_weights(name: str) -> None:
    told = head(name)
    assert "Weights" in told
    assert (
        _HASH.search(told)
        or "Weights: none, no checkpoint is used" in told
        or "names its own" in told
        or ("Weights: random" in told)
    )


def shipped() -> set[str]:
    """The hashes of all shipped weights, and of those whose scores one of them keeps (`experiment=preference`)."""
    found = set()
    for path in locate.locate().folder.parent.glob("*/config.yaml"):
        training = config.read(path)["training"]
        runs = training.get("average", [training])
        kept = {run.get("init") for run in runs if "experiment=preference" in run.get("overrides", ())}
        found |= {scoring.weights_hash(path.parent), *(kept if len(kept) == 1 else ())}
    return found


@pytest.mark.parametrize("name", PAGES)
def test_older_weights_are_marked_in_the_first_line(name: str) -> None:
    others = set(_HASH.findall(head(name))) - shipped()
    if others or "names its own" in head(name):
        assert "older weights" in head(name).splitlines()[0]


@pytest.mark.parametrize("name", PAGES)
def test_the_json_exists_or_is_named_as_lost(name: str) -> None:
    told = head(name)
    claimed = _JSON.search(told)
    if claimed is None:
        assert "the JSON of these figures was not kept" in told.replace("\n", " ")
        return
    file = scoring.BENCHMARKS / claimed[1]
    content = json.loads(file.read_text(encoding="utf-8"))
    assert file.stat().st_size < 200_000
    if (weights := content.get("weights")) is not None:
        assert f"`{weights}`" in told
    text = (scoring.BENCHMARKS / name).read_text(encoding="utf-8")
    if name in WRITERS:
        assert text == WRITERS[name](content)
    check(text.splitlines(), content)


@pytest.mark.parametrize("name", PAGES)
def test_a_table_that_names_a_json_is_of_it(name: str) -> None:
    text = (scoring.BENCHMARKS / name).read_text(encoding="utf-8")
    for claim in _TABLE.finditer(text):
        check(claim[2].splitlines(), json.loads((scoring.BENCHMARKS / claim[1]).read_text(encoding="utf-8")))


def check(lines: list[str], content: Any) -> None:
    """Each figure of the tables in `lines` is one of the JSON, rounded, as it is or in percent."""
    known = numbers(content)
    for line in lines:
        for figure in _FIGURE.findall("|".join(line.split("|")[2:])):  # the first cell is a label
            value, step = float(figure), 0.51 * 10 ** -len(figure.partition(".")[2])
            assert any(abs(n - value) <= step or abs(100 * n - value) <= step for n in known), f"{figure} in: {line}"


def test_figures_of_a_line_are_found() -> None:
    assert _FIGURE.findall("| a.b | 82.2 [78.6, +85.7] | `1.5` | v1.2.3 | -0.10 |") == [
        "82.2",
        "78.6",
        "+85.7",
        "-0.10",
    ]
    assert numbers({"a": [1, None, True], "b": {"c": 0.5, "d": "of 2.5"}}) == [1, 0.5, 2.5]


def test_writers_name_the_json_that_they_write(tmp_path: Path) -> None:
    content = {"weights": "01234567", "date": "2026-01-02"}
    scoring.write_page(tmp_path / "a.md", "text", content)
    assert (tmp_path / "a.md").read_text() == "text"
    assert json.loads((tmp_path / "a.json").read_text()) == content
