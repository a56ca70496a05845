"""`pronmetric suite build`: new test suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from data_prep import suite_entries
from data_prep.filters import agreement_filter
from data_prep.wmt import discovery
from pronmetric.alignment import parsed
from pronmetric.cli import output
from pronmetric.cli.parser import Command, Exclusive, Flags, Group, flag, number, switch, whole
from pronmetric.errors import PronmetricError
from pronmetric.lab.suites import contrastive_recipe
from pronmetric.output import targets
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.report.text import table
from pronmetric.source import files as source_files
from pronmetric.text import strict_json
from pronmetric.text.strict_json import plain

WMT = """Build the pronoun test suite of the paper (section 3.2) from WMT test sets: for each pronoun error of a
system the source with its previous sentences, the reference with its context, the system's output, and the reference
with the system's pronoun. A reference with the same wrong pronoun counts once for a source language. The table counts
distinct source sentences with their context, as the paper's Table 2, after each filter. Errors without a source are
left out, counted."""
WMT_EPILOG = """examples:
  pronmetric suite build wmt --wmt-dir wmt --to_jsonl suite.jsonl --to_sqlite suite.db
  pronmetric suite build wmt --wmt-dir wmt --source drop --to_jsonl suite.jsonl
  pronmetric suite build wmt --wmt-dir wmt --pairs de-en --agreement pair_agreement.tsv --to_jsonl suite.jsonl"""


class WmtFlags(Flags):
    """The test sets, the errors that are kept, and what is written."""

    wmt_dir: Sequence[str] = flag(
        "--wmt-dir", required=True, nargs="+", metavar="DIR", help="WMT test sets, in any layout of `prepare`"
    )
    pairs: Sequence[str] | None = flag(nargs="+", metavar="LP", help="language pairs (default: all into --target)")
    target: str = flag(default="en", metavar="CODE", help="target language (default: en)")
    agreement: str = flag(default="grammar", metavar="NAME|FILE", help="as filter.agreement of `prepare`")
    min_agreement: float = flag(
        "--min-agreement", type=number(0, 1), default=0.8, metavar="X", help="of a file (default: 0.8)"
    )
    source: str = flag(
        choices=("none", "drop"),
        default="none",
        help="as filter.source of `prepare`: drop errors whose right form the source contradicts, or of which it "
        "supports both forms, for source languages with a table, into English (default: none)",
    )
    context: int = flag(type=whole(0), default=2, metavar="N", help="previous sentences (default: 2)")
    seed: int = flag(type=whole(0), default=1, metavar="N", help="of the aligner's sample (default: 1)")
    to_jsonl: str | None = flag(metavar="FILE", help="write a JSON object an entry")
    to_sqlite: str | None = flag(metavar="FILE", help="write a database")
    to_json: str | None = flag(metavar="FILE", help="write the counts")
    quiet: bool = switch(help="no progress and notes on stderr")

    @property
    def by_source(self) -> bool:
        """Whether the source drops errors."""
        return self.source != "none"

    @property
    def settings(self) -> dict[str, object]:
        """What the counts depend on."""
        return {name: vars(self)[name] for name in ("target", "agreement", "source", "context", "seed")}


def run_wmt(task: WmtFlags) -> None:
    """Build the suite."""
    targets.check([task.to_jsonl, task.to_sqlite, task.to_json], read=[*task.wmt_dir, task.agreement])
    chosen = language(task.target)
    keep = agreement_filter(task.agreement, min_agreement=task.min_agreement, language=chosen)
    if task.by_source and chosen.code != ENGLISH.code:
        raise PronmetricError(f"--source {task.source}: the source tables are of English pronouns; leave it out")
    discovered = discovery.discover(task.wmt_dir, pairs=task.pairs, exclude=(), target=chosen.code)
    note = output.Notes(quiet=task.quiet)
    for skipped in discovered.skipped:
        note(f"skipped {skipped.id}: {skipped.reason}")
    if task.by_source:
        for code in sorted({testset.source for testset in discovered.testsets} - set(source_files.shipped())):
            note(f"no source table for {code}: its errors are not filtered by the source")
    note.begin()
    missing: dict[str, int] = {}
    filters = suite_entries.Filters(keep, by_source=task.by_source)
    testsets = discovered.testsets
    with output.bar(task.quiet, testsets, total=len(testsets), label="build", unit="test sets") as shown:
        errors = list(
            suite_entries.build(
                shown, chosen, filters=filters, context_size=task.context, seed=task.seed, without_source=missing
            )
        )
    figures = suite_entries.counts(errors, missing)
    entries = [one.entry for one in errors if not one.dropped]
    if task.to_jsonl is not None:
        with targets.AtomicFile(task.to_jsonl) as file:
            file.writelines(suite_entries.json_lines(entries))
    if task.to_sqlite is not None:
        suite_entries.write_sqlite(Path(task.to_sqlite), entries, figures)
    output.write_json(task.to_json, {"settings": task.settings, "counts": plain(figures)})
    header = ("source", "filter", "test sets", "source contexts", "errors", "pronoun pairs", "without source")
    rows = [
        (one.language, one.filter, one.testsets, one.contexts, one.entries, one.pronoun_pairs, one.without_source)
        for one in figures
    ]
    print(table(header, rows, left=(0, 1)))


CONTRASTIVE = """Build a contrastive suite of pronouns in ContraPro's JSON format from a parallel corpus with word
alignment and coreference: CoNLL-U with Entity= (CorefUD) on both sides, from any tool. An item is a source pronoun that
is aligned to a target pronoun, both in a chain, whose nearest earlier nominal mentions are aligned (Müller et al. 2018,
section 3.1). Contrastive sentences have the pronouns of the other genders; possessives of the chain agree with them.
Items are in the order of the documents."""
CONTRASTIVE_EPILOG = """Target languages: de (it: er, sie, es), fr (it: il, elle; they: ils, elles).

example:
  pronmetric suite build contrastive --target-language de --source en.conllu --target de.conllu \\
    --alignment en-de.links --balance -o suite.json"""


_SAMPLE = Exclusive()


class ContrastiveFlags(Flags):
    """The parallel corpus, and which items are taken from it."""

    target_language: str = flag(
        "--target-language", required=True, choices=contrastive_recipe.LANGUAGES, help="whose rules"
    )
    source: str = flag(required=True, metavar="FILE", help="source side, CoNLL-U")
    target: str = flag(required=True, metavar="FILE", help="target side, CoNLL-U")
    alignment: str = flag(required=True, metavar="FILE", help="links s-t, one line for each sentence pair")
    corpus: str = flag(default="", metavar="NAME", help="name of the corpus, for the items")
    balance: bool = switch(exclusive=_SAMPLE, help="as many items of each pronoun as of the rarest")
    each: int | None = flag(exclusive=_SAMPLE, type=whole(1), metavar="N", help="items of each pronoun")
    seed: int = flag(type=whole(0), default=1, metavar="N", help="of the sample (default: 1)")
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="the suite, JSON")
    quiet: bool = switch(help="no notes on stderr")


def run_contrastive(task: ContrastiveFlags) -> None:
    """Build the suite."""
    targets.check([task.output], read=[task.source, task.target, task.alignment])
    corpus = parsed.read(task.source, task.target, task.alignment)
    of = contrastive_recipe.rules(task.target_language)
    counts: Counter[str] = Counter()
    items = [
        item
        for document in contrastive_recipe.documents(corpus, source=task.source, target=task.target)
        for item in contrastive_recipe.items(document, of, corpus=task.corpus, counts=counts)
    ]
    if task.balance or task.each is not None:
        items = contrastive_recipe.balance(items, each=task.each, seed=task.seed)
    with targets.AtomicFile(task.output) as file:
        file.write(strict_json.dump(items, indent=2) + "\n")
    note = output.Notes(quiet=task.quiet)
    note.begin()
    note(f"{len(items)} of {counts['items']} items are written")
    pronouns = Counter(f"items {item['ref pronoun'].lower()}" for item in items)
    print(table(("", "count"), sorted((counts + pronouns).items())))


GROUP = Group(
    "build",
    "Build a new test suite.",
    None,
    [
        Command("wmt", WmtFlags, run_wmt, WMT, WMT_EPILOG, help="the paper's suite from WMT test sets with sources"),
        Command(
            "contrastive",
            ContrastiveFlags,
            run_contrastive,
            CONTRASTIVE,
            CONTRASTIVE_EPILOG,
            help="a contrastive suite of pronouns after ContraPro's recipe",
        ),
    ],
    help="build a new suite",
    kind="kind",
)
