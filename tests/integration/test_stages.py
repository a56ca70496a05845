"""`pronmetric train` in stages: interrupted between and within them, and resumed to the same weights."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from pronmetric.checkpoint import files
from pronmetric.cli.main import main
from pronmetric.training import detection, stages
from pronmetric.training import run as training_run
from pronmetric.training.module import ScorerModule

Run = Callable[..., int]
STAGES = (
    "stages={first: {trainer: {max_steps: 3}}, second: {seeds: 2, trainer: {max_steps: 4}, optim: {lr: 1e-3}}, "
    "third: {experiment: preference, trainer: {max_steps: 2}}}"
)


@pytest.fixture(autouse=True)
def sigint() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def run(tiny_encoder: Path, tiny_prepared: Path) -> Run:
    """Trains the tiny encoder in three stages, the second of two seeds; the exit code."""

    def train(out: Path, *overrides: str) -> int:
        given = {
            "data.dir": tiny_prepared,
            "out": out,
            "encoder": "huggingface",
            "encoder.name": tiny_encoder,
            "data.pieces": 256,
            "data.development": 6,
            "data.choose": 6,
            "trainer.save_every": 1,
            "trainer.precision": 32,
            "trainer.threads": 1,
            "trainer.progress": "false",
        }
        return main(["train", STAGES, *(f"{key}={value}" for key, value in given.items()), *overrides])

    return train


@pytest.fixture(scope="module")
def whole(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that nothing stopped."""
    out = tmp_path_factory.mktemp("whole") / "out"
    assert run(out) == 0
    return out


def weights(out: Path, stage: str = "") -> bytes:
    return (out / stage / "checkpoint" / "model.safetensors").read_bytes()


def config(out: Path, stage: str = "") -> dict[str, Any]:
    return yaml.safe_load((out / stage / "checkpoint" / "config.yaml").read_text(encoding="utf-8"))


def stop(patch: pytest.MonkeyPatch, *, init: str, seed: int, step: int) -> None:
    """Interrupt the run that begins with this checkpoint and has this seed, before a step, counted from 1."""
    real = ScorerModule.training_step
    before = detection.initial_model
    began: list[str] = []

    def initial_model(settings: Any, *more: Any) -> Any:
        began.append(str(settings.init))
        return before(settings, *more)

    def training_step(module: ScorerModule, *args: Any) -> torch.Tensor:
        if began[-1].endswith(init) and (module.seed, module.global_step) == (seed, step - 1):
            os.kill(os.getpid(), signal.SIGINT)
        return real(module, *args)

    patch.setattr(detection, "initial_model", initial_model)
    patch.setattr(ScorerModule, "training_step", training_step)


def test_each_stage_begins_with_the_weights_before_and_the_last_is_exported(whole: Path) -> None:
    trained = {name: config(whole, name)["training"] for name in ("first", "second", "second/1", "second/2", "third")}
    hashes = {name: files.load(whole / name / "checkpoint").hash for name in trained}
    assert trained["first"]["init"] is None
    assert trained["second/1"]["init"] == trained["second/2"]["init"] == hashes["first"]
    assert [(part["weights"], part["seed"]) for part in trained["second"]["average"]] == [
        (hashes["second/1"], 1),
        (hashes["second/2"], 2),
    ]
    assert trained["third"]["init"] == hashes["second"] and weights(whole) == weights(whole, "third")
    final = config(whole)["training"]
    assert [(each["name"], each["seeds"], each["steps"]) for each in final["stages"]] == [
        ("first", [1], 3),
        ("second", [1, 2], 4),
        ("third", [1], 2),
    ]
    assert [each["weights"] for each in final["stages"]] == [hashes[name] for name in ("first", "second", "third")]
    assert "stage" not in final and trained["second"]["stage"] == "second"
    assert files.load(whole / "checkpoint").model.pair_head is not None


def test_the_card_has_one_command_and_names_all_stages(whole: Path) -> None:
    for name, left in (("", 3), ("second", 2)):
        text = (whole / name / "checkpoint" / "README.md").read_text(encoding="utf-8")
        made = text.partition("## Training")[2]
        (line,) = re.findall(r"^pronmetric train .*", made, re.M)
        assert (
            "stages={first:" in line and " seed=1 " in line and "out=RUN" in line and "checkpoint average" not in made
        )
        found = re.findall(r"^# stage (\w+): (.*)", made, re.M)
        assert [stage for stage, _ in found] == ["first", "second", "third"][:left]
        assert "seeds=2 trainer.max_steps=4 optim.lr=0.001; seeds 1, 2, 4 steps" in found[1][1]


def test_a_run_that_is_stopped_in_stages_and_between_them_ends_alike(
    run: Run, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for init, seed, step, place in (
        ("None", 1, 3, "first"),
        ("first/checkpoint", 2, 4, "second/2"),
        ("second/checkpoint", 1, 2, "third"),
    ):
        with monkeypatch.context() as patch:
            stop(patch, init=init, seed=seed, step=step)
            assert run(out) == 130
        assert f"the same command resumes from {out / place / 'last.ckpt'}" in capsys.readouterr().err
    with monkeypatch.context() as patch:

        def record(stage: Any, *args: Any, **more: Any) -> None:
            if stage.name == "third":
                raise KeyboardInterrupt
            real(stage, *args, **more)

        real = stages._record
        patch.setattr(stages, "_record", record)
        assert run(out) == 130  # exported, but not recorded
    assert not (out / "checkpoint").exists()
    assert run(out) == 0
    assert weights(out) == weights(whole)
    assert config(out)["training"]["figures"] == config(whole)["training"]["figures"]


def test_finished_stages_are_not_run_again(
    run: Run, whole: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def train(*_: Any, **__: Any) -> None:
        raise AssertionError

    before = weights(whole)
    monkeypatch.setattr(training_run, "train", train)
    assert run(whole) == 0 and weights(whole) == before
    said = capsys.readouterr()
    assert said.err.count(": finished, ") == 3 and "development/accuracy" in said.out
    assert run(whole, "optim.head_lr=0.5") == 1
    assert "the run there has optim.head_lr=0.001, not optim.head_lr=0.5" in capsys.readouterr().err


def test_an_override_holds_for_every_stage_and_one_of_a_stage_for_it(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(out, "trainer.max_steps=1", "stages.second.seeds=1", "objective.pair_share=0.3") == 0
    assert [(each["steps"], len(each["seeds"])) for each in config(out)["training"]["stages"]] == [(1, 1)] * 3


def test_a_checkpoint_of_no_stage_is_not_overwritten(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "checkpoint").mkdir()
    assert run(tmp_path) == 1
    assert "would be overwritten, and no stage stands next to it" in capsys.readouterr().err


def test_people_s_judgements_are_asked_for_before_a_stage_is_trained(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "out", "stages.third.objective.people_pairs=0.2") == 1
    assert "prepare with data.people, or set objective.people_pairs=0" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
