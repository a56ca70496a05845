"""`pronmetric evaluate`: a metric's accuracy on judged pairs of texts, or its detection of wrong pronouns."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.cli import evaluate_pairs, evaluate_pronouns, output
from pronmetric.cli.evaluate_flags import parse
from pronmetric.cli.evaluate_flags import parser as parser
from pronmetric.output import targets


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parse(argv)
    read = (args.pairs, args.scores, args.against, args.seen, args.wmt_dir, args.model, args.language_model)
    targets.check((args.to_json, args.save_scores), read=read)
    note = output.Notes(quiet=args.quiet, verbose=args.verbose)
    output.open_stdout()
    of_pronouns = args.pairs is not None and evaluate_pronouns.accepts(args.pairs)
    (evaluate_pronouns if of_pronouns else evaluate_pairs).run(args, note)
    return 0
