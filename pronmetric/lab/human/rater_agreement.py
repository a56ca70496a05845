"""Agreement on judged pairs: between raters and of a metric with each rater; preference shares; as JSON and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pronmetric.errors import PronmetricError
from pronmetric.eval.agreement import Agreement
from pronmetric.eval.kappa import Coefficient
from pronmetric.eval.ratings import Agreements, Formula, Variant
from pronmetric.eval.resampling import SEED
from pronmetric.lab.human import votes
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.votes import Preference, Preferences, TieFigures
from pronmetric.report.text import table

_HEADER = ("", "estimate", "se", "95 % interval", "by document", "observed", "chance", "items")


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
        with_ties, without_ties = (None if one is None else one.ac1.ac1 for one in figures)
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


def pairs_json(agreement: PairAgreement, variant: Variant, *, tie: float) -> dict[str, Any]:
    """All figures of judged pairs in JSON; `tie` is the tie threshold of the metric."""
    content: dict[str, Any] = {"pairs": agreement.pairs, "raters": list(agreement.raters)}
    if agreement.between is not None:
        content |= tie_json(agreement.between, variant)
    if agreement.metric is not None:
        content["metric"] = {
            "tie": tie,
            "unscored": agreement.unscored,
            "raters": {rater: tie_json(one, variant) for rater, one in agreement.metric.items()},
        }
    parts = {name: _part_json(part) for name, part in agreement.parts.items()}
    return content | {"preference": {"of": agreement.preferred, **parts}}


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


def agreement_json(agreements: Agreements, variant: Variant) -> dict[str, Any]:
    """All coefficients in JSON; undefined figures are null."""
    ac1 = agreements.ac1
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
            "raters": len(agreements.raters),
            "rated_twice": ac1.rated_twice,
            "variant": variant,
            "se_formula": agreements.formula,
        },
        "raw_agreement": agreements.raw,
        "cohen_kappa": {
            "estimate": agreements.cohen,
            "pairs": [{"raters": [a, b], **_coefficient_json(pair)} for a, b, pair in agreements.by_pair],
        },
        "fleiss_kappa": _coefficient_json(agreements.fleiss),
        "krippendorff_alpha": _coefficient_json(agreements.krippendorff),
    }


def _coefficient_json(kappa: Coefficient) -> dict[str, Any]:
    return {"estimate": kappa.estimate, "pa": kappa.observed, "pe": kappa.chance, "items": kappa.items}


def tie_json(figures: TieFigures, variant: Variant) -> dict[str, Any]:
    """Figures with ties and, under `without_ties`, without; null if no pair has two answers."""

    def part(agreed: Agreements | None, interval: tuple[float, float] | None) -> dict[str, Any] | None:
        if agreed is None:
            return None
        content = agreement_json(agreed, variant)
        content["ac1"] |= {"by_document": None if interval is None else list(interval)}
        return content

    with_ties = part(figures.with_ties, figures.interval) or {"ac1": None}
    return {**with_ties, "without_ties": part(figures.without_ties, figures.interval_without_ties)}


def share_json(answers: Preference) -> dict[str, Any]:
    """The answers of one rater in JSON."""
    return {
        "preferred": answers.preferred,
        "other": answers.other,
        "tied": answers.tied,
        "share": answers.share,
        "share_without_ties": answers.share_without_ties,
    }


def _tie_lines(name: str, figures: TieFigures, variant: Variant) -> list[str]:
    """With ties and without, as lines of text."""
    parts = (
        (f"{name}, ties as a category", figures.with_ties, figures.interval),
        (f"{name}, without ties", figures.without_ties, figures.interval_without_ties),
    )
    lines = []
    for head, agreed, interval in parts:
        text = "nothing was answered twice" if agreed is None else format_coefficients(agreed, variant, interval)
        lines += ["", head, text]
    return lines


def format_coefficients(figures: Agreements, variant: Variant, by_document: tuple[float, float] | None = None) -> str:
    """The coefficients as a table; columns that would be empty are left out."""
    ac1 = figures.ac1
    label = "Gwet's AC1" if variant == "gwet" else "AC1, published variant"
    several = "Cohen's kappa" if len(figures.raters) == 2 else "Cohen's kappa, mean of pairs"
    both = figures.by_pair[0][2] if len(figures.by_pair) == 1 else None
    rows = [
        (
            label,
            five(ac1.ac1),
            five(ac1.error),
            _span(ac1.low, ac1.high),
            _span(*(by_document or (None, None))),
            *_beside(ac1),
        ),
        (several, five(figures.cohen), "", "", "", *_parts(both)),
        ("Fleiss' kappa", five(figures.fleiss.estimate), "", "", "", *_parts(figures.fleiss)),
        ("Krippendorff's alpha", five(figures.krippendorff.estimate), "", "", "", *_parts(figures.krippendorff)),
        ("raw agreement", five(figures.raw), "", "", "", "", "", ac1.rated_twice),
    ]
    kept = [k for k in range(len(_HEADER)) if k not in (3, 4) or rows[0][k] != "-"]
    return table([_HEADER[k] for k in kept], [[row[k] for k in kept] for row in rows])


def _beside(ac1: Agreement) -> tuple[object, ...]:
    return five(ac1.observed), five(ac1.chance), ac1.items


def _parts(kappa: Coefficient | None) -> tuple[object, ...]:
    return ("", "", "") if kappa is None else (five(kappa.observed), five(kappa.chance), kappa.items)


def five(value: float | None) -> str:
    """Five digits, a dash where there is no number."""
    return "-" if value is None else f"{value:.5f}"


def _span(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.5f}..{high:.5f}"


def percent(value: float | None) -> str:
    """One digit, a dash where there is no number."""
    return "-" if value is None else f"{100 * value:.1f} %"


def format_table(figures: Agreements, variant: Variant) -> str:
    """The agreement of the raters of a table, after its numbers and categories."""
    names = ", ".join(figures.categories)
    head = f"{figures.ac1.items} items, {len(figures.raters)} raters, {figures.ac1.categories} categories: {names}"
    return f"{head}\n{format_coefficients(figures, variant)}"


def format_pairs(figures: PairAgreement, variant: Variant, *, tie: float) -> str:
    """All figures of judged pairs; `tie` is the tie threshold of the metric."""
    text = [
        f"{figures.pairs} pairs, {len(figures.raters)} raters"
        + (f": {', '.join(figures.raters)}" if figures.raters else "")
    ]
    if figures.between is not None:
        text += _tie_lines("between the raters", figures.between, variant)
    if figures.metric is not None:
        unscored = f", {figures.unscored} pairs without a score" if figures.unscored else ""
        text += ["", f"the metric, ties within {tie:g}{unscored}"]
        for rater, one in figures.metric.items():
            text += _tie_lines(f"the metric against {rater}", one, variant)
    head = (
        f"preferring {figures.preferred}",
        "pairs",
        "with ties",
        "without ties",
        "ties",
        "AC1",
        "AC1 without ties",
    )
    rows = [row for name, part in figures.parts.items() for row in _preference_rows(name, part)]
    return "\n".join([*text, "", table(head, rows)])


def _preference_rows(name: str, part: Part) -> list[Sequence[object]]:
    """The rows of the paper's Tables 1 and 5: the average of the raters, then each rater and the metric."""
    rows: list[Sequence[object]] = []
    if part.raters.by_rater:
        tied = [own.tied / own.answers for own in part.raters.by_rater.values()]
        shares = (part.raters.average, part.raters.average_without_ties, sum(tied) / len(tied))
        rows.append((f"{name}: average of raters", part.pairs, *map(percent, shares), *map(five, part.ac1())))
    for rater, own in part.all.by_rater.items():
        shares = (own.share, own.share_without_ties, own.tied / own.answers)
        rows.append((f"{name}: {rater}", own.answers, *map(percent, shares), "", ""))
    return rows
