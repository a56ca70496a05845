"""A study drawn from one's own table of sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.lab.study import candidates, folder
from pronmetric.lab.study.folder import Item
from pronmetric.pronouns.languages import language

ROWS = (
    ("reference", "other", "doc", "antecedent", "group"),
    ("She sold the lamp.", "He sold the lamp.", "a", "", "de"),
    ("It was old.", "He was old.", "a", "1", "de"),
    ("It was old.", "She was old.", "a", "1", "de"),
    ("Nobody saw it.", "Nobody saw him.", "a", "", "de"),
    ("It shone.", "He shone.", "a", "3", "de"),
    ("He ran.", "They ran.", "b", "", "fr"),
)


def table(path: Path, *rows: tuple[str, ...]) -> str:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def read(path: str) -> tuple[list[Item], list[str]]:
    notes: list[str] = []
    return candidates.read(path, split=None, note=notes.append), notes


def test_pronouns_are_found_and_the_context_reaches_the_antecedent(tmp_path: Path) -> None:
    items, notes = read(table(tmp_path / "pairs.tsv", *ROWS))
    assert notes == []
    assert [item.pronouns for item in items] == [
        *(("she", "he"), ("it", "he"), ("it", "she"), ("it", "him"), ("it", "he"), ("he", "they"))
    ]
    assert [item.context for item in items] == [
        (),
        ("She sold the lamp.",),
        ("She sold the lamp.",),  # the same sentence
        ("She sold the lamp.", "It was old."),
        ("She sold the lamp.", "It was old.", "Nobody saw it."),
        (),  # another document
    ]
    assert [item.language for item in items] == ["de"] * 5 + ["fr"] and items[0].id == "2"


def test_a_context_of_ones_own_is_shown(tmp_path: Path) -> None:
    rows = ("other", "context", "reference", "source"), ("He fell.", "Ann slipped.", "She fell.", "Sie fiel.")
    (item,), _ = read(table(tmp_path / "pairs.tsv", *rows))
    assert (item.context, item.source, item.text_a, item.language) == (
        ("Ann slipped.",),
        "Sie fiel.",
        "She fell.",
        "all",
    )


def test_pairs_without_context_are_noted(tmp_path: Path) -> None:
    (item,), notes = read(table(tmp_path / "pairs.tsv", ("reference", "other"), ("She fell.", "He fell.")))
    assert item.context == () and "without the sentences before" in notes[0]


@pytest.mark.parametrize(
    ("rows", "line", "said"),
    [
        ([("reference", "text")], 1, "there is no other"),
        ([("reference", "other", "colour")], 1, "unknown column 'colour'"),
        ([("reference", "other", "other")], 1, "two columns are named other"),
        ([("reference", "other"), ("She fell.",)], 2, "expected 2 cells, got 1"),
        ([("reference", "other"), ("She fell.", "He slipped.")], 2, "differ in a pronoun and in nothing else"),
        ([("reference", "other"), ("She fell.", "She fell.")], 2, "differ in a pronoun and in nothing else"),
        ([("reference", "other", "doc", "antecedent"), ("She fell.", "He fell.", "a", "x")], 2, "got 'x'"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(tmp_path: Path, rows: list[tuple[str, ...]], line: int, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(table(tmp_path / "pairs.tsv", *rows))
    assert said in str(refused.value) and f"pairs.tsv:{line}" in str(refused.value)


GERMAN = (
    ("reference", "other", "doc", "source", "group"),
    ("Sie flackert.", "Er flackert.", "a", "It flickers.", "en"),
    ("Ich mag sie.", "Ich mag es.", "a", "I like it.", "en"),
)


def test_the_pronouns_of_a_table_are_those_of_its_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, to = table(tmp_path / "pairs.tsv", *GERMAN), str(tmp_path / "study")
    flags = ["-o", to, "--balance", "level", "--repeated", "0", "--annotators", "1"]
    assert main(["study", "sample", path, *flags]) == 1
    assert "(the language is en; --lang names another)" in capsys.readouterr().err
    assert main(["study", "sample", path, *flags, "--lang", "deu_DE"]) == 0
    study = folder.read(to)
    assert [item.pronouns for item in study.items.values()] == [("sie", "er"), ("sie", "es")]
    assert (study.design.target, study.design.language) == ("de", language("de"))
    assert main(["study", "page", to, "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "such as er, sie or es" in page and "Your sentences are in German" in page
    assert main(["study", "sample", path, "-o", f"{to}2", "--lang", "sv"]) == 1
    assert "no table of pronouns for 'sv'" in capsys.readouterr().err


def test_one_command_draws_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "pairs.tsv", *ROWS)
    assert main(["study", "sample", path, "-o", str(tmp_path / "study"), "--balance", "level", "--repeated", "0"]) == 0
    assert "de" in capsys.readouterr().out
    assert len(folder.read(str(tmp_path / "study")).items) == 6
