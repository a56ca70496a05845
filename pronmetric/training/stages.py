"""A training in stages, each of which begins with the weights of the one before; a finished stage is not run again.

A stage is one run, or several that differ in their seeds and whose weights are averaged. `out`/STAGE/checkpoint is its
checkpoint, and `out`/checkpoint a copy of the last one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files, locate
from pronmetric.errors import InputError
from pronmetric.training import average, run
from pronmetric.training.after.calibrate import recorded
from pronmetric.training.card import checkpoint as card
from pronmetric.training.card import recipe
from pronmetric.training.card.reader import INITIAL
from pronmetric.training.examples import people_text
from pronmetric.training.fit import EXPORT, LAST
from pronmetric.training.settings import Stage, Train
from pronmetric.training.source import reader as source_reader
from pronmetric.training.start import Result, checked_run


def train(
    stages: Sequence[Stage],
    settings: Train,
    *,
    required_sources: Collection[str],
    overrides: Sequence[str],
    note: Callable[[str], None],
) -> Result:
    """Run the stages and copy the last checkpoint to `out`/checkpoint.

    A killed run is resumed in the stage that was not finished.

    Args:
        stages: in their order; `init` of each but the first is the checkpoint of the one before.
        settings: those of the whole.
        required_sources: as for `pronmetric.training.run.train`, in each stage.
        overrides: of the command line, which the checkpoints' configs and cards record.
        note: takes a line on each stage.

    Raises:
        PronmetricError: as `pronmetric.training.run.train`; a stage that is there has other settings.
    """
    out = Path(settings.out)
    if (out / EXPORT).exists() and not any((out / stage.name).exists() for stage in stages):
        raise InputError("would be overwritten, and no stage stands next to it: give another out=", file=out / EXPORT)
    for stage in stages:
        for each in stage.runs:
            _check_data(each)
    recipe_of = Recipe(tuple(recipe.recorded(overrides)), settings.seed, [])
    for number, stage in enumerate(stages, start=1):
        folder, told = out / stage.name / EXPORT, f"stage {number} of {len(stages)}, {stage.name}"
        for each in stage.runs:
            if (Path(each.out) / f"{LAST}.ckpt").is_file():
                checked_run(each)
        if _is_finished(stage, folder):
            note(f"{told}: finished, {folder}")
        else:
            note(told)
            _run(stage, folder, recipe_of, last=number == len(stages), required_sources=required_sources, note=note)
        recipe_of.stages.append(_config(stage, folder)["training"][recipe.STAGES][-1])
    files.copy(folder, out / EXPORT)
    config = _config(stage, folder)
    return Result(out / EXPORT, files.hash_weights(folder), config["training"]["figures"], recorded(config))


class Recipe(NamedTuple):
    """What the checkpoints of stages record: the overrides and the seed of the command line, the finished stages."""

    overrides: tuple[str, ...]
    seed: int
    stages: list[dict[str, Any]]


def _check_data(settings: Train) -> None:
    """Refuse a folder without the texts that people judged before a stage before is trained."""
    objective, source = settings.objective, settings.source
    asked = [("source.people", source.people, "pronouns")] if source is not None else []
    if source is None:
        asked = [("objective.people", objective.people, "pronouns")]
        asked += [("objective.people_pairs", objective.people_pairs, "mended")]
    for setting, share, column in asked:
        if share:
            people_text.read(Path(settings.data.folder), setting=setting, column=column)


def _run(
    stage: Stage,
    folder: Path,
    recipe_of: Recipe,
    *,
    last: bool,
    required_sources: Collection[str],
    note: Callable[[str], None],
) -> None:
    """Train the runs of a stage, average them, and record the stage in its checkpoint, which marks it as finished."""
    folders = []
    for each in stage.runs:
        out = Path(each.out) / EXPORT
        folders.append(out)
        if out != folder and _is_finished(stage, out):
            continue
        run.train(each, required_sources=required_sources, overrides=recipe_of.overrides, note=note)
        if out != folder:
            _record(stage, out, recipe_of, last=last)
    if len(folders) > 1:
        shutil.rmtree(folder, ignore_errors=True)  # left by a killed process
        _average(folders, folder, stage.runs[0])
    _record(stage, folder, recipe_of, last=last)


def _average(made: Sequence[Path], folder: Path, settings: Train) -> None:
    """Average checkpoints of runs that differ in their seeds; settings: of the first of them."""
    data, half = [Path(each) for each in settings.data.folders], settings.half
    if settings.source is None:
        average.average(made, folder, data=data[0], half=half, seed=settings.seed)
    elif settings.source.model is None:
        average.average_scorers(made, folder, data=data, half=half)
    else:
        average.average_readers(made, folder, data=data[0], half=half)


def _record(stage: Stage, folder: Path, recipe_of: Recipe, *, last: bool) -> None:
    """Record in a checkpoint the command and all stages up to this one, and write its card."""
    config = _config(stage, folder)
    training = dict(config["training"])
    parts = training.get("average", [training])
    recipe_of_stage = {
        "name": stage.name,
        "overrides": list(stage.overrides),
        "seed": recipe_of.seed,  # of the command
        "seeds": [part["seed"] for part in parts],
        "steps": parts[0]["steps"],
        "seconds": sum(part["seconds"] for part in parts),
        "weights": files.hash_weights(_part(stage, folder)),
    }
    if recipe_of.stages:
        training.pop(INITIAL, None)  # the stage before
    training |= {
        "overrides": list(recipe_of.overrides),
        recipe.STAGES: [*recipe_of.stages, recipe_of_stage],
        **({} if last else {recipe.STAGE: stage.name}),
    }
    config = {**config, "training": training}
    files.write_config(_part(stage, folder), config)
    if _reads_source(stage):
        source_reader.write_card(_part(stage, folder), config)
    else:
        card.write(folder, data=Path(stage.runs[0].data.folder))


def _is_finished(stage: Stage, folder: Path) -> bool:
    """Whether the checkpoint of a stage is complete and recorded."""
    try:
        stages = _config(stage, folder)["training"].get(recipe.STAGES, [])
    except InputError:
        return False
    return bool(stages) and stages[-1]["name"] == stage.name


def _config(stage: Stage, folder: Path) -> Mapping[str, Any]:
    """The config of what a stage trained in a checkpoint."""
    return checkpoint_config.read(_part(stage, folder) / locate.CONFIG)


def _part(stage: Stage, folder: Path) -> Path:
    return folder / locate.READER if _reads_source(stage) else folder


def _reads_source(stage: Stage) -> bool:
    """Whether a stage trains a reader of sources, a part of the checkpoint."""
    source = stage.runs[0].source
    return source is not None and source.model is not None
