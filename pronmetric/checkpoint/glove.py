"""Word vectors in text files: GloVe (a word and its numbers per line) and word2vec (the same after a header).

Pennington, Socher and Manning 2014, GloVe, https://aclanthology.org/D14-1162; Mikolov et al. 2013, word2vec.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pronmetric.errors import InputError
from pronmetric.text.lines import open_bytes, raw_lines


class GloveVectors(NamedTuple):
    """The vectors of the requested words.

    vectors: float32 (width,) of each requested word in the file. lines: of the file, without its header. repeated:
    lines of a requested word that already has a vector; they are ignored.
    """

    vectors: dict[str, np.ndarray]
    lines: int
    repeated: int


def read(path: str | Path, wanted: Collection[str], *, width: int) -> GloveVectors:
    """The vectors of the `wanted` words, each of `width` numbers, from a text file, plain or gzip.

    A word may contain spaces, as in some published files; if a word occurs twice, its first vector counts.

    Raises:
        InputError: no such file, broken gzip, a line with another number of values, a value that is not a number,
            fewer or more lines than in a word2vec header, or no vector for any of the words.
    """
    keys = {word.encode(): word for word in wanted}  # the file's words are not decoded: some are not valid UTF-8
    vectors: dict[str, np.ndarray] = {}
    expected, lines, repeated = None, 0, 0
    for number, line in _lines(path):
        if number == 1 and (header := _header(line)) is not None:
            expected, width_of_file = header
            if width_of_file != width:
                raise _wrong_width(width_of_file, width, path, 1)
            continue
        lines += 1
        if line.count(b" ") == width:
            word, _, numbers = line.partition(b" ")
        else:
            word, numbers = _with_blanks(line, width, path, number)
        if (key := keys.get(word)) is not None:
            if key in vectors:
                repeated += 1
            else:
                vectors[key] = _vector(numbers, path, number)
    if expected is not None and expected != lines:
        message = f"expected {expected} words, as its first line says, got {lines}; download it again"
        raise InputError(message, file=path)
    if not vectors:
        raise InputError(f"none of the {len(keys)} words has a vector in it: give vectors of English words", file=path)
    return GloveVectors(vectors, lines, repeated)


def _lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Non-empty lines with their numbers, without the trailing space that word2vec writes."""
    with open_bytes(path) as stream:
        for number, line in enumerate(raw_lines(stream, file=path, kept=False), start=1):
            if stripped := line.rstrip(b" \r\n"):
                yield number, stripped


def _header(line: bytes) -> tuple[int, int] | None:
    """The numbers of words and dimensions in a word2vec header; None if the line is not a header.

    A one-dimensional vector of a word of digits would look the same; no such file is in use.
    """
    fields = line.split(b" ")
    return (int(fields[0]), int(fields[1])) if len(fields) == 2 and all(f.isdigit() for f in fields) else None


def _with_blanks(line: bytes, width: int, path: str | Path, number: int) -> tuple[bytes, bytes]:
    """Word and numbers of a line whose word contains spaces; an error if the number of values is wrong."""
    fields = line.split(b" ")
    word = fields[: max(0, len(fields) - width)]
    if not word or (len(word) > 1 and _is_number(word[-1])):
        raise _wrong_width(sum(map(_is_number, fields[1:])), width, path, number)
    return b" ".join(word), b" ".join(fields[len(word) :])


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _wrong_width(found: int, width: int, path: str | Path, line: int) -> InputError:
    return InputError(
        f"expected a word and {width} numbers, got {found}: give encoder.width={found} if all lines have as many, "
        "else a text file of GloVe or word2vec",
        file=path,
        line=line,
    )


def _vector(numbers: bytes, path: str | Path, line: int) -> np.ndarray:
    try:
        vector = np.array([float(number) for number in numbers.split(b" ")], dtype=np.float32)
    except ValueError as error:
        raise InputError(f"expected numbers after the word ({error})", file=path, line=line) from None
    if not np.isfinite(vector).all():
        raise InputError("expected finite numbers after the word", file=path, line=line)
    return vector
