"""Running text of one file, in each format, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text import running_text
from pronmetric.text.files.columns import Role

FILES = Path(__file__).parents[2] / "fixtures" / "files"


@pytest.mark.parametrize("name", ["sample.csv", "sample.tsv", "sample.jsonl", "sample.srt", "sample.vtt", "sample.md"])
def test_each_format_gives_the_plain_text(name: str) -> None:
    notes: list[str] = []
    plain = running_text.read(FILES / "sample.txt", Role.TRANSLATION)
    assert running_text.read(FILES / name, Role.TRANSLATION, notes.append) == plain
    assert ["left out: 1 front matter" in note for note in notes] == [True] * (name == "sample.md")
    if name in ("sample.csv", "sample.tsv", "sample.jsonl"):
        source = running_text.read(FILES / "sample.de.txt", Role.SOURCE)
        assert running_text.read(FILES / name, Role.SOURCE) == source


@pytest.mark.parametrize(("name", "format"), [("sample.po", "PO"), ("sample.xlf", "XLIFF"), ("sample.tmx", "TMX")])
def test_strings_are_no_running_text(name: str, format: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: is {format}, whose strings are no running text: save its texts as"):
        running_text.read(FILES / name, Role.SOURCE)


def test_what_is_left_out_is_told_or_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sample.md: has what is no text \(1 front matter, 2 code blocks"):
        running_text.read(FILES / "sample.md", Role.TRANSLATION)


def test_word_links_are_of_plain_lines() -> None:
    running_text.require_lines(FILES / "sample.txt")
    with pytest.raises(InputError, match=r"sample.srt: is SRT, but word links are of plain lines"):
        running_text.require_lines(FILES / "sample.srt")
