"""`pronmetric suite export`: the lines of a suite that a translation model scores or translates."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from pronmetric.cli.parser import add_command, whole_from_zero
from pronmetric.lab.suites import export as suite_export
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrastive import Reading
from pronmetric.output import targets

DESCRIPTION = """Write what has to be scored: one line for each candidate of each item.

  source.txt, target.txt   line-parallel; the first candidate of an item is usually the right one, see the index
  source.context.txt, target.context.txt
                           N previous sentences for each line, oldest first; an empty line where there is none
  index.tsv                line, item, candidate, right, document, groups
  lines.jsonl              all of this, one object a line"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    made = add_command(
        commands, "export", help="write the lines that a model has to score or translate", description=DESCRIPTION
    )
    add_set(made)
    made.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to write")
    made.add_argument(
        "--join", metavar="TEXT", help="put the context before each sentence, joined by TEXT, instead of in own files"
    )
    made.add_argument(
        "--right-only", action="store_true", help="only the right candidate of each item: one line to translate"
    )
    made.set_defaults(run=run)


def add_set(made: argparse.ArgumentParser) -> None:
    """The flags that say which set is read, and with which context."""
    made.add_argument("name", choices=list(SUITES), metavar="NAME", help=", ".join(SUITES))
    made.add_argument("--set", required=True, metavar="FILE", help="the set, a file of the suite's authors")
    made.add_argument("--documents", metavar="DIR|FILE", help="the documents, where the set does not contain them")
    made.add_argument(
        "--context", type=whole_from_zero, default=0, metavar="N", help="previous sentences of each line (default: 0)"
    )


def run(args: argparse.Namespace) -> int:
    """Write the files."""
    targets.check((), read=[args.set, args.documents], folders=[args.output])
    items = SUITES[args.name].read(args.set, Reading(args.documents, args.context))
    if args.right_only:
        items = tuple(replace(item, candidates=(item.candidates[item.right],), right=0) for item in items)
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    with targets.AtomicFiles() as files:
        number = suite_export.write(items, lambda name: files.open(folder / name), context=args.context, join=args.join)
    print(f"{number} lines of {len(items)} items in {folder}")
    return 0
