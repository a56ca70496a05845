"""The figures of a checkpoint's card, from the JSON of the measuring scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pronmetric.errors import InputError
from pronmetric.training.card.checkpoint import PAPER, Measured, table

_PARTS = {"system": "R vs S", "noisy": "R vs R'", "system other": "R vs S, against another word or nothing"}
_SPLITS = {
    "development": "development",
    "test": "test",
    "development_study": "development in the study's form",
}
_KNOWN = {("test", "system"): "90.7 on WMT14", ("test", "noisy"): "89.1 on WMT14"}


def measured(reports: Sequence[Mapping[str, Any]], *, weights: str) -> Measured:
    """What the scripts measured of the checkpoint with these weights; reports: what they wrote, in any order.

    Raises:
        InputError: a report of other weights.
    """
    figures: dict[str, list[str]] = {}
    for report in reports:
        if report["weights"] != weights:
            raise InputError(
                f"the report of {report['benchmark']} is of weights {report['weights']}, the checkpoint has {weights}; "
                f"measure again: {report['command']}"
            )
        if report["benchmark"] in _SECTIONS:
            figures.setdefault(report["benchmark"], []).append(_SECTIONS[report["benchmark"]](report["figures"]))
    commands = tuple(dict.fromkeys(str(report["command"]) for report in reports))
    return Measured(figures, _overlooked(reports), commands)


def _overlooked(reports: Sequence[Mapping[str, Any]]) -> str:
    """The most frequent confusions, of the study or else of noisy references; "" without any."""
    wrong = next((r["figures"]["confusions"] for r in reports if r["benchmark"] == "study"), None)
    if wrong is None:
        wrong = next((r["figures"]["noisy"]["confusions"] for r in reports if "noisy" in r["figures"]), None)
    return ", ".join(
        f"{c['system']} for {c['reference']} ({c['wrong']} of {c['pairs']})" for c in (wrong or ())[:8] if c["wrong"]
    )


def _study(figures: Mapping[str, Any]) -> str:
    known = {"french": "82.0", "german": "81.6"}
    rows = []
    for language, part in figures["languages"].items():
        cells = [_share(part[kind]) for kind in ("common", "none", "shuffled")]
        counts = f"{part['common']['equal']} / {part['common']['null']} / {part['unscored']['either']}"
        rows.append([language, str(part["common"]["pairs"]), *cells, counts, known.get(language, "")])
    header = ["language", "pairs", "common context", "none", "shuffled", "equal / null / unscored", PAPER]
    return "### Published study set (test)\n\n" + table(header, rows)


def _gap(figures: Mapping[str, Any]) -> str:
    rows = [
        [kind, _share(figures[kind]), _share(figures["first_600"][kind])] for kind in ("common", "none", "shuffled")
    ]
    return (
        "### GAP development part (test): the pronoun against the other gender's\n\n"
        + table(["context", f"accuracy, {figures['common']['pairs']} items", "first 600"], rows)
        + f"\n\nContext helps by {_gain(figures['context_gain'])} points, shuffled context by "
        + f"{_gain(figures['shuffled_gain'])}."
    )


def _pairs(figures: Mapping[str, Any]) -> str:
    rows, notes = [], []
    for part, title in _PARTS.items():
        if part not in figures:
            continue
        own = figures[part]
        known = _KNOWN.get((figures["split"], part), "")
        for kind, value in own["contexts"].items():
            counts = f"{value['equal']} / {value['null']}"
            rows.append([title, kind, str(value["pairs"]), _share(value), counts, known if kind == "common" else ""])
        notes.append(f"{title}: {_counts(own['by_count'])}.")
    header = ["pairs", "context", "number", "accuracy", "equal / null", PAPER]
    title = f"### Reference against system and noisy reference ({_SPLITS[figures['split']]})\n\n"
    return title + "\n\n".join([table(header, rows), *notes])


def _counts(split: Mapping[str, Any]) -> str:
    """Accuracy on pairs with equal and unequal numbers of pronouns."""
    parts = []
    if split["equal"] is not None:
        parts.append(f"{_share(split['equal'])} where both texts have as many pronouns")
    if split["unequal"] is not None:
        parts.append(
            f"{_share(split['unequal'])} of {split['unequal']['pairs']} pairs where not, of which the text with fewer "
            f"pronouns wins {_share(split['fewer_won'])}"
        )
    return "; ".join(parts)


def _context(figures: Mapping[str, Any]) -> str:
    rows = [
        [
            group,
            str(part["common"]["pairs"]),
            *(f"{100 * part[kind]['accuracy']:.1f}" for kind in ("common", "none", "shuffled")),
            _gain(part["context_gain"]),
            _gain(part["shuffled_gain"]),
        ]
        for group, part in figures.items()
        if not group.startswith("third,")
    ]
    header = ["pronouns", "pairs", "common", "none", "shuffled", "common - none", "shuffled - none"]
    return "### Does context help? R vs R'\n\n" + table(header, rows)


def _calibration(figures: Mapping[str, Any]) -> str:
    rows = [
        [f"{b['low']:.3f} to {b['high']:.3f}", str(b["count"]), f"{b['probability']:.3f}", f"{b['frequency']:.3f}"]
        for b in figures["reliability"]
    ]
    return (
        f"### Calibration ({figures['split']}, {figures['form']} text)\n\n"
        f"Expected calibration error {figures['ece']:.3f} ({figures['bins']} equal-mass bins) over "
        f"{figures['pronouns']} pronouns of held-out references, {figures['wrong']} of them replaced: at "
        f"{100 * figures['rate']:.1f} %, the rate at which the outputs of WMT22 have another pronoun than the "
        "reference.\n\n" + table(["probability", "pronouns", "mean", "right"], rows)
    )


def _antecedents(figures: Mapping[str, Any]) -> str:
    rows = [
        [group, str(part["pronouns"]), method, *(_share(part[method][hit]) for hit in ("hit@1", "hit@3"))]
        for group, group_figures in figures["groups"].items()
        for part in [group_figures.get("antecedent")]
        if part is not None
        for method in ("attention", "nearest noun", "chance")
    ]
    gain = figures["groups"]["held out"]["antecedent"]["gain"]["hit@1"]
    return (
        "### Does a third-person pronoun look at its antecedent? GUM's coreference\n\n"
        + table(["documents", "pronouns", "", "hit@1", "hit@3"], rows)
        + "\n\nHit@k: one of the k words most attended, the pronoun itself excluded, is part of its antecedent. "
        + f"Attention minus the nearest noun, held out: {_gain(gain)} points (hit@1). What `pronmetric attention` "
        + "shows is a guess at antecedents, useful only where it is better than that baseline."
    )


def _bias(figures: Mapping[str, Any]) -> str:
    own, gap = figures["winogender"]["occupation"], figures["gap"]
    correlations = ", ".join(
        f"{own['correlations'][source]['pearson']['value']:+.2f} ({label})"
        for source, label in (("bergsma", "web text"), ("bls", "US"))
    )
    rows = [[name, str(gap[name]["pairs"]), _share(gap[name])] for name in ("feminine", "masculine")]
    return (
        "### Bias by gender (test)\n\n"
        + f"Winogender: P(he) - P(she) in the same sentence is {own['difference']['value']:+.3f} on average over "
        + f"{own['occupations']} occupations (absolute {own['absolute']['value']:.3f}; 0 is unbiased). Its correlation "
        + f"with the share of women in the occupation: {correlations}; a negative one follows the statistics.\n\n"
        + table(["GAP development part, pronouns", "items", "accuracy"], rows)
        + f"\n\nFeminine minus masculine: {_gain(gap['difference'])} points."
    )


def _fidelity(figures: Mapping[str, Any]) -> str:
    groups = [(f"level {level}", shares) for level, shares in figures["levels"].items()]
    groups += [("rewritten documents", figures["rewritten"])] if "rewritten" in figures else []
    sets = ("all", "he", "she", "they", "it")
    rows = [[name, *(_share(shares[each]) if each in shares else "" for each in sets)] for name, shares in groups]
    they, bias = figures["they"]["all"], figures["stereotypes"]
    share = bias["share"]
    return (
        "### Fidelity: the right pronouns against another person's (held-out frames, roles and names)\n\n"
        + table(["passages", *sets], rows)
        + "\n\nThe level is the number of sentences about the other person in between. Singular they that the text "
        + f"has established, against he or she: {_share(they)} % of {they['pairs']} texts. Where nothing "
        + f"but a stereotype of the role decides between he and she, {_share({**share, 'accuracy': share['value']})} % "
        + f"of {bias['pairs']} decisions are on its side; 50 % is unbiased. Neopronouns are not scored."
    )


def _share(value: Mapping[str, Any] | None) -> str:
    """An accuracy or an estimate: "86.4 [83.1, 89.2]"."""
    if value is None:
        return "-"
    share = value["accuracy"] if "accuracy" in value else value["value"]
    if value["low"] is None:
        return f"{100 * share:.1f}"
    return f"{100 * share:.1f} [{100 * value['low']:.1f}, {100 * value['high']:.1f}]"


def _gain(value: Mapping[str, Any]) -> str:
    if value["low"] is None:
        return f"{100 * value['value']:+.1f}"
    return f"{100 * value['value']:+.1f} [{100 * value['low']:+.1f}, {100 * value['high']:+.1f}]"


_SECTIONS = {
    "study": _study,
    "gap": _gap,
    "pair_accuracy": _pairs,
    "context_gain": _context,
    "calibration": _calibration,
    "antecedents": _antecedents,
    "bias": _bias,
    "fidelity": _fidelity,
}
