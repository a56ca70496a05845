"""The agreement of raters, and of a metric with them, as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.eval.agreement import Agreement
from pronmetric.eval.kappa import Coefficient
from pronmetric.eval.ratings import Agreements, Variant
from pronmetric.lab.human.rater_agreement import PairAgreement, Part
from pronmetric.lab.human.votes import TieFigures
from pronmetric.report.text import table

_HEADER = ("", "estimate", "se", "95 % interval", "by document", "observed", "chance", "items")


def _tie_lines(name: str, found: TieFigures, variant: Variant) -> list[str]:
    """With ties and without, as lines of text."""
    parts = (
        (f"{name}, ties as a category", found.with_ties, found.interval),
        (f"{name}, without ties", found.without_ties, found.interval_without_ties),
    )
    lines = []
    for head, agreed, interval in parts:
        text = "nothing was answered twice" if agreed is None else format_coefficients(agreed, variant, interval)
        lines += ["", head, text]
    return lines


def format_coefficients(found: Agreements, variant: Variant, by_document: tuple[float, float] | None = None) -> str:
    """The coefficients as a table; columns that would be empty are left out."""
    ac1 = found.ac1
    label = "Gwet's AC1" if variant == "gwet" else "AC1, published variant"
    several = "Cohen's kappa" if len(found.raters) == 2 else "Cohen's kappa, mean of pairs"
    both = found.by_pair[0][2] if len(found.by_pair) == 1 else None
    rows = [
        (
            label,
            five(ac1.ac1),
            five(ac1.error),
            _span(ac1.low, ac1.high),
            _span(*(by_document or (None, None))),
            *_beside(ac1),
        ),
        (several, five(found.cohen), "", "", "", *_parts(both)),
        ("Fleiss' kappa", five(found.fleiss.estimate), "", "", "", *_parts(found.fleiss)),
        ("Krippendorff's alpha", five(found.krippendorff.estimate), "", "", "", *_parts(found.krippendorff)),
        ("raw agreement", five(found.raw), "", "", "", "", "", ac1.rated_twice),
    ]
    kept = [k for k in range(len(_HEADER)) if k not in (3, 4) or rows[0][k] != "-"]
    return table([_HEADER[k] for k in kept], [[row[k] for k in kept] for row in rows])


def _beside(ac1: Agreement) -> tuple[object, ...]:
    return five(ac1.observed), five(ac1.chance), ac1.items


def _parts(found: Coefficient | None) -> tuple[object, ...]:
    return ("", "", "") if found is None else (five(found.observed), five(found.chance), found.items)


def five(value: float | None) -> str:
    """Five digits, a dash where there is no number."""
    return "-" if value is None else f"{value:.5f}"


def _span(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.5f}..{high:.5f}"


def percent(value: float | None) -> str:
    """One digit, a dash where there is no number."""
    return "-" if value is None else f"{100 * value:.1f} %"


def format_pairs(found: PairAgreement, variant: Variant, *, tie: float) -> str:
    """All figures of judged pairs; `tie` is the tie threshold of the metric."""
    text = [
        f"{found.pairs} pairs, {len(found.raters)} raters" + (f": {', '.join(found.raters)}" if found.raters else "")
    ]
    if found.between is not None:
        text += _tie_lines("between the raters", found.between, variant)
    if found.metric is not None:
        unscored = f", {found.unscored} pairs without a score" if found.unscored else ""
        text += ["", f"the metric, ties within {tie:g}{unscored}"]
        for rater, one in found.metric.items():
            text += _tie_lines(f"the metric against {rater}", one, variant)
    head = (f"preferring {found.preferred}", "pairs", "with ties", "without ties", "ties", "AC1", "AC1 without ties")
    rows = [row for name, part in found.parts.items() for row in _preference_rows(name, part)]
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
