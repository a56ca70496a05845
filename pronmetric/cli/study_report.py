"""`pronmetric study report`: the figures of a study, the table of pronoun pairs, judged pairs."""

from __future__ import annotations

import argparse

from pronmetric.cli import flags, output, tables
from pronmetric.cli.parser import add_command, whole_from_zero
from pronmetric.cli.study_figures import text
from pronmetric.eval.resampling import SEED
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.study import agreement_table, answers, folder, votes
from pronmetric.lab.study.findings import measure
from pronmetric.output import targets
from pronmetric.text import strict_json

DESCRIPTION = """The figures of a study: Gwet's AC1 between the annotators, by source language and by pronoun pair too,
how often the reference is preferred, and for each annotator the consistency on repeated items and the share of answers
for the version shown first. Every answer that the study offers is a category of AC1, also if nobody gave it. Repeated
answers count for consistency only. Unfinished answers are read too."""
EPILOG = """--table writes the table that `prepare filter.agreement=FILE` and `suite build wmt --agreement FILE` read:
for each pronoun pair a line a source language, and their sum. --to_pairs writes judged pairs for `agree` and
`evaluate`: the reference is text A, "better" is the answer with most votes, "tie" if "both fine" has most; items for
which "neither" has most are left out.

Intervals: of AC1, Gwet's; by document and of the preference, 2000 resamples of whole documents.

example:
  pronmetric study report study answers-*.json --table table.tsv --to_pairs pairs.jsonl"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands,
        "report",
        help="agreement, preference and consistency; the table for `prepare`",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument("answers", nargs="+", metavar="ANSWERS.json", help="answers, one file for each annotator")
    made.add_argument("--table", metavar="FILE", help="write the table of pronoun pairs")
    flags.both(made, "to-pairs", metavar="FILE", help="write the items with their votes as judged pairs")
    flags.both(made, "to-json", metavar="FILE", help="write all figures as JSON")
    made.add_argument(
        "--seed", type=whole_from_zero, default=SEED, metavar="N", help="of the resampling (default: 12345)"
    )
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, write what is asked for, print; the exit code."""
    targets.check([args.table, args.to_pairs, args.to_json], read=[args.study, *args.answers])
    study = folder.read(args.study)
    given = answers.read(study, args.answers)
    found = measure(study, given, seed=args.seed)
    note = output.Notes(quiet=args.quiet)
    note.begin()
    if absent := [name for name in study.assignments if name not in given]:
        note(f"no answers of annotators {', '.join(absent)}")
    if args.table is not None:
        if unrated := agreement_table.without_agreement(found):
            note(f"not in the table: {unrated} pronoun pairs without an item that has two answers")
        with targets.AtomicFile(args.table) as file:
            file.writelines(agreement_table.lines(found))
    if args.to_pairs is not None:
        pairs = list(votes.judged_pairs(study, votes.collect(study, given)))
        note(f"{len(pairs)} judged pairs, {sum(pair.better == 'tie' for pair in pairs)} of them ties")
        with targets.AtomicFile(args.to_pairs) as file:
            file.writelines(f"{judged_pairs.to_line(pair)}\n" for pair in pairs)
    if args.to_json is not None:
        with targets.AtomicFile(args.to_json) as file:
            file.write(strict_json.dump(tables.plain(found), indent=1) + "\n")
    print(text(found))
    return 0
