"""Text files of word vectors: what is read, and each way in which a file can be wrong."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pronmetric.checkpoint.glove import GloveVectors, read
from pronmetric.errors import InputError

GLOVE = "the 0.1 -2 3e-1\nshe 4 5 6\n. . 7 8 9\nit 1 1 1\n"


def found(tmp_path: Path, content: str | bytes, *wanted: str, width: int = 3) -> GloveVectors:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read(path, wanted, width=width)


def rows(found: GloveVectors) -> dict[str, list[float]]:
    return {word: vector.tolist() for word, vector in found.vectors.items()}


def test_words_that_are_looked_for_are_found(tmp_path: Path) -> None:
    seen = found(tmp_path, GLOVE, "she", "they", "it")
    assert rows(seen) == {"she": [4, 5, 6], "it": [1, 1, 1]}
    assert (seen.lines, seen.repeated) == (4, 0)
    assert rows(found(tmp_path, GLOVE, "the"))["the"] == pytest.approx([0.1, -2, 0.3])
    assert {vector.dtype.name for vector in seen.vectors.values()} == {"float32"}


def test_word2vecs_header_and_its_blank_at_line_ends(tmp_path: Path) -> None:
    seen = found(tmp_path, "2 3\nshe 4 5 6 \r\nit 1 1 1 \n\n", "she", "it", "2")
    assert rows(seen) == {"she": [4, 5, 6], "it": [1, 1, 1]} and seen.lines == 2


def test_gzip_by_its_first_bytes(tmp_path: Path) -> None:
    packed = gzip.compress(GLOVE.encode())
    assert rows(found(tmp_path, packed, "it")) == {"it": [1, 1, 1]}
    with pytest.raises(InputError, match=r"vectors.txt: broken gzip file"):
        found(tmp_path, packed[:-12], "it")


def test_the_first_of_a_words_vectors_counts(tmp_path: Path) -> None:
    seen = found(tmp_path, "it 1 1 1\nshe 4 5 6\nit 2 2 2\nthe 1 2 3\nthe 1 2 3\nit 3 3 3\n", "she", "it")
    assert rows(seen) == {"she": [4, 5, 6], "it": [1, 1, 1]}
    assert (seen.lines, seen.repeated) == (6, 2)  # those of "the" are nobody's


def test_words_of_other_bytes_and_with_blanks_are_passed_by(tmp_path: Path) -> None:
    lines = [b"caf\xe9 1 2 3", b"at name@domain.com 1 2 3", b" 1 2 3", b"\xc2\x85 1 2 3", "né 4 5 6".encode()]
    assert rows(found(tmp_path, b"\n".join(lines), "né", "caf\u00e9")) == {"né": [4, 5, 6]}


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("she 4 5 6\nit 1 1\n", 2, "expected a word and 3 numbers, got 2: give encoder.width=2"),
        ("she 4 5 6\nit 1 1 1 1\n", 2, "expected a word and 3 numbers, got 4"),
        ("she 4 5 6\nit\n", 2, "expected a word and 3 numbers, got 0"),
        ("7 2\nshe 4 5\n", 1, "expected a word and 3 numbers, got 2"),
        ("she 4 five 6\n", 1, "expected numbers after the word (could not convert"),
        ("the 1 2 3\nshe 4 nan 6\n", 2, "expected finite numbers after the word"),
        ("3 3\nshe 4 5 6\n", None, "expected 3 words, as its first line says, got 1"),
        ("the 1 2 3\n", None, "none of the 2 words has a vector in it"),
        ("", None, "none of the 2 words has a vector in it"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, content: str, line: int | None, said: str) -> None:
    with pytest.raises(InputError) as error:
        found(tmp_path, content, "she", "it")
    where = f"{tmp_path / 'vectors.txt'}:" + (f"{line}:" if line else "")
    assert str(error.value).startswith(f"{where} {said}") and "\n" not in str(error.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: no such file"):
        read(tmp_path / "none.txt", ["it"], width=3)
