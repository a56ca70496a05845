"""The overrides of a Hydra verb's command line: parsed, composed, and split into the jobs of a sweep."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pronmetric.cli.hydra_config import tree
from pronmetric.cli.hydra_errors import group_choices, group_options, one_line, values
from pronmetric.errors import PronmetricError
from pronmetric.settings import Settings

if TYPE_CHECKING:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

S = TypeVar("S", bound=Settings)


class Composed(NamedTuple):
    """The composed configs.

    config: of the first job. overrides: as Hydra takes them. given: the keys that they name. jobs: the overrides of
    each job, by their keys. others: the first job's config with one value replaced by another one of the sweep, each.
    """

    config: DictConfig
    overrides: list[str]
    given: list[str]
    jobs: list[dict[str, str]]
    others: list[DictConfig]


def compose_jobs(verb: str, lines: Sequence[str], *, settings: type[Settings], multirun: bool) -> Composed:
    """Compose the config of the first job, and with each other value of a sweep.

    Raises:
        PronmetricError: an override that Hydra refuses, or that `settings` refuses.
    """
    from hydra import compose
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    with one_line(verb, []):
        overrides = [_add_if_free(override, parser, settings.FREE) for override in parser.parse_overrides(list(lines))]
    for override in overrides:
        _refuse(override, settings.REFUSED)
    groups = group_options()
    for override in overrides:
        _refuse_no_option(override, groups)
    with one_line(verb, overrides):
        swept = _sweep_overrides(verb, group_choices(overrides, groups), parser) if multirun else []
        by_key = {
            override.get_key_element(): values(override) if multirun else [str(override.input_line)]
            for override in [*swept, *overrides]
        }
        jobs = [dict(zip(by_key, job, strict=True)) for job in itertools.product(*by_key.values())]
        return Composed(
            config=compose(verb, overrides=list(jobs[0].values())),
            overrides=[str(override.input_line) for override in overrides],
            given=[o.key_or_group for o in overrides if o.key_or_group not in groups and not o.is_delete()],
            jobs=jobs,
            others=list(_others(verb, jobs)),
        )


def read_settings(settings: type[S], config: DictConfig, given: Sequence[str]) -> S:
    """The settings in a config; a key of `given` without effect is refused."""
    found = settings.read(tree(config, resolve=True))
    unread = dict(found.unread())
    for key in given:
        for prefix, why in unread.items():
            if key == prefix or key.startswith(f"{prefix}."):
                raise PronmetricError(f"{key} is not read {why}")
    return found


def _sweep_overrides(verb: str, chosen: Sequence[str], parser: OverridesParser) -> list[Override]:
    """The values of a sweep that the config itself names, in `hydra.sweeper.params`."""
    from hydra import compose

    params = compose(verb, overrides=list(chosen), return_hydra_config=True).hydra.sweeper.params
    return parser.parse_overrides([f"{key}={value}" for key, value in (params or {}).items()])


def _others(verb: str, jobs: Sequence[Mapping[str, str]]) -> Iterator[DictConfig]:
    from hydra import compose

    first = jobs[0]
    for key, line in dict.fromkeys(item for job in jobs for item in job.items()):
        if line != first[key]:
            yield compose(verb, overrides=list({**first, key: line}.values()))


def _add_if_free(override: Override, parser: OverridesParser, free: Sequence[str]) -> Override:
    """The override with `++` where its key is, or is in, a mapping that takes any key."""
    key, line = override.key_or_group, str(override.input_line)
    if override.is_delete() or not any(key == name or key.startswith(f"{name}.") for name in free):
        return override
    return parser.parse_overrides([f"++{line.lstrip('+')}"])[0]


def _refuse_no_option(override: Override, groups: Mapping[str, Sequence[str]]) -> None:
    """Refuse a number or null as the option of a group, on which Hydra fails."""
    key = override.key_or_group
    if (key not in groups and key != "hydra") or override.is_delete() or override.is_sweep_override():
        return
    if not isinstance(override.value(), str | list | dict):
        known = f"expected one of {', '.join(groups[key])}" if key in groups else "no option of this name"
        raise PronmetricError(f"{override.input_line}: {known}")


def _refuse(override: Override, refused: Mapping[str, str]) -> None:
    """Refuse a key that the settings refuse, and several values of `out`."""
    key = override.key_or_group
    if key in refused:
        raise PronmetricError(f"{key}: {refused[key]}")
    if key == "out" and override.is_sweep_override():
        raise PronmetricError("out= names one folder: with --multirun each job writes to OUT/0, OUT/1, ...")
