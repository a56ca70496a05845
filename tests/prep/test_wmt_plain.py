"""Plain files: a reference, one file a system, perhaps a source and document ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_prep.wmt import discovery, plain
from data_prep.wmt.corpus import read_testset
from data_prep.wmt.testset import TestSet
from pronmetric.errors import InputError


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")
    return folder


def found(folder: Path) -> TestSet:
    (testset,) = plain.find(sorted(folder.iterdir()))
    return testset


def test_the_layout(root: Path) -> None:
    testset = found(root / "tests" / "fixtures" / "wmt" / "plain" / "lighthouse.fr-en")
    assert (testset.name, testset.lp, testset.year) == ("lighthouse", "fr-en", None)
    assert [(part.role, part.name) for part in testset.parts] == [
        ("docids", ""),
        ("hyp", "North"),
        ("hyp", "online.A"),
        ("ref", "ref"),
        ("ref", "ref.B"),
        ("src", ""),
    ]
    lamp, gull = discovery.read(testset)
    assert (lamp.doc, len(lamp.segments), lamp.exact) == ("lamp", 2, True)
    assert (gull.doc, gull.segments[0].seg) == ("gull", 3)
    assert gull.segments[0].refs == {"ref": "A gull watched him.", "ref.B": "He was watched by a gull."}


def test_without_ids_there_is_one_inexact_document(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", ref__txt="She left.\nIt rained.\n", North__txt="He left.\nIt rained.\n")
    (document,) = discovery.read(found(folder))
    assert (document.testset, document.lp, document.exact) == ("mine", "und-en", False)


def test_the_source_may_give_the_language(tmp_path: Path) -> None:
    testset = found(write(tmp_path / "mine", ref__txt="x\n", src__de__txt="y\n", North__txt="z\n"))
    assert testset.lp == "de-en"
    assert [part.name for part in testset.having("hyp")] == ["North"]


@pytest.mark.parametrize("names", [("ref", "North"), ("ref.en", "North.en"), ("reference.txt", "North.txt")])
def test_endings(tmp_path: Path, names: tuple[str, str]) -> None:
    folder = write(tmp_path / "mine.de-en", **dict.fromkeys(names, "x\n"), notes__md="no system")
    testset = found(folder)
    assert [part.name for part in testset.having("hyp")] == ["North"]
    assert len(testset.parts) == 2


@pytest.mark.parametrize(
    ("folder", "named"),
    [
        ("mine.en-de", ("mine", "en-de")),
        ("mine-cs-uk", ("mine", "cs-uk")),
        ("mine.en-sv", ("mine.en-sv", "und-en")),  # no table of pronouns
        ("my-set", ("my-set", "und-en")),
        ("new_src-de", ("new_src-de", "und-en")),
    ],
)
def test_the_pair_of_a_folder_may_be_out_of_english(tmp_path: Path, folder: str, named: tuple[str, str]) -> None:
    testset = found(write(tmp_path / folder, ref__txt="x\n", North__txt="x\n"))
    assert (testset.name, testset.lp) == named


def test_files_may_end_in_the_code_of_the_target(tmp_path: Path) -> None:
    testset = found(write(tmp_path / "mine.en-de", ref__de="x\n", North__de="x\n"))
    assert sorted((part.role, part.name) for part in testset.parts) == [("hyp", "North"), ("ref", "ref")]


@pytest.mark.parametrize("name", ["refs.txt", "myref.txt", "newstest2021.de-en.ref.A.en", "North.txt"])
def test_a_folder_without_a_reference_is_none(tmp_path: Path, name: str) -> None:
    assert plain.find(sorted(write(tmp_path / "mine", **{name: "x\n"}).iterdir())) == []


def test_a_system_of_another_length(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", ref__txt="She left.\nIt rained.\n", North__txt="He left.\n")
    with pytest.raises(InputError, match=r"ref\.txt:2: 2 lines, but .*North\.txt has 1"):
        list(discovery.read(found(folder)))


def test_a_document_that_comes_back(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", ref__txt="x\n" * 4, North__txt="y\n" * 4, docids__txt="a\na\nb\na\n")
    with pytest.raises(InputError, match=r"docids\.txt:4: document 'a' comes back"):
        list(discovery.read(found(folder)))


def test_speakers(tmp_path: Path) -> None:
    """Its lines name who speaks, in the contexts of rows to score."""
    lines = ["I saw her.", "You did?", "I told you so."]
    ours, theirs = (
        "".join(f"{line}\n" for line in each) for each in (lines, [line.replace("I", "We") for line in lines])
    )
    folder = write(tmp_path / "mine.de-en", ref__txt=ours, North__txt=theirs, speakers__txt="Ann\n\nAnn \n")
    (document,) = discovery.read(found(folder))
    assert [segment.speaker for segment in document.segments] == ["Ann", "", "Ann"] and [
        *document.segments[0].hyps
    ] == ["North"]
    corpus = read_testset(found(folder), None, print)
    contexts = [each[0][0] for _, each in corpus.in_context("common", size=2)]
    assert contexts == ["Ann:", "Ann: I saw her.", "Ann: I saw her. You did? Ann:"]


def test_a_tab_in_a_speaker(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", ref__txt="x\n", North__txt="y\n", speakers__txt="Ann\tx\n")
    with pytest.raises(InputError, match=r"speakers\.txt:1: a tab in a speaker's name"):
        list(discovery.read(found(folder)))
