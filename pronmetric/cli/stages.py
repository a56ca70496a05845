"""The stages of `pronmetric train`: each is composed as a run of its own, with what the command line gives for all."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pronmetric.checkpoint import locate
from pronmetric.cli.hydra import Configs
from pronmetric.errors import PronmetricError
from pronmetric.training.card.recipe import flat, override_value
from pronmetric.training.settings import CHECKPOINT, Stage, Train

SEEDS = "seeds"  # the key of a stage that is no setting of a run: how many runs are averaged


def compose(settings: Train, overrides: Sequence[str]) -> list[Stage]:
    """The stages of a run, in their order; each but the first begins with the checkpoint of the one before.

    Args:
        settings: of the run, with its `stages`; names of checkpoints are folders.
        overrides: of its command line. One that is for no stage alone holds for each stage that has such a key.

    Raises:
        PronmetricError: a key or a value of a stage that is none, one without effect there, or an override without
            effect in any stage.
    """
    assert settings.stages is not None
    configs = Configs("train", "train")
    parsed = [(line, line.lstrip("+~").partition("=")[0]) for line in overrides]
    given = [(line, key) for line, key in parsed if key.partition(".")[0] not in ("stages", "out", "init")]
    _refuse_unknown(configs, parsed)
    stages: list[Stage] = []
    unread = list[Mapping[str, str]]()
    init, reader = settings.init, settings.source is not None and settings.source.model is not None
    for name, values in settings.stages.items():
        own = dict(flat({key: value for key, value in values.items() if key != SEEDS}))
        config = configs.of_stage(own, [line for line, _ in given], settings=Train)
        out = str(Path(settings.out) / name)
        config.out, config.init, config.stages, config.teacher = out, init, None, settings.teacher
        if reader:
            config.source.model = settings.source.model if settings.source is not None else None
        one = Train.read(_plain(config))
        unread.append(dict(one.unread()))
        for key in own:
            if (why := _why_unread(unread[-1], key)) is not None:
                raise PronmetricError(f"stages.{name}.{key} is not read {why}")
        lines = tuple(f"{key}={override_value(value)}" for key, value in flat(values))
        stages.append(Stage(name, _runs(one, name, values.get(SEEDS, 1)), lines))
        init = str(Path(out) / CHECKPOINT / (locate.READER if reader else ""))
    for line, key in given:
        reasons = [_why_unread(each, key) for each in unread]
        if all(reasons):
            raise PronmetricError(f"{shlex.quote(line)}: {key} is not read in any stage: {reasons[0]}")
    return stages


def _refuse_unknown(configs: Configs, overrides: Sequence[tuple[str, str]]) -> None:
    """Refuse an override, given with its key, for a stage that neither the preset nor `stages={...}` has."""
    lines = [line for line, key in overrides if not key.startswith("stages.")]
    preset = _plain(configs.of_stage({}, lines, settings=Train)).get("stages") or {}
    for _, key in overrides:
        group, _, rest = key.partition(".")
        name = rest.partition(".")[0]
        if group == "stages" and name and name not in preset:
            expected = f"expected one of {', '.join(preset)}" if preset else "there are none (experiment=base has some)"
            raise PronmetricError(f"{key}: unknown stage {name!r}: {expected}")


def _runs(settings: Train, name: str, seeds: object) -> tuple[Train, ...]:
    """The runs of a stage, one for each seed."""
    if not isinstance(seeds, int) or seeds < 1:
        raise PronmetricError(f"stages.{name}.{SEEDS}={seeds}: expected a whole number of at least 1")
    if seeds == 1:
        return (settings,)
    numbers = range(settings.seed, settings.seed + seeds)
    return tuple(
        settings.model_copy(update={"seed": number, "out": str(Path(settings.out) / str(number))}) for number in numbers
    )


def _why_unread(unread: Mapping[str, str], key: str) -> str | None:
    return next((why for prefix, why in unread.items() if key == prefix or key.startswith(f"{prefix}.")), None)


def _plain(config: Any) -> Mapping[str, Any]:
    from omegaconf import OmegaConf

    return cast("Mapping[str, Any]", OmegaConf.to_container(config, resolve=True))
