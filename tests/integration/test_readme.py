"""The README's blocks run, and say what it says they say.

A block's info string may name why it is left out: `setup` (.ci/run runs it), `needs-wmt`, `needs-gpu`. A ```text block
that follows is what the block prints: each of its lines in order; of its numbers the last digit may differ by one, as
on another machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<language>\w+)(?P<marks>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")
MARKS = {"setup", "needs-wmt", "needs-gpu"}


class Block(NamedTuple):
    """A fenced block of the README, and what the README says it prints ("" if nothing)."""

    line: int
    language: str
    marks: frozenset[str]
    text: str
    output: str


def blocks(markdown: str) -> list[Block]:
    found: list[Block] = []
    for match in FENCE.finditer(markdown):
        language, text = match["language"], match["text"]
        if language == "text" and found:
            found[-1] = found[-1]._replace(output=text)
        elif language in ("bash", "python"):
            line = markdown.count("\n", 0, match.start()) + 1
            found.append(Block(line, language, frozenset(match["marks"].split()), text, ""))
    return found


README = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
RUN = [block for block in README if not block.marks]


def same(said: str, printed: str) -> bool:
    """Equal but for numbers with a decimal point, whose last digit may differ by one."""
    if NUMBER.sub("#", said).split() != NUMBER.sub("#", printed).split():
        return False
    pairs = zip(map(Decimal, NUMBER.findall(said)), map(Decimal, NUMBER.findall(printed)), strict=True)
    return all(abs(a - b) <= Decimal(1).scaleb(max(int(x.as_tuple().exponent) for x in (a, b))) for a, b in pairs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the blocks run, one after the other: a place that has the examples and is not the repository."""
    place = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "examples", place / "examples")
    return place


@pytest.mark.parametrize("block", RUN, ids=lambda block: f"line{block.line}")
def test_a_block_runs_and_prints_what_the_readme_says(block: Block, folder: Path) -> None:
    if block.language == "bash":
        command = ["bash", "-euo", "pipefail", "-c", block.text]
    else:
        command = [sys.executable, "-c", block.text]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    printed = iter(result.stdout.splitlines())
    for line in block.output.splitlines():
        if line.strip() != "...":
            assert any(same(line, other) for other in printed), f"the README promises {line!r}\n{result.stdout}"


def test_every_mark_is_known() -> None:
    assert {mark for block in README for mark in block.marks} <= MARKS
    assert len(RUN) >= 5


def test_the_setup_comes_first() -> None:
    assert README[0].marks == {"setup"}
    assert [line.split("#")[0].strip() for line in README[0].text.splitlines()] == ["make demo", "make test"]


def test_blocks_are_found_with_their_marks_and_outputs() -> None:
    markdown = "x\n```bash setup\nmake\n```\n```python\n1\n```\nThis prints\n```text\na 1.0\n```\n```bibtex\n@\n```\n"
    assert blocks(markdown) == [
        Block(2, "bash", frozenset({"setup"}), "make\n", ""),
        Block(5, "python", frozenset(), "1\n", "a 1.0\n"),
    ]


def test_outputs_agree_up_to_one_in_the_last_digit() -> None:
    assert same("a  score: 91.20", "a score: 91.21") and same("a  score: 0.9912", "a score: 0.991")
    assert not same("a score: 91.20", "a score: 91.22")
    assert not same("a score: 0.91", "b score: 0.91")
    assert not same("3 wins", "4 wins")
