"""`pronmetric suite`: published test suites of pronouns and discourse: list, show, export, score, compare, build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pronmetric.cli import output, suite_build, suite_score
from pronmetric.cli.parser import Command, Flags, Group, argument, flag, switch, whole
from pronmetric.cli.suite_flags import SetFlags
from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import SEED
from pronmetric.lab.suites import catalogue, ctxpro
from pronmetric.lab.suites import export as suite_export
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrastive import Reading
from pronmetric.output import targets
from pronmetric.text.strict_json import plain

if TYPE_CHECKING:
    pass

DESCRIPTION = """Run published test suites of pronouns and discourse in translation on scores, on translations, on a
translation model, or on pronmetric itself. Nothing is downloaded: a suite is read from the file of its authors."""
EPILOG = """examples:
  pronmetric suite show contrapro
  pronmetric suite export contrapro --set contrapro.json --documents documents --context 2 -o lines
  pronmetric suite score contrapro --set contrapro.json --scores nmt.scores --to_json nmt.json
  pronmetric suite score consistency --set deixis_test.json --seq2seq my-marian --context-mode concat22
  pronmetric suite compare nmt.json other.json"""


SHOW = "Describe a suite: its file, how it is scored, its options; with --set, the counts of a set."


class ListFlags(Flags):
    """No flags."""


class ShowFlags(Flags):
    """A suite and a set of it."""

    name: str = argument(choices=list(SUITES), metavar="NAME", help=", ".join(SUITES))
    set: str | None = flag(metavar="FILE", help="a set of the suite")


def run_list(_: ListFlags) -> None:
    """Print a table of the suites."""
    print(catalogue.format_list())


def run_show(task: ShowFlags) -> None:
    """Print the description of a suite and the counts of a set."""
    suite = SUITES[task.name]
    print(catalogue.format_about(suite))
    if task.set is not None:
        print(f"\n{catalogue.format_counts(suite.read(task.set, Reading()), file=task.set)}")


EXPORT = """Write what has to be scored: one line for each candidate of each item.

  source.txt, target.txt   line-parallel; the first candidate of an item is usually the right one, see the index
  source.context.txt, target.context.txt
                           N previous sentences for each line, oldest first; an empty line where there is none
  index.tsv                line, item, candidate, right, document, groups
  lines.jsonl              all of this, one object a line"""


class ExportFlags(SetFlags):
    """The lines of a set, and where they are written."""

    output: str = flag("-o", "--output", required=True, metavar="DIR", help="folder to write")
    join: str | None = flag(
        metavar="TEXT", help="put the context before each sentence, joined by TEXT, instead of in own files"
    )
    right_only: bool = switch("--right-only", help="only the right candidate of each item: one line to translate")


def run_export(task: ExportFlags) -> None:
    """Write the files."""
    targets.check((), read=[task.set, task.documents], folders=[task.output])
    items = task.suite.read(task.set, Reading(task.documents, task.context))
    if task.right_only:
        items = tuple(replace(item, candidates=(item.candidates[item.right],), right=0) for item in items)
    folder = Path(task.output)
    folder.mkdir(parents=True, exist_ok=True)
    with targets.AtomicFiles() as files:
        number = suite_export.write(items, lambda name: files.open(folder / name), context=task.context, join=task.join)
    print(f"{number} lines of {len(items)} items in {folder}")


COMPARE = """Compare systems that were judged on the same items: difference of accuracy with its 95 % interval
(Student's t over items), and p of the approximate randomisation, adjusted for all pairs by Holm's method."""


class CompareFlags(Flags):
    """The results of systems, and how they are compared."""

    results: Sequence[str] = argument(nargs="+", metavar="RESULT.json", help="results of `suite score --to_json`")
    by_document: bool = switch("--by-document", help="intervals and tests over documents instead of items")
    subsample: int | None = flag(
        type=whole(1),
        metavar="K",
        help="also as ctxpro's program: wins over the first system on K items drawn without replacement, 1000 times",
    )
    seed: int = flag(type=whole(0), default=SEED, metavar="N", help="of the test (default: %(default)s)")
    to_json: str | None = flag(metavar="FILE", help="write all figures")


def run_compare(task: CompareFlags) -> None:
    """Print the comparison, and write it where asked for."""
    targets.check([task.to_json], read=task.results)
    if len(task.results) < 2:
        raise PronmetricError("give the results of two or more systems")
    if len(set(task.results)) < len(task.results):
        raise PronmetricError("a result is given twice")
    read = {path: suite_figures.read_result(path) for path in task.results}
    if len(suites := sorted({suite for suite, _ in read.values()})) > 1:
        raise PronmetricError(f"the results are of different suites: {', '.join(suites)}")
    systems = {path: verdicts for path, (_, verdicts) in read.items()}
    differences = suite_figures.compare(systems, by_document=task.by_document, seed=task.seed)
    shares = {name: suite_figures.share(verdicts) for name, verdicts in systems.items()}
    sections = [suite_figures.format_comparison(shares, differences)]
    content = {"suite": suites[0], "systems": plain(shares), "differences": plain(differences)}
    if task.subsample is not None:
        wins = ctxpro.subsampled_wins(systems, size=task.subsample, seed=task.seed)
        sections.append(ctxpro.format_wins(wins, size=task.subsample, first=task.results[0]))
        content["subsampled"] = wins
    output.write_json(task.to_json, content)
    print("\n\n".join(sections))


VERB = Group(
    "suite",
    DESCRIPTION,
    EPILOG,
    [
        Command("list", ListFlags, run_list, "List the suites.", help="list the suites"),
        Command("show", ShowFlags, run_show, SHOW, help="describe a suite: file, scoring, options"),
        Command(
            "export", ExportFlags, run_export, EXPORT, help="write the lines that a model has to score or translate"
        ),
        suite_score.COMMAND,
        Command("compare", CompareFlags, run_compare, COMPARE, help="compare systems by their results on the same set"),
        suite_build.GROUP,
    ],
)
