"""`pronmetric suggest`: doubtful pronouns of a text, and the forms that the model would rather read there."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from pronmetric.cli import context_flag, load, numbers, options, output, stray
from pronmetric.cli import corpus as corpora
from pronmetric.results import write
from pronmetric.scoring.alternatives import Alternative, PronounAlternatives
from pronmetric.scoring.score import Counts
from pronmetric.text import records as records_file
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE, Text
from pronmetric.text.corpus import Corpus

THRESHOLD, TOP = 0.5, 3
DESCRIPTION = """List doubtful pronouns of English translations, with the forms that the model would rather read there.

A pronoun is doubtful where its probability is below the threshold. Every other form of the same slot is put in its
place, alone, and scored; those that are more probable than what is written are "better", the most probable first.

This is no correction. The model sees no source: it cannot know who was meant, only what the English makes likely. Nor
is the rest changed: the verb ("agrees" says whether it fits) and the other mentions of the same person stay."""
EPILOG = (
    """--jsonl reads one object a line, {"id": ..., "text": "...", "context": ["previous", "sentences"]}. One
object a line comes out, in the same order, with an empty list where nothing is doubtful; the ids of -t are the numbers
of the lines, from 0. Start and end count code points of the text:

  {"id": 1, "pronouns": [{"text": "He", "start": 0, "end": 2, "probability": 0.03, "better":
    [{"form": "she", "text": "She", "probability": 0.98, "agrees": true}]}]}

"better" is empty where the model would rather read no other form. Forms that would not be read as a pronoun in that
place are not tried.

context of -t:
  common      the previous sentences of the reference; the default with -r
  respective  the previous lines of the file itself; the default without
  none        the line alone
  given       that of each record; the default with --jsonl
"""
    + context_flag.SIZE_HELP
    + """

examples:
  pronmetric suggest --jsonl records.jsonl > suggestions.jsonl
  pronmetric suggest -t system.txt --docids ids.txt --threshold 0.3 --top 1"""
)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = stray.parse(made, argv, cure="give one system output with -t FILE, or records with --jsonl FILE")
    _check_flags(made, args)
    options.check_targets(args)
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    if args.jsonl is not None:
        records, total = records_file.read(args.jsonl)
        kind = context_flag.choose(args, load.config(args), GIVEN, note)
        size = None
        said = "none" if kind == NONE else "that of each record"
    else:
        corpus = corpora.read(args, note)
        config = load.config(args)
        size = config["context_size"]
        kind = context_flag.choose(args, config, COMMON if corpus.references else RESPECTIVE, note)
        records, total = _lines(corpus, kind, size), corpus.segments
        said = kind + ("" if corpus.documents or kind == NONE else "; document bounds are unknown")
    metric = load.metric(args, note)

    counts, ids, found = Counts(), deque[Any](), Found()

    def texts() -> Iterator[Text]:
        for record in records:
            ids.append(record.id)
            yield record.text._replace(context="") if kind == NONE else record.text

    threshold = None if args.all else THRESHOLD if args.threshold is None else args.threshold
    with output.bar(args, total=total, label="suggest") as bar:
        flags = {"batch_size": args.batch_size, "counts": counts, "advance": bar.update}
        each = metric.alternatives(texts(), below=threshold, **flags)
        note(f"context: {said}")
        for places in each:
            print(strict_json.dump({"id": ids.popleft(), "pronouns": _listed(places, args.top)}))
            found.add(places)
            if not ids:  # a stretch is done; whoever reads the pipe may want it
                sys.stdout.flush()
    asked = "pronouns" if threshold is None else f"pronouns below {threshold:g}"
    note(f"{found.pronouns} {asked} in {found.texts} texts; the model would rather read another in {found.better}")
    note.lengths(counts)
    note(f"signature: {metric.signature(context=kind, context_size=size)}")
    return 0


class Found:
    """How many texts, pronouns listed, and pronouns with a better form there were."""

    def __init__(self) -> None:
        self.texts = self.pronouns = self.better = 0

    def add(self, places: Sequence[PronounAlternatives]) -> None:
        """Count one text."""
        self.texts += 1
        self.pronouns += len(places)
        self.better += sum(bool(place.better(1)) for place in places)


def _lines(corpus: Corpus, kind: str, size: int) -> Iterator[records_file.Record]:
    """The lines of the one file, each in its context."""
    for number, (row, contexts) in enumerate(corpus.in_context(kind, size=size)):
        yield records_file.Record(number, Text(contexts[0][0], row.texts[0]))


def _listed(places: Sequence[PronounAlternatives], top: int) -> list[dict[str, Any]]:
    """The pronouns in JSON."""
    return [
        {**write.pronoun(place.pronoun), "better": [_alternative(other) for other in place.better(top)]}
        for place in places
    ]


def _alternative(other: Alternative) -> dict[str, Any]:
    return {**other._asdict(), "probability": write.rounded(other.probability)}


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = argparse.ArgumentParser(
        prog="pronmetric suggest",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.set_defaults(dataset=None, sources=None)  # of `corpora.read`
    texts = made.add_argument_group("texts (UTF-8, also gzip)")
    texts.add_argument("--jsonl", metavar="FILE|-", help="records, one JSON object a line; - is stdin")
    texts.add_argument("-t", "--translations", nargs=1, metavar="FILE", help="or a system output, one segment a line")
    texts.add_argument("-r", "--references", nargs=1, metavar="FILE", help="of -t: its sentences are the context")
    texts.add_argument("--docids", metavar="FILE", help="of -t: one document id a line, never crossed by context")
    texts.add_argument("--context", choices=[COMMON, RESPECTIVE, NONE, GIVEN], help="see below")
    listed = made.add_argument_group("what is listed")
    listed.add_argument(
        "--threshold",
        type=numbers.share,
        metavar="X",
        help=f"pronouns of a lower probability (default: {THRESHOLD})",
    )
    listed.add_argument("--all", action="store_true", help="every pronoun")
    listed.add_argument(
        "--top", type=numbers.positive, default=TOP, metavar="N", help="better forms a pronoun (default: %(default)s)"
    )
    options.add_model(made, seed=False)
    made.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    return made


def _check_flags(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Flags that do not go together: a usage error, exit code 2."""
    if (args.jsonl is None) == (args.translations is None):
        made.error("give one of --jsonl, -t" + ("" if args.jsonl is None else "; got both"))
    if args.jsonl is not None and (args.references is not None or args.docids is not None):
        made.error("-r and --docids go with -t, not with --jsonl")
    options.check_given(made, args)
    if args.context == COMMON and args.references is None:
        made.error("--context common is the reference's context: give -r")
    if args.all and args.threshold is not None:
        made.error("give one of --threshold and --all")
