"""Agreement on judged pairs: between raters and of a metric with each rater; preference shares; output as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pronmetric.errors import PronmetricError
from pronmetric.eval.kappa import Coefficient
from pronmetric.eval.ratings import Agreements, Formula, Variant
from pronmetric.eval.resampling import SEED
from pronmetric.lab.human import votes
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.votes import Preference, Preferences, TieFigures


@dataclass(frozen=True, slots=True)
class Part:
    """Preferences in a set of pairs: `raters` for the averages, `all` with the metric; `agreed` between the raters."""

    pairs: int
    agreed: TieFigures | None
    raters: Preferences
    all: Preferences

    def ac1(self) -> tuple[float | None, float | None]:
        """AC1 between the raters, with and without ties."""
        figures = (None, None) if self.agreed is None else (self.agreed.with_ties, self.agreed.without_ties)
        with_ties, without_ties = (None if found is None else found.ac1.ac1 for found in figures)
        return with_ties, without_ties


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """All figures of judged pairs.

    between: of the raters, None if no pair has two votes. metric: of a metric with each rater, None without a metric.
    unscored: pairs without a metric score. preferred: the text whose shares are in `parts` (all pairs, each group).
    """

    pairs: int
    raters: tuple[str, ...]
    between: TieFigures | None
    metric: Mapping[str, TieFigures] | None
    unscored: int
    preferred: str
    parts: Mapping[str, Part]


def measure(
    pairs: Sequence[JudgedPair],
    decisions: Sequence[str | None] | None,
    *,
    variant: Variant = "gwet",
    formula: Formula = "auto",
    seed: int = SEED,
) -> PairAgreement:
    """All figures of judged pairs.

    decisions: a metric's "A", "B" or "tie" for each pair, None if a text has no score; None without a metric.

    Raises:
        PronmetricError: no pair with two votes, and no metric.
    """
    raters = votes.collect_votes(pairs)
    how: dict[str, Any] = {"variant": variant, "formula": formula, "seed": seed}
    between = votes.measure_rater_agreement(pairs, raters, **how) if len(raters) > 1 else None
    if decisions is None and (between is None or between.with_ties is None):
        raise PronmetricError(
            f"no pair has votes of two raters (raters: {', '.join(raters)}); add votes, or give `scores=` of a metric"
        )
    metric, answers = None, dict(raters)
    if decisions is not None:
        judges = {**raters, **votes.collect_given(pairs)}
        if not judges:
            raise PronmetricError('no pair has "votes" or "better" to compare the metric with')
        metric = votes.measure_metric_agreement(pairs, decisions, judges, **how)
        answers[votes.METRIC] = {pair.id: decision for pair, decision in zip(pairs, decisions, strict=True)}
    groups = sorted({pair.group for pair in pairs if pair.group is not None})
    parts = {"all": list(pairs)} | {f"group {name}": [p for p in pairs if p.group == name] for name in groups}
    return PairAgreement(
        pairs=len(pairs),
        raters=tuple(raters),
        between=None if between is None or between.with_ties is None else between,
        metric=metric,
        unscored=sum(decision is None for decision in decisions or ()),
        preferred="the better text" if votes.have_better_texts(pairs) else "text A",
        parts={name: _measure_part(part, raters, answers, how) for name, part in parts.items()},
    )


def _measure_part(
    pairs: Sequence[JudgedPair], raters: votes.Answers, answers: votes.Answers, how: Mapping[str, Any]
) -> Part:
    ids = {pair.id for pair in pairs}
    own = {rater: {i: vote for i, vote in given.items() if i in ids} for rater, given in raters.items()}
    own = {rater: given for rater, given in own.items() if given}
    agreed = votes.measure_rater_agreement(pairs, own, **how) if len(own) > 1 else None
    return Part(len(pairs), agreed, votes.count_preferences(pairs, own), votes.count_preferences(pairs, answers))


def pairs_json(found: PairAgreement, variant: Variant, *, tie: float) -> dict[str, Any]:
    """All figures of judged pairs in JSON; `tie` is the tie threshold of the metric."""
    content: dict[str, Any] = {"pairs": found.pairs, "raters": list(found.raters)}
    if found.between is not None:
        content |= tie_json(found.between, variant)
    if found.metric is not None:
        content["metric"] = {
            "tie": tie,
            "unscored": found.unscored,
            "raters": {rater: tie_json(one, variant) for rater, one in found.metric.items()},
        }
    parts = {name: _part_json(part) for name, part in found.parts.items()}
    return content | {"preference": {"of": found.preferred, **parts}}


def _part_json(part: Part) -> dict[str, Any]:
    ac1, ac1_without_ties = part.ac1()
    return {
        "pairs": part.pairs,
        "average": part.raters.average,
        "average_without_ties": part.raters.average_without_ties,
        "ac1": ac1,
        "ac1_without_ties": ac1_without_ties,
        "by_rater": {rater: share_json(share) for rater, share in part.all.by_rater.items()},
    }


def agreement_json(found: Agreements, variant: Variant) -> dict[str, Any]:
    """All coefficients in JSON; undefined figures are null."""
    ac1 = found.ac1
    return {
        "ac1": {
            "estimate": ac1.ac1,
            "se": ac1.error,
            "ci_low": ac1.low,
            "ci_high": ac1.high,
            "pa": ac1.observed,
            "pe": ac1.chance,
            "categories": ac1.categories,
            "items": ac1.items,
            "raters": len(found.raters),
            "rated_twice": ac1.rated_twice,
            "variant": variant,
            "se_formula": found.formula,
        },
        "raw_agreement": found.raw,
        "cohen_kappa": {
            "estimate": found.cohen,
            "pairs": [{"raters": [a, b], **_coefficient_json(pair)} for a, b, pair in found.by_pair],
        },
        "fleiss_kappa": _coefficient_json(found.fleiss),
        "krippendorff_alpha": _coefficient_json(found.krippendorff),
    }


def _coefficient_json(found: Coefficient) -> dict[str, Any]:
    return {"estimate": found.estimate, "pa": found.observed, "pe": found.chance, "items": found.items}


def tie_json(found: TieFigures, variant: Variant) -> dict[str, Any]:
    """Figures with ties and, under `without_ties`, without; null if no pair has two answers."""

    def part(agreed: Agreements | None, interval: tuple[float, float] | None) -> dict[str, Any] | None:
        if agreed is None:
            return None
        content = agreement_json(agreed, variant)
        content["ac1"] |= {"by_document": None if interval is None else list(interval)}
        return content

    with_ties = part(found.with_ties, found.interval) or {"ac1": None}
    return {**with_ties, "without_ties": part(found.without_ties, found.interval_without_ties)}


def share_json(found: Preference) -> dict[str, Any]:
    """The answers of one rater in JSON."""
    return {
        "preferred": found.preferred,
        "other": found.other,
        "tied": found.tied,
        "share": found.share,
        "share_without_ties": found.share_without_ties,
    }
