"""`pronmetric mqm`: MQM annotations as judged pairs and as labelled pronouns."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import IO

from pronmetric.cli import numbers, options, output, stray, target_language
from pronmetric.cli.verb_parser import verb_parser
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.pronouns import languages
from pronmetric.suites import mqm
from pronmetric.suites.judged_pairs import to_line
from pronmetric.suites.mqm import Judgement
from pronmetric.text import strict_json

DESCRIPTION = """Extracts pronoun errors from an MQM annotation file, as judged pairs of texts or as labelled
pronouns. The file is in Marot format (TSV: system, doc, seg_id, rater, source, target, category, severity; spans marked
as <v>..</v>).

A pronoun error is an error whose span overlaps a pronoun and has at most --longest words; errors of punctuation,
spelling, locale and source are excluded.

--pairs writes pairs of two systems' translations of a segment that the same rater annotated. A rater votes for the text
with the lower penalty: the sum of its pronoun errors, minor 1, major 5, critical 10; equal penalties are a tie.
--pronouns writes each pronoun of each annotated text, labelled wrong if it is in a pronoun error, else right."""
EPILOG = """Read the pairs with `pronmetric agree` or `pronmetric evaluate`, the pronouns with `pronmetric evaluate`.
Pairs without a pronoun error are left out unless --all is given, because they are ties by definition. The context is
the two preceding segments in the text of --reference.

examples:
  pronmetric mqm mqm_ted_zhen.tsv --pairs pairs.jsonl --pronouns pronouns.jsonl
  pronmetric mqm mqm_ted_zhen.tsv --pairs close.jsonl --other-words 2"""
Context = Mapping[tuple[str, int], tuple[str, ...]]


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = _arguments(argv)
    targets.check([args.pairs, args.pronouns], read=[args.file])
    output.open_stdout()
    judgements = mqm.read(args.file)
    note = output.Notes(quiet=False)
    note.begin()
    distinct = dict.fromkeys(one.text for one in judgements)
    target_language.check({args.file: distinct}, languages.ENGLISH, note, strict=args.strict)
    reference = None if args.reference == "none" else args.reference
    try:
        context = mqm.contexts(judgements, reference=reference)
    except PronmetricError as error:
        raise type(error)(f"{args.file}: {error}") from None
    lines = [_summary(judgements, args.longest)]
    with targets.AtomicFiles() as files:
        if args.pairs is not None:
            lines.append(_write_pairs(files.open(args.pairs), judgements, context, reference, args))
        if args.pronouns is not None:
            lines.append(_write_pronouns(files.open(args.pronouns), judgements, context, args))
    print("\n".join(lines))
    return 0


def _summary(judgements: Sequence[Judgement], longest: int) -> str:
    errors = sum(len(one.errors) for one in judgements)
    of_pronouns = sum(len(one.pronoun_errors(longest=longest)) for one in judgements)
    texts = len({(one.system, one.doc, one.seg) for one in judgements})
    raters = len({one.rater for one in judgements})
    return f"{texts} texts, {raters} raters, {errors} errors, {of_pronouns} pronoun errors"


def _write_pairs(
    file: IO[str],
    judgements: Sequence[Judgement],
    context: Context,
    reference: str | None,
    args: argparse.Namespace,
) -> str:
    """Write the pairs; the line to print."""
    tally: Counter[str] = Counter()
    votes: Counter[str] = Counter()
    for pair in mqm.pairs(
        judgements,
        context,
        longest=args.longest,
        other_words=args.other_words,
        all_pairs=args.all,
        reference=reference,
        tally=tally,
    ):
        votes.update(pair.votes.values())
        file.write(f"{to_line(pair)}\n")
    number = tally.pop("pairs", 0)
    return f"{number} pairs ({_counts(votes)}) in {args.pairs}; left out: {_counts(tally)}"


def _write_pronouns(file: IO[str], judgements: Sequence[Judgement], context: Context, args: argparse.Namespace) -> str:
    """Write the labelled pronouns; the line to print."""
    tally: Counter[str] = Counter()
    for record in mqm.label_pronouns(judgements, context, longest=args.longest, tally=tally):
        file.write(strict_json.dump(record) + "\n")
    return f"{tally.total()} pronouns ({_counts(tally)}) in {args.pronouns}"


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("mqm", DESCRIPTION, EPILOG)
    parser.add_argument("file", metavar="FILE.tsv", help="the annotations")
    parser.add_argument("--pairs", metavar="OUT.jsonl", help="write pairs of systems with the raters' votes")
    parser.add_argument("--pronouns", "--tokens", metavar="OUT.jsonl", help="write pronouns labelled right or wrong")
    parser.add_argument(
        "--reference",
        default=mqm.REFERENCE,
        metavar="SYSTEM",
        help="the system whose text is the context; none for no context (default: %(default)s)",
    )
    parser.add_argument(
        "--longest",
        type=numbers.positive,
        default=mqm.LONGEST,
        metavar="N",
        help="maximum number of words of an error span (default: %(default)s)",
    )
    target_language.add_strict(parser)
    pairs = parser.add_argument_group("pairs")
    options.both(
        pairs,
        "other-words",
        type=numbers.count,
        metavar="N",
        help="only pairs that differ in a pronoun and in at most N other words",
    )
    pairs.add_argument("--all", action="store_true", help="include pairs without a pronoun error")
    return parser


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    made = parser()
    args = stray.parse(made, argv, cure="give one annotation file; the output files follow --pairs and --pronouns")
    if args.pairs is None and args.pronouns is None:
        made.error("nothing to write: give --pairs, --pronouns or both")
    if args.pairs is None and (args.all or args.other_words is not None):
        made.error("--all and --other-words go with --pairs")
    return args


def _counts(tally: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in tally.most_common()) or "none"
