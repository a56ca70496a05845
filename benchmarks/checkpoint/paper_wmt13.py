"""The paper's own experiment: its head on (R, S) pairs of WMT13, tested on WMT14, by encoder and context.

    python -m benchmarks.checkpoint.paper_wmt13 RUNS [RUNS ...] --data PREPARED [--page]

RUNS are folders of `pronmetric train --multirun experiment=paper_wmt13`, one for each encoder. Each checkpoint is
tested in the context that it was trained with: R vs S are references against system outputs, R vs R' references against
their copies with one pronoun of an output. Intervals resample documents. A finished test is kept in its run's folder
(`wmt14.json`) and not repeated.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.checkpoint import prepared, scoring
from benchmarks.checkpoint.pair_accuracy import PARTS, part
from pronmetric.checkpoint.config import read as read_config
from pronmetric.errors import InputError
from pronmetric.eval import accuracy as evaluation
from pronmetric.eval.decision import SCORE
from pronmetric.schema import Pair

PAGE = pages.PUBLISHED / "paper-wmt13.md"
TEST, RESULT = "newstest2014", "wmt14.json"
CONTEXTS = ("none", "respective", "common")
KINDS = ("system", "noisy")
ENCODERS = {"huggingface": "MiniLM, fine-tuned", "elmo": "of ELMo's kind"}
PAPER = {"system": 90.7, "noisy": 89.1}  # percent, ELMo, common context (section 5)


def measure(score: scoring.Scorer, pairs: Sequence[Pair], context: str, *, seed: int = 0) -> dict[str, Any]:
    """Accuracy on each kind of pairs in one context: of all, and of those with equal numbers of pronouns."""
    judged = scoring.judge(score, prepared.contrasts(pairs), prepared.contexts(pairs, (context,), seed=seed), seed=seed)
    figures = {}
    for kind in KINDS:
        numbers = [number for number, pair in enumerate(pairs) if part(pair) == kind]
        found = scoring.pick(judged, numbers)[context]
        units = prepared.units([pairs[number] for number in numbers])
        figures[kind] = {
            "accuracy": evaluation.accuracy(found.decisions, units),
            "equal": evaluation.accuracy_by_count(
                scoring.counts(found.better), scoring.counts(found.worse), found.decisions, units
            ).equal,
        }
    return figures


def test(checkpoint: Path, options: argparse.Namespace, pairs: Sequence[Pair]) -> dict[str, Any]:
    """The figures of a checkpoint; those that are in its run's folder, if they are of the same weights and pairs."""
    kept, weights = checkpoint.parent / RESULT, pages.weights_hash(checkpoint)
    if kept.is_file():
        content: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        if (content["weights"], content["pairs"]) == (weights, len(pairs)):
            return content
    config = read_config(checkpoint / "config.yaml")
    options.model = str(checkpoint)
    figures = measure(scoring.load(options), pairs, config["context"], seed=options.seed)
    content = {
        "weights": weights,
        "pairs": len(pairs),
        "encoder": config["encoder"].get("kind", "huggingface"),
        "context": config["context"],
        **{key: config["training"][key] for key in ("steps", "best_step", "seconds")},
        "figures": pages.plain(figures),
    }
    kept.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return content


def table(runs: Sequence[Mapping[str, Any]]) -> str:
    """One row for each run: encoder, context, accuracies with intervals, steps."""
    order = sorted(runs, key=lambda run: (run["encoder"], CONTEXTS.index(run["context"])))
    rows = [
        [
            ENCODERS.get(run["encoder"], run["encoder"]),
            run["context"],
            *(_percent(run["figures"][kind]["accuracy"]) for kind in KINDS),
            *(_percent(run["figures"][kind]["equal"]) for kind in KINDS),
            f"{run['best_step']:,} of {run['steps']:,}",
            f"`{run['weights']}`",
        ]
        for run in order
    ]
    rows.append(["the paper: ELMo", "common", *(f"{PAPER[kind]}" for kind in KINDS), "-", "-", "-", "-"])
    names = [PARTS[kind] for kind in KINDS]
    header = ["encoder", "context", *names, *(f"{name}, as many pronouns" for name in names), "best step", "weights"]
    return pages.markdown([header, *rows])


def _percent(found: Mapping[str, Any] | None) -> str:
    return pages.percent(None if found is None else evaluation.Accuracy(**found))


def page(content: Mapping[str, Any]) -> str:
    """The page of the figures."""
    runs = content["runs"]
    pairs = {kind: max(run["figures"][kind]["accuracy"]["pairs"] for run in runs) for kind in KINDS}
    return pages.fill(
        "paper-wmt13",
        system=pairs["system"],
        noisy=pairs["noisy"],
        date=content["date"],
        command=content["command"],
        table=table(runs),
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUNS", help="folders of the sweep, one for each encoder")
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name} and its JSON")
    parser.add_argument("--limit", type=int, metavar="N", help="measure only N pairs, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0, help="of shuffling (default 0)")
    options = parser.parse_args()
    options.split, options.testsets, options.precision, options.batch_size, options.by = "test", [TEST], None, 32, SCORE
    found = sorted(path for folder in options.runs for path in folder.glob("*/checkpoint"))
    if not found:
        raise InputError("holds no */checkpoint; expected finished runs of the sweep", file=options.runs[0])
    pairs = prepared.read(options, lambda pair: part(pair) in KINDS)
    runs = [test(path, options, pairs) for path in found]
    print(table(runs))
    if options.page:
        content = {**pages.origin("checkpoint.paper_wmt13"), "runs": runs, "paper": PAPER}
        pages.write_page(PAGE, page(content), content)


if __name__ == "__main__":
    pages.run(main)
