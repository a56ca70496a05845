"""Pairs of texts that people judged, and what decides between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pronmetric.checkpoint.model_config import PeoplePreference
from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText
from pronmetric.scoring import judged
from pronmetric.scoring.judged import MARKED, MENDED, Pair
from pronmetric.scoring.preference import prefer
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.context import Source
from pronmetric.training.after import people_decision
from pronmetric.training.after.people_decision import PairScores


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


def compared(better: SegmentScore, worse: SegmentScore, doc: str = "d") -> PairScores:
    return PairScores(MENDED, doc, better, worse)


@pytest.mark.parametrize(("missing", "by"), [((0.0, 1.0), "errors"), ((0.0, 0.0), "score")])
def test_what_decides_is_right_in_the_worst_group_too(missing: tuple[float, float], by: str) -> None:
    good, bad = missing
    more = scored(*([0.9, 0.9] if by == "score" else [0.8, 0.8]), missing=good), scored(0.85, missing=bad)
    fewer = scored(0.9, missing=0.0), scored(0.5, 0.9, missing=0.0)
    choice = people_decision.choose_among([compared(*more), compared(*fewer)])
    assert choice.by == by and choice.pairs == {MENDED: 2, MARKED: 0} and choice.judged is None
    assert choice.accuracy["errors"] == {"mended, more": float(by == "errors"), "mended, fewer": 1.0}
    assert choice.accuracy["score"] == {"mended, more": float(by == "score"), "mended, fewer": 1.0}


def preferred(value: float, *probabilities: float, missing: float = 0.0) -> SegmentScore:
    return scored(*probabilities, missing=missing)._replace(preference=value)


def test_the_preference_is_fitted_on_pairs_of_other_documents_and_may_decide() -> None:
    # the pair head is right where both have as many pronouns; where the worse text has none, one is missing there
    pairs = [compared(preferred(2.0, 0.4), preferred(1.0, 0.6), str(k)) for k in range(10)]
    pairs += [compared(preferred(0.0, 0.5), scored(missing=0.8), str(k)) for k in range(10)]
    choice = people_decision.choose_among(pairs)
    assert choice.by == "preference"
    assert choice.accuracy["preference"] == {"mended, more": 1.0, "mended, as many": 1.0}
    assert choice.judged is not None and choice.judged.own > 0 and choice.judged.missing <= 0
    assert choice.accuracy["score"] == {"mended, more": 0.0, "mended, as many": 0.0}


def test_groups_of_pairs_weigh_the_same_in_the_fit_of_the_preference() -> None:
    for_it = [compared(preferred(1.0, 0.5), preferred(0.0, 0.5))]
    against = [compared(preferred(1.0, 0.5, missing=0.2), preferred(1.5, 0.5, 0.5, missing=1.0))]
    often = people_decision.fit_preference(for_it + 50 * against)
    once = people_decision.fit_preference(for_it + against)
    assert often.missing == pytest.approx(once.missing, rel=1e-3) and once.missing < 0
    assert once.own + once.logit == pytest.approx(1)


def test_a_preference_joins_the_logit_and_the_missing_pronouns() -> None:
    by = PeoplePreference(own=0.5, logit=2.0, missing=-3.0, empty=1.0)
    assert prefer(preferred(4.0, 0.5, missing=0.5), by).preference == pytest.approx(0.5 * 4 + 2 * 0 - 3 * 0.5)
    assert prefer(scored(missing=0.5), by).preference == pytest.approx(1 - 1.5)
    assert prefer(scored(), by).preference == 1.0
    assert prefer(scored(0.5), by).preference is None  # without a pair head
