"""The notebooks run from first cell to last, hold no output and define no logic."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

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
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    assert all(output.output_type != "error" for cell in notebook.cells for output in cell.get("outputs", []))
    assert notebook.cells[-1].outputs, "the last cell shows something"
