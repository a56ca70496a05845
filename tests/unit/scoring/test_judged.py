"""Pairs of texts that people judged, and what decides between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText
from pronmetric.scoring import judged
from pronmetric.scoring.judged import MARKED, MENDED, Pair
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.context import Source
from pronmetric.training import people_decision


def text(system: str, *marks: int, gaps: int = 0, mended: str = "", kind: str = "marks", doc: str = "d") -> JudgedText:
    raters = ("a", "b")
    return JudgedText(
        id=system,
        kind=kind,
        testset="t",
        lp="zh-en",
        doc=doc,
        system=system,
        raters=raters,
        text="She saw it.",
        context=(),
        source="\u5979",
        source_context=(),
        pronouns=tuple(JudgedPronoun(0, 3, "she", raters[:count]) for count in marks),
        gaps=tuple(JudgedGap(4, "it", raters) for _ in range(gaps)),
        mended=mended,
    )


def scored(*probabilities: float, missing: float | None = None) -> SegmentScore:
    pronouns = tuple(PronounScore("it", k, k + 1, p, p) for k, p in enumerate(probabilities))
    mean = sum(probabilities) / len(probabilities) if probabilities else None
    return SegmentScore(mean, pronouns, missing=missing)


def test_pairs_are_mended_texts_and_systems_with_different_marks() -> None:
    texts = [
        text("x", 0, mended="He saw it.", kind="edits"),
        text("one", 2, 0),
        text("two", 1, 0),
        text("three", 0, gaps=1),
        text("other document", 0, doc="e"),
    ]
    assert len(judged.to_score(texts, "none")) == 6
    # marks of a rater: one 1, two 0.5, three 1 (a gap); the mended text has number 1
    assert judged.pairs(texts) == [Pair(MENDED, 1, 0), Pair(MARKED, 3, 2), Pair(MARKED, 3, 4)]


@pytest.mark.parametrize(("lp", "language"), [("zh-en", "zh"), ("und-en", None)])
def test_a_source_has_its_language(lp: str, language: str | None) -> None:
    one = replace(text("x", 0), lp=lp, source_context=("\u5b89",))
    assert judged.source_of(one) == Source("\u5979", ("\u5b89",), language)
    assert judged.to_score([one], "none")[0].source == Source("\u5979", (), language)


@pytest.mark.parametrize(("missing", "by"), [((0.0, 1.0), "errors"), ((0.0, 0.0), "score")])
def test_what_decides_is_right_in_the_worst_group_too(missing: tuple[float, float], by: str) -> None:
    good, bad = missing
    scores = [
        scored(0.8, 0.8, missing=good),  # better, one pronoun more
        scored(0.85, missing=bad),
        scored(0.9, missing=0.0),  # better, one fewer
        scored(0.5, 0.9, missing=0.0),
    ]
    if by == "score":
        scores[0] = scored(0.9, 0.9, missing=good)
    choice = people_decision._choose([Pair(MENDED, 0, 1), Pair(MENDED, 2, 3)], scores)
    assert choice.by == by and choice.pairs == {MENDED: 2, MARKED: 0}
    assert choice.accuracy["errors"] == {"mended, more": float(by == "errors"), "mended, fewer": 1.0}
    assert choice.accuracy["score"] == {"mended, more": float(by == "score"), "mended, fewer": 1.0}


def test_the_preference_is_a_candidate_where_the_texts_have_one() -> None:
    scores = [scored(0.4)._replace(preference=2.0), scored(0.6)._replace(preference=1.0)]
    choice = people_decision._choose([Pair(MENDED, 0, 1)], scores)
    assert choice.by == "preference" and choice.accuracy["preference"] == {"mended, as many": 1.0}
