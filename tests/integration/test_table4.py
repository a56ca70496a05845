"""`pronmetric train --multirun experiment=table4` on the tiny data: cells, what is passed over, what is finished."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from pronmetric.cli.main import main
from pronmetric.schema import Pair
from pronmetric.training.module import ScorerModule
from pronmetric.training.paper.table4 import grid

Run = Callable[..., int]


@pytest.fixture(scope="module")
def prepared(make_prepared: Callable[..., Path], sample_pairs: list[Pair]) -> Path:
    """The sample's pairs in three equal parts."""
    third = len(sample_pairs) // 3
    train, development, test = (sample_pairs[k * third : (k + 1) * third] for k in range(3))
    return make_prepared(train=train, development=development, test=test)


@pytest.fixture(scope="module")
def run(prepared: Path, tiny_encoder: Path) -> Run:
    """The sweep over the two rows of the paper's head with a context, and ours with one, on the tiny encoder."""

    def command(out: Path, *overrides: str) -> int:
        given = {
            "experiment": "table4",
            "data.dir": prepared,
            "out": out,
            "table4/setup": "minilm",
            "context": "respective,common",
            "head": "paper,logit",
            "seed": 1,
            "encoder": "huggingface",
            "encoder.name": tiny_encoder,
            "table.sample": "{train:10,development:6,test:8}",
            "table.epochs": 2,
            "data.pieces": 512,
            "trainer.threads": 1,
        }
        later = {override.split("=")[0] for override in overrides}
        return main(["train", "-m", *(f"{k}={v}" for k, v in given.items() if k not in later), *overrides])

    return command


@pytest.fixture(scope="module")
def out(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table4") / "grid"
    assert run(folder) == 0
    return folder


NAMES = ["minilm-common-logit-1", "minilm-common-paper-1", "minilm-respective-paper-1"]


def cell(out: Path, name: str) -> dict[str, Any]:
    return json.loads((out / name / grid.FILE).read_text(encoding="utf-8"))


def test_each_setting_of_the_table_is_a_cell_and_others_are_passed_over(out: Path) -> None:
    assert sorted(path.parent.name for path in out.glob(f"*/{grid.FILE}")) == NAMES
    assert {path.name for path in out.iterdir()} == {*NAMES, "data", "states", "multirun.yaml"}


def test_a_cell_has_figures_and_no_weights(out: Path) -> None:
    told = cell(out, "minilm-common-logit-1")
    assert (told["row"], told["name"], told["seed"]) == (8, "BERT-like, frozen (MiniLM)", 1)
    assert told["settings"]["loss"] == {"kind": "logistic"} and told["settings"]["context"] == "common"
    assert cell(out, "minilm-respective-paper-1")["settings"]["loss"]["kind"] == "margin"
    for kind in ("noisy", "system"):
        figures = told["test"][kind]
        assert figures["pairs"] == 8 and figures["windowed"] == 0
        assert figures["accuracy"] == figures["right"] / 8 == figures["won"].count("1") / len(figures["won"])
        assert told["pairs"]["train"][kind] == 10
    assert not list(out.glob("*/*.ckpt")) and not list(out.glob("*/checkpoint"))
    assert told["seconds"] >= 0 and told["steps"] >= told["best_step"] > 0


def test_the_states_are_stored_once_for_all_heads(out: Path) -> None:
    (folder,) = (out / "states").iterdir()
    assert {path.name for path in folder.iterdir()} == {"lock", "places", "states"}


def test_what_is_finished_is_not_run_again(
    run: Run, out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(grid, "train", None)
    assert run(out) == 0
    told, notes = capsys.readouterr()
    assert [line.split("\t")[0] for line in told.splitlines()] == [
        "minilm-respective-paper-1",
        "minilm-common-paper-1",
        "minilm-common-logit-1",
    ]
    assert "3 cells, 3 finished" in notes


def test_a_cell_that_was_killed_goes_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = ["context=common", "head=paper"]
    with monkeypatch.context() as patch:
        patch.setattr(grid, "_test", None)  # dies before the test, with all of the training done
        with pytest.raises((TypeError, SystemExit)):
            run(tmp_path, *one)
    folder = tmp_path / "minilm-common-paper-1"
    assert (folder / "last.ckpt").is_file() and not (folder / grid.FILE).exists()
    monkeypatch.setattr(ScorerModule, "losses", None)  # nothing is left to train
    assert run(tmp_path, *one) == 0
    assert cell(tmp_path, folder.name)["steps"] > 0 and not (folder / "last.ckpt").exists()


def test_other_settings_are_refused(run: Run, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(out, "optim.head_lr=0.5", "head=paper", "context=common") == 1
    assert "a finished cell of other settings" in capsys.readouterr().err
    assert run(out, "table.sample={train:9,development:6,test:8}", "head=paper", "context=common") == 1
    assert "a sample of other data or sizes" in capsys.readouterr().err


def test_what_is_no_sweep_or_no_cell_is_refused(
    run: Run, prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "experiment=table4", f"data.dir={prepared}", f"out={tmp_path}"]) == 1
    assert "add --multirun" in capsys.readouterr().err
    assert run(tmp_path / "none", "head=logit", "context=respective") == 1
    assert "no cell of the table" in capsys.readouterr().err
    elmo = [f"data.dir={prepared}", f"out={tmp_path / 'elmo'}", "table4/setup=elmo", "head=paper", "seed=1"]
    assert main(["train", "-m", "experiment=table4", *elmo]) == 1
    assert "table.elmo=" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_training_from_stored_states_is_training_with_the_encoder(
    prepared: Path, tiny_encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["experiment=paper", f"data.dir={prepared}", "encoder=huggingface", f"encoder.name={tiny_encoder}"]
    given += ["data.batch=6", "trainer.max_steps=6", "trainer.validate_every=6", "trainer.precision=32", "half=false"]
    given += ["trainer.threads=1", "trainer.progress=false", "encoder.dropout=0.0"]
    assert (
        main(["train", *given, f"out={tmp_path / 'with'}", "optim.frozen=true", f"encoder_cache={tmp_path / 's'}"]) == 0
    )
    assert main(["train", *given, f"out={tmp_path / 'without'}", "optim.frozen=true"]) == 0
    found, wanted = (load_file(tmp_path / name / "checkpoint" / "model.safetensors") for name in ("with", "without"))
    assert found.keys() == wanted.keys() and any(name.startswith("encoder.model.") for name in found)
    for name, tensor in found.items():
        torch.testing.assert_close(tensor, wanted[name], rtol=1e-2, atol=1e-3)
    capsys.readouterr()
    assert main(["train", *given, f"out={tmp_path / 'no'}", f"encoder_cache={tmp_path / 's'}"]) == 1
    assert "add optim.frozen=true" in capsys.readouterr().err
