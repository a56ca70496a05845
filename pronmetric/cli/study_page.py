"""`pronmetric study page`: the page on which annotators answer."""

from __future__ import annotations

import argparse

from pronmetric.cli.parser import add_command
from pronmetric.lab.study import folder
from pronmetric.lab.study.page import QUESTION, TITLE, page
from pronmetric.output import targets

DESCRIPTION = """Write the page on which annotators answer a study: one HTML file that opens from disk, without network.
Answers are kept in the browser, so that the page can be closed and opened again; "Save answers" writes the file that
`study report` reads. Keys: 1 and 2 for the versions, 0 for both, 9 for neither, u for undo."""
EPILOG = """The page does not tell which version is the reference. All annotators can use the same page and choose their
number; with --annotator, the page is for these alone.

examples:
  pronmetric study page study -o page.html
  pronmetric study page study -o page-3.html --annotator 3"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands, "page", help="write the page on which annotators answer", description=DESCRIPTION, epilog=EPILOG
    )
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument("-o", "--output", required=True, metavar="FILE.html", help="the page")
    made.add_argument("--annotator", nargs="+", metavar="N", help="annotators (default: all)")
    made.add_argument("--title", default=TITLE, metavar="TEXT", help='title of the page (default: "%(default)s")')
    made.add_argument("--question", default=QUESTION, metavar="TEXT", help='the question (default: "%(default)s")')
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page; the exit code."""
    targets.check([args.output], read=[args.study])
    text = page(folder.read(args.study), title=args.title, question=args.question, annotators=args.annotator)
    with targets.AtomicFile(args.output) as file:
        file.write(text)
    return 0
