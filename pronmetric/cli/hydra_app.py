"""Entry point of the Hydra verbs: read the overrides, compose the config, run the job.

Hydra parses and composes, runs sweeps and reports errors. `hydra_errors` adds the nearest valid key to an unknown one.
Only the job writes, and only to its `out`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pronmetric.cli import hydra_config, hydra_job
from pronmetric.cli.hydra_errors import group_options
from pronmetric.cli.hydra_overrides import compose_jobs, read_settings
from pronmetric.settings import Settings

MODULE = "pronmetric.conf"
S = TypeVar("S", bound=Settings)


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
        composed = compose_jobs(verb, flags.overrides, settings=settings, multirun=flags.multirun)
        if flags.cfg:
            print(hydra_config.to_yaml(composed.config), end="")
            return 0
        hydra_config.refuse_missing(verb, composed.config)
        first, *_ = [read_settings(settings, each, composed.given) for each in (composed.config, *composed.others)]
    if before is not None and flags.multirun:
        before(first, [{key: line.partition("=")[2] for key, line in each.items()} for each in composed.jobs])
    hydra_job.run(verb, MODULE, composed.overrides, job, settings=settings, multirun=flags.multirun)
    return 0


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
    parser.add_argument("-h", "--help", action="store_true", help="show this text and the groups, and exit")
    parser.add_argument("--cfg", choices=["job"], help="print the resolved config and exit")
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="run once for each combination of KEY=A,B values, into OUT/0, ..."
    )
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="Hydra overrides of the config")
    return parser


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


def given() -> tuple[str, ...]:
    """The overrides on the running job's command line, in a sweep those of the job."""
    from hydra.core.hydra_config import HydraConfig

    return tuple(HydraConfig.get().overrides.task)


def _groups(verb: str) -> str:
    """The groups of the config and their options, one line each."""
    from hydra import compose

    chosen = compose(verb, return_hydra_config=True).hydra.runtime.choices
    lines = [f"  {group}={{{','.join(options)}}}" for group, options in group_options().items() if group in chosen]
    return "groups:\n" + "\n".join(lines) + f"\n\npronmetric {verb} --cfg job prints every key and its value."
