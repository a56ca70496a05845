"""Reading lines: what ends a line, what is removed and counted, what is refused and where."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from pathlib import Path
from typing import BinaryIO

import pytest

from pronmetric.errors import InputError
from pronmetric.text.lines import decode_lines, iter_lines, open_bytes, read_lines


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_line_ends_at_the_newline_alone(tmp_path: Path) -> None:
    text = "one\u2028still one\u0085and\rone\x0b\x0c\x1c\ntwo\n"
    assert read_lines(write(tmp_path / "a", text.encode())) == ["one\u2028still one\u0085and\rone\x0b\x0c\x1c", "two"]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb\xbf\n", [""]),
    ],
)
def test_last_line_counts_with_or_without_line_end(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    tally: Counter[str] = Counter()
    assert read_lines(write(tmp_path / "a", content), tally=tally) == lines
    assert tally["lines"] == len(lines)
    assert tally["empty"] == lines.count("")


def test_mark_and_windows_ends_are_removed_and_counted(tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    path = write(tmp_path / "a", "\ufeffone\r\n\r\nthree\ufeff\n".encode())
    assert read_lines(path, tally=tally) == ["one", "", "three\ufeff"]
    assert tally == {"bom": 1, "crlf": 2, "lines": 3, "empty": 1}


@pytest.mark.parametrize("name", ["a.txt.gz", "gzip_without_the_ending.txt"])
def test_gzip_is_known_by_its_bytes(tmp_path: Path, name: str) -> None:
    tally: Counter[str] = Counter()
    path = write(tmp_path / name, gzip.compress("\ufeffé\nb\n".encode()))
    assert read_lines(path, tally=tally) == ["é", "b"]
    assert tally["bom"] == 1


def test_broken_gzip_is_an_input_error(tmp_path: Path) -> None:
    whole = gzip.compress(b"line\n" * 1000)
    for number, content in enumerate([whole[:-20], whole[:40] + b"\xff" * 20 + whole[60:]]):
        with pytest.raises(InputError, match=r"broken gzip"):
            read_lines(write(tmp_path / str(number), content))


def test_a_byte_that_is_not_utf8_names_file_line_and_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "latin.txt", "fine\ncafé\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.txt:2: byte 0xe9 \(byte 4 of the line\) is not UTF-8") as caught:
        read_lines(path)
    assert caught.value.line == 2


def test_a_nul_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nul\.txt:3: a NUL byte"):
        read_lines(write(tmp_path / "nul.txt", b"a\nb\nc\0d\n"))


def test_lines_before_a_fault_are_streamed(tmp_path: Path) -> None:
    lines = iter_lines(write(tmp_path / "a", b"good\n\xff\n"), kept=False)
    assert next(lines) == "good"
    with pytest.raises(InputError, match=r":2: "):
        next(lines)


@pytest.mark.parametrize("kept", [True, False])
def test_a_reader_that_stops_early_leaves_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    opened: list[BinaryIO] = []

    def remember(path: Path) -> BinaryIO:
        opened.append(open_bytes(path))
        return opened[0]

    monkeypatch.setattr("pronmetric.text.lines.open_bytes", remember)
    lines = iter_lines(write(tmp_path / "a", b"one\ntwo\n"), kept=kept)
    assert next(lines) == "one"
    assert opened[0].closed == kept
    lines.close()
    assert opened[0].closed


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing: no such file"):
        read_lines(tmp_path / "missing")
    with pytest.raises(InputError, match=r"expected a file, found a folder"):
        read_lines(tmp_path)


def test_a_stream_is_read_like_a_file() -> None:
    assert list(decode_lines(io.BytesIO(b"\xef\xbb\xbfa\r\nb"), file="-")) == ["a", "b"]
    with pytest.raises(InputError, match=r"<stdin>:1: a NUL"):
        list(decode_lines(io.BytesIO(b"\0"), file="-"))
