"""Laws of comparing: swapping the systems changes the signs and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.scoring.comparison import Decision, PairwiseComparison, average, decide
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.context import in_context

Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Callable[..., Path]) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


@pytest.fixture(scope="module")
def docs(sample: Path) -> list[str]:
    return (sample / "docids.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def systems(sample: Path, docs: list[str]) -> tuple[Records, Records]:
    """Two systems, each in its own context."""
    lines = [(sample / f"system-{x}.txt").read_text(encoding="utf-8").splitlines() for x in "bc"]
    return in_context(lines[0], docs=docs), in_context(lines[1], docs=docs)


@pytest.mark.parametrize("context", ["crossed", "respective"])
def test_swap_only_flips_signs(
    metric: PronounMetric, systems: tuple[Records, Records], docs: list[str], context: str
) -> None:
    a, b = systems
    forward = metric.compare(a, b, context=context, tie=0.02, docs=docs)
    backward = metric.compare(b, a, context=context, tie=0.02, docs=docs)
    flipped = {"a": "b", "b": "a", "tie": "tie", None: None}
    for there, back in zip(forward.decisions, backward.decisions, strict=True):
        assert back.better == flipped[there.better]
        assert deciding(back) == deciding(there)[::-1]
        if there.difference is not None:
            assert back.difference == pytest.approx(-there.difference, abs=1e-6)
    x, y = forward.outcome, backward.outcome
    assert x.wins and x.losses and x.ties
    assert (y.wins, y.ties, y.losses) == (x.losses, x.ties, x.wins)
    assert (y.one_sided, y.unscored, y.units, y.resampled) == (x.one_sided, x.unscored, x.units, "documents")
    assert x.difference is not None and x.interval is not None
    assert y.difference == pytest.approx(-x.difference, abs=1e-5)
    assert y.interval == pytest.approx((-x.interval[1], -x.interval[0]), abs=1e-5)
    assert y.p_t == pytest.approx(x.p_t, abs=2e-3)
    assert y.p_randomisation == pytest.approx(x.p_randomisation, abs=2e-3)


def test_crossed_is_the_mean_of_both_contexts(metric: PronounMetric, systems: tuple[Records, Records]) -> None:
    a, b = systems
    crossed = metric.compare(a, b, tie=0.0)
    in_a = metric.compare(a, [{**y, "context": x["context"]} for x, y in zip(a, b, strict=True)], context="respective")
    in_b = metric.compare([{**x, "context": y["context"]} for x, y in zip(a, b, strict=True)], b, context="respective")
    for decision, first, second in zip(crossed.decisions, in_a.decisions, in_b.decisions, strict=True):
        if decision.difference is None:
            assert first.difference is second.difference is None
        else:
            assert first.difference is not None and second.difference is not None
            assert decision.difference == pytest.approx((first.difference + second.difference) / 2, abs=1e-5)
    assert crossed.outcome.difference == pytest.approx(
        ((in_a.outcome.difference or 0) + (in_b.outcome.difference or 0)) / 2, abs=1e-4
    )


def test_one_common_context_is_itself(metric: PronounMetric, sample: Path, docs: list[str]) -> None:
    ref, a, b = [
        (sample / f"{n}.txt").read_text(encoding="utf-8").splitlines() for n in ("ref", "system-b", "system-c")
    ]
    left, right = in_context(a, reference=ref, docs=docs), in_context(b, reference=ref, docs=docs)
    crossed, respective = metric.compare(left, right), metric.compare(left, right, context="respective")
    for one, other in zip(crossed.decisions, respective.decisions, strict=True):
        assert (one.better, deciding(one)) == (other.better, deciding(other))
        assert one.difference == pytest.approx(other.difference, abs=1e-6)
    assert crossed.counts == respective.counts  # no text was encoded twice
    singles = metric.predict(left).system_score, metric.predict(right).system_score
    assert (crossed.outcome.a.score, crossed.outcome.b.score) == pytest.approx(singles, abs=1e-4)


def test_a_system_ties_with_itself(metric: PronounMetric, systems: tuple[Records, Records]) -> None:
    found = metric.compare(systems[0], systems[0], tie=0.0)
    assert {d.better for d in found.decisions} == {"tie", None}
    assert found.outcome.difference == 0
    assert (found.outcome.p_randomisation, found.outcome.p_t, found.outcome.interval) == (1, 1, None)


def test_unequal_lengths_and_unknown_contexts_are_refused(metric: PronounMetric) -> None:
    with pytest.raises(PronmetricError, match="as many records of b as of a, got 1 and 2"):
        metric.compare([{"text": "She."}], [{"text": "She."}] * 2)
    with pytest.raises(PronmetricError, match='"crossed" or "respective", got \'common\''):
        metric.compare([{"text": "She."}], [{"text": "She."}], context="common")


def segment(*pronouns: tuple[str, float]) -> SegmentScore:
    """A segment with these pronouns, one blank between them."""
    scores, at = [], 0
    for text, score in pronouns:
        scores.append(PronounScore(text, at, at + len(text), score, score))
        at += len(text) + 1
    mean = sum(p.score for p in scores) / len(scores) if scores else None
    return SegmentScore(mean, tuple(scores))


def deciding(decision: Decision) -> tuple[list[str], list[str]]:
    return [p.text for p in decision.a_decided], [p.text for p in decision.b_decided]


def test_the_pronoun_that_differs_decides() -> None:
    found = decide(segment(("He", 0.9), ("it", 0.1)), segment(("He", 0.9), ("her", 0.8)), tie=0.01)
    assert found.better == "b" and found.difference == pytest.approx(0.5 - 0.85)
    assert deciding(found) == (["it"], ["her"])


def test_a_pronoun_without_a_partner_is_compared_with_the_other_segment() -> None:
    found = decide(segment(("He", 0.9)), segment(("He", 0.9), ("which", 0.1)), tie=0.01)
    assert found.better == "a"
    assert deciding(found) == ([], ["which"])  # 0.9 - 0.1 against 0


def test_the_same_pronouns_in_other_words_decide_by_their_scores() -> None:
    found = decide(segment(("he", 0.9), ("it", 0.3)), segment(("He", 0.85), ("it", 0.9)), tie=0.01)
    assert found.better == "b"
    assert deciding(found) == (["it"], ["it"])


def test_what_decided_does_not_depend_on_the_order() -> None:
    a = segment(("us", 0.7), ("her", 0.6), ("him", 0.2), ("us", 0.1))
    b = segment(("him", 0.9), ("us", 0.8), ("her", 0.95), ("it", 0.7), ("us", 0.6))
    there, back = decide(a, b, tie=0.0), decide(b, a, tie=0.0)
    assert (back.a_decided, back.b_decided) == (there.b_decided, there.a_decided)
    assert there.a_decided and there.b_decided


def test_ties_and_missing_pronouns_decide_nothing() -> None:
    tie = decide(segment(("he", 0.50)), segment(("he", 0.51)), tie=0.011)
    assert (tie.better, deciding(tie)) == ("tie", ([], []))
    assert decide(segment(("he", 0.5)), segment(("he", 0.5)), tie=0.0).better == "tie"
    missing = decide(segment(("he", 0.5)), segment(), tie=0.0)
    assert (missing.better, missing.difference) == (None, None)


def test_a_comparison_counts_every_segment_once() -> None:
    comparison = PairwiseComparison(tie=0.01)
    comparison.add(segment(("he", 0.9)), segment(("it", 0.1)), "x")
    comparison.add(segment(("he", 0.2)), segment(("she", 0.6), ("it", 0.8)), "y")
    comparison.add(segment(("he", 0.5)), segment(("he", 0.5)), "y")
    comparison.add(segment(("he", 0.5)), segment(), "z")
    comparison.add(segment(), segment(), "z")
    found = comparison.outcome(seed=0)
    assert (found.wins, found.losses, found.ties, found.one_sided, found.unscored) == (1, 1, 1, 1, 1)
    assert found.a.score == pytest.approx(100 * (0.9 + 0.2 + 0.5 + 0.5) / 4)
    assert found.b.score == pytest.approx(100 * (0.1 + 0.6 + 0.8 + 0.5) / 4)
    assert found.difference == pytest.approx(52.5 - 50.0)
    assert (found.resampled, found.units) == ("documents", 3)


def test_texts_without_pronouns_are_compared_by_their_preferences() -> None:
    comparison = PairwiseComparison(tie=0.01, by="preference")
    comparison.add(segment()._replace(preference=1.0), segment()._replace(preference=0.5))
    comparison.add(segment(("he", 0.5))._replace(preference=0.0), segment()._replace(preference=0.5))
    comparison.add(segment(), segment())
    found = comparison.outcome(seed=0)
    assert (found.wins, found.losses, found.ties, found.one_sided, found.unscored) == (1, 1, 0, 0, 1)


def test_average_needs_the_same_pronouns() -> None:
    found = average(segment(("he", 0.2), ("it", 0.4)), segment(("he", 0.4), ("it", 0.8)))
    assert found.score == pytest.approx(0.45)
    assert [p.score for p in found.pronouns] == pytest.approx([0.3, 0.6])
    assert average(segment(), segment()) == segment()
    with pytest.raises(ValueError):
        average(segment(("he", 0.2), ("it", 0.4)), segment(("he", 0.4)))
