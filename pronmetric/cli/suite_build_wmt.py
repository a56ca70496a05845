"""`pronmetric suite build wmt`: the paper's pronoun test suite from WMT test sets with sources."""

from __future__ import annotations

import argparse
from pathlib import Path

from data_prep import source_suite
from data_prep.filters import agreement_filter
from data_prep.wmt import discovery
from pronmetric.cli import flags, output
from pronmetric.cli.parser import add_command, number_up_to_one, whole_from_zero
from pronmetric.cli.tables import plain, table
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.output.progress import progress
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.source import files as source_files

DESCRIPTION = """Build the pronoun test suite of the paper (section 3.2) from WMT test sets: for each pronoun error of a
system the source with its previous sentences, the reference with its context, the system's output, and the reference
with the system's pronoun. A reference with the same wrong pronoun counts once for a source language. The table counts
distinct source sentences with their context, as the paper's Table 2, after each filter. Errors without a source are
left out, counted."""
EPILOG = """examples:
  pronmetric suite build wmt --wmt-dir wmt --to_jsonl suite.jsonl --to_sqlite suite.db
  pronmetric suite build wmt --wmt-dir wmt --source drop --to_jsonl suite.jsonl
  pronmetric suite build wmt --wmt-dir wmt --pairs de-en --agreement pair_agreement.tsv --to_jsonl suite.jsonl"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `suite build`."""
    made = add_command(
        commands,
        "wmt",
        help="the paper's suite from WMT test sets with sources",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    made.add_argument(
        "--wmt-dir", required=True, nargs="+", metavar="DIR", help="WMT test sets, in any layout of `prepare`"
    )
    made.add_argument("--pairs", nargs="+", metavar="LP", help="language pairs (default: all into --target)")
    made.add_argument("--target", default="en", metavar="CODE", help="target language (default: en)")
    made.add_argument("--agreement", default="grammar", metavar="NAME|FILE", help="as filter.agreement of `prepare`")
    made.add_argument(
        "--min-agreement", type=number_up_to_one, default=0.8, metavar="X", help="of a file (default: 0.8)"
    )
    made.add_argument(
        "--source",
        choices=("none", "drop"),
        default="none",
        help="as filter.source of `prepare`: drop errors whose right form the source contradicts, or of which it "
        "supports both forms, for source languages with a table, into English (default: none)",
    )
    made.add_argument("--context", type=whole_from_zero, default=2, metavar="N", help="previous sentences (default: 2)")
    made.add_argument(
        "--seed", type=whole_from_zero, default=1, metavar="N", help="of the aligner's sample (default: 1)"
    )
    made.add_argument("--to_jsonl", "--to-jsonl", dest="to_jsonl", metavar="FILE", help="write a JSON object an entry")
    made.add_argument("--to_sqlite", "--to-sqlite", dest="to_sqlite", metavar="FILE", help="write a database")
    flags.both(made, "to-json", metavar="FILE", help="write the counts")
    made.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Build the suite; the exit code."""
    targets.check([args.to_jsonl, args.to_sqlite, args.to_json], read=[*args.wmt_dir, args.agreement])
    chosen = language(args.target)
    keep = agreement_filter(args.agreement, min_agreement=args.min_agreement, language=chosen)
    if args.source != "none" and chosen.code != ENGLISH.code:
        raise PronmetricError(f"--source {args.source}: the source tables are of English pronouns; leave it out")
    found = discovery.discover(args.wmt_dir, pairs=args.pairs, exclude=(), target=chosen.code)
    note = output.Notes(quiet=args.quiet)
    for skipped in found.skipped:
        note(f"skipped {skipped.id}: {skipped.reason}")
    if args.source != "none":
        for code in sorted({testset.source for testset in found.testsets} - set(source_files.shipped())):
            note(f"no source table for {code}: its errors are not filtered by the source")
    note.begin()
    shown = found.testsets
    if not args.quiet:
        shown = progress(found.testsets, label="build", total=len(found.testsets), unit="test sets")
    missing: dict[str, int] = {}
    filters = source_suite.Filters(keep, by_source=args.source != "none")
    errors = list(
        source_suite.build(
            shown, chosen, filters=filters, context_size=args.context, seed=args.seed, without_source=missing
        )
    )
    figures = source_suite.counts(errors, missing)
    entries = [one.entry for one in errors if not one.dropped]
    if args.to_jsonl is not None:
        with targets.AtomicFile(args.to_jsonl) as file:
            file.writelines(source_suite.json_lines(entries))
    if args.to_sqlite is not None:
        source_suite.write_sqlite(Path(args.to_sqlite), entries, figures)
    output.write_json(args.to_json, {"settings": _settings(args), "counts": plain(figures)})
    header = ("source", "filter", "test sets", "source contexts", "errors", "pronoun pairs", "without source")
    print(table(header, [_row(one) for one in figures], left=(0, 1)))
    return 0


def _row(one: source_suite.Count) -> tuple[object, ...]:
    where = one.language, one.filter
    return *where, one.testsets, one.contexts, one.entries, one.pronoun_pairs, one.without_source


def _settings(args: argparse.Namespace) -> dict[str, object]:
    return {name: getattr(args, name) for name in ("target", "agreement", "source", "context", "seed")}
