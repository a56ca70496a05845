"""The law of order: what a verb writes is the same whatever the order of its inputs, but for lists and rounding."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronmetric.cli.main import main

KEYS = ("id", "system", "metric", "item", "name", "raters", "system_a", "a")


def plain(content: Any) -> Any:
    """The content with lists of named things and of names in alphabetical order."""
    if isinstance(content, Mapping):
        return {key: plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        inner = [plain(each) for each in content]
        if all(isinstance(each, str) for each in inner):
            return sorted(inner)
        if all(isinstance(each, dict) and any(key in each for key in KEYS) for each in inner):
            return sorted(inner, key=lambda each: repr([each.get(key) for key in KEYS]))
        return inner
    return content


def assert_same(one: Any, other: Any, where: str = "") -> None:
    """Both are the same but for rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            assert_same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}[{number}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-9), where
    else:
        assert one == other, where


def written(*argv: object) -> Any:
    """What a verb writes as JSON."""
    assert main([*map(str, argv), "--to_json", "out.json"]) == 0
    return plain(json.loads(Path("out.json").read_text(encoding="utf-8")))


def judged() -> list[dict[str, Any]]:
    rng = np.random.default_rng(10)
    answers = ["A", "B", "tie"]
    return [
        {
            "id": f"p{k:02}",
            "context": [f"Anna saw number {k}."],
            "text_a": "Then she left.",
            "text_b": "Then he left." if k % 2 else "Then it left.",
            "better": "AB"[k % 3 == 0],
            "votes": {r: answers[rng.choice(3, p=[0.6, 0.3, 0.1])] for r in ("ann", "bob", "cas")},
            "group": f"g{k % 2}",
            "doc": f"d{k // 4}",
        }
        for k in range(32)
    ]


def theirs(pairs: Iterable[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [{"id": pair["id"], "score_a": round(rng.random(), 1), "score_b": round(rng.random(), 1)} for pair in pairs]


def shuffled(rows: Sequence[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    """The rows in another order, with their votes in another order."""
    rows = random.Random(seed).sample(list(rows), len(rows))
    return [{**row, "votes": dict(reversed(row["votes"].items()))} if "votes" in row else dict(row) for row in rows]


def marked() -> list[list[str]]:
    """Rows of three systems by two raters; of one translation two raters have two texts."""
    rng = np.random.default_rng(12)
    rows = []
    for system in ("ref", "Oak", "Elm"):
        for seg in range(1, 9):
            for rater in ("r1", "r2"):
                word = rng.choice(["She", "He", "It"])
                error = rng.random() < 0.5
                text = f"<v>{word}</v> was late in {seg}." if error else f"{word} was late in {seg}."
                if (system, seg) != ("Oak", 3):
                    text = text.replace(word, "He" if system == "Oak" else "She")
                kind = ("Accuracy/Mistranslation", str(rng.choice(["Minor", "Major"]))) if error else ("No-error",) * 2
                rows.append([system, f"d{seg // 3}", str(seg), rater, f"Sie {seg}", text, *kind])
    for kind in (("Accuracy/Mistranslation", "Minor"), ("Style", "Major")):
        rows.append(["Elm", "d2", "8", "r1", "Sie 8", "<v>She</v> was late in 8.", *kind])
    return rows


def by_document(sample: Path, out: Path, *, turned: bool) -> list[Path]:
    """The files of the sample, with its documents in order or the last one first."""
    docs = (sample / "docids.txt").read_text(encoding="utf-8").splitlines()
    names = list(dict.fromkeys(docs))
    order = [k for name in (names[::-1] if turned else names) for k, doc in enumerate(docs) if doc == name]
    out.mkdir()
    for name in ("system-a", "system-b", "system-c", "ref", "docids"):
        lines = (sample / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        (out / f"{name}.txt").write_text("".join(f"{lines[k]}\n" for k in order), encoding="utf-8")
    return [out / f"{name}.txt" for name in ("system-a", "system-b", "system-c", "ref", "docids")]


def figures(systems: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Systems by the names of their files."""
    return sorted(({**one, "system": Path(one["system"]).name} for one in systems), key=lambda one: one["system"])
