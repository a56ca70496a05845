"""`pronmetric study export|import`: other annotation tools, and the database of `study serve`."""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import closing
from pathlib import Path

from pronmetric.cli.parser import add_command
from pronmetric.errors import InputError
from pronmetric.lab.study import answers, appraise, folder, label_studio
from pronmetric.output import targets

TOOLS = ("label-studio", "appraise")
SERVE = "serve"
EXPORT = """Write the tasks of a study for another annotation tool, one file for each annotator. Label Studio: the tasks
as JSON, and the labelling configuration of the project (label-studio.xml). Appraise: batches of a campaign "Pairwise",
filled to 100 items; annotators score both versions."""
IMPORT = """Read what annotators answered in another tool, and write it as the files that `study report` reads. Label
Studio: its export as JSON or JSON-MIN. Appraise: the CSV of `manage.py ExportSystemScoresToCSV CAMPAIGN`; the version
with the higher score is the answer, equal scores are "both" from 50 and else "neither". Tasks without an answer are
counted."""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the commands to `study`."""
    made = _add(commands, "export", "write the tasks for Label Studio or Appraise", EXPORT)
    made.add_argument("--to", required=True, choices=TOOLS, help="the tool")
    made.set_defaults(run=run_export)
    made = _add(commands, "import", "read answers from Label Studio, Appraise or `study serve`", IMPORT)
    made.add_argument("results", nargs="+", metavar="FILE", help="results that the tool exported, or a database")
    made.add_argument("--from", dest="tool", required=True, choices=[*TOOLS, SERVE], help="the tool")
    made.set_defaults(run=run_import)


def _add(commands: argparse._SubParsersAction, name: str, line: str, description: str) -> argparse.ArgumentParser:
    made = add_command(commands, name, help=line, description=description)
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the files, new or empty")
    return made


def run_export(args: argparse.Namespace) -> int:
    """Write the files of the tool; the exit code."""
    place = _new(args, [args.study])
    study = folder.read(args.study)
    if args.to == "appraise":
        files = {f"batches-{name}.json": appraise.batches(study, name) for name in study.assignments}
    else:
        files = {f"tasks-{name}.json": label_studio.tasks(study, name) for name in study.assignments}
        files[label_studio.CONFIG] = label_studio.config(study)
    _write(place, files)
    print(f"{len(files)} files in {args.output}")
    return 0


def run_import(args: argparse.Namespace) -> int:
    """Write one file of answers for each annotator; the exit code."""
    served = args.tool == SERVE
    place = _new(args, [args.study, *([] if served else args.results)])
    study = folder.read(args.study)
    left_out: Counter[str] = Counter()
    if served:
        found = _of_database(study, args.results)
    else:
        found = (appraise if args.tool == "appraise" else label_studio).read(study, args.results, tally=left_out)
    if not any(found.values()):
        where = None if served else args.results[0]
        raise InputError("no task is answered" + ("" if served else "; export the results again"), file=where)
    _write(place, {f"answers-{name}.json": answers.dump(study, name, given) for name, given in found.items()})
    rest = ", ".join(f"{number} {kind}" for kind, number in left_out.items() if number)
    told = f"; left out: {rest}" if rest else ""
    print(f"{sum(map(len, found.values()))} answers of {len(found)} annotators in {args.output}{told}")
    return 0


def _of_database(study: folder.Study, addresses: list[str]) -> dict[str, tuple[answers.Answer, ...]]:
    from pronmetric.lab.study import database  # its libraries are an extra

    if len(addresses) > 1:
        raise InputError(f"--from {SERVE}: expected the address of one database, got {len(addresses)}")
    with closing(database.connect(addresses[0], study, create=False)) as found:
        return found.answers()


def _new(args: argparse.Namespace, read: list[str]) -> Path:
    place = Path(args.output)
    targets.check([], read=read, folders=[args.output])
    if place.is_dir() and any(place.iterdir()):
        raise InputError("is not empty; give a new folder", file=place)
    return place


def _write(place: Path, files: dict[str, str]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    with targets.AtomicFiles() as opened:
        for name, text in files.items():
            opened.open(place / name).write(text)
