"""What a prepared folder was made from and how: the same inputs, config and seed give the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import data_prep
import pronmetric
from pronmetric import strict_json
from pronmetric.schema import SCHEMA_VERSION

NAME = "manifest.json"


def sha256(path: Path) -> str:
    """The hash of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hashes(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Path -> hash, the paths told from `root` and sorted."""
    folder = root if root.is_dir() else root.parent
    named = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: sha256(named[name]) for name in sorted(named)}


def key(value: object) -> str:
    """A short hash of anything that JSON can say: the name of a stage's result."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:20]


@cache
def code() -> str:
    """A hash of the source code that stages run, so that a stage of another version is never taken up."""
    preparation, metric = Path(data_prep.__file__).parent, Path(pronmetric.__file__).parent
    files = [
        *preparation.glob("*.py"),
        *metric.glob("*.py"),
        *metric.glob("resources/*.tsv"),
        metric / "data" / "arrow.py",
    ]
    return key([(path.name, sha256(path)) for path in sorted(files)])


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
        "package_version": pronmetric.__version__,
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
