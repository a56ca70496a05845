"""The file of a table of counts: its aligner and shares, compressed in NumPy's npz format without pickle."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.counts import tables
from pronmetric.alignment.counts.table import CountTable
from pronmetric.alignment.table import BROKEN, Table, from_bytes, is_consistent, open_arrays, to_bytes
from pronmetric.errors import InputError, PronmetricError
from pronmetric.output.targets import AtomicFile
from pronmetric.text.language_codes import bare

FORMAT = 2
"""Number of our own file format; another one is refused."""
_WITH_MODEL = 1  # the format before, with a log-linear model beside the counts
ENDING = ".npz"


def shipped() -> tuple[str, ...]:
    """The source languages that have a table in the package."""
    names = (each.name for each in files(tables).iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in names if name.endswith(ENDING)))


def of_language(language: str) -> CountTable:
    """The shipped table of a source language, or that of a file.

    Raises:
        PronmetricError: there is none; with the languages that there are.
    """
    if language not in shipped():
        if Path(language).is_file():
            return load(language)
        if bare(language) in shipped():
            return of_language(bare(language))
        raise PronmetricError(
            f"no table of counts for language {language!r}: expected one of {', '.join(shipped())}, "
            "or a file that `pronmetric baseline counts` wrote"
        )
    with files(tables).joinpath(f"{language}{ENDING}").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    return _load_cached(str(files(tables).joinpath(f"{language}{ENDING}")), digest)


@cache
def _load_cached(path: str, digest: str) -> CountTable:
    return load(path)


def save(path: str | Path, table: CountTable) -> None:
    """Write the file; the same content gives the same bytes."""
    words = table.aligner.to_table()
    settings = {
        "format": FORMAT,
        "language": table.language,
        "kept": {name: round(value, 3) for name, value in table.kept.items()},
        "sourced": {name: round(value, 3) for name, value in table.sourced.items()},
        "about": dict(table.about),
    }
    with AtomicFile(path) as file:
        np.savez_compressed(
            file.buffer,
            settings=to_bytes(settings),
            aligner=to_bytes(words.settings),
            words=to_bytes(words.words),
            occurrences=words.occurrences.astype(np.int32),
            keys=words.keys,
            counts=words.counts.astype(np.float32),
        )


def load(path: str | Path) -> CountTable:
    """Read the file that `save` wrote.

    Raises:
        InputError: a missing file, one of an older version, or one that `save` did not write.
    """
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            with open_arrays(file, path) as stored:
                settings = from_bytes(stored["settings"])
                if settings["format"] == _WITH_MODEL:
                    raise InputError(
                        f"a table of counts of an older version (format {_WITH_MODEL}, expected {FORMAT}): "
                        "make it again with `pronmetric baseline counts`",
                        file=path,
                    )
                return _table(settings, dict(stored), digest[:8])
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except BROKEN:
        raise InputError(f"not a table of `pronmetric baseline counts` (format {FORMAT})", file=path) from None


def _table(settings: dict[str, Any], stored: dict[str, Any], digest: str) -> CountTable:
    words = Table(
        from_bytes(stored["aligner"]),
        from_bytes(stored["words"]),
        stored["occurrences"].astype(np.int64),
        stored["keys"],
        stored["counts"].astype(np.float64),
    )
    if not (settings["format"] == FORMAT and isinstance(settings["language"], str) and is_consistent(words)):
        raise ValueError
    return CountTable(
        language=settings["language"],
        aligner=AgreementAligner.of(words),
        kept={str(name): float(value) for name, value in settings["kept"].items()},
        sourced={str(name): float(value) for name, value in settings["sourced"].items()},
        about=settings["about"],
        hash=digest,
    )
