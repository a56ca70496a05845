"""The model card of a scorer that reads sources itself: its languages, its figures, its limits, how it was made.

All figures are in the checkpoint's config, which the run has written.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.scoring.judged import MARKED, MENDED
from pronmetric.scoring.surplus import OTHER_FORMS
from pronmetric.training.after import gap_fit
from pronmetric.training.after.surplus_fit import AREA, CORRECTED, DELETED, EXPECTED, PRIOR
from pronmetric.training.card import recipe
from pronmetric.training.card.checkpoint import BY_TABLE, front_matter, table
from pronmetric.training.source.data import RATE, WITH_SOURCE, WITHOUT


def card(config: Mapping[str, Any], *, name: str, weights: str, manifests: Sequence[Mapping[str, Any]]) -> str:
    """The card as Markdown.

    Args:
        config: the checkpoint's config.yaml.
        name: of the checkpoint.
        weights: first 8 hex digits of the weights' SHA-256.
        manifests: of the prepared folders, in the order of the languages.
    """
    codes = [each.code for each in checkpoint_config.languages_of(config)]
    told = [section for section in (_people(config, codes), _surplus(config, codes)) if section]
    sections = _head(codes, name, weights), _use(codes, name), *told, _figures(config, codes), _limits(config, codes)
    return "\n\n".join([*sections, _made(config, codes, manifests)]) + "\n"


def _head(codes: Sequence[str], name: str, weights: str) -> str:
    return f"""{front_matter(codes)}

# pronmetric checkpoint `{name}`

Gives the probability that each pronoun of a translation into {_listed(codes)} is the right one, given its source and
the sentences before it. A segment's score is the mean over its pronouns, a system's is 100 x the mean over all
pronouns. Weights `{weights}`."""


def _use(codes: Sequence[str], name: str) -> str:
    model = name if name in locate.REPOSITORY else "FOLDER"
    lang = f" --lang {codes[0]}" if len(codes) > 1 else ""
    return f"""## Use

```
pronmetric score -t system.txt -s source.txt --model {model}{lang}
pronmetric compare -t a.txt b.txt -s source.txt --model {model}{lang}
```

Without `-s` the text is scored without its source, less surely (see below)."""


def _people(config: Mapping[str, Any], codes: Sequence[str]) -> str:
    """The figures on what people marked; "" without any."""
    training = config["training"]
    rows = []
    for code in codes:
        cells = [training["figures"].get(f"people/{what}_{code}") for what in ("area", "precision", "missing")]
        if any(value is not None for value in cells):
            rows.append([code, *("-" if value is None else f"{100 * value:.1f}" for value in cells)])
    if not rows:
        return ""
    told = f"""## What people marked (development)

With the source, in percent: the area under the ROC curve and the average precision of the pronouns that a rater marked
or a post-editor changed, and the area of the gaps into which a post-editor put a pronoun; 50 is chance for areas. The
probabilities of these languages are calibrated on these texts.

{table(["language", "marked: area", "average precision", "missing: area"], rows)}"""
    by = config.get(checkpoint_config.JUDGED)
    if by is None:
        return told
    accuracy, pairs = training["decision"], training["decision_pairs"]
    kinds = dict.fromkeys(name for each in accuracy.values() for name in each)
    lines = [
        [kind, *(f"{100 * each[kind]:.1f}" if kind in each else "-" for each in accuracy.values())] for kind in kinds
    ]
    return f"""{told}

Accuracy in percent on {pairs[MENDED]} pairs of a post-edited text with its pronouns mended and the text, and on
{pairs[MARKED]} pairs of two systems' translations, in one of which raters marked fewer pronouns; by whether the better
text has more, as many or fewer pronouns. By default `{config[checkpoint_config.DECISION]}` decides. The preference is
the mean logit of the pronouns {by["missing"]:+.3f} x the expected number of missing pronouns; of a text without a
pronoun {by["empty"]:.3f} in place of the first. Its weights were fitted on these pairs; each accuracy is of weights
fitted on other documents.

{table(["", *accuracy], lines)}"""


def _surplus(config: Mapping[str, Any], codes: Sequence[str]) -> str:
    """What tells surplus pronouns from wrong ones, and how well; "" where no language has it."""
    figures, targets, rows = config["training"]["figures"], _targets(config, codes), []
    for code in codes:
        if (shares := targets[code].get(checkpoint_config.SURPLUS)) is None:
            continue
        named = sorted(filter(None, shares), key=lambda form: shares[form]) or [OTHER_FORMS]
        corrected, deleted, expected, area = (
            figures.get(f"{name}_{code}") for name in (CORRECTED, DELETED, EXPECTED, AREA)
        )
        ends = (f"{100 * shares[form]:.0f} ({form})" for form in (named[0], named[-1]))
        judged = "-" if corrected is None else f"{deleted:.0f} of {corrected:.0f} ({expected:.1f})"
        of_area = "-" if area is None else f"{100 * area:.1f}"
        rows.append([code, f"{100 * shares[OTHER_FORMS]:.0f}", *ends, judged, of_area])
    if not rows:
        return ""
    header = ["language", "all forms", "least", "most", "development: deleted (expected)", "area"]
    return f"""## Surplus pronouns

Of pronouns that are not right, a share counts as surplus: those that post-editors of the training texts deleted instead
of replacing, in percent, by form alone, each drawn to the share of all as if {PRIOR} more corrections had that one. In
development texts: the corrected pronouns that were deleted, how many are expected, and the area under the ROC curve.

{table(header, rows)}"""


def _targets(config: Mapping[str, Any], codes: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """What the config says of each language."""
    return {each["code"]: each for each in config.get(checkpoint_config.LANGUAGES, [{**config, "code": codes[0]}])}


def _figures(config: Mapping[str, Any], codes: Sequence[str]) -> str:
    training = config["training"]
    deleted = [training["figures"].get(f"development/deleted_{code}") for code in codes]
    rows = []
    for code in codes:
        counts = training["development"][code]
        sides = (f"development/{side}_{code}{part}" for side in (WITH_SOURCE, WITHOUT) for part in ("", "_third"))
        areas = [training["figures"].get(name) for name in sides]
        cells = ["-" if area is None else f"{100 * area:.1f}" for area in areas]
        numbers = (training["translations"][code], counts["pronouns"], counts["third"])
        rows.append([code, *(f"{number:,}" for number in numbers), *cells])
    if any(area is not None for area in deleted):
        for row, area in zip(rows, deleted, strict=True):
            row.append("-" if area is None else f"{100 * area:.1f}")
    header = ["language", "training texts", "pronouns", "third person"]
    header += [f"{side}, {part}" for side in ("source", "no source") for part in ("all", "third person")]
    header += ["deleted"] if len(rows[0]) > len(header) else []
    gaps = " Deleted: the area of the gaps where a pronoun was deleted, with the source." if "deleted" in header else ""
    return f"""## Figures

Area under the ROC curve in percent, on the pronouns of development references with two sentences of context, about
{100 * RATE:.0f} % of them replaced; 50 is chance. Training texts, pronouns and third person are numbers.{gaps}

{table(header, rows)}"""


def _limits(config: Mapping[str, Any], codes: Sequence[str]) -> str:
    calibration = config["training"]["calibration"] or {}
    without = [code for code in codes if not (calibration.get(code) if len(codes) > 1 else calibration)]
    targets = _targets(config, codes)
    tied = [code for code in codes if targets[code].get(checkpoint_config.TIE) is not None]
    seen = [code for code in codes if f"people/area_{code}" in config["training"]["figures"]]
    lines = [
        f"Trained on sources in {_listed(config['reads_source']['languages'])}; no figure here is of others.",
        *_unseen(codes, seen),
        BY_TABLE,
        "The probabilities are calibrated on texts with their sources; without a source they are less certain.",
        *([f"Not calibrated, for lack of replaced pronouns or of order: {_listed(without)}."] if without else []),
        *_missing(config["training"].get(checkpoint_config.MISSING, {}), codes),
        *([] if tied == codes else ["There is no tie threshold, and `--tie auto` is refused."]),
    ]
    return "## Limits\n\n" + "\n".join(f"- {line}" for line in lines)


def _missing(fits: Mapping[str, Mapping[str, Any]], codes: Sequence[str]) -> list[str]:
    """In which languages missing pronouns are found, and what their probabilities were fitted on."""
    if not fits:
        return ["A dropped pronoun is not scored: only pronouns in the text have a probability."]
    inserted = [code for code, fit in fits.items() if fit["on"] == gap_fit.INSERTED]
    deleted = [f"`{code}` ({100 * fit['rate']:.1f})" for code, fit in fits.items() if fit["on"] == gap_fit.DELETED]
    lines = []
    if inserted:
        lines.append(
            f"The probabilities of missing pronouns are fitted on what post-editors inserted in {_listed(inserted)}."
        )
    if deleted:
        lines.append(
            "The probabilities of missing pronouns are fitted on references with deleted pronouns, as if so many were "
            f"missing for 100 in the text, in {', '.join(deleted)}; what people insert may be found less surely."
        )
    if without := [code for code in codes if code not in fits]:
        lines.append(f"Missing pronouns are not found in {_listed(without)}.")
    return lines


def _unseen(codes: Sequence[str], seen: Sequence[str]) -> list[str]:
    """What is said of languages in which no text was judged by people."""
    if not seen:
        return ["The figures are of replaced pronouns, not of errors of systems or of people's judgements."]
    others = [code for code in codes if code not in seen]
    return [f"In {_listed(others)} it has never seen a system's output or a person's mark."] if others else []


def _made(config: Mapping[str, Any], codes: Sequence[str], manifests: Sequence[Mapping[str, Any]]) -> str:
    training = config["training"]
    outs = [recipe.PREPARED] if len(codes) == 1 else [f"{recipe.PREPARED}-{code}" for code in codes]
    lines = [recipe.prepare_line(manifest, out) for manifest, out in zip(manifests, outs, strict=True)]
    given = outs[0] if len(outs) == 1 else f"[{','.join(outs)}]"
    parts = training.get("average", [training])
    runs = ["OUT"] if len(parts) == 1 else [f"OUT{number}" for number in range(1, len(parts) + 1)]
    for part, out in zip(parts, runs, strict=True):
        lines.append(shlex.join(["pronmetric", "train", *part.get("overrides", ()), f"data.dir={given}", f"out={out}"]))
    if len(parts) > 1:
        made = (f"{out}/checkpoint" for out in runs)
        lines.append(shlex.join(["pronmetric", "checkpoint", "average", *made, "--data", *outs, "-o", "AVERAGE"]))
    if recipe.ROUNDED in training:
        rounded = "AVERAGE" if len(parts) > 1 else f"{runs[0]}/checkpoint"
        words = [rounded, "--bits", str(training[recipe.ROUNDED]["bits"]), "--data", *outs, "-o", "ROUNDED"]
        lines.append(shlex.join(["pronmetric", "checkpoint", "export", *words]))
    minutes = ", ".join(f"{part['seconds'] / 60:.0f}" for part in parts)
    return f"""## How it was made

Training took {minutes} minutes.

```
{chr(10).join(lines)}
```"""


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)
