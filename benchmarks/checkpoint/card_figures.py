"""The figures of a model card: what people marked, then one table of the tests and a sentence for what is no accuracy.

All come from reports of the measuring scripts (`python -m benchmarks.checkpoint.NAME --out FILE.json`) and of
`evaluate --split people_test --to_json`; nothing is entered by hand, and missing measurements are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pronmetric.errors import InputError
from pronmetric.signature import Signature
from pronmetric.training.card.checkpoint import Measured, table

PAPER = "Jwalapuram et al. 2019"
PEOPLE = "people"  # the name of a report of `evaluate`, which has none
_WITHOUT = ", without the source"
_LEAST = 20  # marks; an interval of fewer has a width of 30 points and more
_PARTS = {"system": "R vs S", "noisy": "R vs R'", "system other": "R vs S, against another word or nothing"}
_SPLITS = {
    "development": "development",
    "test": "test",
    "development_study": "development, the study's form",
}
_KNOWN = {("test", "system"): "90.7 on WMT14", ("test", "noisy"): "89.1 on WMT14"}
_STUDY = {"french": "82.0", "german": "81.6"}
_LIST = ("study", "pair_accuracy", "gap", "context_gain", "fidelity")  # whose figures are rows
_SAID = ("calibration", "antecedents", "bias")  # whose figures are sentences
SCRIPTS = (*_LIST, *_SAID)
"""The scripts whose figures a card has; without one of them it says what was not measured."""
_HEADER = ("test", "number", "accuracy", "without context", PAPER)


def measured(reports: Sequence[Mapping[str, Any]], *, weights: str) -> Measured:
    """What the card says of these reports, in any order.

    weights: first 8 hex digits of the SHA-256 of the checkpoint's weights.

    Raises:
        InputError: a report of other weights.
    """
    for report in reports:
        found = report.get("weights") or Signature.parse(report["signature"])["weights"]
        if found != weights:
            raise InputError(
                f"the report of {report.get('benchmark', PEOPLE)} is of weights {found}, the checkpoint has {weights}; "
                f"measure again: {report.get('command', 'pronmetric evaluate')}"
            )
    return Measured(_sections(reports), _most_overlooked(reports))


def _sections(reports: Sequence[Mapping[str, Any]]) -> str:
    """The sections on people and on the tests, as Markdown."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for report in reports:
        found.setdefault(report.get("benchmark", PEOPLE), []).append(report.get("figures", report))
    rows, said = [], []
    for name in _LIST:
        for figures in found.get(name, ()):
            own, notes = _ROWS[name](figures)
            rows += own
            said += notes
    said += [_SENTENCES[name](figures) for name in _SAID for figures in found.get(name, ())]
    missing = [f"`{name}`" for name in SCRIPTS if name not in found]
    parts = [
        "## What people marked (test)",
        *([_people(figures) for figures in found[PEOPLE]] if PEOPLE in found else ["Not measured."]),
        "## Tests",
        "Percent of pairs in which the better text has strictly the higher number; equal and missing ones are wrong. "
        "In brackets 95 % intervals, over reference sentences (study set), articles (GAP), else documents.",
        *([table(_HEADER, rows)] if rows else []),
        *(["\n".join(f"- {line}" for line in said)] if said else []),
        *([f"Not measured: {', '.join(missing)}."] if missing else []),
    ]
    return "\n\n".join(parts)


def _most_overlooked(reports: Sequence[Mapping[str, Any]]) -> str:
    """The errors that a checkpoint overlooks most often: "which for that (29 of 100)"; "" if nobody measured them."""
    figures = {report["benchmark"]: report["figures"] for report in reversed(reports) if "benchmark" in report}
    noisy: Mapping[str, Any] = next((each["noisy"] for each in figures.values() if "noisy" in each), {})
    wrong = figures.get("study", {}).get("confusions") or noisy.get("confusions", ())
    listed = [f"{c['system']} for {c['reference']} ({c['wrong']} of {c['pairs']})" for c in wrong[:8] if c["wrong"]]
    return ", ".join(listed)


def _people(figures: Mapping[str, Any]) -> str:
    parts = figures["pronouns"]
    sets = [name for name in parts if ":" in name and ", " not in name and "segments" not in name]
    names = [name for name in sets if parts[name]["marked"] >= _LEAST]
    few = [f"{name} ({parts[name]['marked']})" for name in sets if name not in names]
    header = ["texts", "pronouns, marked", "area", "without the source", "marked by two", "a rater shares", "raters"]
    rows = [
        [
            name,
            f"{parts[name]['pronouns']:,}, {parts[name]['marked']:,}",
            share(parts[name]["area"]),
            share(parts.get(name + _WITHOUT, {}).get("area")),
            share(parts[name]["two_area"]),
            share(parts[name]["share"]),
            _among(parts[name]["raters"]),
        ]
        for name in names
    ]
    kept = [at for at in range(len(header)) if any(row[at] != "-" for row in rows)]
    told = [
        "In percent. Area: under the ROC curve of the pronouns that a rater marked or a post-editor corrected, 50 is "
        "chance; *marked by two*: by two raters or more. *A rater shares*: of as many pronouns as a rater marks, those "
        "that a given rater marks too; *raters*: the same of the raters among each other.",
        table([header[at] for at in kept], [[row[at] for at in kept] for row in rows]),
    ]
    if few:
        told.append(f"With fewer than {_LEAST} marks, in the JSON alone: {', '.join(few)}.")
    pairs = figures.get("pairs")
    if pairs and pairs["pairs"]:
        own = pairs["accuracy"]
        by = "preference" if "preference" in own else "score"
        bare = own.get(by + _WITHOUT)
        ends = f"; without the source {share(bare)}" if bare else ""
        told.append(f"The corrected text is preferred to the text in {share(own[by])} of {pairs['pairs']} pairs{ends}.")
    gaps = (figures.get("missing") or {}).get("all")
    if gaps:
        told.append(
            f"Missing pronouns: area {share(gaps['area'])} of {gaps['gaps']:,} gaps, {gaps['insertions']} of "
            "which a post-editor filled."
        )
    return "\n\n".join(told)


def _among(raters: Mapping[str, Any] | None) -> str:
    """The share of marks that raters share; nobody judged a pronoun twice, or nobody marked one: "-"."""
    found = None if raters is None else raters["share"]
    return "-" if found is None else f"{100 * found:.1f}"


Rows = tuple[list[list[str]], list[str]]


def _study(figures: Mapping[str, Any]) -> Rows:
    rows = [
        [
            f"published study set, {language} (test)",
            _number(part["common"]),
            share(part["common"]),
            share(part["none"]),
            _STUDY.get(language, ""),
        ]
        for language, part in figures["languages"].items()
    ]
    return rows, []


def _pairs(figures: Mapping[str, Any]) -> Rows:
    rows, notes = [], []
    for part, title in _PARTS.items():
        if part not in figures:
            continue
        own = figures[part]
        for kind, value in own["contexts"].items():
            name = f"{title} ({_SPLITS[figures['split']]}), context {kind}"
            known = _KNOWN.get((figures["split"], part), "") if kind == "common" else ""
            rows.append([name, _number(value), share(value), "", known])
        notes.append(f"{title} ({_SPLITS[figures['split']]}): {_counts(own['by_count'])}.")
    return rows, notes


def _counts(split: Mapping[str, Any]) -> str:
    """Accuracy on pairs with equal and unequal numbers of pronouns."""
    parts = []
    if split["equal"] is not None:
        parts.append(f"{share(split['equal'])} where both texts have as many pronouns")
    if split["unequal"] is not None:
        parts.append(
            f"{share(split['unequal'])} of {split['unequal']['pairs']} pairs where not, of which the text with fewer "
            f"pronouns wins {share(split['fewer_won'])}"
        )
    return "; ".join(parts)


def _gap(figures: Mapping[str, Any]) -> Rows:
    row = ["GAP: against the other gender's form (test)", _number(figures["common"]), share(figures["common"])]
    said = f"GAP: context helps by {_gain(figures['context_gain'])} points, shuffled context by "
    return [[*row, share(figures["none"]), ""]], [f"{said}{_gain(figures['shuffled_gain'])}."]


def _context(figures: Mapping[str, Any]) -> Rows:
    rows, notes = [], []
    for group, part in figures.items():
        if group.startswith("third,"):
            continue
        rows.append([f"R vs R', {group}", _number(part["common"]), share(part["common"]), share(part["none"]), ""])
        gains = f"{_gain(part['context_gain'])} points, shuffled context by {_gain(part['shuffled_gain'])}"
        notes.append(f"R vs R', {group}: context helps by {gains}.")
    return rows, notes


def _fidelity(figures: Mapping[str, Any]) -> Rows:
    groups = [(f"level {level}", shares) for level, shares in figures["levels"].items()]
    groups += [("rewritten documents", figures["rewritten"])] if "rewritten" in figures else []
    rows = [[f"fidelity, {name}", _number(shares["all"]), share(shares["all"]), "", ""] for name, shares in groups]
    they, bias = figures["they"]["all"], figures["stereotypes"]
    said = (
        "Fidelity: the right pronouns against another person's, after as many sentences about that person as the level "
        f"says. Singular they that the text has established, against he or she: {share(they)} of {they['pairs']}. "
        "Where only a stereotype of the role decides between he and she, "
        f"{share({**bias['share'], 'accuracy': bias['share']['value']})} of {bias['pairs']} decisions are on its side; "
        "50 is unbiased."
    )
    return rows, [said]


def _calibration(figures: Mapping[str, Any]) -> str:
    return (
        f"Calibration ({figures['split']}, {figures['form']} text): expected calibration error {figures['ece']:.3f} "
        f"({figures['bins']} bins) over {figures['pronouns']:,} pronouns, {figures['wrong']} of them replaced, as many "
        f"as systems get wrong ({100 * figures['rate']:.1f} %)."
    )


def _antecedents(figures: Mapping[str, Any]) -> str:
    part = figures["groups"]["held out"]["antecedent"]
    attention, nearest = (share(part[method]["hit@1"]) for method in ("attention", "nearest noun"))
    return (
        f"Attention: the word that a third-person pronoun attends to most is in its antecedent for {attention} % of "
        f"{part['pronouns']} pronouns of held-out documents; the nearest noun for {nearest} %."
    )


def _bias(figures: Mapping[str, Any]) -> str:
    own, gap = figures["winogender"]["occupation"], figures["gap"]
    correlations = ", ".join(
        f"{own['correlations'][source]['pearson']['value']:+.2f} ({label})"
        for source, label in (("bergsma", "web text"), ("bls", "US"))
    )
    return (
        f"Bias: on Winogender P(he) - P(she) is {own['difference']['value']:+.3f} on average over {own['occupations']} "
        f"occupations (absolute {own['absolute']['value']:.3f}; 0 is unbiased), correlated with the share of women by "
        f"{correlations}. GAP, feminine minus masculine pronouns: {_gain(gap['difference'])} points."
    )


_ROWS = {"study": _study, "pair_accuracy": _pairs, "gap": _gap, "context_gain": _context, "fidelity": _fidelity}
_SENTENCES = {"calibration": _calibration, "antecedents": _antecedents, "bias": _bias}


def _number(value: Mapping[str, Any]) -> str:
    """The number of pairs, and how many are equal or have no score."""
    kinds = [f"{value[kind]} {said}" for kind, said in (("equal", "equal"), ("null", "missing")) if value.get(kind)]
    return f"{value['pairs']:,}" + (f" ({', '.join(kinds)})" if kinds else "")


def share(value: Mapping[str, Any] | None) -> str:
    """An accuracy or an estimate: "86.4 [83.1, 89.2]"."""
    if value is None:
        return "-"
    found = value["accuracy"] if "accuracy" in value else value["value"]
    if value["low"] is None:
        return f"{100 * found:.1f}"
    return f"{100 * found:.1f} [{100 * value['low']:.1f}, {100 * value['high']:.1f}]"


def _gain(value: Mapping[str, Any]) -> str:
    if value["low"] is None:
        return f"{100 * value['value']:+.1f}"
    return f"{100 * value['value']:+.1f} [{100 * value['low']:+.1f}, {100 * value['high']:+.1f}]"
