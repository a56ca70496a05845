"""`pronmetric suite list` and `show`: which suites there are, and what is known of one."""

from __future__ import annotations

import argparse
from collections import Counter

from pronmetric.cli.tables import table
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrastive import Reading

CLPP = (
    "clpp",
    "en-de, en-fr, de-en, fr-en, es-en",
    "cross-lingual pronoun prediction (WMT16, DiscoMT)",
    "predictions, by `pronmetric clpp score`",
)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands."""
    listing = commands.add_parser("list", help="list the suites", description="List the suites.", allow_abbrev=False)
    listing.set_defaults(run=run_list)
    showing = commands.add_parser(
        "show",
        help="describe a suite: file, scoring, options",
        description="Describe a suite: its file, how it is scored, its options; with --set, the counts of a set.",
        allow_abbrev=False,
    )
    showing.add_argument("name", choices=list(SUITES), metavar="NAME", help=", ".join(SUITES))
    showing.add_argument("--set", metavar="FILE", help="a set of the suite")
    showing.set_defaults(run=run_show)


def run_list(_: argparse.Namespace) -> int:
    """Print a table of the suites."""
    abouts = [suite.ABOUT for suite in SUITES.values()]
    rows = [(about.name, about.languages, about.phenomena, ", ".join(about.judged)) for about in abouts]
    print(table(("suite", "languages", "phenomena", "judged"), [*rows, CLPP], left=range(4)))
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the description of a suite and the counts of a set."""
    suite = SUITES[args.name]
    print(f"{suite.ABOUT.title}\n{suite.ABOUT.languages}: {suite.ABOUT.phenomena}\n\n{suite.ABOUT.text}")
    if args.set is None:
        return 0
    items = suite.read(args.set, Reading())
    print(f"\n{args.set}: {len(items)} items, {sum(len(item.candidates) for item in items)} candidates")
    counts = Counter((name, group) for item in items for name, group in item.groups.items())
    rows = [(name, group, count) for (name, group), count in sorted(counts.items())]
    print(table(("break-down", "group", "items"), rows, left=(0, 1)))
    return 0
