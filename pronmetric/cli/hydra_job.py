"""The run of a Hydra verb's job, once or for each setting of a sweep."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from pronmetric.cli.hydra_config import tree
from pronmetric.errors import PronmetricError, is_out_of_memory
from pronmetric.settings import Settings

if TYPE_CHECKING:
    from omegaconf import DictConfig

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

    with _arguments([command[0], *(["--multirun"] if multirun else []), *_RIM, *overrides]):
        hydra.main(config_path=f"pkg://{module}", config_name=verb, version_base="1.3")(task)()
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
