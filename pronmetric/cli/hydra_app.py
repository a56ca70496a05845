"""Entry point of the Hydra verbs: read the overrides, check them, compose the config, run the job.

Hydra composes, sweeps and reports what it cannot parse or compose. The checks here add the nearest right key to an
unknown one. Only the job writes, and only to its `out`.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from pronmetric.errors import PronmetricError
from pronmetric.settings import Settings

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

MODULE = "pronmetric.conf"
S = TypeVar("S", bound=Settings)

# A sweep writes multirun.yaml to `out` and gives each job a folder in it, named by its number unless the config sets
# `hydra.sweep.subdir`; a single run makes no folder.
_RIM = (
    "hydra.run.dir=.",
    "hydra.output_subdir=null",
    "hydra.sweep.dir=${out}",
    "hydra/job_logging=none",
    "hydra/hydra_logging=none",
)


def run(
    verb: str,
    argv: Sequence[str],
    job: Callable[[S], None],
    *,
    settings: type[S],
    description: str,
    before: Callable[[S, Sequence[Mapping[str, str]]], None] | None = None,
) -> int:
    """Run `job` on the settings of `VERB.yaml` with the overrides in `argv`; the exit code.

    With `--cfg job` the resolved config is printed and nothing runs. With `--multirun` the job runs once for each
    combination of the values that are separated by commas, here or in the config's `hydra.sweeper.params`, and its
    `out` is OUT/0, OUT/1, ...; `before` is called once before all of them, with the settings of the first and with
    the overrides of each by their keys.

    Raises:
        PronmetricError: an override that cannot be read, an unknown key or group option (with the nearest right one),
            a value that is missing, of the wrong type or out of range, a key that has no effect with the chosen
            options, or the first error of a job.
    """
    from hydra import initialize_config_module

    flags = parser(verb, description).parse_intermixed_args(argv)
    with initialize_config_module(MODULE, version_base="1.3", job_name=verb):
        if flags.help:
            print(parser(verb, description).format_help() + "\n" + _groups(verb))
            return 0
        checked = _check(verb, flags.overrides, settings=settings, multirun=flags.multirun)
        if flags.cfg:
            print(_yaml(checked.config), end="")
            return 0
        _refuse_missing(verb, checked.config)
        first = _read(settings, checked.config, checked.given)
        for config in _others(verb, checked.jobs):
            _read(settings, config, checked.given)
    if before is not None and flags.multirun:
        before(first, [{key: line.partition("=")[2] for key, line in each.items()} for each in checked.jobs])
    _run_hydra(verb, checked.overrides, job, settings=settings, multirun=flags.multirun)
    return 0


class _Checked(NamedTuple):
    """What was composed.

    config: of the first job. overrides: as Hydra takes them. given: the keys that they name. jobs: the overrides of
    each job, by their keys.
    """

    config: DictConfig
    overrides: list[str]
    given: list[str]
    jobs: list[dict[str, str]]


def named_below(key: str) -> frozenset[str]:
    """The names that the running job's command line sets in the mapping `key`, as KEY={NAME: ...} or KEY.NAME=..."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.core.override_parser.overrides_parser import OverridesParser

    names: set[str] = set()
    for override in OverridesParser.create().parse_overrides(list(HydraConfig.get().overrides.task)):
        value = None if override.is_delete() else override.value()
        if override.key_or_group == key and isinstance(value, dict):
            names |= {str(name) for name in value}
        elif override.key_or_group.startswith(f"{key}.") and not override.is_delete():
            names.add(override.key_or_group.removeprefix(f"{key}."))
    return frozenset(names)


def _read(settings: type[S], config: DictConfig, given: Sequence[str]) -> S:
    """The settings in a config; a key of `given` without effect is refused."""
    found = settings.read(_resolved(config))
    unread = dict(found.unread())
    for key in given:
        for prefix, why in unread.items():
            if key == prefix or key.startswith(f"{prefix}."):
                raise PronmetricError(f"{key} is not read {why}")
    return found


def _others(verb: str, jobs: Sequence[Mapping[str, str]]) -> Iterator[DictConfig]:
    """The first job's config with one value replaced by another one of the sweep, for each of them."""
    from hydra import compose

    first = jobs[0]
    for key, line in dict.fromkeys(item for job in jobs for item in job.items()):
        if line != first[key]:
            yield compose(verb, overrides=list({**first, key: line}.values()))


def parser(verb: str, description: str) -> argparse.ArgumentParser:
    """The flags of a Hydra verb."""
    parser = argparse.ArgumentParser(
        prog=f"pronmetric {verb}",
        usage=f"pronmetric {verb} [--cfg job] [--multirun] [KEY=VALUE ...]",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this text and the groups, and stop")
    parser.add_argument("--cfg", choices=["job"], help="print the resolved config and stop")
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="run once for each combination of KEY=A,B values, into OUT/0, ..."
    )
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="Hydra overrides of the config")
    return parser


def _run_hydra(
    verb: str, overrides: Sequence[str], job: Callable[[S], None], *, settings: type[S], multirun: bool
) -> None:
    import hydra

    faults: list[Exception] = []
    command, here = sys.argv, os.getpid()

    def task(config: DictConfig) -> None:
        from hydra.core.hydra_config import HydraConfig

        if multirun:
            config.out = HydraConfig.get().runtime.output_dir
        try:
            with _arguments(command):  # Lightning starts its further processes with this command line
                job(settings.read(_resolved(config)))
        except (PronmetricError, OSError) as fault:  # Hydra would print a traceback
            if os.getpid() != here:  # a launcher's process, which Hydra reports
                raise
            faults.append(fault)

    with _arguments([command[0], *(["--multirun"] if multirun else []), *_RIM, *overrides]):
        hydra.main(config_path=f"pkg://{MODULE}", config_name=verb, version_base="1.3")(task)()
    if faults:
        raise faults[0]


@contextmanager
def _arguments(argv: Sequence[str]) -> Iterator[None]:
    """Set `sys.argv` to `argv` for a while: Hydra reads its arguments only from there."""
    before, sys.argv = sys.argv, list(argv)
    try:
        yield
    finally:
        sys.argv = before


def _check(verb: str, lines: Sequence[str], *, settings: type[Settings], multirun: bool) -> _Checked:
    """Compose the config (of the first job of a sweep); an unknown key or option gets the nearest right one."""
    from hydra import compose
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    loader = GlobalHydra.instance().config_loader()
    parser = OverridesParser.create(config_loader=loader)
    groups = {group: loader.get_group_options(group) for group in _group_names(loader)}
    try:
        overrides = [_add_if_free(override, parser, settings.FREE) for override in parser.parse_overrides(list(lines))]
        for override in overrides:
            _refuse_override(override, settings.REFUSED, groups)
        chosen = [_values(override)[0] for override in overrides if override.key_or_group in groups]
        composed = compose(verb, overrides=chosen, return_hydra_config=True)
        _refuse_unknown_keys(verb, overrides, composed, groups, chosen)
        params = composed.hydra.sweeper.params if multirun else None
        swept = parser.parse_overrides([f"{key}={value}" for key, value in (params or {}).items()])
        values = {
            override.get_key_element(): _values(override) if multirun else [str(override.input_line)]
            for override in [*swept, *overrides]
        }
        jobs = [dict(zip(values, job, strict=True)) for job in itertools.product(*values.values())]
        return _Checked(
            config=compose(verb, overrides=list(jobs[0].values())),
            overrides=[str(override.input_line) for override in overrides],
            given=[o.key_or_group for o in overrides if o.key_or_group not in groups and not o.is_delete()],
            jobs=jobs,
        )
    except (HydraException, OmegaConfBaseException) as error:
        raise PronmetricError(_line(error)) from None


def _refuse_override(override: Override, refused: Mapping[str, str], groups: Mapping[str, Sequence[str]]) -> None:
    """Refuse a key that the settings refuse, several values of `out`, and an unknown option of a group."""
    key = override.key_or_group
    if key in refused:
        raise PronmetricError(f"{key}: {refused[key]}")
    if key == "out" and override.is_sweep_override():
        raise PronmetricError("out= names one folder: with --multirun each job writes to OUT/0, OUT/1, ...")
    if key in groups:
        _refuse_unknown_option(override, groups[key])


def _refuse_unknown_keys(
    verb: str,
    overrides: Sequence[Override],
    composed: DictConfig,
    groups: Mapping[str, Sequence[str]],
    chosen: Sequence[str],
) -> None:
    """Refuse a key that the config does not have, with the nearest one; added keys are left to the settings."""
    keys = [*(key for key in _keys(_tree(composed)) if key.split(".")[0] != "hydra"), *groups]
    for override in overrides:
        key = override.key_or_group
        if override.is_add() or override.is_force_add() or key.split(".")[0] == "hydra" or key.startswith("hydra/"):
            continue
        if key not in keys:
            _refuse_of_another_option(verb, key, groups, chosen)
            raise PronmetricError(
                f"unknown key {key!r}; did you mean {_nearest(key, keys)!r}? "
                f"(pronmetric {verb} --cfg job prints all of them)"
            )


def _add_if_free(override: Override, parser: OverridesParser, free: Sequence[str]) -> Override:
    """The override with `++` where its key is, or is in, a mapping that takes any key."""
    key, line = override.key_or_group, str(override.input_line)
    if override.is_delete() or not any(key == name or key.startswith(f"{name}.") for name in free):
        return override
    return parser.parse_overrides([f"++{line.lstrip('+')}"])[0]


def _refuse_of_another_option(verb: str, key: str, groups: Mapping[str, Sequence[str]], chosen: Sequence[str]) -> None:
    """Refuse a key that only another option of its group has."""
    from hydra import compose

    group = key.split(".")[0]
    having = [
        option
        for option in groups.get(group, ())
        if key in _keys(_tree(compose(verb, overrides=[*chosen, f"{group}={option}"])))
    ]
    if having:
        mine = compose(verb, overrides=list(chosen), return_hydra_config=True).hydra.runtime.choices[group]
        raise PronmetricError(f"{key} is not read with {group}={mine}; it belongs to {group}={' or '.join(having)}")


def _refuse_unknown_option(override: Override, options: Sequence[str]) -> None:
    if override.is_delete():
        return
    values = override.sweep_iterator() if override.is_sweep_override() else [override.value()]
    for value in values:
        for option in value if isinstance(value, list) else [value]:
            if option is not None and str(option) not in options:
                group = override.key_or_group
                raise PronmetricError(
                    f"unknown option {group}={option}; did you mean {group}={_nearest(str(option), options)}? "
                    f"(there are: {', '.join(options)})"
                )


def _refuse_missing(verb: str, config: DictConfig) -> None:
    from omegaconf import OmegaConf

    _refuse_unresolved(config)
    missing = sorted(OmegaConf.missing_keys(config))
    if missing:
        raise PronmetricError(f"pronmetric {verb} needs {' and '.join(f'{key}=...' for key in missing)}")


def _values(override: Override) -> list[str]:
    """The override as the jobs of a sweep see it, once for each of its values."""
    if override.is_sweep_override() and override.is_discrete_sweep():
        return [f"{override.get_key_element()}={value}" for value in override.sweep_string_iterator()]
    assert override.input_line is not None
    return [override.input_line]


def _group_names(loader: ConfigLoader, parent: str = "") -> Iterator[str]:
    from hydra.core.object_type import ObjectType

    for name in loader.get_group_options(parent, ObjectType.GROUP):
        group = f"{parent}/{name}" if parent else name
        if not name.startswith("_") and group != "hydra":
            yield group
            yield from _group_names(loader, group)


def _groups(verb: str) -> str:
    """The groups of the config and their options, one line each."""
    from hydra import compose
    from hydra.core.global_hydra import GlobalHydra

    loader = GlobalHydra.instance().config_loader()
    chosen = compose(verb, return_hydra_config=True).hydra.runtime.choices
    lines = [
        f"  {group}={{{','.join(loader.get_group_options(group))}}}"
        for group in _group_names(loader)
        if group in chosen
    ]
    return "groups:\n" + "\n".join(lines) + f"\n\npronmetric {verb} --cfg job prints every key and its value."


def _tree(config: DictConfig) -> Mapping[str, object]:
    from omegaconf import OmegaConf

    return cast("Mapping[str, object]", OmegaConf.to_container(config))


def _resolved(config: DictConfig) -> Mapping[str, object]:
    from omegaconf import OmegaConf

    return cast("Mapping[str, object]", OmegaConf.to_container(config, resolve=True))


def _refuse_unresolved(config: DictConfig) -> None:
    """Refuse an interpolation of an unknown key; one of a missing value is allowed."""
    from omegaconf import OmegaConf
    from omegaconf.errors import InterpolationToMissingValueError, OmegaConfBaseException

    try:
        OmegaConf.to_container(config, resolve=True)
    except InterpolationToMissingValueError:
        return
    except OmegaConfBaseException as error:
        raise PronmetricError(f"{error.full_key}: cannot be resolved ({str(error).splitlines()[0]})") from None


def _keys(tree: Mapping[str, object], parent: str = "") -> Iterator[str]:
    for name, value in tree.items():
        yield f"{parent}{name}"
        if isinstance(value, Mapping):
            yield from _keys(value, f"{parent}{name}.")


def _nearest(word: str, words: Iterable[str]) -> str:
    """The one of `words` most like `word`, as a whole or by its last part."""

    def likeness(other: str) -> float:
        whole = difflib.SequenceMatcher(None, word, other).ratio()
        last = difflib.SequenceMatcher(None, word.split(".")[-1], other.split(".")[-1]).ratio()
        return max(whole, 0.95 * last) + 0.01 * whole

    return max(words, key=likeness)


def _yaml(config: DictConfig) -> str:
    from omegaconf import OmegaConf
    from omegaconf.errors import InterpolationToMissingValueError

    _refuse_unresolved(config)
    try:
        return OmegaConf.to_yaml(config, resolve=True)
    except InterpolationToMissingValueError:  # out= and the like are not given yet
        return OmegaConf.to_yaml(config)


def _line(error: Exception) -> str:
    text = f"{error} {error.__cause__ or ''}"
    return " ".join(text.split("See https://")[0].split())
