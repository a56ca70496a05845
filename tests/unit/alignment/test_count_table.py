"""Source tables: the words of a source, a table learned from a toy language, and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pronmetric.alignment import source_words
from pronmetric.alignment.counts import files as source_files
from pronmetric.alignment.counts.fit import Line, fit, make_line, read_parallel, work
from pronmetric.alignment.counts.table import CountTable, Item
from pronmetric.alignment.places import Links
from pronmetric.alignment.table import from_bytes, to_bytes
from pronmetric.errors import InputError, PronmetricError
from pronmetric.pronouns.classes import CLASSES
from pronmetric.pronouns.closed_class import closed_class, languages
from pronmetric.pronouns.finder import find
from pronmetric.text.words import words

VERBS = ("spi", "bega", "pije", "peva", "gleda", "plače")
ENGLISH = ("sleeps", "runs", "drinks", "sings", "looks", "weeps")
PRONOUNS = {"on": "He", "ona": "She", "mi": "We"}


@pytest.fixture(scope="module")
def toy() -> CountTable:
    """A table of a language without a closed-class table: on = he, ona = she, mi = we."""
    lines = [
        make_line(f"{source} {verb} danas .", [f"{english} {other} today ."])
        for source, english in PRONOUNS.items()
        for verb, other in zip(VERBS, ENGLISH, strict=True)
    ]
    done: list[int] = []
    table = fit(lines, "xx", advance=done.append)
    assert sum(done) == work(lines)
    return table


def item(source: str, text: str) -> Item:
    split = words(text)
    return Item(source, split, find(text, split))


def test_han_and_kana_are_split_at_forms_of_the_table() -> None:
    read = source_words.read("她们爱我 (ABC)。", closed_class("zh"))
    assert [word.text for word in read.words] == ["她们", "爱", "我", "(", "ABC", ")", "。"]
    assert read.words[1][1:] == (2, 3)
    assert [read.forms[k] for k in read.closed] == ["她们", "我"]


def test_capital_form_counts_only_inside_a_sentence() -> None:
    table = closed_class("de")
    assert source_words.read("Wenn Sie gehen", table).forms[1] == "Sie"
    assert source_words.read("Sie gehen. Sie kommen", table).forms[::3] == ("sie", "sie")


def test_every_table_cites_a_grammar_and_names_known_classes() -> None:
    assert languages() == ("cs", "de", "ha", "is", "ja", "liv", "ru", "uk", "zh")
    for language in languages():
        table = closed_class(language)
        assert {name for names in table.english.values() for name in names} <= set(CLASSES)
        assert {"i", "we", "you", "it", "they"} <= {n for form in table.pronouns for n in table.english[form]} | {"it"}


def test_a_word_without_a_link_is_between_its_neighbours() -> None:
    links = Links.read([(2, 0), (4, 2)], 4)
    assert [links.place(k, 6) for k in range(4)] == [2.0, 3.0, 4.0, 5.0]
    assert (links.of, links.linked) == ({0: 2, 2: 4}, {2, 4})


def test_words_are_linked_by_what_was_learned(toy: CountTable) -> None:
    ((source, links),) = toy.aligned([item("ona bega danas .", "She runs today .")])
    assert [(source.lower[i], j) for j, i in sorted(links.of.items())] == [
        ("ona", 0),
        ("bega", 1),
        ("danas", 2),
        (".", 3),
    ]


def test_shares_are_those_of_first_references() -> None:
    """Each form with nine further pronouns that have a counterpart, and one that has none."""
    lines = [make_line("Er schläft .", ["He sleeps .", "Sleeps ."])] * 10
    table = fit(lines, "de")
    assert table.kept == {"er": pytest.approx(1 - 1 / 20)} and table.sourced == {"he": pytest.approx(1 - 1 / 20)}


def test_english_without_a_pronoun_is_refused() -> None:
    with pytest.raises(PronmetricError, match="the English side has no pronoun in use"):
        fit([make_line("Anna schläft .", ["Anna sleeps ."])], "de")


def test_other_items_change_no_count() -> None:
    table = source_files.of_language("de")
    items = [
        item("Er sagte , sie schläft .", "He said , sleeps ."),
        item("Müde schläft Anna .", "Tired , Anna sleeps and it does ."),
        item("", "We ."),
    ]
    together = list(table.count(items))
    assert together == [next(table.count([one])) for one in items]
    assert any(each.missing for each in together) and any(each.surplus for each in together)


def test_file_keeps_the_table_and_its_bytes(toy: CountTable, tmp_path: Path) -> None:
    for name in ("one.npz", "other.npz"):
        source_files.save(tmp_path / name, toy)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()
    read = source_files.load(tmp_path / "one.npz")
    assert len(read.hash) == 8 and (read.language, read.about) == (toy.language, toy.about)
    assert read.kept == toy.kept and read.sourced == pytest.approx(toy.sourced, abs=1e-3)
    items = [item("mi spi danas .", "We sleeps .")]
    assert list(read.aligned(items)) == list(toy.aligned(items))


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"text"])
def test_other_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(InputError, match="not a table of `pronmetric baseline counts`"):
        source_files.load(tmp_path / "t.npz")


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (
            1,
            r"t\.npz: a table of counts of an older version \(format 1, expected 2\): make it again with `pronmetric",
        ),
        (3, r"t\.npz: not a table of `pronmetric baseline counts` \(format 2\)"),
    ],
)
def test_table_of_another_format_is_refused(number: int, message: str, toy: CountTable, tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    source_files.save(path, toy)
    with np.load(path) as stored:
        content = dict(stored)
    content["settings"] = to_bytes({**from_bytes(content["settings"]), "format": number})
    np.savez_compressed(path, **content)
    with pytest.raises(InputError, match=message):
        source_files.load(path)


def test_unknown_language_lists_those_there_are() -> None:
    with pytest.raises(PronmetricError, match="'tlh': expected one of cs, de, ha, is, ja, liv, ru, uk, zh, or a file"):
        source_files.of_language("tlh")


def test_shipped_tables_are_small_and_there_for_each_closed_class_table() -> None:
    assert source_files.shipped() == languages()
    folder = Path(source_files.tables.__file__).parent
    assert sum(path.stat().st_size for path in folder.glob("*.npz")) < 250_000


def test_parallel_files(tmp_path: Path) -> None:
    for name, text in (("s", "a\nb\nc\n"), ("r", "A\nB\nC\n"), ("h", "A\nX\n\n"), ("short", "A\n")):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in "srh"]
    assert list(read_parallel(files)) == [Line("a", ("A",)), Line("b", ("B", "X")), Line("c", ("C",))]
    (tmp_path / "a.po").write_text('msgid "Sie ging."\nmsgstr "She left."\n\nmsgid "Er kam."\nmsgstr "He came."\n')
    po = str(tmp_path / "a.po")
    assert list(read_parallel([po, po])) == [Line("Sie ging.", ("She left.",)), Line("Er kam.", ("He came.",))]
    with pytest.raises(InputError, match=r"1 lines, but .*s has 3"):
        list(read_parallel([files[0], str(tmp_path / "short")]))
