from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pronmetric import PronounMetric
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files
from pronmetric.data import arrow
from pronmetric.eval.decision import SCORE
from pronmetric.eval.ties import PEOPLES_RATE, choose_threshold
from pronmetric.lab.human import pair_evaluation
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.schema import Pair
from pronmetric.training.after import decision
from pronmetric.training.after.decision import TieThreshold
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.examples.batches import Labeller


@pytest.fixture
def folder(tiny_checkpoint: Callable[..., Path], tiny_prepared: Path, tmp_path: Path) -> Path:
    """A checkpoint that says it was trained on the tiny data."""
    where = tmp_path / "trained"
    shutil.copytree(tiny_checkpoint(max_pieces=128), where)
    found = config(where)
    found["training"] = {"data": {"manifest": files.hash_file(tiny_prepared / "manifest.json")}}
    (where / "config.yaml").write_text(yaml.safe_dump(found, sort_keys=False))
    return where


def config(folder: Path) -> dict[str, Any]:
    return yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))


def chosen(folder: Path, data: Path) -> decision.TieThreshold | None:
    loaded = files.load(folder)
    choice = decision.choose(PairScorer(loaded.model, Labeller(loaded.collator)), data, context="common", most=0)
    return None if choice is None else choice.ties.get(SCORE)


def test_peoples_rate_is_that_of_the_published_answers() -> None:
    assert PEOPLES_RATE == pytest.approx(44 / (2527 + 69 + 44))


@pytest.mark.shared
def test_peoples_rate_is_in_the_shared_table(shared: Path) -> None:
    lines = (shared / "data" / "study" / "pair_agreement.tsv").read_text(encoding="utf-8").splitlines()
    sums = [row.split("\t")[4:] for row in lines if row.split("\t")[2] == "sum"]
    ref, tie, sys_ = (sum(int(row[k]) for row in sums) for k in range(3))
    assert (ref, tie, sys_) == (2527, 44, 69) and tie / (ref + tie + sys_) == PEOPLES_RATE


def test_the_threshold_is_that_of_the_metrics_own_differences(folder: Path, tiny_prepared: Path) -> None:
    found = chosen(folder, tiny_prepared)
    assert found is not None
    metric = PronounMetric.from_pretrained(folder, precision="32", gpus=0)
    rows = [row for row in arrow.read_pairs(tiny_prepared, "development") if row["kind"] == "noisy"]
    scores = [
        metric.predict({"text": row[side], "context": list(row["context"])} for row in rows).scores
        for side in ("better", "worse")
    ]
    gaps = np.array([a - b for a, b in zip(*scores, strict=True)])
    assert found.pairs == len(gaps) == len(rows) and found.people == PEOPLES_RATE
    assert found.threshold == pytest.approx(choose_threshold(gaps, PEOPLES_RATE), rel=1e-3)
    assert found.ties == (np.abs(gaps) <= found.threshold).sum()


def test_a_higher_rate_gives_a_higher_threshold(
    folder: Path, tiny_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = chosen(folder, tiny_prepared)
    monkeypatch.setattr(decision, "PEOPLES_RATE", 0.5)
    wide = chosen(folder, tiny_prepared)
    assert narrow is not None and wide is not None
    assert narrow.threshold < wide.threshold and wide.ties == pytest.approx(wide.pairs / 2, abs=1)


def test_no_noisy_pair_gives_no_threshold(
    folder: Path, make_prepared: Callable[..., Path], sample_pairs: list[Pair]
) -> None:
    system = [pair for pair in sample_pairs if pair.kind == "system"][:4]
    assert chosen(folder, make_prepared(train=system, development=system)) is None


def test_the_config_gets_threshold_and_pairs_in_place_of_older_ones(folder: Path, tiny_prepared: Path) -> None:
    before = config(folder)
    counts = json.loads((tiny_prepared / "confusion.json").read_text())
    table = ConfusionTable.load(tiny_prepared / "confusion.json", forms=before["pronouns"])
    tie = TieThreshold(0.25, pairs=8, ties=2, people=PEOPLES_RATE)
    after = decision.add_tie(before, tie, table)
    assert checkpoint_config.tie_threshold(after, name="x") == after["tie"] == after["training"]["tie"]["threshold"]
    assert after["tie"] == 0.25 and after["training"]["confusion"] == counts
    assert pair_evaluation.seen_by(after) == {(right, wrong) for right, row in counts.items() for wrong in row}
    assert {k: v for k, v in after.items() if k not in ("tie", "training")} == {
        k: v for k, v in before.items() if k != "training"
    }
    assert after["training"]["data"] == before["training"]["data"]
    assert decision.add_tie(after, tie, table) == after
    assert "tie" not in decision.add_tie(after, None, table)
