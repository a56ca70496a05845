"""`pronmetric train-source`: learn from parallel text which pronouns of a source language translations keep."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.cli import output
from pronmetric.cli.parser import Command, Flags, UsageError, flag, switch
from pronmetric.output import targets

DESCRIPTION = """Learn a table of counts, by which missing and surplus pronouns are counted.

The table is one small file: a pruned word aligner, and how often references have a counterpart for each source pronoun
and a source for each English one. Give it to --source-lang of score, compare, bulk score and serve. The shipped tables
were made with this command from WMT21 and WMT22."""
EPILOG = """Source pronouns are those of pronmetric/pronouns/tables/pronouns.LANG.tsv; for a language without this
file only surplus pronouns are counted.

examples:
  pronmetric train-source --source-lang fr --parallel src.fr ref.en sysA.en sysB.en -o fr.npz
  pronmetric train-source --source-lang de --wmt-dir wmt -o de.npz
  pronmetric score -t sysA.en -s src.fr --source-lang fr.npz"""


class TrainSourceFlags(Flags):
    """The parallel text, its language, and the table that is learned."""

    source_lang: str = flag("--source-lang", required=True, metavar="LANG", help="code of the source language, e.g. de")
    parallel: Sequence[Sequence[str]] | None = flag(
        nargs="+",
        action="append",
        metavar="FILE",
        help="a source file and line-parallel English files, references or outputs; can be repeated",
    )
    wmt_dir: str | None = flag(
        "--wmt-dir", metavar="DIR", help="all test sets from this language into English in a folder"
    )
    exclude: Sequence[str] | None = flag(
        nargs="+",
        metavar="NAME",
        help="test sets of --wmt-dir to leave out, as in `prepare`; default: its test and development sets",
    )
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="the table")
    quiet: bool = switch(help="no progress bar and no notes on stderr")

    def check(self) -> None:
        """Refuse a run without text, and flags of the other kind of text."""
        if self.parallel is None and self.wmt_dir is None:
            raise UsageError("give --parallel, --wmt-dir, or both")
        if any(len(files) < 2 for files in self.parallel or []):
            raise UsageError("--parallel needs a source file and one or more English files")
        if self.exclude and self.wmt_dir is None:
            raise UsageError("--exclude goes with --wmt-dir")


def run(task: TrainSourceFlags) -> None:
    """Learn the table, and write it."""
    files = [name for group in task.parallel or [] for name in group]
    targets.check([task.output], read=[*files, task.wmt_dir])
    from data_prep.wmt import source_lines
    from pronmetric.alignment.counts import files as source_files
    from pronmetric.alignment.counts import fit as source_fit

    note = output.Notes(quiet=task.quiet)
    lines = [line for group in task.parallel or [] for line in source_fit.read_parallel(group)]
    names = list((task.parallel and files) or [])
    if task.wmt_dir is not None:
        exclude = source_lines.HELD_OUT if task.exclude is None else task.exclude
        testsets = source_lines.testsets(task.wmt_dir, task.source_lang, exclude=exclude)
        names = [testset.id for testset in testsets]
        lines += source_lines.read(testsets)
    note(f"{len(lines)} lines of source")
    note.begin()
    with output.bar(task.quiet, total=source_fit.work(lines), label="train-source", unit="lines") as bar:
        about = {"lines": len(lines), "text": names if task.wmt_dir is not None else [], "parallel": len(files)}
        table = source_fit.fit(lines, task.source_lang, about=about, advance=bar.update)
    source_files.save(task.output, table)
    note(f"{len(table.kept)} source pronouns; use the table with --source-lang {task.output}")


VERB = Command("train-source", TrainSourceFlags, run, DESCRIPTION, EPILOG)
