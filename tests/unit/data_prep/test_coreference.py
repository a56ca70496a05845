from __future__ import annotations

from pathlib import Path

import pytest

from data_prep.coreference.conll import GUM, LITBANK, Annotated, Mention, read, read_folder
from pronmetric.errors import InputError

LINES = """\
# begin document OWN_news_cat
0	Ann	(person-1-Ann(person-2
1	's	person-1-Ann)
2	vet	person-2)
3	saw	_
4	her	(person-1-Ann)(animal-3
5	cat	animal-3)
# end document
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "own.conll"
    path.write_text(text, encoding="utf-8")
    return path


def test_documents(tmp_path: Path) -> None:
    second = "# begin document OWN_other\n0\tNo\t_\n# end document\n"
    assert read(write(tmp_path, f"{LINES}\n{second}"), GUM) == [
        Annotated(
            "OWN_news_cat",
            ("Ann", "'s", "vet", "saw", "her", "cat"),
            (
                Mention(0, 3, "person-2"),
                Mention(0, 2, "person-1-Ann"),
                Mention(4, 6, "animal-3"),
                Mention(4, 5, "person-1-Ann"),
            ),
        ),
        Annotated("OWN_other", ("No",), ()),
    ]


def test_a_bracket_closes_the_last_that_its_entity_opened(tmp_path: Path) -> None:
    rows = ["0\tA\t(place-1", "1\tB\t(place-1", "2\tC\tplace-1)", "3\tD\tplace-1)"]
    (document,) = read(write(tmp_path, "\n".join(["# begin document x", *rows, "# end document"])), GUM)
    assert document.mentions == (Mention(0, 4, "place-1"), Mention(1, 3, "place-1"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("vet\tperson-2)", "vet\t_", "own.conll:2: (person-2 opens a mention that is not closed"),
        (
            "Ann\t(person-1-Ann(person-2",
            "Ann\t(person-1-Ann",
            "own.conll:4: person-2) closes a mention that was not opened",
        ),
        ("saw\t_", "saw\tperson-1", "own.conll:5: expected brackets as (person-1, person-1) or _, got 'person-1'"),
        ("saw\t_", "saw\t((person-1)", "own.conll:5: expected brackets as (person-1, person-1) or _"),
        ("saw\t_", "saw\t", "own.conll:5: expected brackets as (person-1, person-1) or _, got ''"),
        ("3\tsaw\t_", "4\tsaw\t_", "own.conll:5: expected 3, a token and its brackets, separated by tabs, got '4"),
        ("3\tsaw\t_", "3\tsaw", "own.conll:5: expected 3, a token and its brackets"),
        ("3\tsaw\t_", "3\t\t_", "own.conll:5: expected 3, a token and its brackets"),
        ("# end document", "", "own.conll: OWN_news_cat has no '# end document': the file is cut off"),
        ("# end document", "# begin document y", "own.conll:8: expected '# end document' before the next document"),
        ("# begin document OWN_news_cat", "", "own.conll:2: expected '# begin document NAME', got '0\\tAnn"),
        (LINES, "", "own.conll:1: holds no document; expected '# begin document NAME'"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in LINES
    with pytest.raises(InputError) as error:
        read(write(tmp_path, LINES.replace(old, new)), GUM)
    assert message in str(error.value)


@pytest.mark.shared
def test_the_shared_documents(shared: Path) -> None:
    (document,) = read(shared / "data" / "gum-coref" / "GENTLE_dictionary_next.conll", GUM)
    assert document.name == "GENTLE_dictionary_next" and len(document.tokens) == 657
    assert Mention(22, 24, "abstract-10-Middle_English") in document.mentions


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected \.conll files with annotated coreference"):
        read_folder(tmp_path)
    for name in ("b", "a"):
        text = f"# begin document {name}\n0\tNo\t_\n# end document\n"
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    assert [document.name for document in read_folder(tmp_path)] == ["a", "b"]


# LitBank

SENTENCES = """\
#begin document (1_own_story_brat); part 0
1_own_story_brat	0	0	Ann	_	_	_	_	_	_	_	_	(0|(1)
1_own_story_brat	0	1	Lee	_	_	_	_	_	_	_	_	0)
1_own_story_brat	0	2	.	_	_	_	_	_	_	_	_	

1_own_story_brat	0	0	She	_	_	_	_	_	_	_	_	(0)
#end document
"""


def test_documents_of_litbank(tmp_path: Path) -> None:
    mentions = (Mention(0, 2, "0"), Mention(0, 1, "1"), Mention(3, 4, "0"))
    document = Annotated("1_own_story_brat", ("Ann", "Lee", ".", "She"), mentions)
    assert read(write(tmp_path, SENTENCES), LITBANK) == [document]
    assert read(write(tmp_path, SENTENCES * 2), LITBANK) == [document, document]


def test_a_folder_may_hold_both_forms(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(SENTENCES, encoding="utf-8")
    (tmp_path / "b.conll").write_text(LINES, encoding="utf-8")
    assert [document.name for document in read_folder(tmp_path)] == ["1_own_story_brat", "OWN_news_cat"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Lee\t_\t_\t_\t_\t_\t_\t_\t_\t0)", "Lee\t_\t_\t_\t_\t_\t_\t_\t_\t_", "own.conll:2: (0 opens a mention that"),
        ("(0|(1)", "(1)", "own.conll:3: 0) closes a mention that was not opened"),
        ("(0|(1)", "(0|1", "own.conll:2: expected brackets as (1|(2) or 1), or nothing, got '(0|1'"),
        ("(0|(1)", "(0(1)", "own.conll:2: expected brackets as (1|(2) or 1), or nothing, got '(0(1)'"),
        ("\t0\t0\tShe", "\t0\tShe", "own.conll:6: expected 13 columns, separated by tabs, the token in column 4"),
        ("\tShe\t", "\t\t", "own.conll:6: expected 13 columns"),
        ("#end document", "", "own.conll: 1_own_story_brat has no '#end document': the file is cut off"),
        ("#end", "#begin document (x); part 0\n#end", "own.conll:7: expected '#end document' before the next document"),
        ("#begin document (", "#begin (", "own.conll:1: expected '#begin document (NAME); part 0', got"),
        (SENTENCES, "", "own.conll:1: holds no document; expected '#begin document (NAME); part 0'"),
    ],
)
def test_faults_of_litbank_name_file_and_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SENTENCES
    with pytest.raises(InputError) as error:
        read(write(tmp_path, SENTENCES.replace(old, new)), LITBANK)
    assert message in str(error.value)


@pytest.mark.shared
def test_the_shared_documents_of_litbank(shared: Path) -> None:
    (document,) = read(shared / "data" / "litbank-coref" / "1023_bleak_house_brat.conll", LITBANK)
    assert document.tokens[:5] == ("CHAPTER", "I", "In", "Chancery", "London")
    assert document.mentions[:2] == (Mention(3, 4, "0"), Mention(4, 5, "1"))
