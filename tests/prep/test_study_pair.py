"""The study's form: its spelling, and that one word is exchanged for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data_prep.noise import noisy_references, study_pair
from pronmetric.schema import Mismatch, Pair
from pronmetric.text.writing import study_form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("He said: \u201cIt\u2019s mine!\u201d", "he said it s mine !"),
        ("It cost $3.50, 5% more...", "it cost 3 .50 5 more . . ."),
        ("The well-known caf\u00e9 (in M\u00fcnchen)?", "the well known cafe in munchen ?"),
        ("Mail @ann at U.S. sites", "mail @ann at u .s . sites"),
        ("  ", ""),
    ],
)
def test_the_form(text: str, form: str) -> None:
    assert study_form(text) == form
    assert study_form(form) == form


def noisy(better: str, old: str, new: str) -> Pair:
    start = better.lower().index(old)
    mismatch = Mismatch("pronoun", old, new, start, start + len(old), 0, len(new))
    system = Pair(
        "i", "system", "t", "de-en", "d", 2, "A", "N", better, "-", ("It's \u2018on\u2019.",), (), (mismatch,)
    )
    (pair,) = noisy_references(system)
    return pair


def test_one_word_for_one_with_its_spans() -> None:
    pair = study_pair(noisy("Yes - she's \u201cin\u201d!", "she", "they"))
    assert pair is not None
    assert (pair.better, pair.worse) == ("yes she s in !", "yes they s in !")
    assert pair.context == ("it s on .",)
    (found,) = pair.mismatches
    assert pair.better[found.ref_start : found.ref_end] == "she"
    assert pair.worse[found.hyp_start : found.hyp_end] == "they"


def test_other_changes_are_left_out() -> None:
    assert study_pair(noisy("Then \u2019twas late.", "\u2019t", "they")) is None


@pytest.mark.shared
def test_the_studys_own_texts_are_in_this_form(shared: Path) -> None:
    for name in ("french", "german"):
        for line in (shared / "data" / "study" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            sample = json.loads(line)
            for field in ("context", "reference", "noisy"):
                text = " ".join(sample[field])
                assert study_form(text) == text
