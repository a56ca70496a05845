"""The page of the paper's own experiment, on pairs of our own and a scorer whose decisions are known."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import pages
from benchmarks.checkpoint import paper_wmt13, scoring
from benchmarks.checkpoint.scoring import Record, Result
from pronmetric.pronouns.finder import find
from pronmetric.schema import Mismatch, Pair

Checkpoints = Callable[..., Path]


def pair(seg: int, kind: str) -> Pair:
    return Pair(
        id=f"newstest2014.de-en/A/sys/{seg}/{kind}",
        kind=kind,
        testset="newstest2014",
        lp="de-en",
        doc=f"doc{seg}",
        seg=seg,
        ref="A",
        system="sys",
        better="Then she left.",
        worse="Then he left.",
        context=("Ann came.",),
        system_context=("Tom came.",),
        mismatches=(Mismatch("pronoun", "she", "he", 5, 8, 5, 7),),
        agrees=True,
    )


PAIRS = [pair(0, "system"), pair(1, "system"), pair(2, "noisy")]


def by_context(records: Sequence[Record]) -> list[Result]:
    """1 for she after Ann and for he after Tom, 0 for others."""
    scores = [float(("she" in r["text"]) == ("Ann" in " ".join(r["context"]))) for r in records]
    found = [[{"start": o.start, "end": o.end, "probability": None} for o in find(r["text"])] for r in records]
    return [Result(score=score, pronouns=pronouns) for score, pronouns in zip(scores, found, strict=True)]


def test_each_run_is_tested_in_its_context() -> None:
    assert paper_wmt13.measure(by_context, PAIRS, "common")["system"]["accuracy"].accuracy == 1.0
    assert paper_wmt13.measure(by_context, PAIRS, "respective")["noisy"]["accuracy"].equal == 1
    assert paper_wmt13.measure(by_context, PAIRS, "none")["system"]["equal"].right == 0


def test_a_finished_test_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_checkpoint: Checkpoints) -> None:
    checkpoint = tmp_path / "common" / "checkpoint"
    shutil.copytree(tiny_checkpoint(), checkpoint)
    path = checkpoint / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config |= {"context": "common", "training": {"steps": 9, "best_step": 6, "seconds": 5}}
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    loaded: list[str] = []

    def load(options: argparse.Namespace) -> Any:
        loaded.append(options.model)
        return by_context

    monkeypatch.setattr(scoring, "load", load)
    options = argparse.Namespace(seed=0)
    first = paper_wmt13.test(checkpoint, options, PAIRS)
    assert (first["encoder"], first["context"], first["best_step"]) == ("huggingface", "common", 6)
    assert paper_wmt13.test(checkpoint, options, PAIRS) == json.loads(json.dumps(first)) and len(loaded) == 1
    (checkpoint / "model.safetensors").write_bytes(b"others")
    assert paper_wmt13.test(checkpoint, options, PAIRS)["weights"] != first["weights"] and len(loaded) == 2


def test_the_page_has_a_row_for_each_run_and_for_the_paper() -> None:
    figures = pages.plain(paper_wmt13.measure(by_context, PAIRS, "common"))
    run = {"weights": "01234567", "encoder": "elmo", "context": "common", "steps": 9, "best_step": 6}
    content = {"runs": [{**run, "figures": figures}], "date": "2026-01-02", "command": "python"}
    text = paper_wmt13.page(content)
    assert "2 pairs R vs S and 1 pairs R vs R'" in " ".join(text.split())
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[2].startswith("| of ELMo's kind | common | 100.0 | 100.0 |")
    assert "| 6 of 9 | `01234567` |" in rows[2] and "| 90.7 | 89.1 |" in rows[3]
