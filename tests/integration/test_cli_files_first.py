"""A reader of stdout that leaves (`| head`) costs no file."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from tests.tools.row_files import jsonl


def run(*argv: object) -> int:
    """The exit code of a verb whose stdout nobody reads; each line is written at once."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", buffering=1, encoding="utf-8") as stdout, contextlib.redirect_stdout(stdout):
        return main([str(word) for word in argv])


@pytest.mark.parametrize("verb", ["score", "score --jsonl", "compare"])
def test_score_and_compare(verb: str, tmp_path: Path, tiny_checkpoint: Callable[..., Path]) -> None:
    text = tmp_path / "a.txt"
    text.write_text("She left.\nHe took it.\n" * 20)
    records = jsonl(tmp_path / "r.jsonl", [{"id": k, "text": "She left."} for k in range(40)])
    given: dict[str, list[object]] = {
        "score": ["score", "-t", text],
        "score --jsonl": ["score", "--jsonl", records],
        "compare": ["compare", "-t", text, text],
    }
    files = tmp_path / "o.json", tmp_path / "o.tsv"
    model = ["--model", tiny_checkpoint(), "--precision", "32", "--gpus", "0"]
    assert run(*given[verb], *model, "--to_json", files[0], "--to_tsv", files[1]) == 141
    assert len(json.loads(files[0].read_text())["segments"]) == 40
    assert len(files[1].read_text().splitlines()) >= 41


def test_without_a_file_the_run_ends(tmp_path: Path, tiny_checkpoint: Callable[..., Path]) -> None:
    (tmp_path / "a.txt").write_text("She left.\n")
    assert run("score", "-t", tmp_path / "a.txt", "--model", tiny_checkpoint(), "--gpus", "0") == 141


def test_evaluate(tmp_path: Path) -> None:
    pairs = jsonl(
        tmp_path / "p.jsonl",
        [{"id": f"p{k}", "text_a": "She left.", "text_b": "He left.", "better": "A"} for k in range(9)],
    )
    scores = jsonl(tmp_path / "s.jsonl", [{"id": f"p{k}", "score_a": 0.9, "score_b": 0.2} for k in range(9)])
    assert run("evaluate", pairs, "--scores", scores, "--to_json", tmp_path / "o.json") == 141
    assert len(json.loads((tmp_path / "o.json").read_text())["pairs"]) == 9


def test_suite_compare(tmp_path: Path) -> None:
    items = [{"id": str(k), "right": bool(k % 2), "document": str(k), "groups": {}} for k in range(8)]
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(json.dumps({"suite": "x", "items": items}))
    assert run("suite", "compare", tmp_path / "a.json", tmp_path / "b.json", "--to_json", tmp_path / "o.json") == 141
    assert json.loads((tmp_path / "o.json").read_text())["suite"] == "x"
