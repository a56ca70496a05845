"""Rows of sentences of several texts that have other boundaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text.corpus import read
from pronmetric.text.resegment import resegment
from tests.unit.text.test_sentence_alignment import GERMAN, ONE, OTHER


def rows(*texts: list[str], docs: list[str] | None = None) -> list[tuple[str, ...]]:
    return [row.texts for row in resegment(texts, docs)[0]]


def test_a_row_has_the_fewest_sentences_that_say_the_same() -> None:
    found = rows(ONE, OTHER)
    assert found == [
        (ONE[0], OTHER[0]),
        (ONE[1], f"{OTHER[1]} {OTHER[2]}"),
        (f"{ONE[2]} {ONE[3]}", OTHER[3]),
        (ONE[4], f"{OTHER[4]} {OTHER[5]}"),
        ("", OTHER[6]),
        (ONE[5], OTHER[7]),
    ]
    assert rows(ONE, [" ".join(OTHER)]) == rows([" ".join(ONE)], [" ".join(OTHER)]) == found


def test_boundaries_of_a_row_are_those_of_all_texts() -> None:
    assert [row[0] for row in rows(ONE, OTHER, [GERMAN[0], " ".join(GERMAN[1:])])] == [
        f"{ONE[0]} {ONE[1]}",
        f"{ONE[2]} {ONE[3]}",
        ONE[4],
        "",
        ONE[5],
    ]


def test_a_sentence_that_was_left_out_is_a_row_without_it() -> None:
    assert rows(ONE, [*ONE[:3], *ONE[4:]])[3] == (ONE[3], "")


def test_a_text_alone_is_cut_into_sentences() -> None:
    assert rows([" ".join(ONE[:2]), "", ONE[2]]) == [(sentence,) for sentence in ONE[:3]]


@pytest.mark.parametrize("lines", [6, 3, 1], ids=["as many lines", "a document on a line", "one line"])
def test_documents(lines: int) -> None:
    docs = ["a", "a", "b", "b", "c", "c"]
    size = len(ONE) // lines
    other = [" ".join(ONE[start : start + size]) for start in range(0, len(ONE), size)]
    found, alignments = resegment([ONE, other], docs)
    assert [(row.texts, row.doc) for row in found] == [((s, s), doc) for s, doc in zip(ONE, docs, strict=True)]
    assert alignments[0].note("x", "y") == (
        f"x: 6 sentences on {lines} lines, aligned with 6 of y: "
        "6 one to one, 0 merged or split, 0 without a counterpart"
    )


def test_an_inserted_sentence_is_in_the_document_of_its_line() -> None:
    found, _ = resegment(
        [ONE[:4], [f"{ONE[0]} {ONE[1]}", f"A new storm is coming. {ONE[2]} {ONE[3]}"]], ["a", "a", "b", "b"]
    )
    assert [row.doc for row in found if not row.texts[0]] == ["b"]


def test_where_sentences_begin() -> None:
    found, _ = resegment(
        [["It rained.", "He stayed. She left.", "Who came?"], ["It rained, and he stayed.", "She left. Who came?"]]
    )
    assert [row.begins for row in found] == [((1, 1), (1, 1)), ((2, 2), (2, 1)), ((3, 1), (2, 2))]
    by_document = [["It rained.", "He stayed.", "Who came?"], ["It rained. He stayed.", "Who came?"]]
    found, _ = resegment(by_document, ["a", "a", "b"])
    assert [row.begins for row in found] == [((1, 1), (1, 1)), ((2, 1), (1, 2)), ((3, 1), (2, 1))]
    inserted, _ = resegment([ONE[:2], [ONE[0], "A new storm is coming to the coast.", ONE[1]]])
    assert [row.begins for row in inserted if not row.texts[0]] == [((2, 1), (2, 1))]


def test_another_text_is_told() -> None:
    _, alignments = resegment([ONE, ["Bread is baked from flour, water, salt and some yeast.", "Yes."]])
    assert alignments[0].note("x", "y").endswith("; is it the same text?")


def test_sentences_of_chinese_are_joined_without_a_space() -> None:
    assert rows(["She left, and it rained."], ["\u5979\u8d70\u4e86\u3002\u4e0b\u96e8\u4e86\u3002"])[0][1] == (
        "\u5979\u8d70\u4e86\u3002\u4e0b\u96e8\u4e86\u3002"
    )


def write(folder: Path, **texts: list[str]) -> dict[str, str]:
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {name: str(folder / name) for name in texts}


def test_files(tmp_path: Path) -> None:
    files = write(tmp_path, a=[" ".join(OTHER)], ref=ONE, src=GERMAN, docs=["x"] * 6)
    notes: list[str] = []
    corpus = read([files["a"]], notes.append, references=[files["ref"]], docids=files["docs"], resegment=True)
    assert corpus.resegmented and corpus.segments == 6 and corpus.documents
    assert [(row.texts, row.references, row.doc) for row in corpus.rows()] == [
        ((text,), (reference,), "x") for reference, text in rows(ONE, OTHER)
    ]
    assert notes[0].endswith(
        "8 sentences on 1 lines, aligned with 6 of "
        + files["ref"]
        + ": 2 one to one, 3 merged or split, 1 without a counterpart"
    )
    sourced = read([files["a"]], print, source=files["src"], resegment=True)
    assert [(row.source, row.texts[0]) for row in sourced.rows()] == rows(GERMAN, [" ".join(OTHER)])


def test_errors(tmp_path: Path) -> None:
    files = write(tmp_path, a=["She left. " * 20_000], ref=["She left."], docs=["x", "y"])
    with pytest.raises(PronmetricError, match=r"ref has 1, .*docs has 2$"):
        read([files["ref"]], print, docids=files["docs"])
    with pytest.raises(PronmetricError, match=r"expected 1 lines in `docids`, got 2"):
        read([files["a"]], print, references=[files["ref"]], docids=files["docs"], resegment=True)
    with pytest.raises(PronmetricError, match="names who says each line"):
        read([files["a"]], print, speakers=files["docs"], resegment=True)
    with pytest.raises(InputError, match="a segment of"):
        read([files["a"]], print)
    assert read([files["a"]], print, resegment=True).segments == 20_000
    with pytest.raises(PronmetricError, match=r"different numbers of lines: .*`resegment=True` aligns them"):
        read([files["ref"], files["docs"]], print)
