"""The stages of a training, composed from presets and a command line; nothing is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from omegaconf import OmegaConf

from pronmetric.cli import stages
from pronmetric.errors import InputError, PronmetricError
from pronmetric.installation import folder
from pronmetric.training.settings import Stage, Train

GIVEN = ["data.dir=d", "out=o"]
BASE, READER = ["experiment=base", "encoder.name=n"], ["experiment=reader", "encoder.name=n"]
Composed = Callable[..., list[Stage]]


def composed(*overrides: str) -> list[Stage]:
    """The stages; keys of one stage are added, as the command line adds them."""
    lines = [*GIVEN, *overrides]
    added = [f"++{line}" if line.startswith("stages") else line for line in lines]
    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        config: Any = OmegaConf.to_container(hydra_compose("train", overrides=added), resolve=True)
        return stages.compose(Train.read(config), lines)


def test_a_base_model_comes_from_the_public_encoder_in_four_stages() -> None:
    found = composed(*BASE)
    assert [len(stage.runs) for stage in found] == [1, 1, 1, 1]
    assert [stage.name for stage in found] == ["detection", "fidelity", "people", "preference"]
    first, second, third, last = (stage.runs for stage in found)
    assert first[0].init is None and first[0].encoder.name == "n"  # type: ignore[union-attr]
    assert second[0].init == "o/detection/checkpoint" and third[0].init == "o/fidelity/checkpoint"
    assert third[0].objective.people > 0 and third[0].objective.fidelity.share > 0
    assert last[0].optim.frozen_head and last[0].init == "o/people/checkpoint" and last[0].objective.kind == "pairs"
    for stage in found:
        assert all(run.stages is None for run in stage.runs)
        steps = stage.runs[0].optim.decay_steps or stage.runs[0].trainer.max_steps
        assert steps == stage.runs[0].trainer.max_steps


def test_a_stage_of_three_seeds() -> None:
    runs = composed(*BASE, "stages.fidelity.seeds=3")[1].runs
    assert [(run.seed, run.out) for run in runs] == [(k, f"o/fidelity/{k}") for k in (1, 2, 3)]
    assert {run.init for run in runs} == {"o/detection/checkpoint"}


def test_a_reader_comes_from_the_public_encoder_in_two_stages() -> None:
    first, second = composed(*READER, "source.model=m")
    assert first.runs[0].source is not None and first.runs[0].source.people == 0 < first.runs[0].source.english
    options = second.runs[0].source
    assert options is not None and (options.people, options.deleted, options.model) == (0.45, 0.3, "m")
    assert (first.runs[0].init, second.runs[0].init) == (None, "o/sources/checkpoint/source")


@pytest.mark.parametrize("preset", [BASE, READER])
def test_an_override_holds_for_every_stage(preset: Sequence[str]) -> None:
    given = ["trainer.max_steps=1", "trainer=gpu", "seed=5", "data.pieces=64", "trainer.scale=2"]
    for stage in composed(*preset, *given):
        for number, run in enumerate(stage.runs):
            assert (run.trainer.max_steps, run.trainer.accelerator, run.data.pieces) == (1, "gpu", 64)
            assert run.seed == 5 + number and run.pieces == 128


def test_an_override_of_a_stage_holds_for_it_alone() -> None:
    given = ["stages.people.optim.lr=1e-6", "objective.people=0.25"]
    found = {stage.name: stage.runs for stage in composed(*BASE, *given)}
    assert [runs[0].optim.lr == 1e-6 for runs in found.values()] == [False, False, True, False]
    assert found["fidelity"][0].out == "o/fidelity"
    assert [runs[0].objective.people for runs in found.values()] == [0.25, 0.25, 0.25, 0.0]  # the last has no such key
    assert [stage.name for stage in composed(*BASE, "~stages.fidelity")] == ["detection", "people", "preference"]
    shares = composed(*BASE, "stages.people.objective.source_share.wmt=0.5")[2].runs[0].objective.source_share
    assert shares is not None and shares["wmt"] == 0.5 and len(shares) > 1


def test_a_recipe_without_stages_is_the_first_of_them() -> None:
    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        config: Any = hydra_compose("train", overrides=[*GIVEN, *BASE, "stages=null"])
        alone = Train.read(OmegaConf.to_container(config, resolve=True))  # type: ignore[arg-type]
    assert composed(*BASE)[0].runs[0] == alone.model_copy(update={"out": "o/detection"})


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (
            ["stages.poeple.optim.lr=1"],
            "unknown stage 'poeple': expected one of detection, fidelity, people, preference",
        ),
        (["stages.people.optim.rate=1"], "optim.rate"),
        (["stages.people.optim.lr=-1"], "optim.lr=-1"),
        (["stages.fidelity.seeds=0"], "stages.fidelity.seeds=0: expected a whole number of at least 1"),
        (["stages.preference.optim.lr=1e-4"], "stages.preference.optim.lr is not read with optim.frozen=true"),
        (["objective.soft_detection=0.5"], "objective.soft_detection is not read in any stage: without a teacher"),
    ],
)
def test_what_is_no_setting_of_a_stage_is_refused(overrides: Sequence[str], said: str) -> None:
    with pytest.raises(PronmetricError, match=said):
        composed(*BASE, *overrides)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["++stages={Checkpoint: {}}"], "stages.Checkpoint: expected the name of a folder"),
        (["++stages={checkpoint: {}}"], "stages.checkpoint: expected the name of a folder"),
        (["++stages={a: {}}", "trainer.devices=2"], "runs on one device"),
    ],
)
def test_stages_that_cannot_be_run_are_refused(overrides: Sequence[str], said: str) -> None:
    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        config: Any = OmegaConf.to_container(hydra_compose("train", overrides=[*GIVEN, *overrides]), resolve=True)
    with pytest.raises(InputError, match=said):
        Train.read(config)
