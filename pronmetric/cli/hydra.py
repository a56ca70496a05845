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

from pronmetric import installation
from pronmetric.errors import PronmetricError, is_out_of_memory
from pronmetric.settings import Settings, removed
from pronmetric.training.card.recipe import flat, override_value

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

CONF = str(installation.folder("conf"))
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


@dataclass(frozen=True)
class HydraCommand(Generic[S]):
    """A Hydra verb, or a command of a group ("nmt train"), whose flags the group shows.

    It runs `job` on the settings of NAME.yaml with the overrides of the command line; the config of a command is that
    of its group. With `--cfg job` the resolved config is printed and nothing runs. With `--multirun` the job runs once
    for each combination of the values that are separated by commas, there or in the config's `hydra.sweeper.params`,
    and its `out` is OUT/0, OUT/1, ...

    help: its line in the group. before: called once before a sweep, with the settings of the first job and with the
    overrides of each by their keys.
    """

    name: str
    job: Callable[[S], None]
    settings: type[S]
    description: str
    help: str | None = None
    before: Callable[[S, Sequence[Mapping[str, str]]], None] | None = None

    def parser(self) -> argparse.ArgumentParser:
        """The flags of the verb."""
        parser = argparse.ArgumentParser(
            prog=f"pronmetric {self.name}",
            usage=f"pronmetric {self.name} [--cfg job] [--multirun] [KEY=VALUE ...]",
            description=self.description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            add_help=False,
        )
        parser.add_argument("-h", "--help", action="store_true", help="show this text and the groups, and exit")
        parser.add_argument("--cfg", choices=["job"], help="print the resolved config and exit")
        parser.add_argument(
            "-m",
            "--multirun",
            action="store_true",
            help="run once for each combination of KEY=A,B values, into OUT/0, ...",
        )
        parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="Hydra overrides of the config")
        return parser

    def add_to(self, commands: argparse._SubParsersAction) -> None:
        """Add the command to its group."""
        commands.add_parser(
            self.name.rpartition(" ")[2], help=self.help, parents=[self.parser()], add_help=False, allow_abbrev=False
        )

    def main(self, argv: Sequence[str]) -> int:
        """Run the verb; the exit code.

        Raises:
            PronmetricError: an override that cannot be read, an unknown key or group option (with the nearest right
                one), a value that is missing, of the wrong type or out of range, a key that has no effect with the
                chosen options, or the first error of a job.
            OSError, MemoryError, RuntimeError (out of memory): the first error of a job.
        """
        from hydra import initialize_config_dir
        from omegaconf import OmegaConf

        parser = self.parser()
        args = parser.parse_intermixed_args(argv)
        config_name = self.name.partition(" ")[0]
        with initialize_config_dir(CONF, version_base="1.3", job_name=config_name):
            configs = Configs(self.name, config_name)
            if args.help:
                print(f"{parser.format_help()}\n{configs.describe_groups()}")
                return 0
            composed = configs.of_jobs(args.overrides, settings=self.settings, multirun=args.multirun)
            config = composed.configs[0]
            resolves = _resolves(config)
            if args.cfg:
                print(OmegaConf.to_yaml(config, resolve=resolves), end="")
                return 0
            if missing := sorted(OmegaConf.missing_keys(config)):
                raise PronmetricError(f"pronmetric {self.name} needs {' and '.join(f'{key}=...' for key in missing)}")
            first, *_ = [_read_settings(self.settings, each, composed.given) for each in composed.configs]
        if self.before is not None and args.multirun:
            self.before(first, [{key: line.partition("=")[2] for key, line in job.items()} for job in composed.jobs])
        self._launch(config_name, composed.overrides, multirun=args.multirun)
        return 0

    def _launch(self, config_name: str, overrides: Sequence[str], *, multirun: bool) -> None:
        """Let Hydra run the job or the jobs of a sweep; raise the first error of one."""
        import hydra

        faults: list[Exception] = []
        command, here = sys.argv, os.getpid()

        def task(config: DictConfig) -> None:
            from hydra.core.hydra_config import HydraConfig

            if multirun:
                config.out = HydraConfig.get().runtime.output_dir
            try:
                with _arguments(command):  # Lightning starts its further processes with this command line
                    self.job(self.settings.read(_tree(config, resolve=True)))
            except (PronmetricError, OSError, MemoryError, RuntimeError) as fault:  # Hydra would print a traceback
                expected = isinstance(fault, PronmetricError | OSError) or is_out_of_memory(fault)
                if not expected or os.getpid() != here:  # a launcher's process, which Hydra reports
                    raise
                if isinstance(fault, OSError) and fault.filename is None and fault.errno:  # Arrow's, of a full disk
                    fault.filename = config.out
                faults.append(fault)

        with _arguments([command[0], *(["--multirun"] if multirun else []), *_OUTPUTS, *overrides]):
            hydra.main(config_path=CONF, config_name=config_name, version_base="1.3")(task)()
        if faults:
            raise faults[0]


def named_below(key: str) -> frozenset[str]:
    """The names that the running job's command line sets in the mapping `key`, as KEY={NAME: ...} or KEY.NAME=..."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    names: set[str] = set()
    for override in OverridesParser.create().parse_overrides(list(given_overrides())):
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


class _Composed(NamedTuple):
    """What is composed for the jobs of a command line.

    configs: of the first job; then the same with one value replaced by another one of the sweep, each. overrides: as
    Hydra takes them. given: the keys that they name. jobs: the overrides of each job, by their keys.
    """

    configs: list[DictConfig]
    overrides: list[str]
    given: list[str]
    jobs: list[dict[str, str]]


class Configs:
    """The configs of a verb, composed while Hydra is initialized.

    groups: the groups of the config package and their options.
    """

    def __init__(self, verb: str, name: str) -> None:
        from hydra.core.global_hydra import GlobalHydra
        from hydra.core.override_parser.overrides_parser import OverridesParser

        loader = GlobalHydra.instance().config_loader()
        self.groups = {group: loader.get_group_options(group) for group in _group_names(loader)}
        self._verb, self._name = verb, name
        self._parse = OverridesParser.create(config_loader=loader).parse_overrides

    def describe_groups(self) -> str:
        """The groups of the config and their options, one line each."""
        chosen = self._compose(hydra=True).hydra.runtime.choices
        lines = [f"  {group}={{{','.join(options)}}}" for group, options in self.groups.items() if group in chosen]
        return "groups:\n" + "\n".join(lines) + f"\n\npronmetric {self._verb} --cfg job prints every key and its value."

    def of_jobs(self, lines: Sequence[str], *, settings: type[Settings], multirun: bool) -> _Composed:
        """Compose the config of the first job, and with each other value of a sweep.

        Raises:
            PronmetricError: an override that Hydra refuses, or that `settings` refuses.
        """
        with self._one_line([]):
            overrides = [self._add_if_free(override, settings.FREE) for override in self._parse(list(lines))]
        for override in overrides:
            self._refuse(override, settings.REFUSED)
        for override in overrides:
            self._refuse_no_option(override)
        with self._one_line(overrides):
            swept = self._sweep_of_config(overrides) if multirun else []
            by_key = {
                override.get_key_element(): _values(override) if multirun else [str(override.input_line)]
                for override in [*swept, *overrides]
            }
            jobs = [dict(zip(by_key, job, strict=True)) for job in itertools.product(*by_key.values())]
            others = [
                {**jobs[0], key: line}
                for key, line in dict.fromkeys(item for job in jobs for item in job.items())
                if line != jobs[0][key]
            ]
            return _Composed(
                configs=[self._compose(job.values()) for job in (jobs[0], *others)],
                overrides=[str(override.input_line) for override in overrides],
                given=[o.key_or_group for o in overrides if o.key_or_group not in self.groups and not o.is_delete()],
                jobs=jobs,
            )

    def of_stage(
        self, values: Mapping[str, object], overrides: Sequence[str], *, settings: type[Settings]
    ) -> DictConfig:
        """Compose a config with `values` set, and after them of the overrides those for which it has a key.

        Options of groups in `values` are in place of those in `overrides`.

        Raises:
            PronmetricError: a value that Hydra refuses.
        """
        lines = [f"{key}={override_value(value)}" for key, value in flat(values)]
        with self._one_line([]):
            own, given = (
                [self._add_if_free(o, settings.FREE) for o in self._parse(list(each))] for each in (lines, overrides)
            )
        with self._one_line(own):
            groups = {o.key_or_group: str(o.input_line) for o in (*given, *own) if o.key_or_group in self.groups}
            first = [*groups.values(), *(str(o.input_line) for o in own if o.key_or_group not in self.groups)]
            known = set(_keys(_tree(self._compose(first))))
            then = [o for o in given if o.key_or_group in known or o.is_add() or o.is_force_add()]
            return self._compose([*first, *(str(o.input_line) for o in then)])

    def _compose(self, overrides: Iterable[str] = (), *, hydra: bool = False) -> DictConfig:
        """The config; `hydra`: with Hydra's own part."""
        from hydra import compose

        return compose(self._name, overrides=list(overrides), return_hydra_config=hydra)

    def _add_if_free(self, override: Override, free: Sequence[str]) -> Override:
        """The override with `++` where its key is, or is in, a mapping that takes any key."""
        key, line = override.key_or_group, str(override.input_line)
        if override.is_delete() or not any(key == name or key.startswith(f"{name}.") for name in free):
            return override
        return self._parse([f"++{line.lstrip('+')}"])[0]

    def _refuse(self, override: Override, refused: Mapping[str, str]) -> None:
        """Refuse a key that the settings refuse or that is gone, and several values of `out`."""
        key = override.key_or_group
        if key in refused:
            raise PronmetricError(f"{key}: {refused[key]}")
        if gone := removed(self._verb, key, _options(override)):
            raise PronmetricError(gone)
        if key == "out" and override.is_sweep_override():
            raise PronmetricError("out= names one folder: with --multirun each job writes to OUT/0, OUT/1, ...")

    def _refuse_no_option(self, override: Override) -> None:
        """Refuse a number or null as the option of a group, on which Hydra fails."""
        key = override.key_or_group
        if (key not in self.groups and key != "hydra") or override.is_delete() or override.is_sweep_override():
            return
        if not isinstance(override.value(), str | list | dict):
            known = f"expected one of {', '.join(self.groups[key])}" if key in self.groups else "no option of this name"
            raise PronmetricError(f"{override.input_line}: {known}")

    def _chosen(self, overrides: Sequence[Override]) -> list[str]:
        """The overrides that choose an option of a group, the first one of a sweep."""
        return [_values(override)[0] for override in overrides if override.key_or_group in self.groups]

    def _sweep_of_config(self, overrides: Sequence[Override]) -> list[Override]:
        """The values of a sweep that the config itself names, in `hydra.sweeper.params`."""
        params = self._compose(self._chosen(overrides), hydra=True).hydra.sweeper.params
        return self._parse([f"{key}={value}" for key, value in (params or {}).items()])

    @contextmanager
    def _one_line(self, overrides: Sequence[Override]) -> Iterator[None]:
        """Raise Hydra's errors as a PronmetricError of one line; `overrides` are those of the command line."""
        from hydra.errors import HydraException
        from omegaconf.errors import OmegaConfBaseException

        try:
            yield
        except (HydraException, OmegaConfBaseException, ValueError) as error:  # ValueError: a group without a name
            text = f"{error} {error.__cause__ or ''}"
            line = " ".join(text.split("See https://")[0].split())
            try:
                said = self._name_unknown(overrides)
            except (HydraException, OmegaConfBaseException, ValueError):  # the choice of options is itself the error
                said = None
            raise PronmetricError(said or line) from None

    def _name_unknown(self, overrides: Sequence[Override]) -> str | None:
        """The message for the first unknown option or key; None if there is none."""
        for override in overrides:
            group = override.key_or_group
            for option in _options(override) if group in self.groups else ():
                if option not in (known := self.groups[group]):
                    return (
                        f"unknown option {group}={option}; did you mean {group}={_nearest(option, known)}? "
                        f"(there are: {', '.join(known)})"
                    )
        chosen = self._chosen(overrides)
        known = [*_keys(_tree(self._compose(chosen))), *self.groups]
        for override in overrides:
            key = override.key_or_group
            if override.is_add() or override.is_force_add() or key.split(".")[0] == "hydra" or key.startswith("hydra/"):
                continue
            if key not in known:
                return self._name_other_option(key, chosen) or (
                    f"unknown key {key!r}; did you mean {_nearest(key, known)!r}? "
                    f"(pronmetric {self._verb} --cfg job prints all of them)"
                )
        return None

    def _name_other_option(self, key: str, chosen: Sequence[str]) -> str | None:
        """The message for a key that only another option of its group has."""
        group = key.split(".")[0]
        having = [
            option
            for option in self.groups.get(group, ())
            if key in _keys(_tree(self._compose([*chosen, f"{group}={option}"])))
        ]
        if not having:
            return None
        mine = self._compose(chosen, hydra=True).hydra.runtime.choices[group]
        return f"{key} is not read with {group}={mine}; it belongs to {group}={' or '.join(having)}"


def _group_names(loader: ConfigLoader, parent: str = "") -> Iterator[str]:
    from hydra.core.object_type import ObjectType

    for name in loader.get_group_options(parent, ObjectType.GROUP):
        group = f"{parent}/{name}" if parent else name
        if not name.startswith("_") and group != "hydra":
            yield group
            yield from _group_names(loader, group)


def _values(override: Override) -> list[str]:
    """The override as the jobs of a sweep see it, once for each of its values."""
    if override.is_sweep_override() and override.is_discrete_sweep():
        return [f"{override.get_key_element()}={value}" for value in override.sweep_string_iterator()]
    assert override.input_line is not None
    return [override.input_line]


def _options(override: Override) -> list[str]:
    """The options that an override of a group names; none if it deletes the group or makes it null."""
    if override.is_delete():
        return []
    values = override.sweep_iterator() if override.is_sweep_override() else [override.value()]
    each = (option for value in values for option in (value if isinstance(value, list) else [value]))
    return [str(option) for option in each if option is not None]


def _tree(config: DictConfig, *, resolve: bool = False) -> Mapping[str, object]:
    """The config as plain values; interpolations are kept unless `resolve`."""
    from omegaconf import OmegaConf

    return cast("Mapping[str, object]", OmegaConf.to_container(config, resolve=resolve))


def _keys(values: Mapping[str, object], parent: str = "") -> Iterator[str]:
    """The dotted keys of a tree."""
    for name, value in values.items():
        yield f"{parent}{name}"
        if isinstance(value, Mapping):
            yield from _keys(value, f"{parent}{name}.")


def _resolves(config: DictConfig) -> bool:
    """Whether all interpolations can be resolved; those of missing values, such as `out`, cannot.

    Raises:
        PronmetricError: one is of an unknown key.
    """
    from omegaconf.errors import InterpolationToMissingValueError, OmegaConfBaseException

    try:
        _tree(config, resolve=True)
    except InterpolationToMissingValueError:
        return False
    except OmegaConfBaseException as error:
        raise PronmetricError(f"{error.full_key}: cannot be resolved ({str(error).splitlines()[0]})") from None
    return True


def _read_settings(settings: type[S], config: DictConfig, given: Sequence[str]) -> S:
    """The settings in a config; a key of `given` without effect is refused."""
    values = settings.read(_tree(config, resolve=True))
    unread = dict(values.unread())
    for key in given:
        for prefix, why in unread.items():
            if key == prefix or key.startswith(f"{prefix}."):
                raise PronmetricError(f"{key} is not read {why}")
    return values


def _nearest(word: str, words: Iterable[str]) -> str:
    """The most similar of `words`, compared as a whole or by its last part."""

    def likeness(other: str) -> float:
        whole = difflib.SequenceMatcher(None, word, other).ratio()
        last = difflib.SequenceMatcher(None, word.split(".")[-1], other.split(".")[-1]).ratio()
        # chosen by hand: the last part alone is nearly as good; of two equal last parts the whole key decides
        return max(whole, 0.95 * last) + 0.01 * whole

    return max(words, key=likeness)


@contextmanager
def _arguments(argv: Sequence[str]) -> Iterator[None]:
    """Set `sys.argv` to `argv` temporarily: Hydra reads its arguments only from there."""
    before, sys.argv = sys.argv, list(argv)
    try:
        yield
    finally:
        sys.argv = before
