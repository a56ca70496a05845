"""Render the notebooks as Markdown pages with their outputs; the notebooks themselves are stored without output.

`python -m notebooks.render` (`make notebooks`) runs notebooks/*.ipynb and writes docs/notebooks/*.md with
their images. Each page names the hash of the cells that it was made from; tests/integration/test_notebooks.py fails
where a notebook has changed since.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS, PAGES = ROOT / "notebooks", ROOT / "docs" / "notebooks"
_IMAGES = {"image/svg+xml": "svg", "image/png": "png"}


def digest(notebook: NotebookNode) -> str:
    """The SHA-256 of the kinds and sources of all cells."""
    found = hashlib.sha256()
    for cell in notebook.cells:
        found.update(f"{cell.cell_type}\0{cell.source}\0".encode())
    return found.hexdigest()


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run all cells in `folder`; the outputs are in the notebook then."""
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()


def rendered(notebook: NotebookNode, name: str) -> tuple[str, Mapping[str, bytes]]:
    """An executed notebook as Markdown, and the images that it shows, by file name.

    What a cell writes to stderr is left out. The package's own views are HTML in the page, of other pages there is a
    note in their place, and tables of pandas are text.
    """
    images: dict[str, bytes] = {}
    parts = [
        f"<!-- made by `make notebooks` from notebooks/{name}.ipynb; cells {digest(notebook)} -->",
        f"*Output of `notebooks/{name}.ipynb`.*",
    ]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(_fenced(cell.source, "python"))
        for output in cell.outputs:
            if output.output_type == "stream":
                if output.name == "stdout":
                    parts.append(_fenced(output.text, "text"))
                continue
            parts.append(_data(output.data, name, images))
    return "\n\n".join(parts) + "\n", images


def _data(data: Mapping[str, str], name: str, images: dict[str, bytes]) -> str:
    """One output: its Markdown, image, note, view or text, the first that there is."""
    if "text/markdown" in data:
        return data["text/markdown"].strip()
    for kind, suffix in _IMAGES.items():
        if kind in data:
            file = f"{name}-{len(images) + 1}.{suffix}"
            images[file] = base64.b64decode(data[kind]) if suffix == "png" else data[kind].encode()
            return f"![output]({file})"
    if "<iframe" in data.get("text/html", ""):
        return "*(An interactive page; run the notebook to open it.)*"
    if '<div class="pronmetric">' in data.get("text/html", ""):
        return data["text/html"]
    return _fenced(data["text/plain"], "text")


def _fenced(text: str, kind: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}"


def main() -> int:
    """Render those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK", help="default: all in notebooks/")
    args = parser.parse_args()
    PAGES.mkdir(parents=True, exist_ok=True)
    for path in args.notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        execute(notebook, path.parent)
        page, images = rendered(notebook, path.stem)
        for old in PAGES.glob(f"{path.stem}*"):
            old.unlink()
        for file, content in images.items():
            (PAGES / file).write_bytes(content)
        (PAGES / f"{path.stem}.md").write_text(page, encoding="utf-8")
        print(PAGES / f"{path.stem}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
