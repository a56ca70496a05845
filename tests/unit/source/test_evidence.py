"""Evidence from the source: words, features, a table learned from a toy language, its file, the combined score."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from pronmetric.errors import InputError, PronmetricError
from pronmetric.pronouns.classes import CLASSES
from pronmetric.pronouns.closed_class import closed_class, languages
from pronmetric.pronouns.finder import find
from pronmetric.source import files as source_files
from pronmetric.source import words as source_words
from pronmetric.source.evidence import Combination, Item, SourceTable
from pronmetric.source.features import Counted, Links, features
from pronmetric.source.fit import fit, make_line, read_parallel, work
from pronmetric.text.context import Source
from pronmetric.text.words import words

VERBS = ("spi", "bega", "pije", "peva", "gleda", "plače")
ENGLISH = ("sleeps", "runs", "drinks", "sings", "looks", "weeps")
PRONOUNS = {"on": "He", "ona": "She", "mi": "We"}


@pytest.fixture(scope="module")
def toy() -> SourceTable:
    """A table of a language without a closed-class table: on = he, ona = she, mi = we."""
    lines = [
        make_line(Source(f"{source} {verb} danas ."), [f"{english} {other} today ."])
        for source, english in PRONOUNS.items()
        for verb, other in zip(VERBS, ENGLISH, strict=True)
    ]
    done: list[int] = []
    table = fit(lines, "xx", advance=done.append)
    assert sum(done) == work(lines)
    return table


def log_odds(table: SourceTable, source: Source, text: str) -> list[float]:
    split = words(text)
    (found,) = table.evidence([Item(source, split, find(text, split))])
    return [one.log_odds for one in found]


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


def test_features_of_a_linked_and_of_an_unlinked_pronoun() -> None:
    table = closed_class("de")
    source = source_words.read("Gestern schlief er", table)
    counted = Counted(source_words.classes(source, table), source_words.classes(source, table))
    linked = {f.name: (f.value, f.at) for f in features(source, counted, Links.read([(2, 0), (1, 1)], 2), 0, table)}
    assert linked["l=er"] == (1.0, 2) and linked["v1$ef"] == (1.0, 1)
    assert linked["s=he|it"] == (math.log1p(1), -1) and "c=he|it" in linked
    free = {f.name: f.value for f in features(source, counted, Links.read([(1, 1)], 2), 0, table)}
    assert free["l="] == 1.0 and free["w=er"] == pytest.approx(1 / 3)  # its place is 0: er is two words away


def test_source_supports_its_pronoun_and_contradicts_another(toy: SourceTable) -> None:
    source = Source("ona bega danas .")
    (she,), (he,) = log_odds(toy, source, "She runs today ."), log_odds(toy, source, "He runs today .")
    assert she > 1 and he < she - 1
    (evidence,) = next(toy.evidence([Item(source, words("She runs today ."), find("She runs today ."))]))
    assert (evidence.word, evidence.start, evidence.end) == ("ona", 0, 3)


def test_no_source_word_is_no_evidence(toy: SourceTable) -> None:
    assert log_odds(toy, Source(" "), "She runs today .") == [0.0]


def test_demonstrative_has_the_evidence_of_the_personal_pronoun_it_competes_with(toy: SourceTable) -> None:
    source = Source("ona bega danas .")
    she, it, this, that = (log_odds(toy, source, f"{form} runs today .")[0] for form in ("She", "It", "This", "That"))
    assert this == it == that < 0 < she
    they, these = (log_odds(toy, source, f"{form} run today .")[0] for form in ("They", "These"))
    assert these == they < 0


def test_no_source_supports_it_or_this() -> None:
    """Otherwise "it" would gain on "this" and on "that" wherever a source has a neuter pronoun."""
    table = source_files.of_language("de")
    assert [log_odds(table, Source("Es ist neu."), f"{form} is new.") for form in ("It", "This", "That")] == [[0.0]] * 3
    assert log_odds(table, Source("Ich bin neu."), "I am new.")[0] > 0


def test_relatives_have_no_evidence(toy: SourceTable) -> None:
    assert log_odds(toy, Source("ona bega danas ."), "A dog , which sings .") == [0.0]


def test_other_items_change_no_evidence(toy: SourceTable) -> None:
    items = [
        Item(Source(f"{source} {verb} danas ."), words(text), find(text))
        for source, verb, text in (("ona", "bega", "She runs ."), ("mi", "spi", "He sleeps today ."), ("", "", "We ."))
    ]
    together = list(toy.evidence(items))
    assert together == [next(toy.evidence([item])) for item in items]


def test_file_keeps_the_table_and_its_bytes(toy: SourceTable, tmp_path: Path) -> None:
    for name in ("one.npz", "other.npz"):
        source_files.save(tmp_path / name, toy)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()
    read = source_files.load(tmp_path / "one.npz")
    assert len(read.hash) == 8 and read.combination == toy.combination
    np.testing.assert_allclose(read.weights, toy.weights, atol=1 / 32)
    assert read.kept == toy.kept and read.sourced == pytest.approx(toy.sourced, abs=1e-3)
    source = Source("mi spi danas .")
    assert log_odds(read, source, "We sleeps .") == pytest.approx(log_odds(toy, source, "We sleeps ."), abs=0.3)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"text"])
def test_other_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(InputError, match="not a table of `pronmetric train-source`"):
        source_files.load(tmp_path / "t.npz")


def test_unknown_language_lists_those_there_are() -> None:
    with pytest.raises(PronmetricError, match="'tlh': expected one of cs, de, ha, is, ja, liv, ru, uk, zh, or a file"):
        source_files.of_language("tlh")


def test_shipped_tables_are_small_and_there_for_each_closed_class_table() -> None:
    assert source_files.shipped() == languages()
    folder = Path(source_files.tables.__file__).parent
    assert sum(path.stat().st_size for path in folder.glob("*.npz")) < 400_000


@pytest.mark.parametrize(
    ("language", "source", "right", "wrong"),
    [
        ("de", "Er hat seine Schwester gesehen.", "He has seen his sister.", "She has seen her sister."),
        ("ru", "Она сказала, что она устала.", "She said that she was tired.", "He said that he was tired."),
        ("zh", "她说她的丈夫很累。", "She said her husband was tired.", "He said his husband was tired."),
        ("uk", "Вона читає свою книгу.", "She is reading her book.", "He is reading his book."),
    ],
)
def test_shipped_table_prefers_the_gender_of_the_source(language: str, source: str, right: str, wrong: str) -> None:
    table = source_files.of_language(language)
    better, worse = (log_odds(table, Source(source), text) for text in (right, wrong))
    assert all(a > b for a, b in zip(better, worse, strict=True))


def test_combination_weighs_logits() -> None:
    one = Combination(logit=1.0, evidence=0.5, bias=-1.0)
    (p,) = one.probabilities([0.5], [4.0])
    assert p == pytest.approx(1 / (1 + math.exp(-1.0)))  # 0 + 0.5 * 4 - 1
    assert Combination(1.0, 0.5, 0.0).probabilities([0.25], [0.0]) == [pytest.approx(0.25)]


def test_parallel_files(tmp_path: Path) -> None:
    for name, text in (("s", "a\nb\nc\n"), ("r", "A\nB\nC\n"), ("h", "A\nX\n\n"), ("d", "1\n1\n2\n"), ("short", "A\n")):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in "srh"]
    lines = list(read_parallel(files, docids=str(tmp_path / "d")))
    assert [line.source for line in lines] == [Source("a"), Source("b", ("a",)), Source("c")]
    assert lines[0].texts == {"A": 1.0} and lines[1].texts == {"B": 0.5, "X": 0.5} and lines[2].texts == {"C": 1.0}
    with pytest.raises(InputError, match=r"1 lines, but .*s has 3"):
        list(read_parallel([files[0], str(tmp_path / "short")]))
