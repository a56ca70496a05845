"""The suites against figures computed as the published programs do, on random scores, and on the real sets."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronmetric.cli.main import main


def result(tmp_path: Path, *flags: str) -> dict[str, Any]:
    path = tmp_path / "result.json"
    assert main(["suite", "score", *flags, "--to_json", str(path), "--quiet"]) == 0
    return json.loads(path.read_text())


def write_scores(tmp_path: Path, number: int, seed: int) -> tuple[str, list[float]]:
    """Scores with many ties."""
    values = np.random.default_rng(seed).integers(4, size=number).astype(float).tolist()
    path = tmp_path / "scores"
    path.write_text("".join(f"{value}\n" for value in values))
    return str(path), values


def counts(result: dict[str, Any], name: str) -> dict[str, tuple[int, int]]:
    return {group: (one["correct"], one["total"]) for group, one in result["by"][name].items()}


@pytest.mark.parametrize("maximize", [False, True])
def test_contrapro(tmp_path: Path, maximize: bool) -> None:
    rng = np.random.default_rng(7)
    pronouns = [("It", "Er"), ("it", "es"), ("they", "sie")]
    items = [
        {
            "src segment": "s",
            "ref segment": "r",
            "src pronoun": pronouns[k % 3][0],
            "ref pronoun": pronouns[k % 3][1],
            "ante distance": int(rng.integers(7)),
            "intrasegmental": [True, False, None][int(rng.integers(3))],
            "document id": f"d{k % 9}.de",
            "errors": [{"contrastive": "c"}] * int(rng.integers(4)),
        }
        for k in range(200)
    ]
    path = tmp_path / "set.json"
    path.write_text(json.dumps(items))
    scores, values = write_scores(tmp_path, sum(1 + len(item["errors"]) for item in items), 1)
    stream = iter(values)
    total: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for item in items:
        first, *others = [next(stream) for _ in range(1 + len(item["errors"]))]
        won = all(first > other if maximize else first < other for other in others)
        distance = str(item["ante distance"]) if item["ante distance"] < 4 else ">3"
        for key in (
            ("pronoun pair", f"{item['src pronoun']}:{item['ref pronoun']}".lower()),
            (
                "antecedent location",
                {True: "same segment", False: "earlier segment", None: "unknown"}[item["intrasegmental"]],
            ),
            ("distance", distance),
            ("", ""),
        ):
            total[key] += 1
            right[key] += won
    found = result(tmp_path, "contrapro", "--set", str(path), "--scores", scores, *["--maximize"] * maximize)
    assert (found["correct"], found["total"]) == (right["", ""], total["", ""])
    assert found["accuracy"] == right["", ""] / 200
    for name in ("pronoun pair", "antecedent location", "distance"):
        assert counts(found, name) == {key[1]: (right[key], total[key]) for key in total if key[0] == name}


@pytest.mark.shared
@pytest.mark.parametrize("name", ["anaphora", "lexical-choice"])
def test_discevalmt_on_the_real_sets(tmp_path: Path, shared: Path, name: str) -> None:
    path = shared / "data" / "suites" / "bawden" / f"{name}.json"
    scores, values = write_scores(tmp_path, 400, 2)
    found = result(tmp_path, "discevalmt", "--set", str(path), "--scores", scores)
    won = [a < b for a, b in zip(values[::2], values[1::2], strict=True)]
    blocks = json.loads(path.read_text())
    size = 4 if name == "anaphora" else 2
    whole = [key for k, key in enumerate(sorted(blocks, key=int)) if all(won[size * k : size * (k + 1)])]
    assert (found["correct"], found["total"]) == (sum(won), 200)
    assert found["further"]["ids of blocks entirely right"] == whole
    kinds = [
        pair.get("type") if size == 4 else blocks[key].get("type")
        for key in sorted(blocks, key=int)
        for pair in (blocks[key]["trg"] if size == 4 else blocks[key]["examples"])
    ]
    expected = {
        kind: (sum(w for w, k in zip(won, kinds, strict=True) if k == kind), kinds.count(kind))
        for kind in set(kinds)
        if kind not in (None, "repet, disambig")
    }
    assert counts(found, "type") == expected


@pytest.mark.shared
@pytest.mark.parametrize("name", ["deixis_dev", "lex_cohesion_dev"])
def test_the_consistency_sets(tmp_path: Path, shared: Path, name: str) -> None:
    path = shared / "data" / "suites" / "voita" / f"{name}.json"
    items = json.loads(path.read_text())
    ends = np.cumsum([0] + [len(item["dst"]) for item in items])
    scores, values = write_scores(tmp_path, int(ends[-1]), 3)
    right = [
        int(np.argmin(values[a:b])) == item["true_ind"] for a, b, item in zip(ends[:-1], ends[1:], items, strict=True)
    ]
    found = result(tmp_path, "consistency", "--set", str(path), "--scores", scores)
    assert found["accuracy"] == pytest.approx(np.mean(right), abs=1e-12)
    for distance in (1, 2, 3):
        of = [won for won, item in zip(right, items, strict=True) if item["ctx_dist"] == distance]
        assert found["by"]["distance"][str(distance)]["accuracy"] == pytest.approx(np.mean(of), abs=1e-12)


@pytest.mark.shared
def test_constant_scores_are_right_in_all_of_deixis(tmp_path: Path, shared: Path) -> None:
    path = shared / "data" / "suites" / "voita" / "deixis_dev.json"
    (tmp_path / "scores").write_text("1.0\n" * 1000)
    found = result(tmp_path, "consistency", "--set", str(path), "--scores", str(tmp_path / "scores"))
    assert found["accuracy"] == 1.0
    assert found["further"]["strict accuracy (a tie is wrong)"] == 0.0
