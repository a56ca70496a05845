"""Names of speakers in the contexts of texts: of records, of line-parallel files, of lists."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text import context
from pronmetric.text.context import Source, Text, previous, text_of
from pronmetric.text.corpus import Corpus, of_lines, read


def test_docstrings() -> None:
    result = doctest.testmod(context)
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    ("record", "expected", "speaker"),
    [
        ({"context": ["Hi.", "Where?"]}, "Hi. Where?", None),
        ({"context": ["Hi.", "Where?"], "speaker": None, "context_speakers": None}, "Hi. Where?", None),
        ({"context": ["Hi.", "Where?"], "speaker": "Ann"}, "Hi. Where? Ann:", "Ann"),
        ({"context": ["Hi.", "Where?"], "context_speakers": ["Ann", None]}, "Ann: Hi. Where?", ""),
        ({"context": ["Hi.", ""], "speaker": " Bo ", "context_speakers": ["Ann", "Bo"]}, "Ann: Hi. Bo:", "Bo"),
        ({"speaker": "Ann"}, "Ann:", "Ann"),
        ({"context": ["Hi."], "speaker": "", "context_speakers": [""]}, "Hi.", ""),
    ],
)
def test_of_a_record(record: dict[str, Any], expected: str, speaker: str | None) -> None:
    found = text_of({"text": "I am here.", **record})
    assert found == Text(expected, "I am here.", None, speaker)
    assert found.without_context() == Text("", "I am here.")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"speaker": 5}, '"speaker" must be a string or null, got a number'),
        ({"speaker": "An\tn"}, "r.jsonl:3: a tab in a speaker's name; write the name of a speaker alone"),
        ({"speaker": "An\nn"}, "a line break in a speaker's name"),
        ({"context": ["Hi."], "context_speakers": ["A\rB"]}, "a line break in a speaker's name"),
        (
            {"context": ["Hi."], "context_speakers": "Ann"},
            '"context_speakers" must be a list of strings and nulls, got',
        ),
        ({"context": ["Hi."], "context_speakers": [1]}, "got a list with other items"),
        (
            {"context": ["Hi."], "context_speakers": ["Ann", "Bo"]},
            'as sentences of "context", 1, got 2; write null for',
        ),
        ({"context_speakers": ["Ann"]}, 'as sentences of "context", 0, got 1'),
        ({"speaker": "A\0"}, '"speaker" holds a NUL character'),
    ],
)
def test_bad_speakers_of_a_record(record: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        text_of({"text": "I am here.", **record}, file="r.jsonl", line=3)
    assert message in str(error.value) and str(error.value).startswith("r.jsonl:3: ")


def test_the_lines_before_have_their_own_names() -> None:
    lines, names = ["One.", "Two.", "", "Four.", "Five."], ["Ann", "", "Bo", "Ann", "Bo"]
    expected = ["Ann:", "Ann: One.", "Ann: One. Two. Bo:", "Ann: One. Two. Ann:", "Two. Ann: Four. Bo:"]
    assert list(previous(lines, speakers=names)) == expected
    assert list(previous(lines, docs=[1, 1, 1, 2, 2], speakers=names))[3:] == ["Ann:", "Ann: Four. Bo:"]


def write(folder: Path, **files: str) -> dict[str, str]:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return {name: str(folder / name) for name in files}


def contexts(corpus: Corpus, kind: str) -> list[tuple[str, ...]]:
    return [each[0] for _, each in corpus.in_context(kind, size=2)]


def test_of_a_file(tmp_path: Path) -> None:
    files = write(
        tmp_path, a="I saw it.\nYou did.\nMe too.\n", r="I did.\nYes, you did.\nSo did I.\n", s="Ann\n\n Bo \n"
    )
    notes: list[str] = []
    corpus = read([files["a"]], notes.append, references=[files["r"]], speakers=files["s"])
    assert corpus.has_speakers and [row.speaker for row in corpus.rows()] == ["Ann", "", "Bo"]
    assert contexts(corpus, "respective") == [("Ann:",), ("Ann: I saw it.",), ("Ann: I saw it. You did. Bo:",)]
    assert contexts(corpus, "common") == [("Ann:",), ("Ann: I did.",), ("Ann: I did. Yes, you did. Bo:",)]
    assert contexts(corpus, "none") == [("",)] * 3
    assert all(row.speaker is None for row, _ in corpus.in_context("none", size=2)) and not notes


def test_without_speakers_nothing_changes(tmp_path: Path) -> None:
    corpus = read([write(tmp_path, a="I saw it.\nYou did.\n")["a"]], print)
    assert not corpus.has_speakers and contexts(corpus, "respective") == [("",), ("I saw it.",)]


def test_a_file_that_names_nobody_is_noted(tmp_path: Path) -> None:
    files, notes = write(tmp_path, a="I.\nYou.\n", s="\n \n"), list[str]()
    corpus = read([files["a"]], notes.append, speakers=files["s"])
    assert notes == [f"{files['s']}: no line names a speaker: scores are those without it"]
    assert contexts(corpus, "respective") == [("",), ("I.",)]


@pytest.mark.parametrize(
    ("speakers", "message"),
    [
        ("Ann\n", "/s: expected 2 lines, a speaker for each line of .*/a, got 1; leave a line empty where"),
        ("", "/s: expected 2 lines, .* got 0"),
        ("Ann\nBo\tI left.\n", "/s:2: a tab in a speaker's name; write the name of a speaker alone and on one line"),
    ],
)
def test_bad_files(tmp_path: Path, speakers: str, message: str) -> None:
    files = write(tmp_path, a="I.\nYou.\n", s=speakers)
    with pytest.raises(InputError, match=message):
        read([files["a"]], print, speakers=files["s"])


def test_of_lists() -> None:
    corpus = of_lines(["I.", "You."], speakers=["Ann", None])
    assert [row.speaker for row in corpus.rows()] == ["Ann", ""]
    assert contexts(corpus, "respective") == [("Ann:",), ("Ann: I.",)]
    with pytest.raises(PronmetricError, match="docs and speakers: system has 1, speakers has 2"):
        of_lines(["I."], speakers=["Ann", "Bo"])
    with pytest.raises(InputError, match="speakers:1: expected a name, or None for an unknown speaker, got 5"):
        of_lines(["I."], speakers=[5])  # type: ignore[list-item]
    with pytest.raises(PronmetricError, match="expected speakers to be a list of values, got a str"):
        of_lines(["I.", "You."], speakers="AB")
    with pytest.raises(InputError, match="speakers:1: a tab"):
        of_lines(["I."], speakers=["A\t"])


def test_a_source_stays_as_it_is() -> None:
    record = {"text": "I.", "context": ["Hi."], "speaker": "Ann", "source": "Ich.", "source_context": ["Hallo."]}
    assert text_of(record, with_source=None) == Text("Hi. Ann:", "I.", Source("Ich.", ("Hallo.",)), "Ann")
