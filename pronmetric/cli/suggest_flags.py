"""The flags of `suggest`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import context_flag, flag_checks, numbers, options, stray, target_language
from pronmetric.cli.verb_parser import verb_parser
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE

TOP = 3
DESCRIPTION = f"""List doubtful pronouns of translations into English, or the language of --model, with alternatives.

A pronoun is doubtful if its probability is below the threshold. Each other form of the same slot is substituted, one at
a time, and scored by the model; forms with a higher probability are listed as "better": those that agree first, and
of these the most probable.

The threshold of {THRESHOLD:g} has the best F1 with `small` on development data with about 7 % wrong pronouns:
63 % of the pronouns below it are wrong (precision), and 52 % of the wrong pronouns are below it (recall). See
benchmarks/suggest-threshold.md for other thresholds.

The suggestions are not corrections. The model does not read the source: it does not know who is referred to, only what
is probable in the text. The rest of the sentence is not changed: "agrees" says whether the form has the case and kind
of the pronoun ("these" for "she" has not) and fits its verb or noun; other mentions of the same referent stay."""
EPILOG = (
    """--jsonl reads one object on each line, {"id": ..., "text": "...", "context": ["previous", "sentences"]}. The
output has one object on each line, in the same order, also for a text without a doubtful pronoun, whose list is empty;
the ids of -t are the line numbers, from 0. Start and end count code points of the text:

  {"id": 1, "text": "He is late.", "pronouns": [{"text": "He", "start": 0, "end": 2, "probability": 0.03, "better":
    [{"form": "she", "text": "She", "probability": 0.98, "agrees": true}]}]}

"better" is empty if no other form has a higher probability. Forms that would not be a pronoun in that position are not
scored.

context of -t:
  common      the previous sentences of the reference; the default with -r
  respective  the previous lines of the file; the default without -r
  none        no context
  given       the context of each record; the default with --jsonl
"""
    + context_flag.SIZE_HELP
    + """

examples:
  pronmetric suggest --jsonl records.jsonl > suggestions.jsonl
  pronmetric suggest -t system.txt --docids ids.txt --threshold 0.3 --top 1"""
)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = verb_parser("suggest", DESCRIPTION, EPILOG)
    made.set_defaults(dataset=None)  # of `corpora.read`
    texts = made.add_argument_group("texts (UTF-8, also gzip)")
    texts.add_argument("--jsonl", metavar="FILE|-", help="records, one JSON object on each line; - is stdin")
    texts.add_argument("-t", "--translations", nargs=1, metavar="FILE", help="or a system output")
    texts.add_argument("-r", "--references", nargs=1, metavar="FILE", help="with -t: reference, used as context")
    texts.add_argument("-s", "--sources", metavar="FILE", help="with -t: source; counts with --source-lang")
    options.add_source_lang(texts)
    texts.add_argument("--docids", metavar="FILE", help="with -t: document ids, one on each line")
    texts.add_argument("--context", choices=[COMMON, RESPECTIVE, NONE, GIVEN], help="see below")
    listed = made.add_argument_group("selection")
    listed.add_argument(
        "--threshold",
        type=numbers.share,
        metavar="X",
        help=f"list pronouns with a probability below X (default: {THRESHOLD:g})",
    )
    listed.add_argument("--all", action="store_true", help="list all pronouns")
    listed.add_argument(
        "--top",
        type=numbers.positive,
        default=TOP,
        metavar="N",
        help="better forms of each pronoun (default: %(default)s)",
    )
    options.add_model(made, seed=False)
    options.add_notes(made)
    target_language.add_strict(made)
    return made


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed flags; flags that cannot be combined are a usage error (exit code 2)."""
    made = parser()
    args = stray.parse(made, argv, cure="give one system output with -t FILE, or records with --jsonl FILE")
    flag_checks.require_one(made, {"--jsonl": args.jsonl, "-t": args.translations})
    of_lines = (args.references, args.docids, args.sources)
    if args.jsonl is not None and any(value is not None for value in of_lines):
        made.error("-r, -s and --docids go with -t, not with --jsonl")
    flag_checks.check_source_lang(made, args)
    flag_checks.check_given(made, args)
    if args.context == COMMON and args.references is None:
        made.error("--context common needs a reference: give -r")
    if args.all and args.threshold is not None:
        made.error("give one of --threshold and --all")
    return args
