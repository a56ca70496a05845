"""The recipe of the shipped weights: one sweep over seeds, one average; the same lines give the same weights."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from pronmetric.checkpoint import files
from pronmetric.cli.main import main
from pronmetric.eval.decision import DECISIONS

TINY = ["data.pieces=512", "data.development=6", "trainer.max_steps=2", "trainer.validate_every=2"]
TINY += ["trainer.progress=false"]


def run(lines: Sequence[str], folders: Mapping[str, Path | str]) -> None:
    """Run commands in this process, with folders instead of the names in capitals."""
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "pronmetric"
        assert (
            main([re.sub(r"\b[A-Z]+\b", lambda name: str(folders.get(name[0], name[0])), word) for word in words]) == 0
        )


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, wmt_sample: Path, tiny_encoder: Path) -> dict[str, Path | str]:
    root = tmp_path_factory.mktemp("recipe")
    return {"WMT": wmt_sample, "PREPARED": root / "prepared", "RUNS": root / "runs", "AVERAGE": root / "average"}


@pytest.fixture(scope="module")
def made(folders: dict[str, Path | str], tiny_encoder: Path) -> Path:
    """The averaged checkpoint of two seeds on the bundled sample."""
    train = ["train --multirun experiment=default seed=1,2 data.dir=PREPARED out=RUNS encoder=huggingface"]
    lines = [
        "pronmetric prepare data.wmt=WMT 'data.exclude=[]' out=PREPARED",
        " ".join(["pronmetric", *train, f"encoder.name={tiny_encoder}", *TINY]),
        "pronmetric checkpoint average RUNS/0/checkpoint RUNS/1/checkpoint --data PREPARED -o AVERAGE",
    ]
    run(lines, folders)
    return Path(folders["AVERAGE"])


def test_the_lines_of_the_card_give_the_same_weights(
    made: Path, folders: dict[str, Path | str], tiny_encoder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = (made / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^pronmetric (?:prepare|train|checkpoint) .*", text.partition("## Training")[2], re.M)
    assert [line.split()[1] for line in lines] == ["prepare", "train", "checkpoint"]
    assert (
        " --multirun experiment=default " in lines[1] and " seed=1,2 " in lines[1] and "trainer.max_steps=2" in lines[1]
    )
    assert str(Path(folders["RUNS"]).parent) not in text
    lines[1] = lines[1].replace(f"encoder.name={tiny_encoder.name}", f"encoder.name={tiny_encoder}")
    again: dict[str, Path | str] = {name: tmp_path / name for name in folders}
    run(lines, again | {"WMT": folders["WMT"]})
    weights = [files.hash_file(folder / files.WEIGHTS) for folder in (made, tmp_path / "AVERAGE")]
    assert weights[0] == weights[1]
    config = yaml.safe_load((made / "config.yaml").read_text(encoding="utf-8"))
    assert [part["seed"] for part in config["training"]["average"]] == [1, 2]
    assert config["pair_head"] == {"heads": 4, "dropout": 0.1} and config["decision"] in DECISIONS
    assert {"development/noisy", "development/noisy_preference"} <= config["training"]["figures"].keys()
    assert files.load(made).model.pair_head is not None
    assert "the preset's loss is left out" in caplog.text  # the sample has no annotated antecedents: a note


def test_a_process_for_each_seed_gives_the_weights_of_the_sweep(
    made: Path, folders: dict[str, Path | str], tiny_encoder: Path, tmp_path: Path, programs: dict[str, str]
) -> None:
    given = ["experiment=default", "seed=2", f"data.dir={folders['PREPARED']}", f"out={tmp_path / 'alone'}"]
    given += ["encoder=huggingface", f"encoder.name={tiny_encoder}", *TINY]
    command = ["bash", "-c", shlex.join(["pronmetric", "train", *given])]
    done = subprocess.run(command, env=programs, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sweep, alone = Path(folders["RUNS"]) / "1" / "checkpoint", tmp_path / "alone" / "checkpoint"
    assert files.hash_file(alone / files.WEIGHTS) == files.hash_file(sweep / files.WEIGHTS)
