"""The agreement filter: the grammar rule, people's table, none."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from data_prep.filters import agreement_filter, filter_pair, interchangeable
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import FORMS
from pronmetric.schema import Mismatch, Pair

HEADER = "ref_pronoun\tnoisy_pronoun\tentry\tac1\tref\ttie\tsys\n"


def test_the_grammar_rule_names_these_pairs_and_no_other() -> None:
    alike = {tuple(sorted(pair)) for pair in permutations(FORMS, 2) if interchangeable(*pair)}
    assert alike == {
        ("that", "this"),
        ("these", "those"),
        ("that", "who"),
        ("that", "whom"),
        ("who", "whom"),
    }


def table(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "agreement.tsv"
    path.write_text(HEADER + "".join(line.replace(" ", "\t") + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_a_table_keeps_what_people_agree_on(tmp_path: Path) -> None:
    keep = agreement_filter(
        table(
            tmp_path,
            "he she 1 0.1 1 1 1",  # one entry: only the sum counts
            "he she sum 0.9 5 1 3",
            "he it sum 0.8 9 0 1",
            "he they sum 0.79 9 0 1",  # too little agreement
            "that this sum 0.9 2 2 0",  # a tie as often
        ),
        min_agreement=0.8,
    )
    assert keep("he", "she") and keep("he", "it")
    assert not keep("he", "they") and not keep("that", "this")
    assert not keep("she", "he"), "the table has a direction, and what it lacks is dropped"


@pytest.mark.parametrize("line", ["he she sum", "he she sum high 1 1 1", "he she sum 0.9 1 1 1 1"])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"agreement\.tsv:3: expected 7 columns"):
        agreement_filter(table(tmp_path, "he it sum 0.8 9 0 1", line), min_agreement=0.8)


def test_a_table_of_something_else_and_an_empty_result_are_errors(tmp_path: Path) -> None:
    (tmp_path / "other.tsv").write_text("a\tb\n")
    with pytest.raises(InputError, match="expected the tab-separated columns"):
        agreement_filter(str(tmp_path / "other.tsv"), min_agreement=0.8)
    with pytest.raises(InputError, match=r"ac1 >= 0\.95"):
        agreement_filter(table(tmp_path, "he it sum 0.8 9 0 1"), min_agreement=0.95)
    with pytest.raises(InputError, match="grammer: expected grammar, none or the file"):
        agreement_filter(str(tmp_path / "grammer"), min_agreement=0.8)


def pair(*found: Mismatch) -> Pair:
    return Pair("i", "system", "t", "de-en", "d", 1, "A", "N", "x", "y", (), (), found)


def test_only_refused_pronoun_mismatches_go() -> None:
    demonstrative = Mismatch("pronoun", "this", "that", 0, 4, 0, 4)
    personal = Mismatch("pronoun", "he", "it", 5, 7, 5, 7)
    nothing = Mismatch("nothing", "him", "", 8, 11, -1, -1)
    keep = agreement_filter("grammar", min_agreement=0.8)
    assert filter_pair(pair(demonstrative), keep) is None
    assert filter_pair(pair(demonstrative, personal, nothing), keep) == pair(personal, nothing)
    assert filter_pair(pair(demonstrative), agreement_filter("none", min_agreement=0.8)) == pair(demonstrative)


@pytest.mark.shared
def test_the_published_table_keeps_156_pairs(shared: Path) -> None:
    keep = agreement_filter(str(shared / "data" / "study" / "pair_agreement.tsv"), min_agreement=0.8)
    assert sum(keep(*pair) for pair in permutations(FORMS, 2)) == 156
