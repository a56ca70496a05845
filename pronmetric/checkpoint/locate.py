"""Locates a checkpoint: a shipped one, a folder, or a Hugging Face hub name. No torch."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from pronmetric import installation
from pronmetric.checkpoint.shards import INDEX, WEIGHTS
from pronmetric.errors import InputError, PronmetricError

DEFAULT = "default"
ALIASES = {DEFAULT: "base"}  # other names of checkpoints; a signature never has them
SHELF = "pronmetric_checkpoints"  # the namespace package of weights that are installed as packages of their own
REPOSITORY = ("small", "multilingual")  # checkpoints of the repository, which an installation may lack
CONFIG, CARD = "config.yaml", "README.md"
PATTERNS = ("*.yaml", "*.json", "*.txt", "*.md", "*.model", "*.safetensors")  # what is read of a name on the hub
READER = "source"  # the folder of the reader of sources, in that of its checkpoint


class Location(NamedTuple):
    """A checkpoint's name, as in signatures, and its folder."""

    name: str
    folder: Path


def locate(
    model: str | Path | None = None, *, allow_network: bool = False, storage: str | Path | None = None
) -> Location:
    """Find the checkpoint `model`: None is the default; else a shipped name or alias, a folder or a hub name.

    A hub name is read from the local cache (the folder `storage`; None is the hub's default), and downloaded only if
    `allow_network` is True.

    Raises:
        PronmetricError: there is no such checkpoint, or the folder is not one.
    """
    asked = DEFAULT if model is None else str(model)
    name = ALIASES.get(asked, asked)
    shipped = _shipped()
    if name in shipped:
        return Location(name, _check(shipped[name]))
    if Path(asked).exists():
        return Location(name_of(Path(asked)), _check(Path(asked)))
    if of_hub(asked):
        return Location(asked, _check(_fetch(asked, allow_network=allow_network, storage=storage)))
    if name in REPOSITORY:
        raise PronmetricError(f"checkpoint {name} is not in this installation: {_cure(name)}")
    known = f"shipped: {', '.join(sorted(shipped))}" if shipped else "this installation ships none"
    raise PronmetricError(f"no checkpoint {asked!r}: give a folder that `pronmetric train` wrote, or a name ({known})")


def name_of(folder: Path) -> str:
    """The name of the checkpoint in a folder: that of a shipped one, else the folder's; never that of another one."""
    folder = folder.resolve()
    for name, place in _shipped().items():
        if place.resolve() == folder:
            return name
    return f"{folder.parent.name}/{folder.name}" if folder.name in ALIASES else folder.name


def reader_of(folder: Path) -> Path | None:
    """The folder of the reader of sources of the checkpoint in `folder`; None if it has none."""
    return folder / READER if (folder / READER / CONFIG).is_file() else None


def of_hub(model: str | Path | None) -> bool:
    """Whether this is a name on the Hugging Face hub, OWNER/NAME, and not a local folder."""
    name = "" if model is None else str(model)
    return re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", name) is not None and not Path(name).exists()


def refuse_taken(folder: Path) -> None:
    """Refuse to write a checkpoint to an existing file or non-empty folder.

    Raises:
        InputError: with the path.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise InputError("already exists; give another folder", file=folder)


def _shipped() -> dict[str, Path]:
    """The folders of the shipped checkpoints, by name; a package of weights comes before what this package has."""
    packages = find_spec(SHELF)
    installed = (packages.submodule_search_locations if packages is not None else None) or ()
    shelves = [installation.folder("checkpoints"), *map(Path, installed)]
    return {path.parent.name: path.parent for shelf in shelves for path in shelf.glob(f"*/{CONFIG}")}


def _cure(name: str) -> str:
    """How a checkpoint of the repository is had: from the clone that this was installed from, or from another one."""
    tree = installation.source_tree()
    if tree is not None and (tree / "checkpoints" / name / CONFIG).is_file():
        return f"give its folder, {tree / 'checkpoints' / name}"
    return (
        f"get the folder checkpoints/{name} of the repository of pronmetric and give its path, or install its package, "
        f"{installation.NAME}-{name}"
    )


def _check(folder: Path) -> Path:
    """`folder`, if it looks like a checkpoint."""
    weights = WEIGHTS if not (folder / INDEX).is_file() else INDEX
    missing = [name for name in (CONFIG, weights) if not (folder / name).is_file()]
    if missing:
        raise PronmetricError(
            f"{folder}: not a checkpoint: expected a folder with {' and '.join(missing)}, as written by `train`"
        )
    return folder


def _fetch(name: str, *, allow_network: bool, storage: str | Path | None) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(
                name,
                cache_dir=storage,
                local_files_only=not allow_network,
                allow_patterns=list(PATTERNS),
            )
        )
    except Exception as error:  # the hub's client raises many kinds of errors
        why = f"downloading it failed ({error})" if allow_network else "allow downloading it with `allow_network=True`"
        raise PronmetricError(f"no folder {name!r}, and the hub's {name!r} is not in the local cache: {why}") from error
