"""`pronmetric suite build contrastive`: a contrastive suite of pronouns after ContraPro's recipe."""

from __future__ import annotations

import argparse
from collections import Counter

from pronmetric.alignment import parsed
from pronmetric.cli import output
from pronmetric.cli.parser import add_command, whole_from_one, whole_from_zero
from pronmetric.cli.tables import table
from pronmetric.lab.suites import contrastive_recipe
from pronmetric.output import targets
from pronmetric.text import strict_json

DESCRIPTION = """Build a contrastive suite of pronouns in ContraPro's JSON format from a parallel corpus with word
alignment and coreference: CoNLL-U with Entity= (CorefUD) on both sides, from any tool. An item is a source pronoun that
is aligned to a target pronoun, both in a chain, whose nearest earlier nominal mentions are aligned (Müller et al. 2018,
section 3.1). Contrastive sentences have the pronouns of the other genders; possessives of the chain agree with them.
Items are in the order of the documents."""
EPILOG = """Target languages: de (it: er, sie, es), fr (it: il, elle; they: ils, elles).

example:
  pronmetric suite build contrastive --target-language de --source en.conllu --target de.conllu \\
    --alignment en-de.links --balance -o suite.json"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `suite build`."""
    made = add_command(
        commands,
        "contrastive",
        help="a contrastive suite of pronouns after ContraPro's recipe",
        description=DESCRIPTION,
        epilog=EPILOG,
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
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Build the suite; the exit code."""
    targets.check([args.output], read=[args.source, args.target, args.alignment])
    corpus = parsed.read(args.source, args.target, args.alignment)
    of = contrastive_recipe.rules(args.target_language)
    counts: Counter[str] = Counter()
    found = [
        item
        for document in contrastive_recipe.documents(corpus, source=args.source, target=args.target)
        for item in contrastive_recipe.items(document, of, corpus=args.corpus, counts=counts)
    ]
    if args.balance or args.each is not None:
        found = contrastive_recipe.balance(found, each=args.each, seed=args.seed)
    with targets.AtomicFile(args.output) as file:
        file.write(strict_json.dump(found, indent=2) + "\n")
    note = output.Notes(quiet=args.quiet)
    note.begin()
    note(f"{len(found)} of {counts['items']} items are written")
    pronouns = Counter(f"items {item['ref pronoun'].lower()}" for item in found)
    print(table(("", "count"), sorted((counts + pronouns).items())))
    return 0
