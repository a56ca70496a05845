"""`pronmetric study`: an annotation study, from the sample to the table that `prepare` reads."""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pronmetric.cli import flags, output
from pronmetric.cli.parser import (
    add_command,
    group_parser,
    number_up_to_one,
    run_command,
    whole_from_one,
    whole_from_zero,
)
from pronmetric.errors import InputError
from pronmetric.eval.resampling import SEED
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.study import (
    agreement_table,
    answers,
    appraise,
    candidates,
    folder,
    label_studio,
    simulation,
    tables,
    votes,
)
from pronmetric.lab.study.design import PAPER, Design
from pronmetric.lab.study.findings import measure
from pronmetric.lab.study.page import QUESTION, TITLE, page
from pronmetric.lab.study.sample import choose, sample
from pronmetric.output import targets
from pronmetric.text import strict_json

DESCRIPTION = """Plan, run and evaluate an annotation study: people see a sentence in two versions that
differ in a pronoun, and choose. Pronoun pairs on which they agree become training data (Jwalapuram et al. 2019)."""
EPILOG = """example:
  pronmetric study sample runs/data -o study --items 60 --annotators 3
  pronmetric study report study answers-*.json --table table.tsv
  pronmetric prepare data.wmt=wmt filter.agreement=table.tsv out=runs/agreed"""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser(
        "study",
        DESCRIPTION,
        EPILOG,
        commands=(add_sample, add_page, add_serve, add_simulate, add_report, add_export, add_import),
    )


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)


SAMPLE = """Draw the items of a study, and the tasks of each annotator, into a new folder STUDY.

DATA is a folder of `prepare` (references and references with a system's pronoun), the JSONL of `suite build wmt` (with
sources), or judged pairs (JSONL) with "pronoun_a", "pronoun_b" and "group", the source language. A pair that occurs
more than once counts once. In each source language, all pronoun pairs (and with --scores all ranges of the score
difference) get equally many items, up to one; a design for which there are too few pairs is refused, with the number
that each cell lacks. With --balance level, rare pairs give all they have."""
SAMPLE_EPILOG = """\
Annotators are divided among --groups, and so are the items. Each annotator answers the items of one group,
in an own order; in half of the tasks the reference is the second version. Repeated items come in the second half, with
the versions in the other order. The same DATA and --seed give the same study.

--preset paper is the design of Jwalapuram et al. 2019: --items 500 --annotators 5 --groups 2 --repeated 0.1
--balance level. Other flags change it.

examples:
  pronmetric study sample runs/data -o study --items 60 --pronoun-pairs he:it she:it it:he
  pronmetric study sample suite.jsonl -o study --preset paper --show-source"""
ANSWERS = {
    "both": {"both": True, "neither": False},
    "neither": {"both": False, "neither": True},
    "all": {"both": True, "neither": True},
    "none": {"both": False, "neither": False},
}


def add_sample(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands, "sample", help="draw the items and the tasks of a study", description=SAMPLE, epilog=SAMPLE_EPILOG
    )
    made.add_argument("data", metavar="DATA", help="a prepared folder, a suite of `suite build wmt`, or judged pairs")
    made.add_argument("-o", "--output", required=True, metavar="STUDY", help="the folder of the study, new")
    made.add_argument("--preset", choices=["paper"], help="the design of the paper")
    items = made.add_argument_group("items")
    items.add_argument("--items", type=whole_from_one, metavar="N", help="items of each source language (default: all)")
    items.add_argument("--split", metavar="NAME", help=f"of a prepared folder (default: {candidates.SPLIT})")
    items.add_argument("--languages", nargs="+", metavar="CODE", help="source languages (default: all)")
    flags.both(items, "pronoun-pairs", nargs="+", metavar="REF:OTHER", help="pronoun pairs, e.g. he:it (default: all)")
    items.add_argument("--scores", metavar="FILE", help='scores to balance by, {"id", "score_a", "score_b"} a line')
    items.add_argument("--ranges", type=whole_from_one, metavar="N", help="ranges of the score difference (default: 3)")
    items.add_argument(
        "--balance", choices=["strict", "level"], help="rare pairs: refuse, or take all (default: strict)"
    )
    people = made.add_argument_group("annotators")
    people.add_argument("--annotators", type=whole_from_one, metavar="N", help="annotators (default: 3)")
    people.add_argument("--groups", type=whole_from_one, metavar="N", help="groups, each with own items (default: 1)")
    people.add_argument("--repeated", type=number_up_to_one, metavar="X", help="share of repeated items (default: 0.1)")
    shown = made.add_argument_group("what annotators see")
    shown.add_argument("--answers", choices=list(ANSWERS), help="third answers (default: both)")
    flags.both(shown, "show-source", action="store_true", help="show the source and its context, if DATA has it")
    shown.add_argument("--highlight", action="store_true", help="mark the words in which the versions differ")
    made.add_argument("--seed", type=whole_from_zero, metavar="N", help="of the sample and of the orders (default: 1)")
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    made.set_defaults(run=run_sample)


def run_sample(args: argparse.Namespace) -> int:
    """Draw the study; the exit code."""
    place = Path(args.output)
    if place.is_dir() and any(place.iterdir()):
        raise InputError("is not empty; give a new folder, answers belong to one study", file=place)
    targets.check([], read=[args.data, args.scores], folders=[args.output])
    note = output.Notes(quiet=args.quiet)
    chosen = choose(
        candidates.read(args.data, split=args.split, note=note), languages=args.languages, pairs=_pronoun_pairs(args)
    )
    try:
        study = sample(chosen, _design(args), differences=_differences(args.scores))
    except InputError as error:
        raise InputError(str(error), file=args.data) from None
    note.begin()
    folder.write(study, place, data=args.data)
    print(tables.format_sample(study))
    return 0


def _design(args: argparse.Namespace) -> Design:
    names = ("items", "annotators", "groups", "repeated", "ranges", "seed")
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    given |= {"source": args.show_source, "highlight": args.highlight}
    given |= ANSWERS[args.answers] if args.answers else {}
    given |= {"strict": args.balance == "strict"} if args.balance else {}
    return dataclasses.replace(PAPER if args.preset == "paper" else Design(), **given)


def _pronoun_pairs(args: argparse.Namespace) -> list[tuple[str, str]] | None:
    if args.pronoun_pairs is None:
        return None
    pairs = [tuple(text.lower().split(":")) for text in args.pronoun_pairs]
    if wrong := [text for text, pair in zip(args.pronoun_pairs, pairs, strict=True) if len(pair) != 2]:
        raise InputError(f"--pronoun-pairs {wrong[0]}: expected the reference's pronoun and the other, such as he:it")
    return pairs


def _differences(path: str | None) -> dict[str, float | None] | None:
    if path is None:
        return None
    scores = judged_pairs.read_scores(path)
    return {item: None if a is None or b is None else a - b for item, (a, b) in scores.items()}


PAGE = """Write the page on which annotators answer a study: one HTML file that opens from disk, without network.
Answers are kept in the browser, so that the page can be closed and opened again; "Save answers" writes the file that
`study report` reads. Keys: 1 and 2 for the versions, 0 for both, 9 for neither, u for undo."""
PAGE_EPILOG = """\
The page does not tell which version is the reference. All annotators can use the same page and choose their
number; with --annotator, the page is for these alone.

examples:
  pronmetric study page study -o page.html
  pronmetric study page study -o page-3.html --annotator 3"""


def add_page(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands, "page", help="write the page on which annotators answer", description=PAGE, epilog=PAGE_EPILOG
    )
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument("-o", "--output", required=True, metavar="FILE.html", help="the page")
    made.add_argument("--annotator", nargs="+", metavar="N", help="annotators (default: all)")
    made.add_argument("--title", default=TITLE, metavar="TEXT", help='title of the page (default: "%(default)s")')
    made.add_argument("--question", default=QUESTION, metavar="TEXT", help='the question (default: "%(default)s")')
    made.set_defaults(run=run_page)


def run_page(args: argparse.Namespace) -> int:
    """Write the page; the exit code."""
    targets.check([args.output], read=[args.study])
    text = page(folder.read(args.study), title=args.title, question=args.question, annotators=args.annotator)
    with targets.AtomicFile(args.output) as file:
        file.write(text)
    return 0


DATABASE = "answers.db"
SERVE = """Serve the page of a study to many annotators at once, and keep their answers in a database. Prints a
secret link for each annotator, and one for the overview: progress, agreement so far, and the answers as files for
`study report`. An answer counts when it is on the disk; after a stop or a crash the same command continues, with the
same links."""
SERVE_EPILOG = """Each annotator answers the tasks that `study sample` assigned. With --overlap N, each item goes to N
annotators of its group, whoever comes first, so that some may answer more than others. A task that is left open for
half an hour is given to another annotator if nothing else is left.

The server listens on this machine only. To reach it from elsewhere, let a web server that speaks HTTPS forward to it,
and give its address as --url: whoever has a link can answer in this annotator's name.

examples:
  pronmetric study serve study
  pronmetric study serve study --db postgresql://user:password@host/name --overlap 3 --url https://study.example.org
  pronmetric study import study sqlite:///study/answers.db --from serve -o answers"""


def add_serve(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands, "serve", help="serve the page to many annotators at once", description=SERVE, epilog=SERVE_EPILOG
    )
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument(
        "--db", metavar="URL", help=f"sqlite:///FILE or postgresql://... (default: {DATABASE} in the folder STUDY)"
    )
    made.add_argument("--overlap", type=whole_from_one, metavar="N", help="annotators of each item (default: all)")
    flags.add_listen(made)
    made.add_argument("--url", metavar="URL", help="address in the links (default: that of --host and --port)")
    made.add_argument("--title", default=TITLE, metavar="TEXT", help='title of the page (default: "%(default)s")')
    made.add_argument("--question", default=QUESTION, metavar="TEXT", help='the question (default: "%(default)s")')
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    made.set_defaults(run=run_serve)


def run_serve(args: argparse.Namespace) -> int:
    """Serve until the process is stopped; the exit code."""
    from pronmetric.lab.study import database, server  # their libraries are an extra
    from pronmetric.web import connections

    if args.url is not None and not args.url.startswith(("http://", "https://")):
        raise InputError(f"--url {args.url}: expected an address such as https://study.example.org")
    study = folder.read(args.study)
    place = args.db or f"sqlite:///{Path(args.study).absolute() / DATABASE}"
    with closing(database.connect(place, study, overlap=args.overlap)) as served:
        opened = connections.listen(args.host, args.port)
        app = server.make_app(served, title=args.title, question=args.question)
        base = (args.url or connections.address(opened)).rstrip("/")
        for name, token in served.tokens().items():
            print(f"annotator {name}\t{base}/a/{token}")
        print(f"overview\t{base}/o/{served.overview_token()}", flush=True)
        note = output.Notes(quiet=args.quiet)
        note.begin()
        note(
            f"listening on {connections.address(opened)}; Ctrl-C stops the server, the answers are in {served.address}"
        )
        connections.server(app).run(sockets=[opened])
    return 0


SIMULATE = """Answer a study by simulated annotators: to try a design, and see how wide its intervals are, before
people answer. Each item has a true answer (the reference in 75 %, both in 15 %, the other version and neither in 5 %
each, in proportion to the answers that the study offers). An annotator errs with a known probability, independent of
the others. Prints the AC1 that infinitely many items would have."""
SIMULATE_EPILOG = """example:
  pronmetric study simulate study -o answers --errors 0.05 0.1 0.2"""


def add_simulate(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands,
        "simulate",
        help="answer a study by simulated annotators",
        description=SIMULATE,
        epilog=SIMULATE_EPILOG,
    )
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the answers, new or empty")
    made.add_argument(
        "--errors",
        nargs="+",
        type=number_up_to_one,
        metavar="X",
        help="error rate of each annotator, or one for all (default: 0.1)",
        default=[0.1],
    )
    made.add_argument("--seed", type=whole_from_zero, default=1, metavar="N", help="of the answers (default: 1)")
    made.set_defaults(run=run_simulate)


def run_simulate(args: argparse.Namespace) -> int:
    """Write one file of answers for each annotator; the exit code."""
    place = _new_folder(args, [args.study])
    study = folder.read(args.study)
    errors = args.errors * study.design.annotators if len(args.errors) == 1 else args.errors
    simulated = simulation.simulate(study, errors, seed=args.seed)
    expected = simulation.expected_ac1(study, errors)
    _write_files(place, {f"answers-{name}.json": answers.dump(study, name, given) for name, given in simulated.items()})
    print(f"{sum(map(len, simulated.values()))} answers of {len(simulated)} annotators; expected AC1: {expected:.5f}")
    return 0


REPORT = """The figures of a study: Gwet's AC1 between the annotators, by source language and by pronoun pair too,
how often the reference is preferred, and for each annotator the consistency on repeated items and the share of answers
for the version shown first. Every answer that the study offers is a category of AC1, also if nobody gave it. Repeated
answers count for consistency only. Unfinished answers are read too."""
REPORT_EPILOG = """\
--table writes the table that `prepare filter.agreement=FILE` and `suite build wmt --agreement FILE` read:
for each pronoun pair a line a source language, and their sum. --to_pairs writes judged pairs for `agree` and
`evaluate`: the reference is text A, "better" is the answer with most votes, "tie" if "both fine" has most; items for
which "neither" has most are left out.

Intervals: of AC1, Gwet's; by document and of the preference, 2000 resamples of whole documents.

example:
  pronmetric study report study answers-*.json --table table.tsv --to_pairs pairs.jsonl"""


def add_report(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands,
        "report",
        help="agreement, preference and consistency; the table for `prepare`",
        description=REPORT,
        epilog=REPORT_EPILOG,
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
    made.set_defaults(run=run_report)


def run_report(args: argparse.Namespace) -> int:
    """Measure, write what is asked for, print; the exit code."""
    targets.check([args.table, args.to_pairs, args.to_json], read=[args.study, *args.answers])
    study = folder.read(args.study)
    given = answers.read(study, args.answers)
    findings = measure(study, given, seed=args.seed)
    note = output.Notes(quiet=args.quiet)
    note.begin()
    if absent := [name for name in study.assignments if name not in given]:
        note(f"no answers of annotators {', '.join(absent)}")
    if args.table is not None:
        if unrated := agreement_table.without_agreement(findings):
            note(f"not in the table: {unrated} pronoun pairs without an item that has two answers")
        with targets.AtomicFile(args.table) as file:
            file.writelines(agreement_table.lines(findings))
    if args.to_pairs is not None:
        pairs = list(votes.judged_pairs(study, votes.collect(study, given)))
        note(f"{len(pairs)} judged pairs, {sum(pair.better == 'tie' for pair in pairs)} of them ties")
        with targets.AtomicFile(args.to_pairs) as file:
            file.writelines(f"{judged_pairs.to_line(pair)}\n" for pair in pairs)
    if args.to_json is not None:
        with targets.AtomicFile(args.to_json) as file:
            file.write(strict_json.dump(strict_json.plain(findings), indent=1) + "\n")
    print(tables.format_findings(findings))
    return 0


TOOLS = ("label-studio", "appraise")
SERVER = "serve"
EXPORT = """Write the tasks of a study for another annotation tool, one file for each annotator. Label Studio: the tasks
as JSON, and the labelling configuration of the project (label-studio.xml). Appraise: batches of a campaign "Pairwise",
filled to 100 items; annotators score both versions."""
IMPORT = """Read what annotators answered in another tool, and write it as the files that `study report` reads. Label
Studio: its export as JSON or JSON-MIN. Appraise: the CSV of `manage.py ExportSystemScoresToCSV CAMPAIGN`; the version
with the higher score is the answer, equal scores are "both" from 50 and else "neither". Tasks without an answer are
counted."""


def add_export(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = _add_exchange(commands, "export", "write the tasks for Label Studio or Appraise", EXPORT)
    made.add_argument("--to", required=True, choices=TOOLS, help="the tool")
    made.set_defaults(run=run_export)


def add_import(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = _add_exchange(commands, "import", "read answers from Label Studio, Appraise or `study serve`", IMPORT)
    made.add_argument("results", nargs="+", metavar="FILE", help="results that the tool exported, or a database")
    made.add_argument("--from", dest="tool", required=True, choices=[*TOOLS, SERVER], help="the tool")
    made.set_defaults(run=run_import)


def _add_exchange(
    commands: argparse._SubParsersAction, name: str, line: str, description: str
) -> argparse.ArgumentParser:
    made = add_command(commands, name, help=line, description=description)
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the files, new or empty")
    return made


def run_export(args: argparse.Namespace) -> int:
    """Write the files of the tool; the exit code."""
    place = _new_folder(args, [args.study])
    study = folder.read(args.study)
    if args.to == "appraise":
        files = {f"batches-{name}.json": appraise.batches(study, name) for name in study.assignments}
    else:
        files = {f"tasks-{name}.json": label_studio.tasks(study, name) for name in study.assignments}
        files[label_studio.CONFIG] = label_studio.config(study)
    _write_files(place, files)
    print(f"{len(files)} files in {args.output}")
    return 0


def run_import(args: argparse.Namespace) -> int:
    """Write one file of answers for each annotator; the exit code."""
    served = args.tool == SERVER
    place = _new_folder(args, [args.study, *([] if served else args.results)])
    study = folder.read(args.study)
    left_out: Counter[str] = Counter()
    if served:
        imported = _read_database(study, args.results)
    else:
        imported = (appraise if args.tool == "appraise" else label_studio).read(study, args.results, tally=left_out)
    if not any(imported.values()):
        where = None if served else args.results[0]
        raise InputError("no task is answered" + ("" if served else "; export the results again"), file=where)
    _write_files(place, {f"answers-{name}.json": answers.dump(study, name, given) for name, given in imported.items()})
    rest = ", ".join(f"{number} {kind}" for kind, number in left_out.items() if number)
    told = f"; left out: {rest}" if rest else ""
    print(f"{sum(map(len, imported.values()))} answers of {len(imported)} annotators in {args.output}{told}")
    return 0


def _read_database(study: folder.Study, addresses: list[str]) -> dict[str, tuple[answers.Answer, ...]]:
    from pronmetric.lab.study import database  # its libraries are an extra

    if len(addresses) > 1:
        raise InputError(f"--from {SERVER}: expected the address of one database, got {len(addresses)}")
    with closing(database.connect(addresses[0], study, create=False)) as served:
        return served.answers()


def _new_folder(args: argparse.Namespace, read: list[str]) -> Path:
    place = Path(args.output)
    targets.check([], read=read, folders=[args.output])
    if place.is_dir() and any(place.iterdir()):
        raise InputError("is not empty; give a new folder", file=place)
    return place


def _write_files(place: Path, files: dict[str, str]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    with targets.AtomicFiles() as opened:
        for name, text in files.items():
            opened.open(place / name).write(text)
