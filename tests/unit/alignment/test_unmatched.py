"""Missing and surplus pronouns: which pronouns of a source and a translation correspond, and what counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from pronmetric.alignment import source_words
from pronmetric.alignment.counts.fit import fit, make_line
from pronmetric.alignment.counts.table import RELIABLE, CountTable, Item
from pronmetric.alignment.places import Links
from pronmetric.alignment.unmatched import unmatched
from pronmetric.pronouns.closed_class import closed_class
from pronmetric.pronouns.finder import find
from pronmetric.text.words import words


def found(
    source: str, text: str, links: Iterable[tuple[int, int]], language: str = "de"
) -> tuple[list[str], list[str]]:
    """The missing source words and the surplus pronouns; links: (source word, English word)."""
    table, split = closed_class(language), words(text)
    read, pronouns = source_words.read(source, table), find(text, split)
    left = unmatched(read, table, split, pronouns, Links.read(links, len(split)))
    return [read.words[k].text for k in left.missing], [pronouns[k].text for k in left.surplus]


@pytest.mark.parametrize(
    ("source", "text", "links", "expected"),
    [
        ("Er sagte , sie schläft .", "He said , sleeps .", [(0, 0), (1, 1), (4, 3)], (["sie"], [])),
        ("Er schläft .", "He sleeps .", [(0, 0), (1, 1)], ([], [])),
        ("Er schläft .", "She sleeps .", [(1, 1)], ([], [])),  # the wrong form in its place: not missing
        ("Er schläft .", "Then Miller sleeps .", [(1, 2)], ([], [])),  # a name in its place
        ("Er schläft .", "The dog sleeps .", [(0, 1), (1, 2)], ([], [])),  # linked to a noun
        ("Müde schläft Anna .", "Tired , Anna sleeps and he does .", [(0, 0), (2, 2), (1, 3), (3, 7)], ([], ["he"])),
        ("Anna schläft .", "Anna sleeps and it is tired .", [(0, 0), (1, 1)], ([], ["it"])),
        ("Der Hund wäscht sich .", "The dog washes himself .", [(1, 1)], ([], [])),  # another form shows the person
        ("Sie sieht ihn .", "She sees him .", [], ([], [])),  # without links: by the form
    ],
)
def test_pronouns_without_a_counterpart(
    source: str, text: str, links: list[tuple[int, int]], expected: tuple[list[str], list[str]]
) -> None:
    assert found(source, text, links) == expected


def test_subject_of_a_verb_that_shows_its_person_has_a_source() -> None:
    assert found("Пришёл .", "He came .", [(0, 1)], "ru") == ([], ["He"])
    assert found("Пришёл .", "He came .", [(0, 0)], "ru") == ([], [])


@pytest.fixture(scope="module")
def table() -> CountTable:
    """German with an aligner that knows no word; references keep "er" and leave out "mir"."""
    verbs = {"schläft": "sleeps", "läuft": "runs", "singt": "sings", "trinkt": "drinks"}
    lines = [
        make_line(f"{name} sagte , er {verb} mit mir .", [f"{name} said he {english} ."])
        for name in ("Anna", "Maria", "Peter")
        for verb, english in verbs.items()
    ]
    return fit(lines * 4, "de")


def test_only_forms_that_references_keep_count(table: CountTable) -> None:
    assert table.kept["er"] >= RELIABLE > table.kept["mir"]
    text = "Anna said runs ."
    item = Item("Anna sagte , er läuft mit mir .", words(text), find(text))
    (counted,) = table.count([item])
    assert [word.text for word in counted.missing] == ["er"]
    assert counted.missing[0][1:] == (13, 15)


def test_surplus_counts_where_references_have_a_source(table: CountTable) -> None:
    text = "Anna said he runs and we run ."
    item = Item("Anna sagte , er läuft .", words(text), find(text))
    (counted,) = replace(table, sourced={"we": 0.95}).count([item])
    assert [item.pronouns[k].text for k in counted.surplus] == ["we"]
    (counted,) = replace(table, sourced={"we": 0.6}).count([item])
    assert counted.surplus == ()
