"""`pronmetric attention`: the attention weights of the pronouns of one sentence."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pronmetric.cli import output
from pronmetric.cli.flags import ModelFlags
from pronmetric.cli.parser import parse_flags, verb_parser, whole_from_one
from pronmetric.cli.run import load_metric
from pronmetric.errors import InputError
from pronmetric.text.context import Text, text_of

if TYPE_CHECKING:
    from pronmetric.metric import PronounMetric

DESCRIPTION = """Show the attention weights of each pronoun of a sentence over the words of sentence and context.

For each pronoun, the output gives the probability that the pronoun is correct and the words with the highest attention
weights. On a colour terminal it also shows the text with each word shaded by its weight (Jwalapuram et al. 2019,
Figures 5 and 6). The weights are those of the attention layer of the scoring head, in which the pronoun is the query.
They do not show which word the pronoun refers to."""
EPILOG = """example:
  pronmetric attention "She locked its doors." --context "Maria ran the library." """


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("attention", DESCRIPTION, EPILOG)
    parser.add_argument("text", nargs="?", metavar="SENTENCE", help="sentence with the pronouns")
    parser.add_argument("--context", nargs="+", default=[], metavar="SENTENCE", help="preceding sentences")
    parser.add_argument(
        "--top", type=whole_from_one, default=5, metavar="N", help="number of words to show (default: %(default)s)"
    )
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")
    ModelFlags.add(parser, seed=False)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = parse_flags(made, argv, cure="give one SENTENCE in quotation marks; preceding sentences follow --context")
    if args.text is None:
        made.error("give a SENTENCE" + (" before --context, which takes all that follows it" if args.context else ""))
    if not any(map(str.isspace, args.text)) and os.path.isfile(args.text):
        raise InputError(
            "is a file; expected a sentence in quotation marks (files: `pronmetric score -t`)", file=args.text
        )
    text = text_of({"text": args.text, "context": args.context}, file="attention")
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    _show(text, load_metric(ModelFlags.of(args), note), top=args.top)
    return 0


def _show(text: Text, metric: PronounMetric, *, top: int) -> None:
    from rich.console import Console

    from pronmetric.report.attention import describe, shade

    console = Console(highlight=False, soft_wrap=True)
    (looks,) = metric.attention([text])
    if not looks:
        console.print("no pronoun found")
    split = metric.language.words
    label = "" if metric.probability else "score "
    for number, look in enumerate(looks):
        if number:
            console.print()
        weights = None if look.weights is None else look.weights.tolist()
        pronoun = look.pronoun.text
        console.print(describe(text, pronoun, f"{label}{look.pronoun.score:.3f}", weights, top=top, split=split))
        if weights is not None and console.color_system is not None:
            console.print(shade(text, weights, start=look.start, split=split))
