"""Files of document ids that can hardly be some."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.text.corpus import TextFile, check_docids

SENTENCES = [f"Ann said to number {k} that she was late." for k in range(9)]


def notes(folder: Path, docs: list[str]) -> list[str]:
    (folder / "ids").write_text("".join(f"{doc}\n" for doc in docs), encoding="utf-8")
    found: list[str] = []
    check_docids(TextFile(str(folder / "ids")), found.append)
    return [note.removeprefix(f"{folder / 'ids'}: ") for note in found]


def test_each_line_a_document_of_its_own(tmp_path: Path) -> None:
    said = (
        "10 documents for 10 lines, so that hardly any line has a context: give a file with the document of each line"
    )
    assert notes(tmp_path, [str(k) for k in range(10)]) == [said]


def test_sentences(tmp_path: Path) -> None:
    (found,) = notes(tmp_path, [*SENTENCES, "Yes.", "Yes."])
    assert found.startswith("10 documents for 11 lines") and "; the ids look like sentences: give" in found


@pytest.mark.parametrize(
    "docs", [["a"] * 20, ["a", "b"] * 5, [str(k // 2) for k in range(20)], ["1", "2", "3"], [SENTENCES[0]] * 12]
)
def test_ids_that_may_be_right(tmp_path: Path, docs: list[str]) -> None:
    assert not any("hardly any line has a context" in note for note in notes(tmp_path, docs))
