"""Agreement as `agree` writes it: every coefficient as JSON takes it, and as tables of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pronmetric.cli import tables
from pronmetric.eval.agreement import Agreement
from pronmetric.eval.kappa import Coefficient
from pronmetric.eval.ratings import Agreements, Variant
from pronmetric.suites.votes import Preference, TieFigures

_HEADER = ("", "estimate", "se", "95 % interval", "by document", "observed", "chance", "items")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns as wide as they must be, and no blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in tables.table(header, rows).split("\n"))


def agreement_json(found: Agreements, variant: Variant) -> dict[str, Any]:
    """Every coefficient as `--to_json` has it; numbers that do not exist are null."""
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


def _names(found: Agreements) -> dict[str, list[str]]:
    return {"raters": list(found.raters), "categories": list(found.categories)}


def tie_json(found: TieFigures, variant: Variant) -> dict[str, Any]:
    """With ties, and the same again under `without_ties`; null where nothing was answered twice."""

    def part(agreed: Agreements | None, interval: tuple[float, float] | None) -> dict[str, Any] | None:
        if agreed is None:
            return None
        content = agreement_json(agreed, variant)
        content["ac1"] |= {"by_document": None if interval is None else list(interval)}
        return content

    with_ties = part(found.with_ties, found.interval) or {"ac1": None}
    return {**with_ties, "without_ties": part(found.without_ties, found.interval_without_ties)}


def share_json(found: Preference) -> dict[str, Any]:
    """How the answers of one rater fall."""
    return {
        "preferred": found.preferred,
        "other": found.other,
        "tied": found.tied,
        "share": found.share,
        "share_without_ties": found.share_without_ties,
    }


def tie_text(name: str, found: TieFigures, variant: Variant) -> list[str]:
    """With ties and without, as lines of text."""
    parts = (
        (f"{name}, ties as a category", found.with_ties, found.interval),
        (f"{name}, without ties", found.without_ties, found.interval_without_ties),
    )
    return [
        line
        for head, agreed, interval in parts
        for line in ("", head, "nothing was answered twice" if agreed is None else figures(agreed, variant, interval))
    ]


def figures(found: Agreements, variant: Variant, by_document: tuple[float, float] | None = None) -> str:
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
