"""Error analysis: the pronoun pairs that a checkpoint most often decides wrongly, on development data.

    python -m benchmarks.checkpoint.confusions --model FOLDER --data PREPARED
        [--examples 5] [--by preference] [--out FILE.json]

Pairs are reference against noisy reference (R vs R') and, where a single pronoun differs, against system (R vs S), in
the reference's context. Each row is a form of the reference and the wrong form: pairs, accuracy, and the share of all
errors of that kind of pairs. Equal and missing scores are errors. `--examples` prints texts of each row's errors, with
context; they are not written to a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import pages
from benchmarks.checkpoint import prepared, scoring
from benchmarks.checkpoint.pair_accuracy import PARTS, part
from benchmarks.checkpoint.scoring import COMMON, Judged, Scorer
from pronmetric.eval import accuracy as evaluation
from pronmetric.schema import Mismatch, Pair

KINDS = ("noisy", "system")
ROWS = 20


def mismatch(pair: Pair) -> Mismatch | None:
    """The pronoun mismatch of a pair that has no other one; None if it has several or none."""
    found = [each for each in pair.mismatches if each.kind == "pronoun"]
    return found[0] if len(found) == len(pair.mismatches) == 1 else None


def measure(score: Scorer, pairs: Sequence[Pair], *, seed: int = 0) -> tuple[dict[str, Any], dict[str, Judged]]:
    """Errors by pronoun pair for each kind of pairs, and the judged pairs of each kind, in order.

    Every pair has a single mismatch (`mismatch`).
    """
    judged = scoring.judge(score, prepared.contrasts(pairs), prepared.contexts(pairs, (COMMON,)), seed=seed)
    figures, found = {}, {}
    for kind in KINDS:
        numbers = [number for number, pair in enumerate(pairs) if part(pair) == kind]
        if not numbers:
            continue
        own = [pairs[number] for number in numbers]
        found[kind] = scoring.pick(judged, numbers)[COMMON]
        decisions = found[kind].decisions
        forms = [each for each in map(mismatch, own) if each is not None]
        errors = int((~decisions.right).sum())
        figures[kind] = {
            "accuracy": evaluation.accuracy(decisions, prepared.units(own)),
            "errors": errors,
            "confusions": [
                {
                    "reference": each.reference,
                    "wrong": each.system,
                    "pairs": each.pairs,
                    "errors": each.wrong,
                    "accuracy": 1 - each.wrong / each.pairs,
                    "share": each.wrong / max(1, errors),
                }
                for each in evaluation.confusions(
                    [form.ref_form for form in forms], [form.hyp_form for form in forms], decisions
                )
            ],
        }
    return figures, found


def show(figures: Mapping[str, Any]) -> str:
    """The most frequent errors of each kind of pairs."""
    blocks = []
    for kind, found in figures.items():
        rows, total = [], 0.0
        for each in found["confusions"][:ROWS]:
            if each["errors"]:
                total += each["share"]
                cells = [f"{100 * value:.1f}" for value in (each["accuracy"], each["share"], total)]
                rows.append([f"{each['reference']} -> {each['wrong']}", each["errors"], each["pairs"], *cells])
        head = f"{PARTS[kind]}: {found['accuracy'].pairs} pairs, accuracy {pages.percent(found['accuracy'])}, "
        header = ["reference -> wrong", "errors", "pairs", "accuracy", "% of errors", "in all"]
        blocks.append(f"{head}{found['errors']} errors\n{pages.table(header, rows)}")
    return "\n\n".join(blocks)


def examples(pairs: Sequence[Pair], judged: Judged, figures: Mapping[str, Any], *, most: int) -> str:
    """Up to `most` wrongly decided pairs of each of the most frequent errors: context, both texts and their scores."""
    blocks = []
    for each in figures["confusions"][:ROWS]:
        wrong = [
            number
            for number, pair in enumerate(pairs)
            if not judged.decisions.right[number]
            and (found := mismatch(pair)) is not None
            and (found.ref_form, found.hyp_form) == (each["reference"], each["wrong"])
        ]
        for number in wrong[:most]:
            pair, scores = pairs[number], (judged.better[number]["score"], judged.worse[number]["score"])
            shown = ["none" if score is None else f"{score:.3f}" for score in scores]
            blocks.append(
                f"{each['reference']} -> {each['wrong']}  {pair.testset}.{pair.lp} {pair.doc} {pair.seg}\n"
                f"  context  {' '.join(pair.context)}\n  {shown[0]:7}  {pair.better}\n  {shown[1]:7}  {pair.worse}"
            )
    return "\n".join(blocks)


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    scoring.add_data(parser)
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="print N errors of each row (default 0)")
    options = parser.parse_args()
    pages.weights_hash(options.model)
    pairs = prepared.read(options, lambda pair: part(pair) in KINDS and mismatch(pair) is not None)
    scorer = scoring.load(options)
    figures, judged = measure(scorer, pairs, seed=options.seed)
    scoring.report("confusions", options, scorer, {"split": options.split, **figures})
    print(show(figures))
    if options.examples:
        for kind, found in figures.items():
            own = [pair for pair in pairs if part(pair) == kind]
            print(f"\n{PARTS[kind]}\n{examples(own, judged[kind], found, most=options.examples)}")


if __name__ == "__main__":
    pages.run(main)
