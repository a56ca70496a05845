"""Plain English documents: an empty line ends one."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest

from data_prep import documents
from data_prep.documents import EnglishDocument
from pronmetric.errors import InputError


def test_an_empty_line_ends_a_document(tmp_path: Path) -> None:
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "letters.txt").write_text("\n\nDear Ann,\nI miss you. \n\n \t\n\nDear Tom,\n", encoding="utf-8")
    (folder / "tales.txt.gz").write_bytes(gzip.compress("\ufeffA fox met her cub.\u2028Both ran.\r\n".encode()))
    (folder / "README.txt").write_text("About this shelf.\n", encoding="utf-8")
    tally: Counter[str] = Counter()
    assert list(documents.read(tmp_path, tally=tally)) == [
        EnglishDocument("shelf", "letters.1", ("Dear Ann,", "I miss you."), "letters"),
        EnglishDocument("shelf", "letters.2", ("Dear Tom,",), "letters"),
        EnglishDocument("shelf", "tales.1", ("A fox met her cub.\u2028Both ran.",), "tales"),
    ]
    assert tally["bom"] == 1


def test_one_collection_is_a_folder_too(tmp_path: Path) -> None:
    (tmp_path / "news.txt").write_text("He came.\n", encoding="utf-8")
    assert [document.source for document in documents.read(tmp_path)] == [tmp_path.name]


def test_a_fault_is_named_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "news.txt").write_bytes(b"He came.\n\nShe saw\xff.\n")
    with pytest.raises(InputError, match=r"news\.txt:3: byte 0xff"):
        list(documents.read(tmp_path))


def test_a_folder_that_is_not_there_or_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing: no such folder; data.english is a folder of .txt files"):
        list(documents.read(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"no \.txt file in this folder"):
        list(documents.read(tmp_path))


@pytest.mark.shared
def test_real_documents(shared: Path) -> None:
    tally: Counter[str] = Counter()
    folder = shared / "data" / "english"
    found = list(documents.read(folder, tally=tally))
    blocks = Counter[str]()
    for path in folder.rglob("*.txt"):
        text = path.read_text(encoding="utf-8-sig")
        blocks[path.relative_to(folder).parts[0]] += sum(
            bool(block.strip()) for block in re.split(r"\n(?:[ \t]*\n)+", text)
        )
    assert Counter(document.source for document in found) == blocks
    assert blocks["gum"] == 237
    assert len({(document.source, document.doc) for document in found}) == len(found)
    assert sum(len(document.lines) for document in found) == tally["lines"] - tally["empty"]
