"""BLEU of translations of a suite, beside its accuracy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites.bleu import bleu, language_of
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrastive import Candidate, Item

ITEMS = [
    Item("1", (Candidate("s", "The old stove lost its heat ."), Candidate("s", "x")), right=0),
    Item("2", (Candidate("s", "x"), Candidate("s", "The clock fell from the wall .")), right=1),
]


def test_against_the_right_candidates(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    path = tmp_path / "out"
    path.write_text("The old stove lost its heat .\nThe clock fell from the wall .\n")
    found = bleu(ITEMS, path, language="en")
    assert found["BLEU"] == pytest.approx(100) and "tok:13a" in str(found["BLEU signature"])
    path.write_text("The old stove lost her heat .\nThe clock fell from the wall .\n")
    # precisions 13/14, 10/12, 7/10, 5/8; the lengths are equal
    expected = 100 * (13 / 14 * 10 / 12 * 7 / 10 * 5 / 8) ** 0.25
    assert bleu(ITEMS, path, language="en")["BLEU"] == pytest.approx(expected)
    (tmp_path / "out.csv").write_text("hyp,n\nThe old stove lost her heat .,1\nThe clock fell from the wall .,2\n")
    assert bleu(ITEMS, tmp_path / "out.csv", language="en")["BLEU"] == pytest.approx(expected)
    assert "tok:zh" in str(bleu(ITEMS, path, language="zh")["BLEU signature"])


def test_the_language_is_that_of_the_candidates_or_the_first_of_the_suite() -> None:
    suites = SUITES["contrapro"].ABOUT, SUITES["aces"].ABOUT
    german, chinese = (replace(ITEMS[0], language=code) for code in ("de", "zh"))
    assert [language_of(ITEMS, about) for about in suites] == ["de", None]
    assert [language_of([chinese], about) for about in suites] == ["zh", "zh"]
    assert language_of([german, chinese], suites[0]) is None


def test_one_line_for_each_item(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    path = tmp_path / "out"
    path.write_text("one\n")
    with pytest.raises(InputError, match="expected 2 lines, one for each item, got 1; translate"):
        bleu(ITEMS, path, language=None)
