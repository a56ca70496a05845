"""`pronmetric study simulate`, `export` and `import`: answers that come from elsewhere than the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing

from pronmetric.cli.parser import Command, argument, flag, number, whole
from pronmetric.cli.study_folder import StudyFlags, new_folder, write_answers, write_files
from pronmetric.errors import InputError
from pronmetric.lab.study import answers, appraise, label_studio, simulation
from pronmetric.lab.study.folder import Study

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
    place = new_folder(task.output, [task.study])
    study = task.read()
    errors = [*task.errors] * study.design.annotators if len(task.errors) == 1 else task.errors
    simulated = simulation.simulate(study, errors, seed=task.seed)
    expected = simulation.expected_ac1(study, errors)
    print(f"{write_answers(study, place, simulated)}; expected AC1: {expected:.5f}")


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
    place = new_folder(task.output, [task.study])
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
    write_files(place, files)
    print(f"{len(files)} files in {task.output}")


def run_import(task: ImportFlags) -> None:
    """Write one file of answers for each annotator."""
    served = task.tool == SERVER
    place = new_folder(task.output, [task.study, *([] if served else task.results)])
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
    print(f"{write_answers(study, place, imported)} in {task.output}" + (f"; left out: {rest}" if rest else ""))


def _read_database(study: Study, addresses: Sequence[str]) -> dict[str, tuple[answers.TaskAnswer, ...]]:
    from pronmetric.lab.study import database  # its libraries are an extra

    if len(addresses) > 1:
        raise InputError(f"--from {SERVER}: expected the address of one database, got {len(addresses)}")
    with closing(database.connect(addresses[0], study, create=False)) as served:
        return served.answers()


SIMULATED = Command(
    "simulate",
    SimulateFlags,
    run_simulate,
    SIMULATE,
    SIMULATE_EPILOG,
    help="answer a study with simulated annotators",
)
EXCHANGED = (
    Command("export", ExportFlags, run_export, EXPORT, help="write the tasks for Label Studio or Appraise"),
    Command(
        "import", ImportFlags, run_import, IMPORT, help="read answers from Label Studio, Appraise or `study serve`"
    ),
)
