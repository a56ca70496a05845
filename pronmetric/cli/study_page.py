"""`pronmetric study page` and `study serve`: what annotators see, as a file and from a server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pronmetric.cli import output
from pronmetric.cli.flags import ListenFlags
from pronmetric.cli.parser import Command, Flags, flag, part, switch, whole
from pronmetric.cli.study_folder import StudyFlags
from pronmetric.errors import InputError
from pronmetric.lab.study import guide, page
from pronmetric.lab.study.folder import Study
from pronmetric.output import targets

NO_GUIDE = "none"


class LookFlags(Flags):
    """What annotators read on the page."""

    title: str = flag(default=page.TITLE, metavar="TEXT", help='title of the page (default: "%(default)s")')
    question: str | None = flag(
        metavar="TEXT", help=f'the question (default: "{page.QUESTION}"; in two stages "{page.TOGETHER}")'
    )
    guide: str | None = flag(
        metavar="FILE",
        help=f"instructions, example and training items, JSON (default: ours, in English; {NO_GUIDE}: without)",
    )
    breaks: int = flag(
        type=whole(0),
        default=page.BREAKS,
        metavar="N",
        help="answers after which a break is proposed (default: %(default)s; 0: none)",
    )

    def look(self, study: Study) -> page.PageOptions:
        """The look of the study's page."""
        read = None
        if self.guide != NO_GUIDE:
            read = guide.own(study.design) if self.guide is None else guide.read(self.guide, study.design)
        return page.PageOptions(title=self.title, question=self.question, guide=read, breaks=self.breaks)


PAGE = """Write the page on which annotators answer a study: one HTML file that opens from disk, without network.
Answers are kept in the browser, so that the page can be closed and opened again; "Save answers" writes the file that
`study report` reads. Keys: 1 and 2 for the versions, 0 for both, 9 for neither, 8 for what cannot be judged, c to
comment, u for undo. Prints the link of each annotator."""


PAGE_EPILOG = """\
The page does not tell which version is the reference. Before the first task it shows instructions, an example and
training items with feedback. All annotators can use the same page, each by the link that is printed; with
--annotator N, the page is for this annotator alone and needs none.

examples:
  pronmetric study page study -o page.html
  pronmetric study page study -o page-3.html --annotator 3"""


class PageFlags(StudyFlags):
    """The page of a study."""

    output: str = flag("-o", "--output", required=True, metavar="FILE.html", help="the page")
    annotator: Sequence[str] | None = flag(nargs="+", metavar="N", help="annotators (default: all)")
    look: LookFlags = part(LookFlags)


def run_page(task: PageFlags) -> None:
    """Write the page."""
    targets.check([task.output], read=[task.study])
    study = task.read()
    names = task.annotator or list(study.assignments)
    text = page.page(study, task.look.look(study), annotators=names)
    with targets.AtomicFile(task.output) as file:
        file.write(text)
    for name in names:
        print(f"annotator {name}\t{task.output}" + (f"#{page.code(study, name)}" if len(names) > 1 else ""))


DATABASE = "answers.db"


SERVE = """Serve the page of a study to many annotators at once, and keep their answers in a database. Prints a
secret link for each annotator, and one for the overview: progress, agreement so far, and the answers as files for
`study report`. An answer counts when it is on the disk; after a stop or a crash the same command continues, with the
same links."""


SERVE_EPILOG = """Each annotator answers the tasks that `study sample` assigned. With --overlap N, each item goes to N
annotators of its group, whoever comes first, so that some may answer more than others. A task that is left open for
half an hour is given to another annotator if nothing else is left.

The server listens on this machine only, unless --host says otherwise. To reach it from elsewhere, let a web server
that speaks HTTPS forward to it, and give its address as --url: whoever has a link can answer in this annotator's name.

examples:
  pronmetric study serve study
  pronmetric study serve study --db postgresql://user:password@host/name --overlap 3 --url https://study.example.org
  pronmetric study import study sqlite:///study/answers.db --from serve -o answers"""


class ServeFlags(StudyFlags):
    """The server of a study."""

    db: str | None = flag(
        metavar="URL", help=f"sqlite:///FILE or postgresql://... (default: {DATABASE} in the folder STUDY)"
    )
    overlap: int | None = flag(type=whole(1), metavar="N", help="annotators of each item (default: all)")
    listen: ListenFlags = part(ListenFlags)
    url: str | None = flag(metavar="URL", help="address in the links (default: that of --host and --port)")
    look: LookFlags = part(LookFlags)
    quiet: bool = switch(help="no notes on stderr")


def run_serve(task: ServeFlags) -> None:
    """Serve until the process is stopped."""
    from pronmetric.lab.study import database, server  # their libraries are an extra
    from pronmetric.serve import connections

    if task.url is not None and not task.url.startswith(("http://", "https://")):
        raise InputError(f"--url {task.url}: expected an address such as https://study.example.org")
    study = task.read()
    place = task.db or f"sqlite:///{Path(task.study).absolute() / DATABASE}"
    with closing(database.connect(place, study, overlap=task.overlap)) as served:
        opened = connections.listen(task.listen.host, task.listen.port)
        app = server.make_app(served, task.look.look(study))
        base = (task.url or connections.address(opened)).rstrip("/")
        for name, token in served.tokens().items():
            print(f"annotator {name}\t{base}/a/{token}")
        print(f"overview\t{base}/o/{served.overview_token()}", flush=True)
        note = output.Notes(quiet=task.quiet)
        note.begin()
        note(
            f"listening on {connections.address(opened)}; Ctrl-C stops the server, the answers are in {served.address}"
        )
        connections.server(app).run(sockets=[opened])


COMMANDS = (
    Command("page", PageFlags, run_page, PAGE, PAGE_EPILOG, help="write the page on which annotators answer"),
    Command("serve", ServeFlags, run_serve, SERVE, SERVE_EPILOG, help="serve the page to many annotators at once"),
)
