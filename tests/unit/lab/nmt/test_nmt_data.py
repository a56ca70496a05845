"""What each system reads of a passage, and how documents are read and held out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pronmetric.errors import InputError
from pronmetric.lab.nmt.data import Passage, Reader, corrupted, passages, read_documents, with_draft
from pronmetric.lab.nmt.pieces import BEGIN, CONTEXT, END, FIRST, SEPARATOR, Pieces
from pronmetric.lab.nmt.training import split
from tests.unit.lab.nmt.test_nmt_model import make_shape

PIECES = Pieces.train(["a b c", "x y z"], size=300)
PASSAGE = Passage(("a", "b", "c"), ("x", "y", "z"))
A, B, C, X, Y, Z = (ids for text in "abcxyz" for ids in PIECES.encode([text])[0])


def reader(**switches: object) -> Reader:
    return Reader(PIECES, make_shape(**switches))


def test_a_sentence_is_read_alone_without_context() -> None:
    (row,) = reader().rows([PASSAGE])
    assert row == ([C, END], [], [], [], [BEGIN, Z, END])
    assert reader().prefix(["x", "y"]) == [BEGIN]


@pytest.mark.parametrize(
    ("context", "source", "target", "prefix"),
    [
        ("concat21", [B, SEPARATOR, C, END], [BEGIN, Z, END], [BEGIN]),
        ("concat22", [B, SEPARATOR, C, END], [BEGIN, Y, SEPARATOR, Z, END], [BEGIN, Y, SEPARATOR]),
        (
            "concatN",
            [A, SEPARATOR, B, SEPARATOR, C, END],
            [BEGIN, X, SEPARATOR, Y, SEPARATOR, Z, END],
            [BEGIN, X, SEPARATOR, Y, SEPARATOR],
        ),
    ],
)
def test_a_concatenation_reads_the_previous_sentences_as_one_text(
    context: str, source: list[int], target: list[int], prefix: list[int]
) -> None:
    made = reader(context=context)
    (row,) = made.rows([PASSAGE])
    assert (row.source, row.target, row.context, row.target_context) == (source, target, [], [])
    assert made.prefix(["x", "y"]) == prefix and made.prefix([]) == [BEGIN]


def test_a_context_encoder_reads_the_previous_sentences_after_a_mark() -> None:
    (row,) = reader(context_encoder="shared_gate").rows([PASSAGE])
    assert (row.source, row.context, row.target) == ([C, END], [[CONTEXT, A, SEPARATOR, B, END]], [BEGIN, Z, END])
    (row,) = reader(context_encoder="s-t-hier").rows([PASSAGE])
    assert (row.context, row.target_context) == ([[CONTEXT, B, END]], [[CONTEXT, Y, END]])
    (row,) = reader(context_encoder="s-hier-to-2").rows([PASSAGE])
    assert (row.context, row.target_context) == ([[CONTEXT, B, END]], [])
    assert row.target == [BEGIN, Y, SEPARATOR, Z, END]
    (row,) = reader(context_encoder="s-hier").rows([Passage(("c",), ("z",))])
    assert row.context == [[CONTEXT, END]]


def test_cadec_reads_each_sentence_and_the_drafts() -> None:
    (row,) = reader(cadec=True).rows([PASSAGE], [[X]])
    assert row.context == [[A, END], [B, END], [C, END]]
    assert row.target_context == [[BEGIN, X, END], [BEGIN, Y, END], [BEGIN, X, END]]
    (row,) = reader(cadec=True).rows([Passage(("c",), ("z",))], [[X]])
    assert row.context == [[END], [END], [C, END]]
    assert with_draft(row, [Y, Y]).target_context == [[BEGIN, END], [BEGIN, END], [BEGIN, Y, Y, END]]


def test_a_share_of_the_pieces_is_replaced() -> None:
    drawn = np.random.default_rng(1)
    ids = [FIRST] * 5000
    made = corrupted(ids, noise=0.2, pieces=300, drawn=drawn)
    assert sum(a != b for a, b in zip(ids, made, strict=True)) / 5000 == pytest.approx(0.2, abs=0.03)
    assert min(made) >= FIRST and max(made) < 300
    assert corrupted(ids, noise=0.0, pieces=300, drawn=drawn) == ids


def test_no_text_is_unknown_and_marks_do_not_occur_in_it() -> None:
    text = "<s> </s>  ﷺ 🙂 \\0end"
    (ids,) = PIECES.encode([text])
    assert PIECES.encode(["", " "]) == [[], []]
    assert min(ids) >= FIRST and PIECES.decode([BEGIN, *ids, END]) == text


def test_documents_come_through_the_door(tmp_path: Path) -> None:
    cues = "1\n00:00:01,000 --> 00:00:02,000\nAnna kam.\n\n2\n00:00:02,500 --> 00:00:03,000\nSie ging.\n"
    (tmp_path / "a.srt").write_text(cues)
    (tmp_path / "a.csv").write_text("src,mt\nAnna kam.,Anna came.\nSie ging.,She left.\n,\n")
    notes: list[str] = []
    both = [(["Anna kam.", "Sie ging."], ["Anna came.", "She left."])]
    for source in ("a.srt", "a.csv"):
        assert read_documents(str(tmp_path / source), str(tmp_path / "a.csv"), None, notes.append) == both
    assert notes == [f"{tmp_path / 'a.csv'}: left out: 1 empty row"] * 3
    (tmp_path / "a.po").write_text('msgid "Sie ging."\nmsgstr "She left."\n')
    with pytest.raises(InputError, match=r"a\.po: is PO, whose strings are no running text"):
        read_documents(str(tmp_path / "a.po"), None, None, print)


def test_documents_are_read_by_their_ids(tmp_path: Path) -> None:
    files = {"s": "a\nb\n\nc\n", "t": "x\ny\nw\nz\n", "d": "1\n1\n1\n2\n", "short": "x\n", "none": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    source, target, docids, short, none = (str(tmp_path / name) for name in files)
    documents = read_documents(source, target, docids, print)
    assert documents == [(["a", "b", ""], ["x", "y", "w"]), (["c"], ["z"])]
    found = list(passages(documents, make_shape(context="concat21")))
    assert found == [Passage(("a",), ("x",)), Passage(("a", "b"), ("y",)), Passage(("c",), ("z",))]
    assert read_documents(source, None, None, print) == [(["a", "b", "", "c"], ["", "", "", ""])]
    with pytest.raises(InputError, match=f"short: 1 lines, but {source} has 4"):
        read_documents(source, short, None, print)
    with pytest.raises(InputError, match="none: expected text, got an empty file"):
        read_documents(none, None, None, print)


def test_whole_documents_are_held_out_and_blocks_of_a_single_one() -> None:
    documents = [([f"s{k}"], [f"t{k}"]) for k in range(40)]
    train, held_out = split(documents, share=0.1, seed=1)
    assert len(held_out) == 4 and sorted([*train, *held_out]) == sorted(documents)
    assert split(documents, share=0.1, seed=1) == (train, held_out) != split(documents, share=0.1, seed=2)
    lines = [str(k) for k in range(45)]
    train, held_out = split([(lines, lines)], share=0.01, seed=1)
    assert sorted(len(source) for source, _ in [*train, *held_out]) == [5, 20, 20] and len(held_out) == 1
    with pytest.raises(InputError, match="expected two documents, or more than 20 lines"):
        split([(["a"], ["x"])], share=0.5, seed=1)
