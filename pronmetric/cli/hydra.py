"""Hydra's errors in one line, with the nearest valid name for an unknown key or group option."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pronmetric.cli.hydra_config import keys, tree
from pronmetric.errors import PronmetricError

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader
    from hydra.core.override_parser.types import Override


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
    composed = compose(verb, overrides=chosen, return_hydra_config=True)
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
        if key in keys(tree(compose(verb, overrides=[*chosen, f"{group}={option}"])))
    ]
    if not having:
        return None
    mine = compose(verb, overrides=list(chosen), return_hydra_config=True).hydra.runtime.choices[group]
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
        return max(whole, 0.95 * last) + 0.01 * whole

    return max(words, key=likeness)
