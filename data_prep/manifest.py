"""The manifest of a prepared folder, its inputs and settings: equal inputs, config and seed give equal bytes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import data_prep
import pronmetric
from pronmetric.schema import SCHEMA_VERSION
from pronmetric.text import strict_json
from pronmetric.version import __version__

NAME = "manifest.json"


def sha256(path: Path) -> str:
    """The hash of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hashes(roots: Path | Sequence[Path], paths: Iterable[Path]) -> dict[str, str]:
    """Path relative to the root, or to the folder that holds all roots -> hash, sorted."""
    shared = os.path.commonpath([os.path.abspath(root) for root in ([roots] if isinstance(roots, Path) else roots)])
    folder = Path(shared) if os.path.isdir(shared) else Path(shared).parent
    named = {Path(os.path.abspath(path)).relative_to(folder).as_posix(): path for path in paths}
    return {name: sha256(named[name]) for name in sorted(named)}


def key(value: object) -> str:
    """A short hash of a JSON value, used as the name of a stage's result."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:20]


# The modules of pronmetric that the preparation imports; a test compares them with the loaded modules.
_IMPORTED = (
    "alignment",
    "data/arrow.py",
    "errors.py",
    "installation.py",
    "output",
    "pronouns",
    "schema.py",
    "settings.py",
    "text",
    "version.py",
)


def sources() -> list[Path]:
    """The source files and tables on which the result of a stage depends, sorted."""
    preparation, metric = Path(data_prep.__file__).parent, Path(pronmetric.__file__).parent
    roots = [preparation, *(metric / name for name in _IMPORTED)]
    files = [path for root in roots for path in (root.rglob("*") if root.is_dir() else (root,))]
    return sorted(path for path in files if path.suffix in (".py", ".tsv"))


@cache
def code() -> str:
    """A hash of the source code and tables that stages use, so that results of another version are never reused."""
    root = Path(pronmetric.__file__).parent.parent
    return key([(path.relative_to(root).as_posix(), sha256(path)) for path in sources()])


def manifest(
    *,
    inputs: Mapping[str, Mapping[str, str]],
    config: Mapping[str, Any],
    counts: Mapping[str, Any],
    splits: Mapping[str, Any],
    notes: Iterable[str],
) -> dict[str, Any]:
    """The manifest: versions, hashes of the inputs, config, counts by stage and test set, splits; no time, no host."""
    return {
        "schema_version": SCHEMA_VERSION,
        "package_version": __version__,
        "inputs": {name: dict(found) for name, found in inputs.items()},
        "config": dict(config),
        "counts": counts,
        "splits": splits,
        "notes": list(notes),
    }


def write(folder: Path, content: Mapping[str, Any]) -> None:
    """Write `manifest.json` into a folder."""
    text = strict_json.dump(content, indent=1)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def nested(counts: Mapping[tuple[str, ...], int]) -> dict[str, Any]:
    """Counts named (stage, what) or (stage, what, why) as a tree."""
    tree: dict[str, Any] = {}
    for name in sorted(counts):
        *stages, last = name
        place = tree
        for stage in stages:
            place = place.setdefault(stage, {})
        place[last] = counts[name]
    return tree
