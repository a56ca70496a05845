"""The flags of `rerank`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import flags
from pronmetric.cli.parser import number_from_zero, number_up_to_one, parse_flags, verb_parser, whole_from_one
from pronmetric.text.context import COMMON, NONE, RESPECTIVE

DESCRIPTION = """Choose among candidate translations of each line by their pronouns, and print the chosen lines.

The first candidate is chosen unless another is better by more than --margin; of equally good ones the earliest is
chosen. The score of a candidate is the mean probability of its pronouns or, with --scores,

  WEIGHT x mean probability of the pronouns + (1 - WEIGHT) x given score

If a candidate or the first one has no pronoun, the pronoun term of their difference is zero.

The model does not read the source and scores only pronouns: it does not find the best translation. Do not evaluate the
chosen text with the same score."""
EPILOG = f"""candidates:
  --candidates A B C     line-parallel files; the first file has the first candidates
  --nbest FILE --size N  N consecutive lines for each line to translate
  --nbest FILE           n-best lists in the format of Moses, "0 ||| text ||| ..."; fields after the text are ignored
--scores gives one number for each candidate, one on each line, higher is better: one file for each file of
--candidates, or one file for --nbest. The numbers are not normalised.

context of each candidate:
  respective  the previously chosen lines; the default without a reference
  common      the previous sentences of the reference; the default with -r
  none        no context
{flags.CONTEXT_SIZE_HELP}

--mbr uses no model. The pronoun score of a candidate is its mean agreement with the other candidates (minimum Bayes
risk, all equally likely): the F1 of their pronoun forms, 1 if neither has a pronoun. It follows the majority of the
candidates; where most have no pronoun, a candidate without pronouns is chosen.

examples:
  pronmetric rerank --candidates a.txt b.txt c.txt --docids ids.txt > best.txt
  pronmetric rerank --nbest out.nbest --size 10 --scores out.logprob --weight 0.3 -o best.txt
  pronmetric rerank --nbest moses.nbest --mbr"""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = verb_parser("rerank", DESCRIPTION, EPILOG)
    texts = made.add_argument_group("candidates (UTF-8, also gzip; see below)")
    texts.add_argument("--candidates", nargs="+", metavar="FILE", help="line-parallel files of candidates")
    texts.add_argument("--nbest", metavar="FILE", help="one file with the candidates of all lines")
    texts.add_argument(
        "--size",
        type=whole_from_one,
        metavar="N",
        help="candidates of each line in --nbest",
    )
    texts.add_argument("-r", "--references", metavar="FILE", help="reference translation, used as context")
    texts.add_argument("-s", "--sources", metavar="FILE", help="source; counts with --source-lang")
    flags.add_source_lang(texts)
    texts.add_argument("--docids", metavar="FILE", help="one document id on each line; context never crosses documents")
    texts.add_argument("--context", choices=[COMMON, RESPECTIVE, NONE], help="see below")
    score = made.add_argument_group("score")
    score.add_argument("--mbr", action="store_true", help="agreement with the other candidates, without a model")
    score.add_argument("--scores", nargs="+", metavar="FILE", help="another score of each candidate")
    score.add_argument("--weight", type=number_up_to_one, metavar="W", help="weight of the pronoun score, from 0 to 1")
    score.add_argument(
        "--margin",
        type=number_from_zero,
        default=0.0,
        metavar="X",
        help="choose another candidate only if it is better than the first by more than X (default: 0)",
    )
    flags.add_model(made, seed=False)
    output = made.add_argument_group("output")
    output.add_argument("-o", "--output", metavar="FILE", help="write the chosen lines to FILE (default: stdout)")
    flags.both(output, "to-json", metavar="FILE", help="write all candidates with their scores")
    flags.add_notes(output)
    return made


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed flags; flags that cannot be combined are a usage error (exit code 2)."""
    made = parser()
    args = parse_flags(made, argv, cure="give the candidates with --candidates FILE FILE or --nbest FILE")
    flags.require_one(made, {"--candidates": args.candidates, "--nbest": args.nbest})
    if args.size is not None and args.nbest is None:
        made.error("--size goes with --nbest")
    if (args.scores is None) != (args.weight is None):
        made.error("--scores and --weight go together")
    if args.scores is not None and len(args.scores) != len(args.candidates or [args.nbest]):
        made.error(f"expected {len(args.candidates or [args.nbest])} files of --scores, got {len(args.scores)}")
    of_model = {
        "-r": args.references,
        "--docids": args.docids,
        "--context": args.context,
        "--model": args.model,
        "-s": args.sources,
    }
    if args.mbr and (extra := [flag for flag, value in of_model.items() if value is not None]):
        made.error(f"--mbr uses no model and no context; leave out {' and '.join(extra)}")
    flags.check_source_lang(made, args)
    if args.context == COMMON and args.references is None:
        made.error("--context common needs a reference: give -r")
    return args
