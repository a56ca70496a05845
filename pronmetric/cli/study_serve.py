"""`pronmetric study serve`: the page of a study for many annotators at once, with a database."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from pronmetric.cli import output
from pronmetric.cli.parser import add_command, whole_from_one, whole_from_zero
from pronmetric.errors import InputError
from pronmetric.lab.study import folder
from pronmetric.lab.study.page import QUESTION, TITLE

DATABASE = "answers.db"
HOST, PORT = "127.0.0.1", 8000
DESCRIPTION = """Serve the page of a study to many annotators at once, and keep their answers in a database. Prints a
secret link for each annotator, and one for the overview: progress, agreement so far, and the answers as files for
`study report`. An answer counts when it is on the disk; after a stop or a crash the same command continues, with the
same links."""
EPILOG = """Each annotator answers the tasks that `study sample` assigned. With --overlap N, each item goes to N
annotators of its group, whoever comes first, so that some may answer more than others. A task that is left open for
half an hour is given to another annotator if nothing else is left.

The server listens on this machine only. To reach it from elsewhere, let a web server that speaks HTTPS forward to it,
and give its address as --url: whoever has a link can answer in this annotator's name.

examples:
  pronmetric study serve study
  pronmetric study serve study --db postgresql://user:password@host/name --overlap 3 --url https://study.example.org
  pronmetric study import study sqlite:///study/answers.db --from serve -o answers"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands, "serve", help="serve the page to many annotators at once", description=DESCRIPTION, epilog=EPILOG
    )
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument(
        "--db", metavar="URL", help=f"sqlite:///FILE or postgresql://... (default: {DATABASE} in the folder STUDY)"
    )
    made.add_argument("--overlap", type=whole_from_one, metavar="N", help="annotators of each item (default: all)")
    made.add_argument("--host", default=HOST, metavar="NAME", help="address to listen on (default: %(default)s)")
    made.add_argument("--port", type=port, default=PORT, metavar="N", help="0 takes a free one (default: %(default)s)")
    made.add_argument("--url", metavar="URL", help="address in the links (default: that of --host and --port)")
    made.add_argument("--title", default=TITLE, metavar="TEXT", help='title of the page (default: "%(default)s")')
    made.add_argument("--question", default=QUESTION, metavar="TEXT", help='the question (default: "%(default)s")')
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    made.set_defaults(run=run)


def port(text: str) -> int:
    """A port from 0 to 65535."""
    number = whole_from_zero(text)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text}")
    return number


def run(args: argparse.Namespace) -> int:
    """Serve until the process is stopped; the exit code."""
    from pronmetric.lab.study import database, listener, server  # their libraries are an extra

    if args.url is not None and not args.url.startswith(("http://", "https://")):
        raise InputError(f"--url {args.url}: expected an address such as https://study.example.org")
    study = folder.read(args.study)
    place = args.db or f"sqlite:///{Path(args.study).absolute() / DATABASE}"
    with closing(database.connect(place, study, overlap=args.overlap)) as found:
        opened = listener.listen(args.host, args.port)
        app = server.make_app(found, title=args.title, question=args.question)
        base = (args.url or listener.address(opened)).rstrip("/")
        for name, token in found.tokens().items():
            print(f"annotator {name}\t{base}/a/{token}")
        print(f"overview\t{base}/o/{found.overview_token()}", flush=True)
        note = output.Notes(quiet=args.quiet)
        note.begin()
        note(f"listening on {listener.address(opened)}; Ctrl-C stops the server, the answers are in {found.address}")
        listener.server(app).run(sockets=[opened])
    return 0
