"""Noisy references: one replacement each, letter case kept, agreement of the verb recorded."""

from __future__ import annotations

from data_prep.noise import noisy_references
from pronmetric.schema import Mismatch, Pair


def system_pair(better: str, worse: str, *found: Mismatch) -> Pair:
    return Pair(
        id="set.de-en/A/North/7",
        kind="system",
        testset="set",
        lp="de-en",
        doc="d",
        seg=7,
        ref="A",
        system="North",
        better=better,
        worse=worse,
        context=("Before.",),
        system_context=("Earlier.",),
        mismatches=found,
    )


def test_one_for_each_pronoun_mismatch() -> None:
    pair = system_pair(
        "He told her that Ann left.",
        "It told them that they left.",
        Mismatch("pronoun", "he", "it", 0, 2, 0, 2),
        Mismatch("word", "ann", "they", 17, 20, 18, 22),
        Mismatch("pronoun", "her", "them", 8, 11, 8, 12),
    )
    noisy = list(noisy_references(pair))
    assert [n.worse for n in noisy] == ["It told her that Ann left.", "He told them that Ann left."]
    assert [n.id for n in noisy] == ["set.de-en/A/North/7#1", "set.de-en/A/North/7#2"]
    assert {n.kind for n in noisy} == {"noisy"}
    assert [n.worse[m.hyp_start : m.hyp_end] for n in noisy for m in n.mismatches] == ["It", "them"]
    assert all(n.better == pair.better and n.context == pair.context for n in noisy)


def test_a_verb_that_no_longer_agrees_is_flagged() -> None:
    is_late = system_pair("He is late.", "They are late.", Mismatch("pronoun", "he", "they", 0, 2, 0, 4))
    came_late = system_pair("He came late.", "They came late.", Mismatch("pronoun", "he", "they", 0, 2, 0, 4))
    assert [n.agrees for n in (*noisy_references(is_late), *noisy_references(came_late))] == [False, True]


def test_a_contracted_it_gets_its_blank() -> None:
    pair = system_pair("\u2019Twas late.", "They were late.", Mismatch("pronoun", "it", "they", 0, 2, 0, 4))
    (noisy,) = noisy_references(pair)
    (mismatch,) = noisy.mismatches
    assert noisy.worse[mismatch.hyp_start : mismatch.hyp_end].lower() == "they"
    assert noisy.worse.lower() == "they was late."
