"""The notebooks run from first cell to last, hold no output and define no logic; their pages show the output."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import v4

import pronmetric
from notebooks.render import PAGES, digest, rendered

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def test_they_are_numbered() -> None:
    assert [path.name[:2] for path in NOTEBOOKS[:3]] == ["01", "02", "03"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stripped_and_defines_nothing(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell.source))]
    assert not any(isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.While) for node in nodes)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_uses_the_public_names_alone(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = [node for node in imports if "pronmetric" in ast.unparse(node)]
    assert all(isinstance(node, ast.ImportFrom) and node.module == "pronmetric" for node in ours)
    assert {alias.name for node in ours for alias in node.names} <= set(pronmetric.__all__)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    patience = dict.fromkeys(("timeout", "startup_timeout", "iopub_timeout"), 3600)  # on a busy machine too
    NotebookClient(notebook, **patience, resources={"metadata": {"path": str(path.parent)}}).execute()
    assert all(output.output_type != "error" for cell in notebook.cells for output in cell.get("outputs", []))
    assert notebook.cells[-1].outputs, "the last cell shows something"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_page_with_output_is_of_the_present_notebook(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    page = (PAGES / f"{path.stem}.md").read_text(encoding="utf-8")
    assert f"cells {digest(notebook)} -->" in page.splitlines()[0], "the notebook has changed: run `make notebooks`"
    assert all(cell.source in page for cell in notebook.cells) and "```text\n" in page
    images = re.findall(r"!\[output\]\((.*?)\)", page)
    assert sorted(images) == sorted(found.name for found in PAGES.glob(f"{path.stem}-*"))
    assert all((PAGES / name).stat().st_size < 100_000 for name in images)


def test_each_notebook_has_a_page_and_a_link() -> None:
    assert [path.stem for path in sorted(PAGES.glob("*.md"))] == [path.stem for path in NOTEBOOKS]
    index = (PAGES.parents[1] / "notebooks" / "README.md").read_text(encoding="utf-8")
    site = (PAGES.parent / "index.md").read_text(encoding="utf-8")
    assert all(f"docs/notebooks/{path.stem}.md" in index for path in NOTEBOOKS)
    assert all(f"(notebooks/{path.stem}.md)" in site for path in NOTEBOOKS)


def test_each_kind_of_output_is_rendered() -> None:
    outputs = [
        v4.new_output("stream", name="stderr", text="a warning"),
        v4.new_output("stream", name="stdout", text="said ``` so\n"),
        v4.new_output("execute_result", data={"text/plain": "<M>", "text/markdown": "| a |\n"}),
        v4.new_output("display_data", data={"text/plain": "<S>", "image/svg+xml": "<svg/>"}),
        v4.new_output("display_data", data={"text/plain": "<P>", "image/png": "aGk="}),
        v4.new_output("execute_result", data={"text/plain": "<H>", "text/html": "<iframe>"}),
        v4.new_output("execute_result", data={"text/plain": "P()", "text/html": '<div class="pronmetric">x</div>'}),
        v4.new_output("execute_result", data={"text/plain": "a 1", "text/html": "<table>"}),
        v4.new_output("execute_result", data={"text/plain": "42"}),
    ]
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("# Title"), v4.new_code_cell("x = 1", outputs=outputs)])
    page, images = rendered(notebook, "09_any")
    head, link, *parts = page.rstrip("\n").split("\n\n")
    assert digest(notebook) in head and "`notebooks/09_any.ipynb`" in link
    assert parts == [
        "# Title",
        "```python\nx = 1\n```",
        "````text\nsaid ``` so\n````",
        "| a |",
        "![output](09_any-1.svg)",
        "![output](09_any-2.png)",
        "*(An interactive page; run the notebook to open it.)*",
        '<div class="pronmetric">x</div>',
        "```text\na 1\n```",
        "```text\n42\n```",
    ]
    assert images == {"09_any-1.svg": b"<svg/>", "09_any-2.png": b"hi"}
    before = digest(notebook)
    notebook.cells[1].source = "x = 2"
    assert digest(notebook) != before
