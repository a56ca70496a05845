from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.suites.gum import Annotated, Mention, read, read_folder

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
    assert read(write(tmp_path, f"{LINES}\n{second}")) == [
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
    (document,) = read(write(tmp_path, "\n".join(["# begin document x", *rows, "# end document"])))
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
        read(write(tmp_path, LINES.replace(old, new)))
    assert message in str(error.value)


@pytest.mark.shared
def test_the_shared_documents(shared: Path) -> None:
    (document,) = read(shared / "data" / "gum-coref" / "GENTLE_dictionary_next.conll")
    assert document.name == "GENTLE_dictionary_next" and len(document.tokens) == 657
    assert Mention(22, 24, "abstract-10-Middle_English") in document.mentions


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected GUM's \.conll files in it"):
        read_folder(tmp_path)
    for name in ("b", "a"):
        text = f"# begin document {name}\n0\tNo\t_\n# end document\n"
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    assert [document.name for document in read_folder(tmp_path)] == ["a", "b"]
