"""Passages about two people: what they say, what is wrong in them, and what the splits have in common: nothing."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from data_prep.fidelity import passages
from data_prep.fidelity.frames import PRONOUNS, fill, pronouns, tables
from pronmetric.pronouns.finder import find
from pronmetric.schema import Pair
from pronmetric.text.words import words

TRAIN, DEVELOPMENT = tables("train"), tables("development")


def made(split: str = "train", number: int = 240, ties: float = 0.4, seed: int = 1) -> list[Pair]:
    return list(passages.pairs(number, split=split, seed=seed, ties=ties))


def test_the_verb_agrees_with_the_pronoun_before_it() -> None:
    frame = "{t}, {X} said that {s} [is|are] ill and that {p} dog [bites|bite]."
    filled = {"X": "the cook", "t": "today"}
    assert fill(frame, filled, ["he", "he"]).text == "Today, the cook said that he is ill and that his dog bites."
    mixed = fill(frame, filled, ["they", "she"])
    assert mixed.text == "Today, the cook said that they are ill and that her dog bites."
    assert [mixed.text[a:b] for a, b in mixed.spans] == ["they", "her"]
    assert fill("\u201c{s} left,\u201d said {X}.", filled, ["it"]).text == "\u201cIt left,\u201d said the cook."


@pytest.mark.parametrize("known", [TRAIN, DEVELOPMENT])
def test_every_frame_can_be_filled_and_has_pronouns_where_it_should(known: passages.Tables) -> None:
    for kind, frames in known.frames.items():
        for frame in frames:
            found = [fill(frame, dict.fromkeys("XYtw", "x"), [name] * pronouns(frame)).text for name in PRONOUNS]
            assert not any(re.search(r"[{}\[\]|]", text) for text in found)
            assert ("{Y}" in frame) == (kind == "two")
            assert (pronouns(frame) == 0) == (kind in ("neutral", "filler") or "came out" in frame)
            assert ("{X}" in frame) == (kind not in ("continue", "thing continue", "filler"))
            assert not re.search(r"\[[^]]*$", frame.partition("{s}")[0]), "a verb without a pronoun before it"


def test_there_are_many_of_each_and_none_in_both_splits() -> None:
    assert len(TRAIN.frames["person"]) >= 60 and len(TRAIN.roles["any"]) >= 120
    for one, other in ((TRAIN.frames, DEVELOPMENT.frames), (TRAIN.roles, DEVELOPMENT.roles)):
        assert not {x for each in one.values() for x in each} & {x for each in other.values() for x in each}
    for one, other in ((TRAIN.names, DEVELOPMENT.names), (TRAIN.things, DEVELOPMENT.things)):
        every = [x for known in (one, other) for each in known.values() for x in each]
        assert max(Counter(every).values()) == 1
    assert not set(TRAIN.times) & set(DEVELOPMENT.times)


@pytest.mark.parametrize("split", ["train", "development"])
def test_the_finder_sees_every_replaced_pronoun_and_nothing_else_changes_but_verbs(split: str) -> None:
    for pair in made(split):
        assert pair.better != pair.worse and pair.ref != pair.system
        starts = [{o.start for o in find(text)} for text in (pair.better, pair.worse)]
        for each in pair.mismatches:
            assert pair.better[each.ref_start : each.ref_end].lower() == each.ref_form in PRONOUNS[pair.ref].values()
            assert pair.worse[each.hyp_start : each.hyp_end].lower() == each.hyp_form in PRONOUNS[pair.system].values()
            assert each.ref_start in starts[0] and each.hyp_start in starts[1]
        better, worse = (words(text) for text in (pair.better, pair.worse))
        changed = {(a.text.lower(), b.text.lower()) for a, b in zip(better, worse, strict=True) if a.text != b.text}
        verbs = {(a, b) for a, b in changed if a not in PRONOUNS[pair.ref].values()}
        assert not verbs or "they" in (pair.ref, pair.system)


def test_levels_and_kinds() -> None:
    pairs = made(number=600)
    assert {pair.doc for pair in pairs} == {f"level {level}" for level in range(passages.LEVELS)}
    ties = sum(pair.kind == "tie" for pair in pairs)
    assert 180 < ties < 300 and {pair.kind for pair in pairs} == {"fidelity", "tie"}
    fidelity = [pair for pair in pairs if pair.kind == "fidelity"]
    assert {pair.ref for pair in fidelity} == set(PRONOUNS)
    assert all(pair.context for pair in fidelity) and all(pair.context == pair.system_context for pair in pairs)
    assert all(len(pair.context) >= int(pair.doc.split()[1]) for pair in pairs if pair.kind == "tie")
    assert not any(pair.kind == "tie" for pair in made(ties=0.0))
    assert all(pair.kind == "tie" and pair.ref in passages.PERSONS for pair in made(ties=1.0))


def test_neither_the_first_nor_the_last_person_of_a_passage_is_mostly_the_right_one() -> None:
    """A model that takes the first one without a look at names would else be right at all levels above 0."""
    pairs = [pair for pair in made(number=600, ties=0.0) if (pair.seg - 1) % passages.LEVELS]
    last = [pair for pair in pairs if pair.doc == "level 0"]
    assert len(pairs) == 500 and 200 < len(last) < 300
    assert all(len(pair.context) >= (pair.seg - 1) % passages.LEVELS for pair in pairs if not pair.better.count(". "))


def test_a_tie_says_nothing_of_the_person_that_decides() -> None:
    for pair in made(ties=1.0):
        known = {name for each in TRAIN.roles["any"] + TRAIN.names["neutral"] + TRAIN.names["last"] for name in [each]}
        called = {name for name in known if re.search(rf"\b{re.escape(name)}\b", pair.better)}
        assert called
        for sentence in pair.context:
            if any(re.search(rf"\b{re.escape(name)}\b", sentence) for name in called):
                forms = {o.form for o in find(sentence)}
                assert not forms & {form for name in passages.PERSONS for form in PRONOUNS[name].values()}, pair


def test_a_pair_is_a_function_of_seed_split_and_number() -> None:
    assert made(number=12) == made(number=30)[:12] != made(number=12, seed=2)
    assert {pair.better for pair in made()}.isdisjoint(pair.better for pair in made("development"))


def test_the_right_set_can_be_chosen() -> None:
    writer = passages.Writer(np.random.default_rng(1), DEVELOPMENT)
    found = [writer.pair(level, number=1, pronouns_of="they") for level in range(6)]
    assert {pair.ref for pair in found} == {"they"} and "they" not in {pair.system for pair in found}
