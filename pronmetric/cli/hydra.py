"""The Hydra verbs: read the overrides, compose the config, run the job.

Hydra parses and composes, runs sweeps and reports errors. The nearest valid key is added to an unknown one.
Only the job writes, and only to its `out`.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

from pronmetric.errors import PronmetricError, is_out_of_memory
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
_OUTPUTS = (
    "hydra.run.dir=.",
    "hydra.output_subdir=null",
    "hydra.sweep.dir=${out}",
    "hydra/job_logging=none",
    "hydra/hydra_logging=none",
)


def run_verb(
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

    args = hydra_parser(verb, description).parse_intermixed_args(argv)
    with initialize_config_module(MODULE, version_base="1.3", job_name=config_name(verb)):
        if args.help:
            print(hydra_parser(verb, description).format_help() + "\n" + _groups(verb))
            return 0
        composed = compose_jobs(verb, args.overrides, settings=settings, multirun=args.multirun)
        if args.cfg:
            print(to_yaml(composed.config), end="")
            return 0
        refuse_missing(verb, composed.config)
        first, *_ = [read_settings(settings, each, composed.given) for each in (composed.config, *composed.others)]
    if before is not None and args.multirun:
        before(first, [{key: line.partition("=")[2] for key, line in each.items()} for each in composed.jobs])
    run_job(verb, MODULE, composed.overrides, job, settings=settings, multirun=args.multirun)
    return 0


def config_name(verb: str) -> str:
    """The name of a verb's config; a command of a group has that of its group ("nmt train": "nmt")."""
    return verb.partition(" ")[0]


def hydra_parser(verb: str, description: str) -> argparse.ArgumentParser:
    """The flags of a Hydra verb."""
    parser = argparse.ArgumentParser(
        prog=f"pronmetric {verb}",
        usage=f"pronmetric {verb} [--cfg job] [--multirun] [KEY=VALUE ...]",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this text and the groups, and exit")
    parser.add_argument("--cfg", choices=["job"], help="print the resolved config and exit")
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="run once for each combination of KEY=A,B values, into OUT/0, ..."
    )
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="Hydra overrides of the config")
    return parser


@dataclass(frozen=True)
class HydraCommand(Generic[S]):
    """A Hydra verb, or a command of a group ("nmt train"), whose flags the group shows.

    before: see `run_verb`. help: its line in the group.
    """

    name: str
    job: Callable[[S], None]
    settings: type[S]
    description: str
    help: str | None = None
    before: Callable[[S, Sequence[Mapping[str, str]]], None] | None = None

    def parser(self) -> argparse.ArgumentParser:
        """The flags of the verb."""
        return hydra_parser(self.name, self.description)

    def main(self, argv: Sequence[str]) -> int:
        """Run the verb; the exit code."""
        return run_verb(
            self.name, argv, self.job, settings=self.settings, description=self.description, before=self.before
        )

    def add_to(self, commands: argparse._SubParsersAction) -> None:
        """Add the command to its group."""
        commands.add_parser(
            self.name.rpartition(" ")[2], help=self.help, parents=[self.parser()], add_help=False, allow_abbrev=False
        )


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


def given_overrides() -> tuple[str, ...]:
    """The overrides on the running job's command line, in a sweep those of the job."""
    from hydra.core.hydra_config import HydraConfig

    return tuple(HydraConfig.get().overrides.task)


def _groups(verb: str) -> str:
    """The groups of the config and their options, one line each."""
    from hydra import compose

    chosen = compose(config_name(verb), return_hydra_config=True).hydra.runtime.choices
    lines = [f"  {group}={{{','.join(options)}}}" for group, options in group_options().items() if group in chosen]
    return "groups:\n" + "\n".join(lines) + f"\n\npronmetric {verb} --cfg job prints every key and its value."


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
            config=compose(config_name(verb), overrides=list(jobs[0].values())),
            overrides=[str(override.input_line) for override in overrides],
            given=[o.key_or_group for o in overrides if o.key_or_group not in groups and not o.is_delete()],
            jobs=jobs,
            others=list(_others(verb, jobs)),
        )


def read_settings(settings: type[S], config: DictConfig, given: Sequence[str]) -> S:
    """The settings in a config; a key of `given` without effect is refused."""
    values = settings.read(tree(config, resolve=True))
    unread = dict(values.unread())
    for key in given:
        for prefix, why in unread.items():
            if key == prefix or key.startswith(f"{prefix}."):
                raise PronmetricError(f"{key} is not read {why}")
    return values


def _sweep_overrides(verb: str, chosen: Sequence[str], parser: OverridesParser) -> list[Override]:
    """The values of a sweep that the config itself names, in `hydra.sweeper.params`."""
    from hydra import compose

    params = compose(config_name(verb), overrides=list(chosen), return_hydra_config=True).hydra.sweeper.params
    return parser.parse_overrides([f"{key}={value}" for key, value in (params or {}).items()])


def _others(verb: str, jobs: Sequence[Mapping[str, str]]) -> Iterator[DictConfig]:
    from hydra import compose

    first = jobs[0]
    for key, line in dict.fromkeys(item for job in jobs for item in job.items()):
        if line != first[key]:
            yield compose(config_name(verb), overrides=list({**first, key: line}.values()))


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


def tree(config: DictConfig, *, resolve: bool = False) -> Mapping[str, object]:
    """The config as plain values; interpolations are kept unless `resolve`."""
    from omegaconf import OmegaConf

    return cast("Mapping[str, object]", OmegaConf.to_container(config, resolve=resolve))


def keys(values: Mapping[str, object], parent: str = "") -> Iterator[str]:
    """The dotted keys of a tree."""
    for name, value in values.items():
        yield f"{parent}{name}"
        if isinstance(value, Mapping):
            yield from keys(value, f"{parent}{name}.")


def to_yaml(config: DictConfig) -> str:
    """The config as YAML; interpolations of missing values stay unresolved."""
    from omegaconf import OmegaConf
    from omegaconf.errors import InterpolationToMissingValueError

    refuse_unresolved(config)
    try:
        return OmegaConf.to_yaml(config, resolve=True)
    except InterpolationToMissingValueError:  # out= and other required values may be missing
        return OmegaConf.to_yaml(config)


def refuse_missing(verb: str, config: DictConfig) -> None:
    """Refuse a config without a required value."""
    from omegaconf import OmegaConf

    refuse_unresolved(config)
    missing = sorted(OmegaConf.missing_keys(config))
    if missing:
        raise PronmetricError(f"pronmetric {verb} needs {' and '.join(f'{key}=...' for key in missing)}")


def refuse_unresolved(config: DictConfig) -> None:
    """Refuse an interpolation of an unknown key; one of a missing value is allowed."""
    from omegaconf.errors import InterpolationToMissingValueError, OmegaConfBaseException

    try:
        tree(config, resolve=True)
    except InterpolationToMissingValueError:
        return
    except OmegaConfBaseException as error:
        raise PronmetricError(f"{error.full_key}: cannot be resolved ({str(error).splitlines()[0]})") from None


@contextmanager
def one_line(verb: str, overrides: Sequence[Override]) -> Iterator[None]:
    """Raise Hydra's errors as a PronmetricError of one line; `overrides` are those of the command line."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        text = f"{error} {error.__cause__ or ''}"
        line = " ".join(text.split("See https://")[0].split())
        try:
            said = _unknown_message(verb, overrides)
        except (HydraException, OmegaConfBaseException):  # the choice of options is itself the error
            said = None
        raise PronmetricError(said or line) from None


def group_options() -> dict[str, list[str]]:
    """The groups of the config and their options."""
    from hydra.core.global_hydra import GlobalHydra

    loader = GlobalHydra.instance().config_loader()
    return {group: loader.get_group_options(group) for group in _group_names(loader)}


def group_choices(overrides: Sequence[Override], groups: Iterable[str]) -> list[str]:
    """The overrides that choose an option of a group, the first one of a sweep."""
    return [values(override)[0] for override in overrides if override.key_or_group in groups]


def values(override: Override) -> list[str]:
    """The override as the jobs of a sweep see it, once for each of its values."""
    if override.is_sweep_override() and override.is_discrete_sweep():
        return [f"{override.get_key_element()}={value}" for value in override.sweep_string_iterator()]
    assert override.input_line is not None
    return [override.input_line]


def _unknown_message(verb: str, overrides: Sequence[Override]) -> str | None:
    """The message for the first unknown option or key; None if there is none."""
    from hydra import compose

    groups = group_options()
    options = (_unknown_option(o, groups[o.key_or_group]) for o in overrides if o.key_or_group in groups)
    said = next((line for line in options if line is not None), None)
    if said is not None:
        return said
    chosen = group_choices(overrides, groups)
    composed = compose(config_name(verb), overrides=chosen, return_hydra_config=True)
    known = [*(key for key in keys(tree(composed)) if key.split(".")[0] != "hydra"), *groups]
    for override in overrides:
        key = override.key_or_group
        if override.is_add() or override.is_force_add() or key.split(".")[0] == "hydra" or key.startswith("hydra/"):
            continue
        if key not in known:
            return _of_another_option(verb, key, groups, chosen) or (
                f"unknown key {key!r}; did you mean {_nearest(key, known)!r}? "
                f"(pronmetric {verb} --cfg job prints all of them)"
            )
    return None


def _unknown_option(override: Override, options: Sequence[str]) -> str | None:
    if override.is_delete():
        return None
    for value in override.sweep_iterator() if override.is_sweep_override() else [override.value()]:
        for option in value if isinstance(value, list) else [value]:
            if option is not None and str(option) not in options:
                group = override.key_or_group
                return (
                    f"unknown option {group}={option}; did you mean {group}={_nearest(str(option), options)}? "
                    f"(there are: {', '.join(options)})"
                )
    return None


def _of_another_option(verb: str, key: str, groups: Mapping[str, Sequence[str]], chosen: Sequence[str]) -> str | None:
    """The message for a key that only another option of its group has."""
    from hydra import compose

    group = key.split(".")[0]
    having = [
        option
        for option in groups.get(group, ())
        if key in keys(tree(compose(config_name(verb), overrides=[*chosen, f"{group}={option}"])))
    ]
    if not having:
        return None
    mine = compose(config_name(verb), overrides=list(chosen), return_hydra_config=True).hydra.runtime.choices[group]
    return f"{key} is not read with {group}={mine}; it belongs to {group}={' or '.join(having)}"


def _group_names(loader: ConfigLoader, parent: str = "") -> Iterator[str]:
    from hydra.core.object_type import ObjectType

    for name in loader.get_group_options(parent, ObjectType.GROUP):
        group = f"{parent}/{name}" if parent else name
        if not name.startswith("_") and group != "hydra":
            yield group
            yield from _group_names(loader, group)


def _nearest(word: str, words: Iterable[str]) -> str:
    """The most similar of `words`, compared as a whole or by its last part."""

    def likeness(other: str) -> float:
        whole = difflib.SequenceMatcher(None, word, other).ratio()
        last = difflib.SequenceMatcher(None, word.split(".")[-1], other.split(".")[-1]).ratio()
        # chosen by hand: the last part alone is nearly as good; of two equal last parts the whole key decides
        return max(whole, 0.95 * last) + 0.01 * whole

    return max(words, key=likeness)


def run_job(
    verb: str, module: str, overrides: Sequence[str], job: Callable[[S], None], *, settings: type[S], multirun: bool
) -> None:
    """Run `job` on the settings of `VERB.yaml` in the package `module` with `overrides`.

    Raises:
        PronmetricError, OSError, MemoryError, RuntimeError (out of memory): the first error of a job.
    """
    import hydra

    faults: list[Exception] = []
    command, here = sys.argv, os.getpid()

    def task(config: DictConfig) -> None:
        from hydra.core.hydra_config import HydraConfig

        if multirun:
            config.out = HydraConfig.get().runtime.output_dir
        try:
            with _arguments(command):  # Lightning starts its further processes with this command line
                job(settings.read(tree(config, resolve=True)))
        except (PronmetricError, OSError, MemoryError, RuntimeError) as fault:  # Hydra would print a traceback
            expected = isinstance(fault, PronmetricError | OSError) or is_out_of_memory(fault)
            if not expected or os.getpid() != here:  # a launcher's process, which Hydra reports
                raise
            if isinstance(fault, OSError) and fault.filename is None and fault.errno:  # Arrow's, of a full disk
                fault.filename = config.out
            faults.append(fault)

    with _arguments([command[0], *(["--multirun"] if multirun else []), *_OUTPUTS, *overrides]):
        hydra.main(config_path=f"pkg://{module}", config_name=config_name(verb), version_base="1.3")(task)()
    if faults:
        raise faults[0]


@contextmanager
def _arguments(argv: Sequence[str]) -> Iterator[None]:
    """Set `sys.argv` to `argv` temporarily: Hydra reads its arguments only from there."""
    before, sys.argv = sys.argv, list(argv)
    try:
        yield
    finally:
        sys.argv = before
