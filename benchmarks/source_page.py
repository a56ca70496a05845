"""The page benchmarks/source.md, written from the figures of `benchmarks.source`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import scoring
from data_prep import source_filter

PAGE = scoring.BENCHMARKS / "source.md"
REASONS = (source_filter.CONTRADICTS, source_filter.ALIKE)
RATED = """People rated whole translations. The errors agree with them no better than chance, and with a source
slightly less often; the number of missing pronouns has no measurable effect. So missing pronouns are counted
separately and are not part of `errors`."""
READ = scoring.BENCHMARKS / "source-examples.tsv"


def page(content: Mapping[str, Any]) -> str:
    """The page as Markdown; figures are those of `develop` and `test`."""
    figures = content["figures"]
    weights = content["combination"]
    fits = [figures[name] for name in ("replaced, seed 1", "replaced, seed 2", "natural")]
    return f"""# What the source adds

Weights `{content["weights"]}`, {content["date"]}; JSON: `source.json`.

Written by `python -m benchmarks.source` (the commands are in the JSON). Fp32, CPU. Tables learned from WMT21 and
WMT22 without the tests WMT22 de-en and zh-en. Development data: WMT23 (de, ja, ru, uk), direct assessments of
WMT21 and WMT22. Intervals are 95 %.

## The weight of the source (development)

The logit of a pronoun with a source is scale x (the model's logit + ratio x log-odds) + bias. Pairs R vs R' of
WMT23 are no clean label (below), so the ratio is fitted on two others: references of WMT23 with
{fits[0]["wrong"]} and {fits[1]["wrong"]} pronouns replaced by other forms as systems confuse them (right and
wrong by construction), and R' of pairs where at least half of the systems have the reference's form, so that
one system is alone ({fits[2]["wrong"]} wrong pronouns; the others of the same texts are right). AUC of
"right", its gain over ratio 0, and log-loss at the natural error rate of 6.3 %:

{_ratios(fits, ("replaced, seed 1", "replaced, seed 2", "natural errors"))}

Free regressions give {", ".join(f"{_of(f)}" for f in fits)} (logit, log-odds). Replaced pronouns overrate the
source: systems have seen it, so their errors rarely contradict it. Chosen: ratio 0.3 (logit
{weights["logit"]:g}, log-odds {weights["evidence"]:g}, bias {weights["bias"]:g}; scale and bias of the
replaced pronouns), which has most of the gain on natural errors.

Pairs R vs R' of WMT23, decided by the differing pronoun:

{_pairs(figures["pairs"])}

The source alone prefers R in about half of them, even where most systems agree with R. On such pairs it cannot
help.

## People's ratings (development)

{_human(figures["human"])}

## Demonstratives

`this` and `that` had no evidence and `it` had, so that `it` won. Four rules were compared in a trial run on
such samples (its figures are not in the JSON). AUC at ratio 0.3 on natural errors, on replaced pronouns: as it
was 0.854, 0.915; all 14 classes compete 0.849, 0.916; a demonstrative counts as the pronoun it competes with
0.848, 0.914; the same without support for it, this and that (shipped) 0.860, 0.915.

## Missing and surplus pronouns (development)

{_missing(figures["missing"])}

{_by_reference(figures["missing by reference"])}

## Clean labels

{_dropped(figures.get("dropped"))}

## Test (once)

Pairs of short texts, drawn at random. Equal scores count as wrong. Gain: with minus without the source;
intervals resample documents, or blocks of 20 segments where documents are unknown. The figures of WMT22 were
computed twice from the same scores, because the first time they had no intervals.

{_tests(figures)}

On people's labels (TED MQM) the source helps, within the noise of five documents. Against "the reference is
better" it does not: outputs follow the source more literally than reference translators, so that R loses to S.

{_times(figures)}

## Examples read (WMT22, R vs R'; the form of R / of R')

{_examples()}
"""


def write(files: Sequence[Path]) -> None:
    """Write the page and its JSON from the files of `fit`, `human` and `test`."""
    parts = [scoring.read_report(path, "source") for path in files]
    content: dict[str, Any] = {
        **{key: parts[0][key] for key in ("benchmark", "date", "weights", "combination")},
        "commands": [part["command"] for part in parts],
        "figures": {name: found for part in parts for name, found in part["figures"].items()},
    }
    scoring.write_page(PAGE, page(content), content)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---", *["---:"] * (len(header) - 1)], *rows))


def _ratios(fits: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    header = ["ratio", *(f"{name}: {what}" for name in names for what in ("AUC", "gain", "log-loss"))]
    rows = [
        [
            ratio,
            *(
                cell
                for fit in fits
                for one in [fit["ratios"][ratio]]
                for cell in (f"{one['auc']:.3f}", "[{:+.3f}, {:+.3f}]".format(*one["gain"]), f"{one['log-loss']:.4f}")
            ),
        ]
        for ratio in fits[0]["ratios"]
    ]
    return _table(header, rows)


def _of(fit: Mapping[str, Any]) -> str:
    return f"{fit['free']['logit']:.2f} and {fit['free']['evidence']:.2f}"


def _pairs(figures: Mapping[str, Any]) -> str:
    header = ["pairs", "number", "source alone", *(f"ratio {ratio}" for ratio in figures["all"]["accuracy"])]
    names = {"all": "all", "majority": "at least half of the systems agree with R"}
    rows = [
        [name, str(one["pairs"]), f"{one['source alone']:.3f}", *(f"{value:.3f}" for value in one["accuracy"].values())]
        for key, name in names.items()
        for one in [figures[key]]
    ]
    return _table(header, rows)


def _human(figures: Mapping[str, Any]) -> str:
    rows = [
        [name, str(one["pairs"]), *(_estimate(one[key], 3) if key in one else "-" for key in ("share", "gain"))]
        for name, one in figures.items()
        if name != "counts"
    ]
    return f"""Two outputs of a segment that people rated apart (direct assessment, z scores 0.3 or more apart,
different pronouns; cs-en of WMT21 and WMT22, de-en of WMT21, tables learned without the rated documents): how
often the better one has fewer expected errors.

{_table(["fewer errors by", "pairs", "share", "difference from ratio 0"], rows)}

{RATED}"""


def _missing(figures: Mapping[str, Any]) -> str:
    keys = ("references missing", "outputs missing", "references surplus", "outputs surplus")
    rows = [
        [
            language,
            str(one["segments"]),
            str(one["references source pronouns"]),
            *(f"{one[key]:.1f}" for key in keys),
            str(one["deletions"]),
            f"{one['found']:.2f}",
        ]
        for language, one in figures.items()
    ]
    return f"""Segments of WMT23. Missing: in 100 source pronouns of forms that at least 90 % of the references of the
training text translate. Surplus: in 100 English pronouns. Found: references from which one pronoun (but "it") was
deleted, that then have more missing pronouns; where the source drops its pronoun, none can be found.

{_table(["language", "segments", "source pronouns", *keys, "deletions", "found"], rows)}"""


def _by_reference(figures: Mapping[str, Any]) -> str:
    rows = [
        [
            language,
            *(str(one[key]) for key in ("segments", "pronouns")),
            *(f"{one[key]:.1f}" for key in ("missing", "surplus")),
            str(one["deletions"]),
            f"{one['found']:.2f}",
        ]
        for language, one in figures.items()
    ]
    seconds = [one["seconds"] for one in figures.values()]
    return f"""By the reference, without a source: one output of each segment. Missing: in 100 pronouns of the
reference. Found: outputs from which one pronoun was deleted, that then have more missing pronouns. CPU seconds
for 1,000 outputs: {min(seconds):.1f} to {max(seconds):.1f}, the machine being busy.

{_table(["language", "segments", "pronouns", "missing", "surplus", "deletions", "found"], rows)}"""


def _dropped(figures: Mapping[str, Any] | None) -> str:
    if figures is None:
        return "Pairs that `prepare filter.source=drop` drops from all data: `docs/source.md`."
    kinds = {"noisy": "R vs R'", "system": "R vs S"}
    rows = [
        [f"{language}-en, {kinds[kind]}", *(f"{one.get(key, 0):,}" for key in (*REASONS, "kept")), f"{100 * share:.0f}"]
        for kind, by_language in figures.items()
        for language, one in by_language.items()
        for share in [sum(one.get(reason, 0) for reason in REASONS) / max(1, sum(one.values()))]
    ]
    return (
        "Pronoun mismatches of distinct training pairs that `prepare filter.source=drop` drops and keeps, by source "
        "language,\nfrom `counts.source` of the manifest. Counts of all test sets: `docs/source.md`.\n\n"
        + _table(["pairs", *(f"dropped: {reason}" for reason in REASONS), "kept", "dropped, %"], rows)
    )


def _tests(figures: Mapping[str, Any]) -> str:
    rows = [
        [
            name,
            str(one["pairs"]),
            by,
            *(_estimate(one[by][key], 1, 100) for key in ("without", "with", "gain")),
            f"{one[by]['to right']}, {one[by]['to wrong']}",
            "{}, {}".format(*one["missing"]),
        ]
        for name, one in figures.items()
        if "score" in one
        for by in ("score", "errors")
    ]
    header = ["pairs", "number", "by", "without, %", "with, %", "gain", "turned right, wrong"]
    return _table([*header, "missing in the better, worse texts"], rows)


def _times(figures: Mapping[str, Any]) -> str:
    told = [
        f"{name.removesuffix(' time')} {one['without']:.2f} without, {one['with']:.2f} with"
        for name, one in figures.items()
        if name.endswith("time")
    ]
    return f"CPU seconds of scoring 60 texts, the machine being busy: {'; '.join(told)}." if told else ""


def _examples() -> str:
    header, *rows = (line.split("\t") for line in READ.read_text(encoding="utf-8").splitlines())
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))


def _estimate(one: Any, digits: int, scale: float = 1.0) -> str:
    value, low, high = (one[key] for key in ("value", "low", "high"))
    span = "" if low is None else f" [{scale * low:.{digits}f}, {scale * high:.{digits}f}]"
    return f"{scale * value:.{digits}f}{span}"
