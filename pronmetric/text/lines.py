r"""Lines of UTF-8 text files, plain or gzip; all lines in the project are read here.

Lines end only at `\n` (never at U+2028, U+0085 or a lone `\r`, which occur inside WMT segments); the `\r` of
`\r\n` is removed, and so is a byte-order mark at the start of the file. Both are counted in the tally, if given. Bytes
that are not UTF-8 and NUL are refused with file and line.

The bytes of a line, and of a file that is kept in memory, are limited (for gzip: unpacked), so that a device, a broken
file or a decompression bomb is refused before it fills the memory. PRONMETRIC_MAX_LINE_BYTES and
PRONMETRIC_MAX_FILE_BYTES change the limits.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text import streams

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP_MAGIC = b"\x1f\x8b"
GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)
MAX_LINE, MAX_FILE = "PRONMETRIC_MAX_LINE_BYTES", "PRONMETRIC_MAX_FILE_BYTES"
MAX_SEGMENT = "PRONMETRIC_MAX_SEGMENT_CHARACTERS"
LIMITS = {MAX_LINE: 10_000_000, MAX_FILE: 2_000_000_000, MAX_SEGMENT: 100_000}
_CHUNK = 1 << 20  # bytes read at a time: few calls, little memory


def read_lines(path: str | Path, *, tally: Counter[str] | None = None) -> list[str]:
    """All lines of a file, without their line ends; see `iter_lines`."""
    return list(iter_lines(path, tally=tally))


def read_text(path: str | Path) -> str:
    """The whole text of a UTF-8 file, plain or gzip, without a byte-order mark; errors as in `iter_lines`."""
    with open_bytes(path) as stream:
        raw = b"".join(chunks(stream, file=path)).removeprefix(BYTE_ORDER_MARK)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"byte 0x{raw[error.start]:02x} is not UTF-8; convert to UTF-8", file=path, line=line
        ) from None


def iter_lines(path: str | Path, *, tally: Counter[str] | None = None, kept: bool = True) -> Generator[str, None, None]:
    """Each line of a UTF-8 file, plain or gzip (known by its first bytes), without its line end.

    The last line counts whether or not a line end follows it; an empty file has no line. `tally`, if given, counts
    `lines`, `bom` (byte-order marks removed), `crlf` (Windows line ends) and `empty` (lines without a character).
    `kept` says that the lines stay in memory: the file is read at once and closed, and the limit of files holds. Else
    it is read line by line, and closed after the last line or by `close` of the generator.

    Raises:
        InputError: a missing or unreadable file, broken gzip, a byte that is not UTF-8, a NUL, a line or file above its
            limit.
    """
    with open_bytes(path) as stream:
        lines = decode_lines(stream, file=path, tally=tally, kept=kept)
        if not kept:
            yield from lines
            return
        whole = list(lines)
    yield from whole


def open_bytes(path: str | Path) -> BinaryIO:
    """Open a file for reading bytes, unpacked where it is gzip; an InputError where that can't be done.

    Stdin ("-" or "/dev/stdin") is kept, so that it can be opened again.
    """
    if streams.is_stdin(path):
        most = limit(MAX_FILE)
        raw = streams.kept_stdin(most)
        if len(raw) > most:
            raise _too_long(f"more than {most:,} bytes", MAX_FILE, path)
        kept = io.BytesIO(raw)
        return gzip.open(kept) if raw.startswith(GZIP_MAGIC) else kept  # type: ignore[return-value]
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


def limit(name: str) -> int:
    """The limit in bytes that an environment variable gives, else its default.

    Raises:
        PronmetricError: the variable is no whole number above 0.
    """
    given = os.environ.get(name, "")
    if given and not (given.isascii() and given.isdigit() and int(given[:30])):
        raise PronmetricError(
            f"{name}={given[:40]}: expected a number of {'characters' if name == MAX_SEGMENT else 'bytes'} above 0"
        )
    return int(given[:30]) if given else LIMITS[name]


def check_segment(text: str, *, file: str | Path | None = None, line: int | None = None) -> str:
    """The text of a segment, if it is no longer than its limit; a longer one would be scored for minutes.

    Raises:
        InputError: with the number of characters, and the limit.
    """
    if len(text) > LIMITS[MAX_SEGMENT] or MAX_SEGMENT in os.environ:
        most = limit(MAX_SEGMENT)
        if len(text) > most:
            raise InputError(
                f"a segment of {len(text):,} characters, more than {most:,}: split it into sentences, or raise the "
                f"limit with {MAX_SEGMENT}=CHARACTERS",
                file=file,
                line=line,
            )
    return text


def raw_lines(stream: BinaryIO, *, file: str | Path, kept: bool = True) -> Iterator[bytes]:
    r"""The lines of an open file with their `\n`; at most one line of it is read into memory here.

    Raises:
        InputError: a line above its limit, broken gzip, and where `kept`, a file above its limit.
    """
    most, left = limit(MAX_LINE), limit(MAX_FILE)
    if kept:
        _check_size(stream, file)
    number = 0
    try:
        while raw := stream.readline(most + 1):
            number += 1
            left -= len(raw)
            if len(raw) > most:
                raise _too_long(f"a line of more than {most:,} bytes", MAX_LINE, file, number)
            if kept and left < 0:
                raise _too_long(f"more than {limit(MAX_FILE):,} bytes", MAX_FILE, file, number)
            yield raw
    except GZIP_ERRORS as error:
        raise broken_gzip(error, file) from None


def chunks(stream: BinaryIO, *, file: str | Path) -> Iterator[bytes]:
    """The bytes of an open file, piece by piece, up to the limit of files; errors as in `raw_lines`."""
    left = limit(MAX_FILE)
    _check_size(stream, file)
    try:
        while chunk := stream.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise _too_long(f"more than {limit(MAX_FILE):,} bytes", MAX_FILE, file)
            yield chunk
    except GZIP_ERRORS as error:
        raise broken_gzip(error, file) from None


def check_size(size: int, *, file: str | Path) -> None:
    """Refuse what would take more bytes in memory than the limit of files.

    Raises:
        InputError: with both numbers, and how the limit is raised.
    """
    most = limit(MAX_FILE)
    if size > most:
        raise _too_long(f"{size:,} bytes, more than {most:,}", MAX_FILE, file)


def _check_size(stream: BinaryIO, file: str | Path) -> None:
    """Refuse a plain file by its size, before it is read."""
    try:
        found = os.fstat(stream.fileno())
    except OSError:  # no file of the system
        return
    if stat.S_ISREG(found.st_mode):
        check_size(found.st_size, file=file)


def _too_long(what: str, name: str, file: str | Path, line: int | None = None) -> InputError:
    return InputError(f"{what}: give another file, or raise the limit with {name}=BYTES", file=file, line=line)


def decode_lines(
    stream: BinaryIO, *, file: str | Path, tally: Counter[str] | None = None, kept: bool = True
) -> Generator[str, None, None]:
    """The lines of an open file or of `sys.stdin.buffer`.

    `file` is the name that errors give. Counts and errors as in `iter_lines`.
    """
    counts: Counter[str] = Counter() if tally is None else tally
    for number, raw in enumerate(raw_lines(stream, file=file, kept=kept), start=1):
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
