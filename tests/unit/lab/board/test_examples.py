"""The examples on the board: worst pronouns, differing segments, long texts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pronmetric.lab.board import examples
from pronmetric.lab.board.examples import CUT, TEXT, Segment, head, tail
from pronmetric.lab.board.scored import BoardScores, BoardSet, Pronouns

TEXTS = ["She met it.", "It rained.", "It rained."]
LISTED = [Segment("d", None, [text, text], ["Anna left."] * 2) for text in TEXTS]


def columns(*rows: tuple[int, int, int, float]) -> Pronouns:
    segment, start, end, probability = zip(*rows, strict=True)
    none = np.zeros(len(rows), int)
    return Pronouns(np.array(segment), np.array(start), np.array(end), none, np.array(probability), none)


def scored(**systems: Pronouns) -> BoardScores:
    return BoardScores(
        testset=BoardSet("t.de-en", "t", None, "de-en", "common", "ref"),
        segments=3,
        docs=("d",) * 3,
        classes=("any",),
        systems=systems,
        signature="",
        texts="",
    )


ONE = columns((0, 0, 3, 0.9), (0, 8, 10, 0.1), (1, 0, 2, 0.3), (2, 0, 2, 0.3))
TWO = columns((0, 0, 3, 0.9), (0, 8, 10, 0.5), (1, 0, 2, 0.1), (2, 0, 2, 0.305))


def test_the_worst_pronouns_come_first_and_a_repeated_sentence_once() -> None:
    found = examples.worst(scored(one=ONE, two=TWO), LISTED, "one", most=9)
    assert [(w.segment, w.before, w.pronoun, w.after, w.probability) for w in found] == [
        (0, "She met ", "it", ".", 0.1),
        (1, "", "It", " rained.", 0.3),
        (0, "", "She", " met it.", 0.9),
    ]
    assert found[0].context == "Anna left." and found[0].doc == "d" and found[0].kind == "any"
    assert len(examples.worst(scored(one=ONE), LISTED, "one", most=2)) == 2
    assert examples.worst(scored(one=ONE), LISTED, "one", most=0) == []


def test_differing_segments_on_both_sides() -> None:
    found = examples.differing(scored(one=ONE, two=TWO))
    # 0.3 against 0.1; 0.5 against 0.7; 0.3 against 0.305 is a tie
    assert found == {(0, 1): ([(1, pytest.approx(0.2))], [(0, pytest.approx(-0.2))])}


def test_differing_segments_by_errors_and_by_preference() -> None:
    both = scored(one=ONE, two=TWO)
    found = examples.differing(both, "errors")
    # errors 1 against 0.6; 0.7 against 0.9; 0.7 against 0.695 is a tie
    assert found == {(0, 1): ([(1, pytest.approx(0.2))], [(0, pytest.approx(-0.4))])}
    preferences = {"one": np.array([2.0, 1.0, np.nan]), "two": np.array([1.5, 4.0, 0.5])}
    found = examples.differing(dataclasses.replace(both, preferences=preferences), "preference")
    assert found == {(0, 1): ([(0, pytest.approx(0.5))], [(1, pytest.approx(-3.0))])}


def test_marked_pronouns() -> None:
    pieces = examples.marked(scored(one=ONE), TEXTS[0], 0, 0).pieces
    assert pieces == (("She", 0.9), (" met ", None), ("it", 0.1), (".", None))


def test_a_long_text_is_shown_around_its_worst_pronoun() -> None:
    text = f"She {'sang ' * 400}it{' again' * 400}."
    at = text.index("it ")
    found = scored(one=columns((0, 0, 3, 0.9), (0, at, at + 2, 0.2)))
    pieces = examples.marked(found, text, 0, 0).pieces
    assert ("it", 0.2) in pieces and ("She", 0.9) not in pieces
    assert pieces[0][0].startswith(CUT) and pieces[-1][0].endswith(CUT)
    assert sum(len(part) for part, _ in pieces) < 2 * TEXT + 20
    plain = examples.marked(scored(one=columns((1, 0, 2, 0.3))), "sang " * 400, 0, 0).pieces
    assert len(plain) == 1 and plain[0][0].endswith(CUT) and len(plain[0][0]) <= 2 * TEXT + 2


@pytest.mark.parametrize("text", ["", "She", "She saw the dog", "x" * 50])
def test_a_text_is_cut_at_spaces_and_says_so(text: str) -> None:
    assert tail(text, 50) == text == head(text, 50)
    for cut in (tail(text, 8), head(text, 8)):
        assert cut == text or (CUT in cut and len(cut) <= 10)
