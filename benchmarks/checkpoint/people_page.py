"""The page published/people.md from the figures of `checkpoint.people`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks import pages
from pronmetric.lab.human.pair_baselines import FEWER

METRIC, DOUBTS = "pronmetric", "its doubts, summed"
UNTOUCHED = "at most 2 other words, errors or not"
Figures = Mapping[str, Any]


def page(content: Figures) -> str:
    """The page as Markdown; `content` is a report of `checkpoint.people`."""
    parts, figures = pages.template("people"), content["figures"]
    sets = {name: part for name, part in figures["sets"].items() if name != UNTOUCHED}  # decided in the same pairs
    threshold = figures["tie_threshold"]
    text = parts["page"].format(
        **{key: content[key] for key in ("weights", "date", "command", "figures")},
        doubts=DOUBTS,
        tie=parts["no tie threshold" if threshold is None else "tie threshold"].format(threshold=threshold),
        pairs="\n\n".join(_set(name, part, parts["set"]) for name, part in figures["sets"].items()),
        baselines=_baselines(sets),
        kinds=_kinds(sets),
        raters=raters(sets),
        detected=_detected(figures["detection"]),
        categories=_categories(figures["detection"]),
        study=study(figures["study"]),
        fewer=_fewer(sets, figures["detection"], parts),
    )
    return text + "\n"


def _set(name: str, pairs: Figures, text: str) -> str:
    header = ["", "decided by people", "accuracy", "equal / null", "ties", "AC1 with ties", "AC1 without"]
    rows = [
        [
            row,
            str(accuracy["pairs"]),
            _share(accuracy),
            f"{accuracy['equal']} / {accuracy['null']}",
            f"{100 * pairs['ties'][row]:.0f} %",
            _ac1(pairs["agreement"][row]),
            _ac1(pairs["agreement"][row]["without_ties"]),
        ]
        for row, accuracy in pairs["accuracy"].items()
    ]
    votes = ", ".join(f"{count} {vote}" for vote, count in sorted(pairs["votes"].items()))
    counts = {key: pairs[key] for key in ("pairs", "documents")}
    return text.format(name=name, **counts, votes=votes, table=pages.markdown([header, *rows]))


def _baselines(sets: Figures) -> str:
    header = ["pairs", "baseline", "it decides", "it gets right", "", "gets right there", "difference"]
    rows = [
        [
            name,
            baseline,
            f"{held['decided']} of {held['pairs']}",
            _share(held["baseline"]),
            who,
            _share(held["metric"]),
            _points(held["difference"]),
        ]
        for name, pairs in sets.items()
        for who, beside in ((METRIC, pairs["beside"]), (DOUBTS, pairs["doubts_beside"]))
        for baseline, held in beside.items()
        if held is not None
    ]
    return pages.markdown([header, *rows])


def _kinds(sets: Figures) -> str:
    rows = [
        [name, kind, str(own["pairs"]), *(_share(pairs["by_kind"][row].get(kind)) for row in (METRIC, DOUBTS))]
        for name, pairs in sets.items()
        for kind, own in pairs["by_kind"][METRIC].items()
    ]
    return pages.markdown([["pairs", "difference", "number", METRIC, DOUBTS], *rows])


def raters(sets: Figures) -> str:
    """AC1 of the metric and each rater, as a section."""
    rows = [
        [name, rater, str(agreement["ac1"]["items"]), _ac1(agreement), _ac1(agreement["without_ties"])]
        for name, pairs in sets.items()
        for rater, agreement in pairs["by_rater"].items()
        if agreement["ac1"] is not None
    ]
    table = pages.markdown([["pairs", "rater", "number", "AC1 with ties", "AC1 without"], *rows])
    return pages.template("people")["raters"].format(table=table)


def _detected(detection: Figures) -> str:
    header = ["", "pronouns", "wrong", "flagged", "P", "R", "F1", "average precision", "ROC AUC"]
    names = {"metric": METRIC, "form": "how often the form is wrong in the other talks"}
    named = {title: detection[key] for key, title in names.items()} | dict(detection["by_pronoun"])
    keys = ("precision", "recall", "f1", "average_precision", "roc_auc")
    rows = [
        [name, *(str(part[key]) for key in ("pronouns", "wrong", "flagged")), *(_share(part[key]) for key in keys)]
        for name, part in named.items()
    ]
    return pages.markdown([header, *rows])


def _categories(detection: Figures) -> str:
    rows = [[name, str(part["wrong"]), f"{part['median']:.2f}"] for name, part in detection["by_category"].items()]
    return pages.markdown([["category", "pronouns", "median"], *rows])


def study(languages: Figures | None) -> str:
    """Accuracy and AC1 on the study set by language, as a section."""
    parts = pages.template("people")
    if languages is None:
        return parts["no study"]
    rows = [
        [
            name,
            str(part["accuracy"]["pairs"]),
            _share(part["accuracy"]),
            _ac1(part["agreement"]),
            _ac1(part["agreement"]["without_ties"]),
        ]
        for name, part in languages.items()
    ]
    table = pages.markdown([["", "samples", "accuracy", "AC1 with ties", "AC1 without"], *rows])
    return parts["study"].format(table=table)


def _fewer(sets: Figures, detection: Figures, parts: Mapping[str, str]) -> str:
    """Where the metric is below the baseline of fewer pronouns, and the reasons that the figures show."""
    below: list[str] = []
    above: list[str] = []
    for name, pairs in sets.items():
        held = pairs["beside"].get(FEWER)
        if held is not None:
            gap = held["difference"]["value"]
            (below if gap < 0 else above).append(f"{name} ({_points(held['difference'])} points)")
    if not below:
        return parts["fewer, not below"].format(above="; ".join(above)) if above else parts["fewer, no pair"]
    where = parts["fewer, below"].format(below="; ".join(below))
    if above:
        where += parts["fewer, above elsewhere"].format(above="; ".join(above))
    return f"{where}\n\n{parts['reasons'].format(reasons=chr(10).join(_reasons(sets, detection, parts)))}"


def _reasons(sets: Figures, detection: Figures, parts: Mapping[str, str]) -> Iterator[str]:
    name, pairs = max(sets.items(), key=lambda named: named[1]["accuracy"][METRIC]["pairs"])
    accuracy, doubts = pairs["accuracy"][METRIC], pairs["accuracy"][DOUBTS]
    wins = pairs["beside"][FEWER]["baseline"]["value"]
    expected = pairs["expected_fewer"]
    yield parts["reason, short texts"].format(name=name, expected=100 * expected, wins=100 * wins)
    counts = {key: accuracy[key] for key in ("null", "pairs")}
    shares = {"doubts": _share(doubts), "accuracy": _share(accuracy)}
    yield parts["reason, superfluous pronouns"].format(**counts, **shares)
    whole = detection["metric"]
    if whole["wrong"]:
        medians = [part["median"] for part in detection["by_category"].values()]
        around = {"lowest": min(medians), "highest": max(medians), "roc_auc": _share(whole["roc_auc"])}
        yield parts["reason, English alone"].format(**around)
    if replaced := pairs["by_kind"][METRIC].get("one pronoun for another"):
        counts = {"replaced": replaced["pairs"], "pairs": accuracy["pairs"]}
        yield parts["reason, rare errors"].format(**counts, name=name, right=_share(replaced))


def _ac1(found: Figures | None) -> str:
    """AC1 with the interval that resamples documents: "0.41 [0.20, 0.60]"."""
    if found is None or found["ac1"] is None:
        return "-"
    ac1 = found["ac1"]
    around = ac1["by_document"]
    return f"{ac1['estimate']:.2f}" + ("" if around is None else f" [{around[0]:.2f}, {around[1]:.2f}]")


def _share(found: Figures | None) -> str:
    """A share in percent with its interval: "86.4 [83.1, 89.2]"."""
    if found is None:
        return "-"
    value = found["accuracy"] if "accuracy" in found else found["value"]
    around = "" if found["low"] is None else f" [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
    return f"{100 * value:.1f}{around}"


def _points(found: Figures) -> str:
    around = "" if found["low"] is None else f" [{100 * found['low']:+.1f}, {100 * found['high']:+.1f}]"
    return f"{100 * found['value']:+.1f}{around}"
