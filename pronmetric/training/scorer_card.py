"""The model card of a scorer that reads sources itself: its languages, its figures, its limits, how it was made.

All figures are in the checkpoint's config, which the run has written.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.training import recipe
from pronmetric.training.card import BY_TABLE, front_matter, table
from pronmetric.training.source_data import RATE, WITH_SOURCE, WITHOUT


def card(config: Mapping[str, Any], *, name: str, weights: str, manifests: Sequence[Mapping[str, Any]]) -> str:
    """The card as Markdown.

    Args:
        config: the checkpoint's config.yaml.
        name: of the checkpoint.
        weights: first 8 hex digits of the weights' SHA-256.
        manifests: of the prepared folders, in the order of the languages.
    """
    codes = [each.code for each in checkpoint_config.languages_of(config)]
    sections = _head(codes, name, weights), _use(codes, name), _figures(config, codes), _limits(config, codes)
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


def _figures(config: Mapping[str, Any], codes: Sequence[str]) -> str:
    training = config["training"]
    rows = []
    for code in codes:
        counts = training["development"][code]
        sides = (f"development/{side}_{code}{part}" for side in (WITH_SOURCE, WITHOUT) for part in ("", "_third"))
        areas = [training["figures"].get(name) for name in sides]
        cells = ["-" if area is None else f"{100 * area:.1f}" for area in areas]
        numbers = (training["translations"][code], counts["pronouns"], counts["third"])
        rows.append([code, *(f"{number:,}" for number in numbers), *cells])
    header = ["language", "training texts", "pronouns", "third person"]
    header += [f"{side}, {part}" for side in ("source", "no source") for part in ("all", "third person")]
    return f"""## Figures

Area under the ROC curve in percent, on the pronouns of development references with two sentences of context, about
{100 * RATE:.0f} % of them replaced; 50 is chance. Training texts, pronouns and third person are numbers.

{table(header, rows)}"""


def _limits(config: Mapping[str, Any], codes: Sequence[str]) -> str:
    calibration = config["training"]["calibration"] or {}
    without = [code for code in codes if not (calibration.get(code) if len(codes) > 1 else calibration)]
    lines = [
        f"Trained on sources in {_listed(config['reads_source']['languages'])}; no figure here is of others.",
        "The figures are of replaced pronouns, not of errors of systems or of people's judgements.",
        BY_TABLE,
        "The probabilities are calibrated on texts with their sources; without a source they are less certain.",
        *([f"Not calibrated, for lack of replaced pronouns or of order: {_listed(without)}."] if without else []),
        "A dropped pronoun is not scored: only pronouns in the text have a probability.",
        "There is no tie threshold, `--tie auto` is refused, and no pair head: the score decides.",
    ]
    return "## Limits\n\n" + "\n".join(f"- {line}" for line in lines)


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
    minutes = ", ".join(f"{part['seconds'] / 60:.0f}" for part in parts)
    return f"""## How it was made

Training took {minutes} minutes.

```
{chr(10).join(lines)}
```"""


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)
