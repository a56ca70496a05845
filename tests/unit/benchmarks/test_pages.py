"""Each page of figures names its weights and its JSON; where it claims one, the figures are those of it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from benchmarks import pages
from benchmarks.checkpoint import (
    people_page,
    reference_free,
    short_sources,
    system_level,
    target_languages,
    target_suites,
)
from benchmarks.cost import board, bulk
from pronmetric.checkpoint import config, locate

PAGES = sorted(path.name for path in pages.PUBLISHED.glob("*.md"))
WRITERS = {
    "board.md": board.page,
    "bulk.md": bulk.page,
    "people.md": people_page.page,
    "reference-free.md": reference_free.page,
    "short-sources.md": short_sources.page,
    "system-level.md": system_level.page,
    "target-languages.md": target_languages.page,
    "target-suites.md": target_suites.page,
}  # pages that are all of the JSON
HEAD = 5  # lines
_HASH = re.compile(r"`([0-9a-f]{8})`")
_JSON = re.compile(r"JSON: `([\w.-]+\.json)`")
_TABLE = re.compile(r"figures in `([\w.-]+\.json)`\):\n\n((?:\|.*\n)+)")
_FIGURE = re.compile(r"(?<![\w.`-])[-+]?\d+\.\d+(?![\w`.-])")


def head(name: str) -> str:
    return "\n".join((pages.PUBLISHED / name).read_text(encoding="utf-8").splitlines()[:HEAD])


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


@cache
def shipped() -> set[str]:
    """The hashes of all shipped weights, and of those whose scores one of them keeps (`experiment=preference`)."""
    found = set()
    for path in locate.locate().folder.parent.glob("*/config.yaml"):
        training = config.read(path)["training"]
        runs = training.get("average", [training])
        kept = {run.get("init") for run in runs if "experiment=preference" in run.get("overrides", ())}
        found |= {pages.weights_hash(path.parent), *(kept if len(kept) == 1 else ())}
    return found


@pytest.mark.parametrize("name", PAGES)
def test_older_weights_are_marked_in_the_first_line(name: str) -> None:
    others = set(_HASH.findall(head(name))) - shipped()
    older = bool(others) or "names its own" in head(name)
    assert older == ("older weights" in head(name).splitlines()[0])


@pytest.mark.parametrize("name", PAGES)
def test_the_json_exists_or_is_named_as_lost(name: str) -> None:
    told = head(name)
    claimed = _JSON.search(told)
    if claimed is None:
        assert "the JSON of these figures was not kept" in told.replace("\n", " ")
        return
    file = pages.PUBLISHED / claimed[1]
    content = json.loads(file.read_text(encoding="utf-8"))
    assert file.stat().st_size < 200_000
    if (weights := content.get("weights")) is not None:
        assert f"`{weights}`" in told
    text = (pages.PUBLISHED / name).read_text(encoding="utf-8")
    if name in WRITERS:
        assert text == WRITERS[name](content)
    check(text.splitlines(), content)


@pytest.mark.parametrize("name", PAGES)
def test_a_table_that_names_a_json_is_of_it(name: str) -> None:
    text = (pages.PUBLISHED / name).read_text(encoding="utf-8")
    for claim in _TABLE.finditer(text):
        check(claim[2].splitlines(), json.loads((pages.PUBLISHED / claim[1]).read_text(encoding="utf-8")))


def test_no_published_file_names_a_folder_of_one_machine() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in pages.PUBLISHED.iterdir() if path.is_file()}
    assert [name for name, text in texts.items() if re.search(r"(?<![\w.])/(?:tmp|work|root|home)/", text)] == []


def check(lines: list[str], content: Any) -> None:
    """Each figure of the tables in `lines` is one of the JSON, rounded, as it is or in percent."""
    known = numbers(content)
    for line in lines:
        for figure in _FIGURE.findall("|".join(line.split("|")[2:])):  # the first cell is a label
            value, step = float(figure), 0.51 * 10 ** -len(figure.partition(".")[2])
            assert any(abs(n - value) <= step or abs(100 * n - value) <= step for n in known), f"{figure} in: {line}"


def test_the_index_lists_pages_of_older_weights_below_the_others() -> None:
    index = (pages.ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    _, below = index.split("\n### Pages of older weights\n")
    assert "\n#" not in below
    listed = re.findall(r"^\| `([\w-]+\.md)`", below, re.MULTILINE)
    assert sorted(listed) == [name for name in PAGES if "older weights" in head(name).splitlines()[0]]


def test_the_index_names_each_script_and_each_page() -> None:
    index = (pages.ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    for folder in ("checkpoint", "cost"):
        section = index.partition(f"## `{folder}/`")[2].partition("\n## ")[0]
        files = sorted((pages.ROOT / "benchmarks" / folder).glob("*.py"))
        scripts = {path.stem for path in files if "__main__" in path.read_text(encoding="utf-8")}
        rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
        assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == scripts
    named = set(re.findall(r"`([\w-]+\.(?:md|json|tsv))`", index))
    assert set(PAGES) <= named
    assert [name for name in named if not list((pages.ROOT / "benchmarks").rglob(name))] == []
