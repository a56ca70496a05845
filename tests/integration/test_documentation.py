"""The shell and Python blocks of README.md and docs/ run, and print what the page says.

The info string of a block may say why it is not run here: `setup` (.ci/run runs it), `needs-wmt`, `needs-gpu`,
`needs-cluster`; `needs-onnx` and `needs-evaluate` blocks run if their library is installed. The ```text block that
follows is its output: each line in order, the last digit of a number may differ by one. The blocks of a page run one
after the other in one folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from pronmetric.cli.main import VERBS
from tests.tools.ray_start import late, try_twice

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<language>\w+)(?P<marks>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")
EVALUATE, ONNX = "needs-evaluate", "needs-onnx"
MARKS = {"setup", "needs-wmt", "needs-gpu", "needs-cluster", EVALUATE}


class Block(NamedTuple):
    """A fenced block of a page, and the output that the page gives ("" for none)."""

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


# docs/notebooks is left out: those pages are made from the notebooks, which tests/integration/test_notebooks.py runs.
PAGES = {
    path.relative_to(ROOT).as_posix(): blocks(path.read_text(encoding="utf-8"))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.parent.name != "notebooks"
}
RUN = [(page, block) for page, found in PAGES.items() for block in found if not block.marks & MARKS]


def same(said: str, printed: str) -> bool:
    """Equal but for numbers with a decimal point, whose last digit may differ by one."""
    if NUMBER.sub("#", said).split() != NUMBER.sub("#", printed).split():
        return False
    pairs = zip(map(Decimal, NUMBER.findall(said)), map(Decimal, NUMBER.findall(printed)), strict=True)
    return all(abs(a - b) <= Decimal(1).scaleb(max(int(x.as_tuple().exponent) for x in (a, b))) for a, b in pairs)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a page: it holds the examples and is not the repository."""

    @cache
    def folder(page: str) -> Path:
        place = tmp_path_factory.mktemp("page")
        shutil.copytree(ROOT / "examples", place / "examples")
        return place

    return folder


def run(block: Block, folder: Path, programs: dict[str, str]) -> str:
    """What the block prints; it must succeed."""
    text = block.text if block.language == "bash" else shlex.join(["python", "-c", block.text])
    command = ["bash", "-euo", "pipefail", "-c", text]
    result = subprocess.run(command, cwd=folder, env=programs, capture_output=True, text=True)
    if result.returncode and "pronmetric bulk" in block.text:
        late(result.stderr, result.returncode)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("page", dict.fromkeys(page for page, _ in RUN))
def test_the_blocks_of_a_page_run_with_its_output(
    page: str, folders: Callable[[str], Path], programs: dict[str, str]
) -> None:
    for block in PAGES[page]:
        if block.marks & MARKS:
            continue
        if ONNX in block.marks:
            pytest.importorskip("onnxruntime")
        check_output(page, block, try_twice(partial(run, block, folders(page), programs)))


def check_output(page: str, block: Block, output: str) -> None:
    printed = iter(output.splitlines())
    for line in block.output.splitlines():
        if line.strip() != "...":
            assert any(same(line, other) for other in printed), f"{page}:{block.line} promises {line!r}\n{output}"


def test_the_blocks_of_evaluate_run_with_their_output(folders: Callable[[str], Path], tmp_path: Path) -> None:
    if find_spec("evaluate") is None:
        pytest.skip("evaluate is not installed")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    apart = {**os.environ, "PATH": path, "HF_HOME": str(tmp_path)}  # it copies modules there
    found = [(page, block) for page, own in PAGES.items() for block in own if EVALUATE in block.marks]
    assert found
    for page, block in found:
        check_output(page, block, run(block, folders(page), apart))


def test_every_mark_is_known() -> None:
    assert {mark for found in PAGES.values() for block in found for mark in block.marks} <= MARKS | {ONNX}
    assert len(RUN) >= 20


def test_the_setup_comes_first() -> None:
    readme = PAGES["README.md"]
    assert readme[0].marks == {"setup"}
    assert [line.split("#")[0].strip() for line in readme[0].text.splitlines()] == ["make demo", "make test"]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 110


def test_the_first_sentence_of_the_readme_is_of_the_sample(
    folders: Callable[[str], Path], programs: dict[str, str]
) -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    told = re.search(
        r"system-a: (\S+) pronoun errors per 100 pronouns \((\S+) w\w+, (\S+) m\w+, (\S+) s\w+; 95 % (\S+) to (\S+)\)",
        readme,
    )
    assert told is not None and told.start() < 100
    result = folders("README.md") / "examples" / "sample" / "result.json"
    if not result.exists():
        run(next(block for block in PAGES["README.md"] if result.name in block.text), folders("README.md"), programs)
    system = json.loads(result.read_text(encoding="utf-8"))["systems"][0]
    errors = system["errors_per_100_pronouns"]
    kinds = [system[f"expected_{kind}_per_100_pronouns"]["value"] for kind in ("wrong", "missing", "surplus")]
    numbers = [errors["value"], *kinds, *errors["interval"]]
    assert [f"{number:.1f}" for number in numbers] == list(told.groups())


def test_the_readme_has_no_hash_and_no_date() -> None:
    """Its figures are of today's weights; hashes, dates and older weights stand in the cards and the history."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not re.findall(r"`[0-9a-f]{8}`|\b20\d\d-\d\d|[†‡]", text)


def test_each_term_of_the_glossary_is_linked() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = {term for page in pages for term in re.findall(r"glossary\.md#([\w-]+)", page.read_text(encoding="utf-8"))}
    terms = re.findall(r"^## (.+)$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(terms) > 10
    assert links == {re.sub(r"[^\w]+", "-", term.lower()).strip("-") for term in terms}


def test_every_verb_has_a_page_with_its_help() -> None:
    for verb in VERBS:
        page = (ROOT / "docs" / "verbs" / f"{verb}.md").read_text(encoding="utf-8")
        assert f"<!-- help: {verb} -->" in page
        assert any(verb in block.text for block in blocks(page))


def test_the_readme_links_to_files_that_exist() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


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
