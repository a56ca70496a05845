"""Contexts hold sentences: lines without a letter take no place, and given ones are cut to what a model knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text import corpus as corpora
from pronmetric.text.context import History, Source, SourceHistory, in_context, is_sentence, previous, spoken, text_of

BREAKS = ["", " ", "\u00a0", "<range>", "12", "00:01:02,000 --> 00:01:04,500", "...", "&nbsp;", "<br/>", "***"]


@pytest.mark.parametrize("line", BREAKS)
def test_lines_without_a_letter_take_no_place(line: str) -> None:
    assert not is_sentence(line)
    assert list(previous(["A.", line, "B.", line, line, "C."])) == ["", "A.", "A.", "A. B.", "A. B.", "A. B."]
    history = SourceHistory()
    assert [history.source(text).before for text in ("A.", line, "B.")] == [(), ("A.",), ("A.",)]


@pytest.mark.parametrize(
    "line", ["A.", "I <b>saw</b> it.", "Да.", "他来了。", "<b>Yes</b>", "3 a", "Ann &amp; Bob", "AT&T;"]
)
def test_other_lines_are_sentences(line: str) -> None:
    assert is_sentence(line)
    assert list(previous(["A.", line, "B."]))[2] == f"A. {line}"


def test_names_of_speakers_stay_with_their_sentences() -> None:
    history, said = History(), [("Hi.", "Ann"), ("12", "Bob"), ("Yes.", "Bob"), ("Good.", "Ann")]
    found = [history.context(line, None, speaker) for line, speaker in said]
    assert found == ["Ann:", "Ann: Hi. Bob:", "Ann: Hi. Bob:", "Ann: Hi. Bob: Yes. Ann:"]
    assert spoken([("12", "Bob"), ("Hi.", "Ann")], "Ann", size=1) == ("Ann: Hi. Ann:",)


def test_records_of_lines_hold_their_sentences_one_by_one() -> None:
    lines = ["A.", "B.", "", "C.", "D."]
    assert [each["context"] for each in in_context(lines, size=3)] == [
        [],
        ["A."],
        ["A.", "B."],
        ["A.", "B."],
        ["A.", "B.", "C."],
    ]


def test_given_contexts_are_cut_to_the_last_sentences() -> None:
    record = {"text": "T.", "context": ["A.", "B.", "", "C.", "7"]}
    assert text_of(record)[:2] == ("A. B. C.", "T.") and text_of(record).left_out == 0
    cut = text_of(record, context_size=2)
    assert (cut.context, cut.left_out) == ("B. C.", 1)
    assert text_of(record, context_size=3).left_out == 0
    assert text_of(
        {**record, "context_speakers": ["a", "b", None, "c", "d"], "speaker": "e"}, context_size=2
    ).context == ("b: B. c: C. e:")
    assert cut.without_context().left_out == 0


def test_source_contexts_without_a_source_are_an_empty_source() -> None:
    given = text_of({"text": "T.", "source_context": ["S."]}, with_source=None)
    assert given.source == Source("", ("S.",))
    assert text_of({"text": "T.", "source_context": []}, with_source=None).source is None
    assert text_of({"text": "T.", "source_context": ["S."]}).source is None


def corpus(folder: Path, **files: str) -> tuple[list[str | None], list[str]]:
    """The documents of the lines of files, with `docids="blank"`, and the notes."""
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    notes: list[str] = []
    system, *references = [str(folder / name) for name in files]
    read = corpora.read([system], notes.append, references=references, docids="blank")
    assert read.documents
    return [row.doc for row in read.rows()], notes


def test_blank_lines_end_documents(tmp_path: Path) -> None:
    docs, notes = corpus(tmp_path, a="\nA.\nB.\n\n\nC.\n \nD.\n")
    assert docs == ["1", "1", "1", "1", "1", "2", "2", "3"] and notes == []


def test_a_line_that_is_blank_in_one_file_alone_ends_none(tmp_path: Path) -> None:
    docs, _ = corpus(tmp_path, a="A.\n\nB.\n\nC.\n", b="a.\nx.\nb.\n\nc.\n")
    assert docs == ["1", "1", "1", "1", "2"]


def test_without_blank_lines_there_is_one_document_and_a_note(tmp_path: Path) -> None:
    docs, notes = corpus(tmp_path, a="A.\nB.\n", b="a.\nb.\n")
    assert docs == ["1", "1"]
    assert notes == ["no line is blank in all files, so that they are one document"]


def test_a_missing_file_of_documents_names_the_other_way(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("A.\n")
    with pytest.raises(InputError, match="no such file"):
        corpora.read([str(tmp_path / "a")], print, docids=str(tmp_path / "blanks"))
