"""`pronmetric mqm`: MQM annotations as judged pairs and as labelled pronouns."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

from pronmetric.cli import numbers, options, output, stray
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.suites import mqm
from pronmetric.suites.judged_pairs import to_line
from pronmetric.text import strict_json

DESCRIPTION = """Finds the errors of an MQM annotation file (Marot TSV: system, doc, seg_id, rater, source, target,
category, severity; spans as <v>..</v>) that touch a pronoun in use, and writes what they say of pronouns alone.

--pairs takes two systems' translations of a segment that the same rater judged. A rater votes for the one with the
lower penalty: 1 for a minor, 5 for a major, 10 for a critical error that touches a pronoun, nothing for any other;
equal penalties are a tie. --tokens takes each pronoun of each judged text: wrong where such an error touches it, else
right.

An error touches a pronoun where its span covers a character of it, has at most --longest words, and is none of
punctuation, spelling, locale or source."""
EPILOG = """`pronmetric agree` reads the pairs, `pronmetric evaluate` both files. Pairs in which no error touches a
pronoun are ties without anything to see, and left out unless --all is given. The context is the two segments before in
the text of --reference.

examples:
  pronmetric mqm mqm_ted_zhen.tsv --pairs pairs.jsonl --tokens tokens.jsonl
  pronmetric mqm mqm_ted_zhen.tsv --pairs close.jsonl --other-words 2"""


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = _arguments(argv)
    targets.check([args.pairs, args.tokens], read=[args.file])
    output.open_stdout()
    judgements = mqm.read(args.file)
    reference = None if args.reference == "none" else args.reference
    try:
        context = mqm.contexts(judgements, reference=reference)
    except PronmetricError as error:
        raise type(error)(f"{args.file}: {error}") from None
    touching = [found for one in judgements for found in one.touching(longest=args.longest)]
    told: list[str] = []
    with targets.AtomicFiles() as files:
        if args.pairs is not None:
            tally: Counter[str] = Counter()
            out = files.open(args.pairs)
            found = mqm.pairs(
                judgements,
                context,
                longest=args.longest,
                other_words=args.other_words,
                all_pairs=args.all,
                reference=reference,
                tally=tally,
            )
            votes: Counter[str] = Counter()
            for pair in found:
                votes.update(pair.votes.values())
                out.write(f"{to_line(pair)}\n")
            number = tally.pop("pairs", 0)
            told.append(f"{number} pairs ({_counts(votes)}) in {args.pairs}; left out: {_counts(tally)}")
        if args.tokens is not None:
            tally = Counter()
            out = files.open(args.tokens)
            for token in mqm.tokens(judgements, context, longest=args.longest, tally=tally):
                out.write(strict_json.dump(token) + "\n")
            told.append(f"{sum(tally.values())} pronouns ({_counts(tally)}) in {args.tokens}")
    errors = sum(len(one.errors) for one in judgements)
    texts = len({(one.system, one.doc, one.seg) for one in judgements})
    raters = len({one.rater for one in judgements})
    print(f"{texts} texts, {raters} raters, {errors} errors, {len(touching)} of which touch a pronoun")
    print("\n".join(told))
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = argparse.ArgumentParser(
        prog="pronmetric mqm",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE.tsv", help="the annotations")
    parser.add_argument("--pairs", metavar="OUT.jsonl", help="write pairs of systems with the raters' votes")
    parser.add_argument("--tokens", metavar="OUT.jsonl", help="write pronouns labelled right or wrong")
    parser.add_argument(
        "--reference",
        default=mqm.REFERENCE,
        metavar="SYSTEM",
        help="whose text is the context; none: no context (default: %(default)s)",
    )
    parser.add_argument(
        "--longest",
        type=numbers.positive,
        default=mqm.LONGEST,
        metavar="N",
        help="words of a span (default: %(default)s)",
    )
    pairs = parser.add_argument_group("pairs")
    options.both(
        pairs,
        "other-words",
        type=numbers.count,
        metavar="N",
        help="only pairs that differ in a pronoun, and in at most N other words",
    )
    pairs.add_argument("--all", action="store_true", help="also pairs in which no error touches a pronoun")
    return parser


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    made = parser()
    args = stray.parse(made, argv, cure="give one annotation file; the output files follow --pairs and --tokens")
    if args.pairs is None and args.tokens is None:
        made.error("nothing to write: give --pairs, --tokens or both")
    if args.pairs is None and (args.all or args.other_words is not None):
        made.error("--all and --other-words go with --pairs")
    return args


def _counts(tally: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in tally.most_common()) or "none"
