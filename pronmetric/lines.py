r"""Lines of UTF-8 text files, plain or gzip: the one way in which the project reads lines.

A line ends at `\n` alone (never at U+2028, U+0085 or a lone `\r`, which stand inside WMT segments); the `\r` of a
`\r\n` end is taken off, and so is a byte-order mark at the very start of the file. Both are counted in a tally where
the caller gives one. A byte that is not UTF-8 and a NUL are refused with file and line.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from pronmetric.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP_MAGIC = b"\x1f\x8b"
GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)


def read_lines(path: str | Path, *, tally: Counter[str] | None = None) -> list[str]:
    """All lines of a file, without their line ends; see `iter_lines`."""
    return list(iter_lines(path, tally=tally))


def iter_lines(path: str | Path, *, tally: Counter[str] | None = None) -> Iterator[str]:
    """Each line of a UTF-8 file, plain or gzip (known by its first bytes), without its line end.

    The last line counts whether or not a line end follows it; an empty file has no line. `tally`, if given, counts
    `lines`, `bom` (byte-order marks removed), `crlf` (Windows line ends) and `empty` (lines without a character).

    Raises:
        InputError: a missing or unreadable file, broken gzip, a byte that is not UTF-8, a NUL.
    """
    with open_bytes(path) as stream:
        try:
            yield from decode_lines(stream, file=path, tally=tally)
        except GZIP_ERRORS as error:
            raise broken_gzip(error, path) from None


def open_bytes(path: str | Path) -> BinaryIO:
    """Open a file for reading bytes, unpacked where it is gzip; an InputError where that can't be done."""
    try:
        stream = open(path, "rb")
        if not stream.peek(2).startswith(GZIP_MAGIC):  # nothing is taken off: a pipe can't be opened again
            return stream
        stream.close()
        return gzip.open(path, "rb")  # type: ignore[return-value]
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("expected a file, found a folder", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=path) from None


def broken_gzip(error: Exception, path: str | Path) -> InputError:
    """The error to raise where a file that `open_bytes` opened fails to unpack (one of `GZIP_ERRORS`)."""
    return InputError(f"broken gzip file ({error}); fetch or pack it again", file=path)


def decode_lines(stream: Iterable[bytes], *, file: str | Path, tally: Counter[str] | None = None) -> Iterator[str]:
    r"""The lines of a stream of bytes that is iterated at `\n` (an open file, `sys.stdin.buffer`).

    `file` is the name that errors give. Counts and errors as in `iter_lines`.
    """
    counts: Counter[str] = Counter() if tally is None else tally
    for number, raw in enumerate(stream, start=1):
        if number == 1 and raw.startswith(BYTE_ORDER_MARK):
            raw = raw[len(BYTE_ORDER_MARK) :]
            counts["bom"] += 1
            if not raw:
                return
        if raw.endswith(b"\r\n"):
            counts["crlf"] += 1
            raw = raw[:-2]
        elif raw.endswith(b"\n"):
            raw = raw[:-1]
        line = decode(raw, file=file, line=number)
        counts["lines"] += 1
        counts["empty"] += not line
        yield line


def decode(raw: bytes, *, file: str | Path, line: int) -> str:
    """One line of bytes as text: strict UTF-8 without NUL, or an InputError with file and line."""
    if b"\0" in raw:
        raise InputError("a NUL byte: expected plain UTF-8 text (UTF-16 or a binary file?)", file=file, line=line)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte 0x{raw[error.start]:02x} (byte {error.start + 1} of the line) is not UTF-8; convert to UTF-8"
        raise InputError(message, file=file, line=line) from None
