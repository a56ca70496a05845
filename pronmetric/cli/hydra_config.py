"""A composed Hydra config as plain values, as YAML, and its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from pronmetric.errors import PronmetricError

if TYPE_CHECKING:
    from omegaconf import DictConfig


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
