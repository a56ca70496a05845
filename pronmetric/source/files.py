"""The file of a source table: aligner, features and weights, compressed in NumPy's npz format without pickle."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.table import BROKEN, Table, from_bytes, is_consistent, open_arrays, to_bytes
from pronmetric.errors import InputError, PronmetricError
from pronmetric.output.targets import AtomicFile
from pronmetric.pronouns.classes import CLASSES
from pronmetric.source import tables
from pronmetric.source.evidence import STEP, Combination, SourceTable

FORMAT = 1
ENDING = ".npz"


def shipped() -> tuple[str, ...]:
    """The source languages that have a table in the package."""
    names = (each.name for each in files(tables).iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in names if name.endswith(ENDING)))


def of_language(language: str) -> SourceTable:
    """The shipped table of a source language, or that of a file.

    Raises:
        PronmetricError: there is none; with the languages that there are.
    """
    if language not in shipped():
        if Path(language).is_file():
            return load(language)
        raise PronmetricError(
            f"no source table for language {language!r}: expected one of {', '.join(shipped())}, "
            "or a file that `pronmetric train-source` wrote"
        )
    with files(tables).joinpath(f"{language}{ENDING}").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    return _load_cached(str(files(tables).joinpath(f"{language}{ENDING}")), digest)


@cache
def _load_cached(path: str, digest: str) -> SourceTable:
    return load(path)


def save(path: str | Path, table: SourceTable) -> None:
    """Write the file; the same content gives the same bytes. Weights are rounded to steps of `STEP`."""
    words = table.aligner.to_table()
    settings = {
        "format": FORMAT,
        "language": table.language,
        "classes": list(CLASSES),
        "features": list(table.vocabulary),
        "groups": list(table.groups),
        "kept": {name: round(value, 3) for name, value in table.kept.items()},
        "sourced": {name: round(value, 3) for name, value in table.sourced.items()},
        "combination": table.combination._asdict(),
        "about": dict(table.about),
    }
    with AtomicFile(path) as file:
        np.savez_compressed(
            file.buffer,
            settings=to_bytes(settings),
            weights=np.clip(np.round(table.weights / STEP), -127, 127).astype(np.int8),
            base=table.base.astype(np.float32),
            aligner=to_bytes(words.settings),
            words=to_bytes(words.words),
            occurrences=words.occurrences.astype(np.int32),
            keys=words.keys,
            counts=words.counts.astype(np.float32),
        )


def load(path: str | Path) -> SourceTable:
    """Read the file that `save` wrote.

    Raises:
        InputError: a missing file, or one that `save` did not write.
    """
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            with open_arrays(file, path) as stored:
                return _table(dict(stored), digest[:8])
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except BROKEN:
        raise InputError(f"not a table of `pronmetric train-source` (format {FORMAT})", file=path) from None


def _table(stored: dict[str, Any], digest: str) -> SourceTable:
    settings = from_bytes(stored["settings"])
    vocabulary = {str(name): row for row, name in enumerate(settings["features"])}
    groups = {str(name): row for row, name in enumerate(settings["groups"])}
    words = Table(
        from_bytes(stored["aligner"]),
        from_bytes(stored["words"]),
        stored["occurrences"].astype(np.int64),
        stored["keys"],
        stored["counts"].astype(np.float64),
    )
    weights, base = stored["weights"], stored["base"].astype(np.float64)
    fits = (
        settings["format"] == FORMAT
        and settings["classes"] == list(CLASSES)
        and isinstance(settings["language"], str)
        and weights.dtype == np.int8
        and weights.shape == (len(vocabulary), len(CLASSES))
        and base.shape == (len(groups) + 1, len(CLASSES))
        and bool(np.all(base > 0))
        and bool(np.all(np.isfinite(base)))
        and is_consistent(words)
    )
    if not fits:
        raise ValueError
    combination = Combination(**{name: float(value) for name, value in settings["combination"].items()})
    return SourceTable(
        language=settings["language"],
        aligner=AgreementAligner.of(words),
        vocabulary=vocabulary,
        weights=weights.astype(np.float32) * np.float32(STEP),
        groups=groups,
        base=base,
        kept={str(name): float(value) for name, value in settings["kept"].items()},
        sourced={str(name): float(value) for name, value in settings["sourced"].items()},
        combination=combination,
        about=settings["about"],
        hash=digest,
    )
