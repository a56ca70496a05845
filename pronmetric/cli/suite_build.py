"""`pronmetric suite build`: new test suites."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from data_prep import suite_entries
from data_prep.filters import agreement_filter
from data_prep.wmt import discovery
from pronmetric.alignment import parsed
from pronmetric.cli import flags, output
from pronmetric.cli.parser import add_command, number_up_to_one, whole_from_one, whole_from_zero
from pronmetric.errors import PronmetricError
from pronmetric.lab.suites import contrastive_recipe
from pronmetric.output import targets
from pronmetric.output.progress import progress
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.report.text import table
from pronmetric.source import files as source_files
from pronmetric.text import strict_json
from pronmetric.text.strict_json import plain


def add(commands: argparse._SubParsersAction) -> None:
    """Add `build` to the group `suite`."""
    made = commands.add_parser("build", help="build a new suite", description="Build a new test suite.")
    kinds = made.add_subparsers(title="kinds", metavar="KIND", required=True)
    add_wmt(kinds)
    add_contrastive(kinds)


WMT = """Build the pronoun test suite of the paper (section 3.2) from WMT test sets: for each pronoun error of a
system the source with its previous sentences, the reference with its context, the system's output, and the reference
with the system's pronoun. A reference with the same wrong pronoun counts once for a source language. The table counts
distinct source sentences with their context, as the paper's Table 2, after each filter. Errors without a source are
left out, counted."""
WMT_EPILOG = """examples:
  pronmetric suite build wmt --wmt-dir wmt --to_jsonl suite.jsonl --to_sqlite suite.db
  pronmetric suite build wmt --wmt-dir wmt --source drop --to_jsonl suite.jsonl
  pronmetric suite build wmt --wmt-dir wmt --pairs de-en --agreement pair_agreement.tsv --to_jsonl suite.jsonl"""


def add_wmt(commands: argparse._SubParsersAction) -> None:
    """Add the command to `suite build`."""
    made = add_command(
        commands,
        "wmt",
        help="the paper's suite from WMT test sets with sources",
        description=WMT,
        epilog=WMT_EPILOG,
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
    made.set_defaults(run=run_wmt)


def run_wmt(args: argparse.Namespace) -> int:
    """Build the suite; the exit code."""
    targets.check([args.to_jsonl, args.to_sqlite, args.to_json], read=[*args.wmt_dir, args.agreement])
    chosen = language(args.target)
    keep = agreement_filter(args.agreement, min_agreement=args.min_agreement, language=chosen)
    if args.source != "none" and chosen.code != ENGLISH.code:
        raise PronmetricError(f"--source {args.source}: the source tables are of English pronouns; leave it out")
    discovered = discovery.discover(args.wmt_dir, pairs=args.pairs, exclude=(), target=chosen.code)
    note = output.Notes(quiet=args.quiet)
    for skipped in discovered.skipped:
        note(f"skipped {skipped.id}: {skipped.reason}")
    if args.source != "none":
        for code in sorted({testset.source for testset in discovered.testsets} - set(source_files.shipped())):
            note(f"no source table for {code}: its errors are not filtered by the source")
    note.begin()
    shown = discovered.testsets
    if not args.quiet:
        shown = progress(discovered.testsets, label="build", total=len(discovered.testsets), unit="test sets")
    missing: dict[str, int] = {}
    filters = suite_entries.Filters(keep, by_source=args.source != "none")
    errors = list(
        suite_entries.build(
            shown, chosen, filters=filters, context_size=args.context, seed=args.seed, without_source=missing
        )
    )
    figures = suite_entries.counts(errors, missing)
    entries = [one.entry for one in errors if not one.dropped]
    if args.to_jsonl is not None:
        with targets.AtomicFile(args.to_jsonl) as file:
            file.writelines(suite_entries.json_lines(entries))
    if args.to_sqlite is not None:
        suite_entries.write_sqlite(Path(args.to_sqlite), entries, figures)
    output.write_json(args.to_json, {"settings": _wmt_settings(args), "counts": plain(figures)})
    header = ("source", "filter", "test sets", "source contexts", "errors", "pronoun pairs", "without source")
    print(table(header, [_count_row(one) for one in figures], left=(0, 1)))
    return 0


def _count_row(one: suite_entries.Count) -> tuple[object, ...]:
    where = one.language, one.filter
    return *where, one.testsets, one.contexts, one.entries, one.pronoun_pairs, one.without_source


def _wmt_settings(args: argparse.Namespace) -> dict[str, object]:
    return {name: getattr(args, name) for name in ("target", "agreement", "source", "context", "seed")}


CONTRASTIVE = """Build a contrastive suite of pronouns in ContraPro's JSON format from a parallel corpus with word
alignment and coreference: CoNLL-U with Entity= (CorefUD) on both sides, from any tool. An item is a source pronoun that
is aligned to a target pronoun, both in a chain, whose nearest earlier nominal mentions are aligned (Müller et al. 2018,
section 3.1). Contrastive sentences have the pronouns of the other genders; possessives of the chain agree with them.
Items are in the order of the documents."""
CONTRASTIVE_EPILOG = """Target languages: de (it: er, sie, es), fr (it: il, elle; they: ils, elles).

example:
  pronmetric suite build contrastive --target-language de --source en.conllu --target de.conllu \\
    --alignment en-de.links --balance -o suite.json"""


def add_contrastive(commands: argparse._SubParsersAction) -> None:
    """Add the command to `suite build`."""
    made = add_command(
        commands,
        "contrastive",
        help="a contrastive suite of pronouns after ContraPro's recipe",
        description=CONTRASTIVE,
        epilog=CONTRASTIVE_EPILOG,
    )
    made.add_argument("--target-language", required=True, choices=contrastive_recipe.LANGUAGES, help="whose rules")
    made.add_argument("--source", required=True, metavar="FILE", help="source side, CoNLL-U")
    made.add_argument("--target", required=True, metavar="FILE", help="target side, CoNLL-U")
    made.add_argument("--alignment", required=True, metavar="FILE", help="links s-t, one line for each sentence pair")
    made.add_argument("--corpus", default="", metavar="NAME", help="name of the corpus, for the items")
    sample = made.add_mutually_exclusive_group()
    sample.add_argument("--balance", action="store_true", help="as many items of each pronoun as of the rarest")
    sample.add_argument("--each", type=whole_from_one, metavar="N", help="items of each pronoun")
    made.add_argument("--seed", type=whole_from_zero, default=1, metavar="N", help="of the sample (default: 1)")
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="the suite, JSON")
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    made.set_defaults(run=run_contrastive)


def run_contrastive(args: argparse.Namespace) -> int:
    """Build the suite; the exit code."""
    targets.check([args.output], read=[args.source, args.target, args.alignment])
    corpus = parsed.read(args.source, args.target, args.alignment)
    of = contrastive_recipe.rules(args.target_language)
    counts: Counter[str] = Counter()
    items = [
        item
        for document in contrastive_recipe.documents(corpus, source=args.source, target=args.target)
        for item in contrastive_recipe.items(document, of, corpus=args.corpus, counts=counts)
    ]
    if args.balance or args.each is not None:
        items = contrastive_recipe.balance(items, each=args.each, seed=args.seed)
    with targets.AtomicFile(args.output) as file:
        file.write(strict_json.dump(items, indent=2) + "\n")
    note = output.Notes(quiet=args.quiet)
    note.begin()
    note(f"{len(items)} of {counts['items']} items are written")
    pronouns = Counter(f"items {item['ref pronoun'].lower()}" for item in items)
    print(table(("", "count"), sorted((counts + pronouns).items())))
    return 0
