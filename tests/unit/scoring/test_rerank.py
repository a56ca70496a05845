"""The weighting that chooses among candidates, their agreement, and the contexts in which they are scored."""

from __future__ import annotations

import doctest
from collections.abc import Iterable, Iterator

import pytest

from pronmetric.scoring import rerank as choice
from pronmetric.scoring.rerank import Weighting, consensus, rerank
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.context import Text


def test_docstrings() -> None:
    result = doctest.testmod(choice)
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ([0.5, 0.4, 0.3], 0),
        ([0.5, 0.5, 0.5], 0),
        ([0.5, 0.6, 0.9], 2),
        ([0.5, 0.9, 0.9], 1),
        ([0.5, None, None], 0),
        ([0.1, None, 0.2], 2),
        ([None, 0.9, 1.0], 0),
        ([None, None], 0),
        ([0.0], 0),
        ([-3.0, -7.0, -2.5], 2),
    ],
)
def test_the_first_stays_unless_another_is_strictly_better(scores: list[float | None], chosen: int) -> None:
    assert Weighting().choose(scores).chosen == chosen


def test_the_margin_must_be_passed() -> None:
    assert Weighting(margin=0.25).choose([0.5, 0.75]).chosen == 0
    assert Weighting(margin=0.25).choose([0.5, 0.75, 0.875]).chosen == 2


def test_a_given_score_is_weighed_against_the_pronouns() -> None:
    scores, given = [0.5, 1.0, None], [-1.0, -3.0, -0.5]
    found = Weighting(weight=0.5).choose(scores, given)
    assert found == choice.Choice(2, (0.5, 1.0, None), (0.0, 0.5 * 0.5 - 0.5 * 2, 0.5 * 0.5), (None,) * 3)
    assert Weighting(weight=1.0).choose(scores, given).chosen == 1
    assert Weighting(weight=0.0).choose(scores, given).chosen == 2
    assert Weighting(weight=0.9).choose([0.5, 1.0, 0.5], given).chosen == 1  # 0.45 - 0.2 against 0.05


def test_candidates_without_a_first_pronoun_differ_by_the_given_score_alone() -> None:
    assert Weighting(weight=0.9).choose([None, 1.0, 0.0], [0.0, -0.1, 0.1]).gains == pytest.approx((0, -0.01, 0.01))


def test_agreement_is_f1_of_forms_averaged_over_the_others() -> None:
    texts = ["He told her.", "She told him.", "He told her it.", "Gone."]
    # forms: he her | she him | he her it | none
    assert consensus(texts) == pytest.approx([(0 + 4 / 5 + 0) / 3, 0, (4 / 5 + 0 + 0) / 3, 0])
    assert consensus(["It is it.", "It is."]) == pytest.approx([2 / 3, 2 / 3])  # shared as often as both have it
    assert consensus(["Gone.", "Left.", "He left."]) == pytest.approx([1 / 2, 1 / 2, 0])
    assert consensus(["He left."]) == [1.0] and consensus([]) == []


def test_letter_case_and_clitics_do_not_divide_forms() -> None:
    assert consensus(["HE LEFT.", "Then he left.", "He's gone."]) == [1.0, 1.0, 1.0]


def test_equal_agreement_is_a_tie_whatever_the_order() -> None:
    texts = ["He saw it.", "He saw her and them.", "She has him.", "I left with her.", "It is hers, he said."]
    for k in range(len(texts)):
        turned = texts[k:] + texts[:k]
        assert consensus(turned) == consensus(texts)[k:] + consensus(texts)[:k]
    assert Weighting().choose(consensus(["He left.", "She left.", "He went.", "She went."])).chosen == 0


class Scorer:
    """Gives a text the number in it, and none where there is none; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[Text]] = []

    def __call__(self, texts: Iterable[Text]) -> Iterator[SegmentScore]:
        self.asked.append([])
        for text in texts:
            self.asked[-1].append(text)
            digits = "".join(c for c in text.text if c.isdigit())
            yield SegmentScore(float(digits) / 10 if digits else None, ())


CANDIDATES = [["a1", "b2"], ["c3", "d3"], ["e", "f9", "g"], ["h1", "i2"], ["j5"], ["k1", "l7"]]


def chosen(found: Iterable[tuple[int, choice.Choice]]) -> list[str]:
    return [CANDIDATES[i][c.chosen] for i, c in sorted(found, key=lambda pair: pair[0])]


def test_the_context_of_each_line_is_the_two_chosen_lines() -> None:
    scorer = Scorer()
    assert chosen(rerank(CANDIDATES, scorer, weighting=Weighting())) == ["b2", "c3", "e", "i2", "j5", "l7"]
    contexts = [{text.context for text in asked} for asked in scorer.asked]
    assert contexts == [{""}, {"b2"}, {"b2 c3"}, {"c3 e"}, {"e i2"}, {"i2 j5"}]


def test_documents_are_read_side_by_side() -> None:
    scorer = Scorer()
    found = list(rerank(CANDIDATES, scorer, weighting=Weighting(), docs=["x", "x", "x", "y", "y", "x"]))
    assert chosen(found) == ["b2", "c3", "e", "i2", "j5", "l7"]
    assert [i for i, _ in found] == [0, 3, 5, 1, 4, 2]
    assert [[text.context for text in asked] for asked in scorer.asked] == [
        ["", "", "", "", "", ""],
        ["b2", "b2", "i2"],
        ["b2 c3"] * 3,
    ]


def test_given_contexts_need_one_pass() -> None:
    scorer = Scorer()
    given = [[0.0, -9.0], [0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0], [0.0], [0.0, 0.0]]
    contexts = ["A.", "B.", "C.", "D.", "E.", "F."]
    found = rerank(CANDIDATES, scorer, weighting=Weighting(weight=0.5), given=given, contexts=contexts)
    assert chosen(found) == ["a1", "d3", "g", "i2", "j5", "l7"]
    (asked,) = scorer.asked
    assert asked == [Text(f"{c}.", t) for c, texts in zip("ABCDEF", CANDIDATES, strict=True) for t in texts]


def test_no_lines() -> None:
    assert list(rerank([], Scorer(), weighting=Weighting())) == []


def test_a_candidate_that_is_no_translation_is_chosen_only_where_all_are() -> None:
    weighting = choice.Weighting()
    why = ["refusal", None, None]
    assert weighting.choose([0.99, 0.2, 0.5], None, why).chosen == 2
    assert weighting.choose([0.99, 0.5, 0.5], None, why).chosen == 1, "the first of the others stands in for the first"
    assert weighting.choose([0.2, 0.5, 0.99], None, [None, None, "refusal"]).chosen == 1
    assert weighting.choose([0.2, 0.9], None, ["refusal", "comment"]).chosen == 1
    assert choice.Weighting(weight=0.5).choose([0.9, 0.9, None], [9.0, 1.0, 2.0], why).gains == (4.0, 0.0, 0.5)
    assert weighting.preferences(["No.", "He left.", "She left."], [0.99, 0.2, 0.5], None, why) == [
        choice.Preference("She left.", "He left.", 0.3)
    ]
    (one,) = choice.rerank_by_agreement(
        [["As an AI language model, I see that she left.", "She left.", "He left."]], weighting=weighting
    )
    assert one.chosen == 1 and one.no_translation == ("refusal", None, None)
