"""`pronmetric train-source`: learn from parallel text what a source language says about English pronouns."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import output
from pronmetric.cli.parser import verb_parser
from pronmetric.output import targets

DESCRIPTION = """Learn a source table: how the words of a source language support or contradict English pronouns.

The table is one small file: a pruned word aligner and a log-linear model. Give it to --source-lang of score, compare,
suggest and rerank. The shipped tables were made with this command from WMT21 and WMT22."""
EPILOG = """Without a closed-class table (pronmetric/pronouns/tables/pronouns.LANG.tsv), all is learned from the text.

examples:
  pronmetric train-source --source-lang fr --parallel src.fr ref.en sysA.en sysB.en -o fr.npz
  pronmetric train-source --source-lang de --wmt-dir wmt -o de.npz
  pronmetric score -t sysA.en -s src.fr --source-lang fr.npz"""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = verb_parser("train-source", DESCRIPTION, EPILOG)
    made.add_argument("--source-lang", required=True, metavar="LANG", help="code of the source language, e.g. de")
    made.add_argument(
        "--parallel",
        nargs="+",
        action="append",
        metavar="FILE",
        help="a source file and line-parallel English files, references or outputs; can be repeated",
    )
    made.add_argument("--docids", metavar="FILE", help="with one --parallel: document ids, one on each line")
    made.add_argument("--wmt-dir", metavar="DIR", help="all test sets from this language into English in a folder")
    made.add_argument(
        "--exclude",
        nargs="+",
        metavar="NAME",
        help="test sets of --wmt-dir to leave out, as in `prepare`; default: its test and development sets",
    )
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="the table")
    made.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = made.parse_args(argv)
    if args.parallel is None and args.wmt_dir is None:
        made.error("give --parallel, --wmt-dir, or both")
    if any(len(files) < 2 for files in args.parallel or []):
        made.error("--parallel needs a source file and one or more English files")
    if args.docids is not None and len(args.parallel or []) != 1:
        made.error("--docids goes with one --parallel")
    if args.exclude and args.wmt_dir is None:
        made.error("--exclude goes with --wmt-dir")
    files = [name for group in args.parallel or [] for name in group]
    targets.check([args.output], read=[*files, args.docids, args.wmt_dir])
    from data_prep.wmt import source_lines
    from pronmetric.source import files as source_files
    from pronmetric.source import fit as source_fit

    note = output.Notes(quiet=args.quiet)
    lines = [line for group in args.parallel or [] for line in source_fit.read_parallel(group, docids=args.docids)]
    names = list((args.parallel and files) or [])
    if args.wmt_dir is not None:
        exclude = source_lines.HELD_OUT if args.exclude is None else args.exclude
        testsets = source_lines.testsets(args.wmt_dir, args.source_lang, exclude=exclude)
        names = [testset.id for testset in testsets]
        lines += source_lines.read(testsets)
    note(f"{len(lines)} lines of source")
    note.begin()
    with output.bar(args.quiet, total=source_fit.work(lines), label="train-source", unit="lines") as bar:
        about = {"lines": len(lines), "text": names if args.wmt_dir is not None else [], "parallel": len(files)}
        table = source_fit.fit(lines, args.source_lang, about=about, advance=bar.update)
    source_files.save(args.output, table)
    note(f"{len(table.vocabulary)} features; {args.output}: use it with --source-lang {args.output}")
    return 0
