"""The recipe of the shipped weights: one sweep over seeds, one average; the same lines give the same weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pronmetric.checkpoint import files
from pronmetric.cli.main import main
from pronmetric.eval.decision import DECISIONS


def recipe(root: Path, data: Path, encoder: Path) -> Path:
    """Run the lines of the recipe on tiny data; the averaged checkpoint."""
    tiny = ["encoder=huggingface", f"encoder.name={encoder}", "data.pieces=512", "data.development=6"]
    tiny += ["trainer.max_steps=2", "trainer.validate_every=2", "trainer.threads=1", "trainer.progress=false"]
    tiny += ["~objective.source_share.wmt"]
    lines = ["train", "--multirun", "experiment=default", "seed=1,2", f"data.dir={data}", f"out={root / 'runs'}"]
    assert main([*lines, *tiny]) == 0
    runs = [str(root / "runs" / str(number) / "checkpoint") for number in range(2)]
    assert main(["average", *runs, "--data", str(data), "-o", str(root / "average")]) == 0
    return root / "average"


def test_the_same_lines_give_the_same_weights(
    tiny_prepared: Path, tiny_encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [recipe(tmp_path / turn, tiny_prepared, tiny_encoder) for turn in ("first", "second")]
    assert len({files.hash_file(folder / files.WEIGHTS) for folder in made}) == 1
    config = yaml.safe_load((made[0] / "config.yaml").read_text(encoding="utf-8"))
    assert [part["seed"] for part in config["training"]["average"]] == [1, 2]
    assert config["pair_head"] == {"heads": 4, "dropout": 0.1} and config["decision"] in DECISIONS
    assert {"development/noisy", "development/noisy_preference"} <= config["training"]["figures"].keys()
    assert files.load(made[0]).model.pair_head is not None
