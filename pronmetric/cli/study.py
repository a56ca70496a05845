"""`pronmetric study`: an annotation study, from the sample to the table that `prepare` reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from pronmetric.cli import output
from pronmetric.cli.flags import ListenFlags
from pronmetric.cli.parser import Command, Flags, Group, UsageError, argument, flag, number, part, switch, whole
from pronmetric.errors import InputError
from pronmetric.eval.resampling import SEED
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.study import (
    answers,
    appraise,
    arms,
    candidates,
    findings,
    folder,
    guide,
    label_studio,
    page,
    simulation,
    stages,
)
from pronmetric.lab.study.folder import PAPER, TWO_STAGES, Design, Study
from pronmetric.lab.study.sample import choose, sample
from pronmetric.output import targets
from pronmetric.text import strict_json

DESCRIPTION = """Plan, run and evaluate an annotation study: people see a sentence in two versions that
differ in a pronoun, and choose. Pronoun pairs on which they agree become training data (Jwalapuram et al. 2019)."""
EPILOG = """example:
  pronmetric study sample runs/data -o study --items 60 --annotators 3
  pronmetric study report study answers-*.json --table table.tsv
  pronmetric prepare data.wmt=wmt filter.agreement=table.tsv out=runs/agreed"""


class StudyFlags(Flags):
    """The study that a command reads."""

    study: str = argument(metavar="STUDY", help="the folder that `study sample` wrote")

    def read(self) -> Study:
        """The study."""
        return folder.read(self.study)


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


SAMPLE = """Draw the items of a study, and the tasks of each annotator, into a new folder STUDY.

DATA is a folder of `prepare` (references and references with a system's pronoun), the JSONL of `suite build wmt` (with
sources), judged pairs (JSONL) with "pronoun_a", "pronoun_b" and "group", the source language, or your own table: a TSV
file with the columns reference and other, which differ in a pronoun, and maybe group, doc, context, source,
source_context, id and antecedent. Without context, the references above in the same doc are shown: two, or as many as
antecedent says, the number of sentences from the antecedent to this one. A pair that occurs more than once counts
once. In each source language, all pronoun pairs (and with --scores all ranges of the score difference) get equally many
items, up to one; a design for which there are too few pairs is refused, with the number each cell lacks. With --balance
level, rare pairs give all they have.

For --preset two-stage, DATA is records as `score --jsonl` reads them: "text" and "context", the translations of a
sentence and of the one before it; "source" and "source_context", their sources; and maybe "group", the source
language."""
SAMPLE_EPILOG = """\
Annotators are divided among --groups, and so are the items. Each annotator answers the items of one group,
in their own order; in half of the tasks the reference is the second version. Repeated items come in the second half,
with the versions in the other order. The same DATA and --seed give the same study.

--preset paper is the design of Jwalapuram et al. 2019: --items 500 --annotators 5 --groups 2 --repeated 0.1
--balance level --invalid. --preset two-stage is after Voita et al. 2019: of two consecutive sentences each translation
is judged alone, then the two in context of each other; if they do not fit together, the annotator names the phenomenon
(deixis, ellipsis, lexical cohesion, ambiguity, anaphora, other). Other flags change a preset.

examples:
  pronmetric study sample runs/data -o study --items 60 --pronoun-pairs he:it she:it it:he
  pronmetric study sample suite.jsonl -o study --preset paper --show-source
  pronmetric study sample pairs.tsv -o study --balance level
  pronmetric study sample translations.jsonl -o study --preset two-stage --items 200"""
ANSWERS = {
    "both": {"both": True, "neither": False},
    "neither": {"both": False, "neither": True},
    "all": {"both": True, "neither": True},
    "none": {"both": False, "neither": False},
}


PRESETS = {"paper": PAPER, "two-stage": TWO_STAGES}


class ItemFlags(Flags):
    """The items of a study."""

    items: int | None = flag(type=whole(1), metavar="N", help="items of each source language (default: all)")
    split: str | None = flag(metavar="NAME", help=f"of a prepared folder (default: {candidates.SPLIT})")
    languages: Sequence[str] | None = flag(nargs="+", metavar="CODE", help="source languages (default: all)")
    pronoun_pairs: Sequence[str] | None = flag(
        nargs="+", metavar="REF:OTHER", help="pronoun pairs, e.g. he:it (default: all)"
    )
    scores: str | None = flag(metavar="FILE", help='scores to balance by, {"id", "score_a", "score_b"} a line')
    ranges: int | None = flag(type=whole(1), metavar="N", help="ranges of the score difference (default: 3)")
    balance: str | None = flag(choices=["strict", "level"], help="rare pairs: refuse, or take all (default: strict)")

    @property
    def pairs(self) -> list[tuple[str, str]] | None:
        """The pronoun pairs; None for all."""
        if self.pronoun_pairs is None:
            return None
        pairs = [(text, *text.lower().split(":")) for text in self.pronoun_pairs]
        if wrong := [text for text, *pair in pairs if len(pair) != 2]:
            raise InputError(
                f"--pronoun-pairs {wrong[0]}: expected the reference's pronoun and the other, such as he:it"
            )
        return [(own, other) for _, own, other in pairs]

    def differences(self) -> dict[str, float | None] | None:
        """The differences of --scores."""
        if self.scores is None:
            return None
        scores = judged_pairs.read_scores(self.scores)
        return {item: None if a is None or b is None else a - b for item, (a, b) in scores.items()}


class PeopleFlags(Flags):
    """The annotators of a study."""

    annotators: int | None = flag(type=whole(1), metavar="N", help="annotators (default: 3)")
    groups: int | None = flag(type=whole(1), metavar="N", help="groups, each with its own items (default: 1)")
    repeated: float | None = flag(type=number(0, 1), metavar="X", help="share of repeated items (default: 0.1)")


class ShownFlags(Flags):
    """What annotators see."""

    answers: str | None = flag(choices=list(ANSWERS), help="third answers (default: both)")
    invalid: bool = switch(help='offer "cannot be judged", for what is no pronoun or misaligned')
    show_source: bool = switch(help="show the source and its context, if DATA has it")
    highlight: bool = switch(help="mark the words in which the versions differ")


class SampleFlags(Flags):
    """The design of a study, and the data that it is drawn from."""

    data: str = argument(
        metavar="DATA", help="a prepared folder, a suite of `suite build wmt`, judged pairs, a table, or records"
    )
    output: str = flag("-o", "--output", required=True, metavar="STUDY", help="the folder of the study, new")
    preset: str | None = flag(choices=list(PRESETS), help="a design of the literature")
    items: ItemFlags = part(ItemFlags, "items")
    people: PeopleFlags = part(PeopleFlags, "annotators")
    shown: ShownFlags = part(ShownFlags, "what annotators see")
    seed: int | None = flag(type=whole(0), metavar="N", help="of the sample and of the orders (default: 1)")
    quiet: bool = switch(help="no notes on stderr")

    def check(self) -> None:
        """Refuse what a study in two stages does not have."""
        if not self.design.stages:
            return
        for name, given in (
            ("--answers", self.shown.answers),
            ("--highlight", self.shown.highlight),
            ("--pronoun-pairs", self.items.pronoun_pairs),
            ("--scores", self.items.scores),
            ("--split", self.items.split),
        ):
            if given:
                raise UsageError(f"{name} is for two versions of a sentence; leave it out with --preset two-stage")

    @property
    def design(self) -> Design:
        """The preset with what the other flags change."""
        numbers = {"items": self.items.items, "ranges": self.items.ranges, "seed": self.seed, **vars(self.people)}
        changes = {name: number for name, number in numbers.items() if number is not None}
        given = {"source": self.shown.show_source, "highlight": self.shown.highlight, "invalid": self.shown.invalid}
        changes |= {name: True for name, is_given in given.items() if is_given}
        changes |= ANSWERS[self.shown.answers] if self.shown.answers else {}
        changes |= {"strict": self.items.balance == "strict"} if self.items.balance else {}
        return replace(PRESETS[self.preset] if self.preset else Design(), **changes)


def run_sample(task: SampleFlags) -> None:
    """Draw the study."""
    place = _new_folder(
        task.output, [task.data, task.items.scores], why="give a new folder, answers belong to one study"
    )
    note = output.Notes(quiet=task.quiet)
    if task.design.stages:
        items = candidates.read_translations(task.data, note=note)
    else:
        items = candidates.read(task.data, split=task.items.split, note=note)
    chosen = choose(items, languages=task.items.languages, pairs=task.items.pairs)
    try:
        study = sample(chosen, task.design, differences=task.items.differences())
    except InputError as error:
        raise InputError(str(error), file=task.data) from None
    note.begin()
    folder.write(study, place, data=task.data)
    print(findings.format_sample(study))


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


SIMULATE = """Answer a study with simulated annotators, to try a design and see how wide its intervals are, before
people answer. Each item has a true answer (the reference in 75 %, both in 15 %, the other version and neither in 5 %
each, in proportion to the answers that the study offers). An annotator errs with a known probability, independent of
the others. Prints the AC1 that infinitely many items would have."""
SIMULATE_EPILOG = """example:
  pronmetric study simulate study -o answers --errors 0.05 0.1 0.2"""


class SimulateFlags(StudyFlags):
    """The simulated annotators."""

    output: str = flag("-o", "--output", required=True, metavar="DIR", help="folder of the answers, new or empty")
    errors: Sequence[float] = flag(
        nargs="+",
        type=number(0, 1),
        metavar="X",
        help="error rate of each annotator, or one for all (default: 0.1)",
        default=(0.1,),
    )
    seed: int = flag(type=whole(0), default=1, metavar="N", help="of the answers (default: 1)")


def run_simulate(task: SimulateFlags) -> None:
    """Write one file of answers for each annotator."""
    place = _new_folder(task.output, [task.study])
    study = task.read()
    errors = [*task.errors] * study.design.annotators if len(task.errors) == 1 else task.errors
    simulated = simulation.simulate(study, errors, seed=task.seed)
    expected = simulation.expected_ac1(study, errors)
    print(f"{_write_answers(study, place, simulated)}; expected AC1: {expected:.5f}")


REPORT = """The figures of a study: Gwet's AC1 between the annotators, by source language and by pronoun pair too,
how often the reference is preferred, and for each annotator the consistency on repeated items and the share of answers
for the version shown first. Every answer that the study offers is a category of AC1, also if nobody gave it. Repeated
answers count for consistency only. Unfinished answers are read too.

In two stages: the pairs of sentences that are bad alone, bad in context and good, the phenomena, and AC1 at each
level."""
REPORT_EPILOG = """\
--arm compares with a second study of the same items, such as one without the source, on the items with two
answers in each: disagreements that the arms have in common, AC1 of all annotators together, and the difference in
preference (Jwalapuram et al. 2019, section 3.3). Draw both studies from the same data with the same --seed.

--table writes the table that `prepare filter.agreement=FILE` and `suite build wmt --agreement FILE` read:
for each pronoun pair a line a source language, and their sum. --to_pairs writes judged pairs for `agree` and
`evaluate`: the reference is text A, "better" is the answer with most votes, "tie" if "both fine" has most; items for
which "neither" or "cannot be judged" has most are left out.

Intervals: of AC1, Gwet's; by document and of the preference, 2000 resamples of whole documents.

example:
  pronmetric study report study answers-*.json --table table.tsv --to_pairs pairs.jsonl
  pronmetric study report with with/*.json --arm without without/*.json"""


class ReportFlags(StudyFlags):
    """The answers of a study, and what is written."""

    answers: Sequence[str] = argument(nargs="+", metavar="ANSWERS.json", help="answers, one file for each annotator")
    table: str | None = flag(metavar="FILE", help="write the table of pronoun pairs")
    to_pairs: str | None = flag(metavar="FILE", help="write the items with their votes as judged pairs")
    to_json: str | None = flag(metavar="FILE", help="write all figures as JSON")
    arm: Sequence[str] | None = flag(
        nargs="+", metavar=("STUDY", "ANSWERS.json"), help="a second study of the same items, and its answers"
    )
    seed: int = flag(type=whole(0), default=SEED, metavar="N", help="of the resampling (default: 12345)")
    quiet: bool = switch(help="no notes on stderr")


def run_report(task: ReportFlags) -> None:
    """Measure, write what is asked for, print."""
    targets.check([task.table, task.to_pairs, task.to_json], read=[task.study, *task.answers, *(task.arm or ())])
    study = task.read()
    given = answers.read(study, task.answers)
    note = output.Notes(quiet=task.quiet)
    note.begin()
    if absent := [name for name in study.assignments if name not in given]:
        note(f"no answers of annotators {', '.join(absent)}")
    if study.design.stages:
        _report_stages(task, study, given)
        return
    measured = findings.measure(study, given, seed=task.seed)
    compared = None
    if task.arm is not None:
        other = folder.read(task.arm[0])
        compared = arms.compare((study, given), (other, answers.read(other, task.arm[1:])), seed=task.seed)
    if task.table is not None:
        if unrated := findings.without_agreement(measured):
            note(f"not in the table: {unrated} pronoun pairs without an item that has two answers")
        with targets.AtomicFile(task.table) as file:
            file.writelines(findings.agreement_lines(measured))
    if task.to_pairs is not None:
        pairs = list(findings.judged_pairs(study, findings.collect(study, given)))
        note(f"{len(pairs)} judged pairs, {sum(pair.better == 'tie' for pair in pairs)} of them ties")
        with targets.AtomicFile(task.to_pairs) as file:
            file.writelines(f"{judged_pairs.to_line(pair)}\n" for pair in pairs)
    with_arm = {} if compared is None else {"arms": strict_json.plain(compared)}
    output.write_json(task.to_json, {**strict_json.plain(measured), **with_arm})
    print(findings.format_findings(measured))
    if compared is not None:
        print(f"\n{arms.format_arms(compared)}")


def _report_stages(task: ReportFlags, study: Study, given: answers.Answers) -> None:
    for name, wanted in (("--table", task.table), ("--to_pairs", task.to_pairs), ("--arm", task.arm)):
        if wanted:
            raise InputError(f"{name}: the study is in two stages, with one version of each sentence; leave it out")
    measured = stages.measure(study, given)
    output.write_json(task.to_json, strict_json.plain(measured))
    print(stages.format_findings(measured))


TOOLS = ("label-studio", "appraise")
SERVER = "serve"
EXPORT = """Write the tasks of a study for another annotation tool, one file for each annotator. Label Studio: the tasks
as JSON, and the labelling configuration of the project (label-studio.xml). Appraise: batches of a campaign "Pairwise",
filled to 100 items; annotators score both versions."""
IMPORT = """Read what annotators answered in another tool, and write it as the files that `study report` reads. Label
Studio: its export as JSON or JSON-MIN. Appraise: the CSV of `manage.py ExportSystemScoresToCSV CAMPAIGN`; the version
with the higher score is the answer, equal scores are "both" from 50 and else "neither". Tasks without an answer are
counted."""


class ExchangeFlags(StudyFlags):
    """What goes to another annotation tool, or comes from it."""

    output: str = flag("-o", "--output", required=True, metavar="DIR", help="folder of the files, new or empty")


class ExportFlags(ExchangeFlags):
    """The tool that takes the tasks."""

    to: str = flag(required=True, choices=TOOLS, help="the tool")


class ImportFlags(ExchangeFlags):
    """The results of a tool."""

    results: Sequence[str] = argument(nargs="+", metavar="FILE", help="results that the tool exported, or a database")
    tool: str = flag("--from", required=True, choices=[*TOOLS, SERVER], help="the tool")


def run_export(task: ExportFlags) -> None:
    """Write the files of the tool."""
    place = _new_folder(task.output, [task.study])
    study = task.read()
    if study.design.stages:
        raise InputError(
            "is in two stages, which these tools do not have; use `study page` or `study serve`", file=task.study
        )
    if task.to == "appraise":
        files = {f"batches-{name}.json": appraise.batches(study, name) for name in study.assignments}
    else:
        files = {f"tasks-{name}.json": label_studio.tasks(study, name) for name in study.assignments}
        files[label_studio.CONFIG] = label_studio.config(study)
    _write_files(place, files)
    print(f"{len(files)} files in {task.output}")


def run_import(task: ImportFlags) -> None:
    """Write one file of answers for each annotator."""
    served = task.tool == SERVER
    place = _new_folder(task.output, [task.study, *([] if served else task.results)])
    study = task.read()
    left_out: Counter[str] = Counter()
    if served:
        imported = _read_database(study, task.results)
    else:
        imported = (appraise if task.tool == "appraise" else label_studio).read(study, task.results, tally=left_out)
    if not any(imported.values()):
        where = None if served else task.results[0]
        raise InputError("no task is answered" + ("" if served else "; export the results again"), file=where)
    rest = ", ".join(f"{number} {kind}" for kind, number in left_out.items() if number)
    print(f"{_write_answers(study, place, imported)} in {task.output}" + (f"; left out: {rest}" if rest else ""))


def _read_database(study: Study, addresses: Sequence[str]) -> dict[str, tuple[answers.TaskAnswer, ...]]:
    from pronmetric.lab.study import database  # its libraries are an extra

    if len(addresses) > 1:
        raise InputError(f"--from {SERVER}: expected the address of one database, got {len(addresses)}")
    with closing(database.connect(addresses[0], study, create=False)) as served:
        return served.answers()


def _new_folder(name: str, read: Sequence[str | None], *, why: str = "give a new folder") -> Path:
    """The folder to write, which must be new or empty; `why` tells the cure."""
    place = Path(name)
    targets.check([], read=read, folders=[name])
    if place.is_dir() and any(place.iterdir()):
        raise InputError(f"is not empty; {why}", file=place)
    return place


def _write_answers(study: Study, place: Path, given: Mapping[str, Sequence[answers.TaskAnswer]]) -> str:
    """Write one file of answers for each annotator; how many there are, in words."""
    _write_files(place, {f"answers-{name}.json": answers.dump(study, name, each) for name, each in given.items()})
    return f"{sum(map(len, given.values()))} answers of {len(given)} annotators"


def _write_files(place: Path, files: Mapping[str, str]) -> None:
    with targets.new_folder(place) as waiting, targets.AtomicFiles() as opened:
        for name, text in files.items():
            opened.open(waiting / name).write(text)


VERB = Group(
    "study",
    DESCRIPTION,
    EPILOG,
    [
        Command(
            "sample", SampleFlags, run_sample, SAMPLE, SAMPLE_EPILOG, help="draw the items and the tasks of a study"
        ),
        Command("page", PageFlags, run_page, PAGE, PAGE_EPILOG, help="write the page on which annotators answer"),
        Command("serve", ServeFlags, run_serve, SERVE, SERVE_EPILOG, help="serve the page to many annotators at once"),
        Command(
            "simulate",
            SimulateFlags,
            run_simulate,
            SIMULATE,
            SIMULATE_EPILOG,
            help="answer a study with simulated annotators",
        ),
        Command(
            "report",
            ReportFlags,
            run_report,
            REPORT,
            REPORT_EPILOG,
            help="agreement, preference and consistency; the table for `prepare`",
        ),
        Command("export", ExportFlags, run_export, EXPORT, help="write the tasks for Label Studio or Appraise"),
        Command(
            "import", ImportFlags, run_import, IMPORT, help="read answers from Label Studio, Appraise or `study serve`"
        ),
    ],
)
