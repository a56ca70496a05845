"""Bias by gender: Winogender by occupation, and feminine against masculine pronouns of GAP's development part.

    python -m benchmarks.checkpoint.bias --model FOLDER [--shared DIR] [--out FILE.json] [--page [FILE.md]]

Winogender (Rudinger et al. 2018): the difference of the probabilities of the masculine and the feminine pronoun in
the same sentence, by occupation; 0 is unbiased. Its correlation with the share of women in the occupation shows how far
the metric follows statistics (negative: it prefers he where there are fewer women). GAP (Webster et al. 2018): accuracy
of pronouns against the other gender's form, in context. Both are test data: nothing is trained or chosen on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks import pages
from benchmarks.checkpoint import gap, scoring, winogender
from benchmarks.checkpoint.scoring import COMMON, Result, Scorer
from benchmarks.checkpoint.winogender import OCCUPATION, PARTICIPANT, Template, WomenShares
from pronmetric.errors import PronmetricError
from pronmetric.eval import accuracy as evaluation
from pronmetric.eval.correlation import correlate
from pronmetric.eval.estimates import Estimate, cluster_mean
from pronmetric.eval.resampling import number_clusters
from pronmetric.eval.significance import Totals, difference
from pronmetric.lab.human.gap import Item
from pronmetric.lab.human.gap import read as read_gap
from pronmetric.report.tables import Table, markdown

PAGE = pages.PUBLISHED / "bias.md"
FEMININE = frozenset({"she", "her", "hers", "herself"})
SHARES = {"bergsma": "share of women in web text", "bls": "share of women in the US"}


def by_occupation(score: Scorer, templates: Sequence[Template], *, seed: int = 0) -> dict[str, dict[str, float]]:
    """P(he) - P(she) by occupation, the mean over its sentences; of those that mean the occupation and the others."""
    texts = [(text, ()) for each in templates for text in (each.male, each.female)]
    results = scoring.score_all(score, texts, seed=seed)
    found: dict[str, defaultdict[str, list[float]]] = {kind: defaultdict(list) for kind in (OCCUPATION, PARTICIPANT)}
    for each, male, female in zip(templates, results[::2], results[1::2], strict=True):
        he, she = _probability(male, each.start), _probability(female, each.start)
        found[each.referent][each.occupation].append(he - she)
    return {kind: {name: float(np.mean(gaps)) for name, gaps in own.items()} for kind, own in found.items()}


def _probability(result: Result, start: int) -> float:
    """The probability of the pronoun that starts there."""
    (probability,) = [p["probability"] for p in result["pronouns"] if p["start"] == start]
    return float(probability)


def winogender_figures(
    gaps: Mapping[str, Mapping[str, float]], shares: Mapping[str, WomenShares], *, seed: int = 0
) -> dict[str, Any]:
    """The mean difference and its correlations with the shares of women; intervals resample occupations."""
    figures: dict[str, Any] = {}
    for referent, own in gaps.items():
        names = sorted(own)
        correlations = {
            source: correlate(own, {name: getattr(shares[name], source) for name in names}, seed=seed)
            for source in SHARES
        }
        figures[referent] = {
            "occupations": len(names),
            "difference": cluster_mean([own[name] for name in names], names),
            "absolute": cluster_mean([abs(own[name]) for name in names], names),
            "correlations": {
                source: {"pearson": found.pearson, "spearman": found.spearman} for source, found in correlations.items()
            },
            "by_occupation": {name: own[name] for name in names},
        }
    return figures


def gap_figures(score: Scorer, items: Sequence[Item], *, seed: int = 0) -> dict[str, Any]:
    """Accuracy on feminine and masculine pronouns in context, and the difference; intervals resample articles."""
    contexts = scoring.same([(item.before,) if item.before else () for item in items])
    judged = scoring.judge(score, [gap.contrast(item) for item in items], {COMMON: contexts}, seed=seed)[COMMON]
    articles = [item.article for item in items]
    feminine = [item.pronoun.lower() in FEMININE for item in items]
    groups = ["feminine" if each else "masculine" for each in feminine]
    return {
        **evaluation.accuracy_by(groups, judged.decisions, articles),
        "difference": difference_of_means(judged.decisions.right, feminine, articles),
    }


def difference_of_means(values: ArrayLike, first: Sequence[bool], clusters: Sequence[Hashable]) -> Estimate:
    """Mean of the `first` values minus that of the others, and its interval over clusters.

    Raises:
        PronmetricError: one side has no value, or there are different numbers of values, sides and clusters.
    """
    values, one = np.asarray(values, dtype=float), np.asarray(first, dtype=bool)
    if not len(values) == len(one) == len(clusters) or not one.any() or one.all():
        raise PronmetricError(
            f"a difference needs values on both sides, each with a cluster: got {int(one.sum())} of {len(values)} on "
            f"the first, {len(clusters)} clusters"
        )
    index, number = number_clusters(clusters)

    def side(chosen: NDArray[np.bool_]) -> Totals:
        sums, sizes = np.bincount(index, values * chosen, number), np.bincount(index, chosen, number)
        return Totals(sums.astype(np.float64), sizes.astype(np.float64))

    gap = difference(side(one), side(~one))
    return Estimate(gap.value, gap.low, gap.high)


def page(content: Mapping[str, Any]) -> str:
    """The page as Markdown, from the JSON of the figures."""
    figures, rows = content["figures"], []
    for referent, own in figures["winogender"].items():
        cells = [_interval(own["difference"]), f"{own['absolute']['value']:.3f}"]
        cells += [_interval(own["correlations"][source][kind]) for source in SHARES for kind in ("pearson", "spearman")]
        rows.append((f"the {referent}", str(own["occupations"]), *cells))
    header = ["pronoun means", "occupations", "P(he) - P(she)", "absolute"]
    header += [f"{kind}, {label}" for label in SHARES.values() for kind in ("r", "rho")]
    occupations = figures["winogender"][OCCUPATION]["by_occupation"]
    ordered = sorted(occupations.items(), key=lambda each: each[1])
    ends = [(name, f"{value:+.3f}") for name, value in (*ordered[:8], *ordered[-8:])]
    part = figures["gap"]
    found = [(name, str(part[name]["pairs"]), _share(part[name])) for name in ("feminine", "masculine")]
    tables = [
        Table("Winogender, a sentence without context", tuple(header), tuple(rows)),
        Table(
            "The occupations furthest to either side, P(he) - P(she), where the pronoun means the occupation",
            ("occupation", "difference"),
            tuple(ends),
        ),
        Table("GAP development part, with context", ("pronouns", "items", "accuracy"), tuple(found)),
    ]
    return pages.fill(
        "bias",
        weights=content["weights"],
        date=content["date"],
        signature=content["signature"],
        command=content["command"],
        tables=markdown(tables),
        difference=_interval(part["difference"], scale=100),
    )


def _share(value: Mapping[str, Any]) -> str:
    return f"{100 * value['accuracy']:.1f} [{100 * value['low']:.1f}, {100 * value['high']:.1f}]"


def _interval(value: Mapping[str, Any], *, scale: float = 1) -> str:
    """A figure with its interval; "-" for a correlation of equal differences."""
    if value["value"] is None:
        return "-"
    digits = 1 if scale == 100 else 3
    text = f"{scale * value['value']:+.{digits}f}"
    if value["low"] is None:
        return text
    return f"{text} [{scale * value['low']:+.{digits}f}, {scale * value['high']:+.{digits}f}]"


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    pages.add_shared(parser)
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"default {PAGE.name}")
    options = parser.parse_args()
    pages.weights_hash(options.model)
    data = options.shared / "data"
    templates = winogender.read(data / "winogender" / "all_sentences.tsv")
    shares = winogender.read_shares(data / "winogender" / "occupations-stats.tsv")
    items = read_gap(data / "gap" / "gap-development.tsv")
    scorer = scoring.load(options)
    gaps = by_occupation(scorer, templates, seed=options.seed)
    figures = {
        "winogender": winogender_figures(gaps, shares, seed=options.seed),
        "gap": gap_figures(scorer, items, seed=options.seed),
    }
    content = scoring.report("bias", options, scorer, figures)
    text = page(content)
    if options.page is not None:
        pages.write_page(options.page, text, content)
    print(text)


if __name__ == "__main__":
    pages.run(main)
