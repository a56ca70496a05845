"""The file of a trained agreement aligner: settings, words and counts, compressed in NumPy's npz format."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pronmetric.alignment.cells import KEY_BASE, Array
from pronmetric.errors import InputError
from pronmetric.output.targets import AtomicFile
from pronmetric.text import strict_json
from pronmetric.text.lines import check_size

FORMAT = 1
"""Number of our own file format; another one is refused."""
# What reading a file that is no table may raise.
BROKEN = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    ArithmeticError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True)
class Table:
    """The content of a file.

    settings: the arguments of the aligner. words: the vocabulary, in alphabetical order. occurrences: the frequency of
    each word on each side, int64 (2, words). keys: word pairs, int64 (pairs,), KEY_BASE times the index of the first
    word plus the index of the second. counts: their expected counts, float64 (pairs,).
    """

    settings: dict[str, Any]
    words: list[str]
    occurrences: Array
    keys: Array
    counts: Array


def save(path: str | Path, table: Table) -> None:
    """Write the file; the same content gives the same bytes."""
    with AtomicFile(path) as file:
        np.savez_compressed(
            file.buffer,
            settings=to_bytes({"format": FORMAT, **table.settings}),
            words=to_bytes(table.words),
            occurrences=table.occurrences,
            keys=table.keys,
            counts=table.counts,
        )


def load(path: str | Path) -> Table:
    """Read the file that `save` wrote.

    Raises:
        InputError: a missing file, or one that `save` did not write.
    """
    try:
        with open(path, "rb") as file, open_arrays(file, path) as stored:
            settings, words = from_bytes(stored["settings"]), from_bytes(stored["words"])
            table = Table(settings, words, stored["occurrences"], stored["keys"], stored["counts"])
        if settings.pop("format") != FORMAT or not is_consistent(table):
            raise ValueError
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except BROKEN:
        raise broken(path) from None
    return table


def open_arrays(file: BinaryIO, path: str | Path) -> Any:
    """The arrays of an .npz file, none of which is unpickled.

    Raises:
        InputError: their unpacked size is above the limit of files.
    """
    if zipfile.is_zipfile(file):
        file.seek(0)
        with zipfile.ZipFile(file) as packed:
            check_size(sum(entry.file_size for entry in packed.infolist()), file=path)
    file.seek(0)
    return np.load(file, allow_pickle=False)


def broken(path: str | Path) -> InputError:
    """The error for a file that `save` did not write."""
    return InputError(f"not a table written by `pronmetric align --save-table` (format {FORMAT})", file=path)


def to_bytes(value: object) -> Array:
    """JSON as an array of bytes."""
    return np.frombuffer(strict_json.dump(value).encode(), np.uint8)


def from_bytes(stored: Array) -> Any:
    """The value that `to_bytes` wrote."""
    return strict_json.parse(stored.tobytes().decode(), bytes_of_names=True)


def is_consistent(table: Table) -> bool:
    """Whether shapes, types and word pairs of a table that was read fit together."""
    words, occurrences, keys, counts = table.words, table.occurrences, table.keys, table.counts
    return (
        isinstance(words, list)
        and all(isinstance(word, str) for word in words)
        and len(set(words)) == len(words)
        and (occurrences.dtype, occurrences.shape) == (np.int64, (2, len(words)))
        and (keys.dtype, counts.dtype) == (np.int64, np.float64)
        and keys.shape == counts.shape == (keys.size,)
        and (keys.size == 0 or (keys.min() >= 0 and keys.max() // KEY_BASE < len(words)))
    )
