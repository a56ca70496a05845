"""The default of `suggest --threshold`: the probability below which a pronoun is flagged with the best F1.

    python -m benchmarks.suggest_threshold --model FOLDER --data PREPARED [--shared DIR] [--size N] [--page]

Development data alone: reference sentences of the development test sets and sentences of English documents outside
the training data (LitBank), as many of each, with two sentences of context. Pronouns are replaced at the natural rate
as in `benchmarks.calibration`. A replaced pronoun is wrong, all others are right. A replaced pronoun without a score
counts as missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import calibration, scoring
from benchmarks.calibration import Noised, Sentence
from benchmarks.scoring import Result
from data_prep import documents
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.eval import detection
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.finder import find
from pronmetric.text import sentences

GRID = tuple(round(0.05 * k, 2) for k in range(1, 20))
PAGE = scoring.BENCHMARKS / "suggest-threshold.md"
NAMES = {"references": "references", "english": "English documents", "both": "both"}
_CONTEXT = 2


def english(folder: Path, *, size: int, seed: int = 0) -> list[Sentence]:
    """`size` sentences with a pronoun from the documents of a folder, at most one from each line, drawn by `seed`."""
    lines = [(f"{doc.source}/{doc.doc}", line) for doc in documents.read(folder) for line in doc.lines]
    rng = np.random.default_rng(seed)
    found: list[Sentence] = []
    for i in rng.permutation(len(lines)):
        if len(found) == size:
            break
        unit, line = lines[i]
        cuts = [0, *sentences.starts(line), len(line)]
        parts = [line[start:end].strip() for start, end in pairwise(cuts)]
        k = int(rng.integers(len(parts)))
        if find(parts[k]):
            found.append(Sentence(parts[k], tuple(parts[max(0, k - _CONTEXT) : k]), unit))
    if len(found) < size:
        raise InputError(f"expected {size} sentences with a pronoun, got {len(found)}; lower --size", file=folder)
    return found


def drawn(texts: Sequence[Sentence], *, size: int, seed: int = 0) -> list[Sentence]:
    """`size` of the sentences, drawn by `seed`."""
    if len(texts) < size:
        raise InputError(f"expected {size} sentences with a pronoun, got {len(texts)}; lower --size")
    return [texts[i] for i in np.random.default_rng(seed).permutation(len(texts))[:size]]


def labelled(texts: Sequence[Noised], results: Sequence[Result]) -> tuple[list[bool], list[float | None]]:
    """For each scored pronoun whether it is wrong, and its probability; None for a wrong one that is not scored."""
    wrong: list[bool] = []
    probabilities: list[float | None] = []
    for text, result in zip(texts, results, strict=True):
        for p in result["pronouns"]:
            wrong.append(any(p["start"] < end and p["end"] > start for start, end in text.wrong))
            probabilities.append(p["probability"])
        missed = [span for span in text.wrong if not scoring.scored_at(result, *span)]
        wrong += [True] * len(missed)
        probabilities += [None] * len(missed)
    return wrong, probabilities


def curve(wrong: Sequence[bool], probabilities: Sequence[float | None]) -> dict[str, dict[str, float | None]]:
    """Precision, recall and F1 at each threshold of `GRID`."""
    rows = {}
    for threshold in GRID:
        found = detection.detect(wrong, probabilities, threshold=threshold)
        figures = {"precision": found.precision, "recall": found.recall, "f1": found.f1}
        rows[f"{threshold:.2f}"] = {name: None if f is None else f.value for name, f in figures.items()}
    return rows


def best(rows: Mapping[str, Mapping[str, float | None]]) -> float:
    """The threshold with the highest F1, the lowest of equal ones."""
    return float(max(rows, key=lambda threshold: rows[threshold]["f1"] or 0.0))


def page(content: Mapping[str, Any]) -> str:
    """The page of what `main` wrote."""
    figures = content["figures"]
    counts = [
        f"| {NAMES[name]} | {part['sentences']:,} | {part['pronouns']:,} | {part['wrong']:,} |"
        for name, part in figures["samples"].items()
    ]
    header = "| threshold | " + " | ".join(
        f"{NAMES[name]}: {figure}" for name in figures["samples"] for figure in ("precision", "recall", "F1")
    )
    rows = [
        f"| {threshold} | "
        + " | ".join(
            "-" if value is None else f"{100 * value:.1f}"
            for part in figures["samples"].values()
            for value in (part["curve"][threshold][key] for key in ("precision", "recall", "f1"))
        )
        + " |"
        for threshold in figures["samples"]["both"]["curve"]
    ]
    chosen = figures["samples"]["both"]["curve"][f"{figures['threshold']:.2f}"]
    return "\n".join(
        [
            "# The default threshold of `pronmetric suggest`",
            "",
            f"Weights: `{content['weights']}`. JSON: `{PAGE.with_suffix('.json').name}`. Written by",
            f"`{content['command']}` on {content['date']}.",
            "",
            (__doc__ or "").split("\n\n")[2].strip(),
            f"The natural rate is {100 * figures['rate']:.2f} % of the pronouns.",
            "The prepared folder was made from WMT22 and WMT23.",
            "",
            "| sample | sentences | pronouns | wrong |",
            "|---|---:|---:|---:|",
            *counts,
            "",
            'Precision, recall and F1 of "a pronoun is wrong if its probability is below the threshold", in percent:',
            "",
            header + " |",
            "|---|" + "---:|" * (3 * len(figures["samples"])),
            *rows,
            "",
            f"The best F1 on both samples is at **{figures['threshold']:g}** "
            f"(precision {100 * chosen['precision']:.1f} %, "
            f"recall {100 * chosen['recall']:.1f} %), the default of `suggest --threshold`. A higher threshold finds "
            "more wrong pronouns with more false alarms.",
            "",
        ]
    )


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    scoring.add_shared(parser)
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--size", type=int, default=1500, metavar="N", help="sentences of each sample (default 1500)")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name} and its JSON")
    options = parser.parse_args()
    scoring.weights_hash(options.model)
    manifest = arrow.read_manifest(options.data)
    table = ConfusionTable.load(options.data / "confusion.json")
    rate = calibration.natural_rate(manifest)
    data, size, seed = options.shared / "data", options.size, options.seed
    references = calibration.sentences(data / "wmt", calibration.held_out(manifest, "development"))
    samples = {
        "references": drawn(references, size=size, seed=seed),
        "english": english(data / "english" / "litbank", size=size, seed=seed),
    }
    noised = {name: calibration.add_noise(texts, table, rate=rate, seed=seed) for name, texts in samples.items()}
    scorer = scoring.load(options)
    results = scoring.score_all(scorer, [(s.text, s.context) for part in noised.values() for s in part], seed=seed)
    parts = [results[:size], results[size:]]
    found = {name: labelled(texts, part) for (name, texts), part in zip(noised.items(), parts, strict=True)}
    found["both"] = tuple(found["references"][k] + found["english"][k] for k in (0, 1))  # type: ignore[operator]
    figures = {
        "threshold": 0.0,
        "rate": rate,
        "samples": {
            name: {
                "sentences": size * (2 if name == "both" else 1),
                "pronouns": len(wrong),
                "wrong": sum(wrong),
                "curve": curve(wrong, probabilities),
            }
            for name, (wrong, probabilities) in found.items()
        },
    }
    figures["threshold"] = best(figures["samples"]["both"]["curve"])  # type: ignore[index]
    content = scoring.report("suggest_threshold", options, scorer, figures)
    if options.page:
        scoring.write_page(PAGE, page(content), content)
    print(page(content))


if __name__ == "__main__":
    scoring.run(main)
