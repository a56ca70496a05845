"""Copies of a metric, as pickle and `copy.deepcopy` make them: they load its checkpoint again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import files, locate
from pronmetric.errors import PronmetricError


def load_again(
    cls: Callable[..., Any],
    name: str,
    folder: str,
    lang: str,
    identity: tuple[str, ...],
    arguments: Mapping[str, Any],
) -> Any:
    """A copy of a metric: its checkpoint at its place or, on another machine, by its name.

    Raises:
        PronmetricError: the checkpoint is missing, or another one is there now.
    """
    place = locate.Location(name, Path(folder)) if Path(folder).is_dir() else locate.locate(name)
    made = cls(files.load(place.folder, trainable=False, lang=lang), place, **arguments)
    if made._identity != identity:
        raise PronmetricError(
            f"a copy of a metric loads its checkpoint again, but {place.folder} has changed: expected "
            f"{' '.join(identity)}, got {' '.join(made._identity)}; load the metric again"
        )
    return made
