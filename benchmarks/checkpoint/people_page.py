"""The page benchmarks/published/people.md, written from the figures of `benchmarks.checkpoint.people`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pronmetric.lab.human.simple_baselines import FEWER

METRIC, DOUBTS = "pronmetric", "its doubts, summed"
UNTOUCHED = "at most 2 other words, errors or not"
Figures = Mapping[str, Any]


def page(content: Figures) -> str:
    """The page as Markdown; `content` is a report of `benchmarks.checkpoint.people`."""
    figures = content["figures"]
    sets = {name: found for name, found in figures["sets"].items() if name != UNTOUCHED}  # decided in the same pairs
    parts = [
        _head(content),
        "## Pairs\n\n" + "\n\n".join(_set(name, found) for name, found in figures["sets"].items()),
        _baselines(sets),
        _kinds(sets),
        raters(sets),
        _detection(figures["detection"]),
        study(figures["study"]),
        _why(sets, figures["detection"]),
    ]
    return "\n\n".join(parts) + "\n"


def _head(content: Figures) -> str:
    figures = content["figures"]
    threshold = figures["tie_threshold"]
    tie = (
        "the checkpoint has no tie threshold: only equal scores are a tie"
        if threshold is None
        else f"scores that differ by no more than {threshold:g}, the checkpoint's tie threshold, are a tie in AC1"
    )
    return f"""# Comparison with human judgements

Weights `{content["weights"]}`, {content["date"]}; JSON: `people.json`. Test data: nothing is chosen by it. Written by

```
{content["command"]}
```

MQM annotations of TED talks, Chinese to English: {figures["judgements"]:,} judgements of one translation by one rater,
{figures["raters"]} raters, {figures["documents"]} talks. A pair is two translations of a segment that the same rater
judged; the rater votes for the one with the lower penalty, counting only errors that touch a pronoun. No rater compared
two texts or looked for pronouns in particular. Context: the two segments before, of the reference. Intervals
are 95 % and resample talks; on {figures["documents"]} of them they are rough.

"{DOUBTS}" is minus the number of pronouns that the same probabilities expect to be wrong, 0 for a text without
any; the metric itself takes their mean. It is listed to show the cost of the mean; no verb uses it. In accuracy equal
and null scores are wrong. AC1 is Gwet's, against the raters' votes; {tie}."""


def _set(name: str, found: Figures) -> str:
    votes = ", ".join(f"{count} {vote}" for vote, count in sorted(found["votes"].items()))
    rows = []
    for row, accuracy in found["accuracy"].items():
        agreement = found["agreement"][row]
        rows.append(
            [
                row,
                str(accuracy["pairs"]),
                _share(accuracy),
                f"{accuracy['equal']} / {accuracy['null']}",
                f"{100 * found['ties'][row]:.0f} %",
                _ac1(agreement),
                _ac1(agreement["without_ties"]),
            ]
        )
    header = ["", "decided by people", "accuracy", "equal / null", "ties", "AC1 with ties", "AC1 without"]
    return (
        f"### {name}\n\n{found['pairs']} pairs of {found['documents']} talks, votes: {votes}.\n\n{_table(header, rows)}"
    )


def _baselines(sets: Figures) -> str:
    rows = []
    for name, found in sets.items():
        own = [(METRIC, found["beside"]), (DOUBTS, found["doubts_beside"])]
        for who, beside in own:
            rows += [
                [
                    name,
                    baseline,
                    f"{held['decided']} of {held['pairs']}",
                    _share(held["baseline"]),
                    who,
                    _share(held["metric"]),
                    _points(held["difference"]),
                ]
                for baseline, held in beside.items()
                if held is not None
            ]
    header = ["pairs", "baseline", "it decides", "it gets right", "", "gets right there", "difference"]
    return "## Comparison with the simple baselines, on the pairs that a baseline decides\n\n" + _table(header, rows)


def _kinds(sets: Figures) -> str:
    rows = [
        [name, kind, str(own["pairs"]), *(_share(found["by_kind"][row].get(kind)) for row in (METRIC, DOUBTS))]
        for name, found in sets.items()
        for kind, own in found["by_kind"][METRIC].items()
    ]
    return "## By how the pronouns differ\n\n" + _table(["pairs", "difference", "number", METRIC, DOUBTS], rows)


def raters(sets: Figures) -> str:
    """AC1 of the metric and each rater, as a section."""
    rows = [
        [name, rater, str(found["ac1"]["items"]), _ac1(found), _ac1(found["without_ties"])]
        for name, part in sets.items()
        for rater, found in part["by_rater"].items()
        if found["ac1"] is not None
    ]
    header = ["pairs", "rater", "number", "AC1 with ties", "AC1 without"]
    return "## AC1 of the metric and each rater\n\n" + _table(header, rows)


def _detection(found: Figures) -> str:
    header = ["", "pronouns", "wrong", "flagged", "P", "R", "F1", "average precision", "ROC AUC"]
    names = {"metric": METRIC, "form": "how often the form is wrong in the other talks"}
    rows = [_detected(title, found[key]) for key, title in names.items()]
    rows += [_detected(form, part) for form, part in found["by_pronoun"].items()]
    categories = [[name, str(part["wrong"]), f"{part['median']:.2f}"] for name, part in found["by_category"].items()]
    return "\n\n".join(
        [
            "## Which pronouns an error touches\n\nFlagged: a probability below 0.5. All in percent; chance gives an "
            "average precision of the share of wrong pronouns, and a ROC AUC of 50. By pronoun: the ten most often "
            "wrong.",
            _table(header, rows),
            "Median probability of the wrong ones by the category of the error:",
            _table(["category", "pronouns", "median"], categories),
        ]
    )


def _detected(name: str, found: Figures) -> list[str]:
    keys = ("precision", "recall", "f1", "average_precision", "roc_auc")
    counts = [str(found[key]) for key in ("pronouns", "wrong", "flagged")]
    return [name, *counts, *(_share(found[key]) for key in keys)]


def study(found: Figures | None) -> str:
    """Accuracy and AC1 on the study set by language, as a section."""
    title = '## Study set: AC1 against "the reference is better"\n\nThis is not human agreement: the reference is '
    title += "assumed to be better in each sample."
    if found is None:
        return f"{title}\n\nNot measured with these weights, or by a run that wrote no agreement (`benchmarks.checkpoint.study`)."
    rows = [
        [
            name,
            str(part["accuracy"]["pairs"]),
            _share(part["accuracy"]),
            _ac1(part["agreement"]),
            _ac1(part["agreement"]["without_ties"]),
        ]
        for name, part in found.items()
    ]
    header = ["", "samples", "accuracy", "AC1 with ties", "AC1 without"]
    return f"{title} Intervals resample reference sentences.\n\n{_table(header, rows)}"


def _why(sets: Figures, detection: Figures) -> str:
    """Where the metric is below the baseline of fewer pronouns, and the reasons that the figures show."""
    below: list[str] = []
    above: list[str] = []
    for name, found in sets.items():
        held = found["beside"].get(FEWER)
        if held is not None:
            gap = held["difference"]["value"]
            (below if gap < 0 else above).append(f"{name} ({_points(held['difference'])} points)")
    title = '## Against the baseline "fewer pronouns"'
    if not below and not above:
        return f"{title}\n\nIt decides no pair."
    if not below:
        return f"{title}\n\nThe metric is not below it: {'; '.join(above)}."
    lines = [f"The metric is **below** this baseline on {'; '.join(below)}."]
    if above:
        lines[0] += f" It is not on {'; '.join(above)}."
    lines.append("Reasons, from the figures above:")
    return f"{title}\n\n" + "\n\n".join([*lines, "\n".join(f"- {reason}" for reason in _reasons(sets, detection))])


def _reasons(sets: Figures, detection: Figures) -> Iterator[str]:
    name, found = max(sets.items(), key=lambda named: named[1]["accuracy"][METRIC]["pairs"])
    held, expected = found["beside"][FEWER], found["expected_fewer"]
    yield (
        "**The pairs favour short texts.** Only pairs in which an error touches a pronoun are decided, and a text with "
        "more pronouns has more that an error can touch. If one pronoun of the two texts, drawn blindly, were the "
        f"wrong one, fewer pronouns would win {100 * expected:.1f} % ({name}); it wins "
        f"{100 * held['baseline']['value']:.1f} %. This part of the baseline's figure is due to the choice of pairs."
    )
    accuracy, doubts = found["accuracy"][METRIC], found["accuracy"][DOUBTS]
    yield (
        "**The rest is superfluous pronouns.** The mean over a segment's pronouns does not depend on how many "
        "there are: a surplus pronoun that fits its sentence has a high probability and raises the mean, and a text "
        f"that avoids the pronoun has no score at all ({accuracy['null']} of {accuracy['pairs']} pairs are null, thus "
        f"wrong). The same doubts summed get {_share(doubts)} right where the mean gets {_share(accuracy)}."
    )
    whole = detection["metric"]
    if whole["wrong"]:
        medians = [part["median"] for part in detection["by_category"].values()]
        yield (
            "**Few of the wrong pronouns are doubtful by the English alone.** The median probability of a wrong "
            f"pronoun is {min(medians):.2f} to {max(medians):.2f} by category, the ROC AUC {_share(whole['roc_auc'])}."
        )
    if replaced := found["by_kind"][METRIC].get("one pronoun for another"):
        yield (
            "**The errors that the metric is made for are rare here.** One pronoun replaces another in "
            f"{replaced['pairs']} of {accuracy['pairs']} decided pairs ({name}); of these it gets {_share(replaced)} "
            "right, and the baseline decides none."
        )


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


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *rows])
