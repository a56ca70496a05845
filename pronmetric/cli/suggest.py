"""`pronmetric suggest`: doubtful pronouns of a text, and the forms that the model prefers."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from pronmetric.cli import context_flag, flag_checks, load, output, target_language
from pronmetric.cli import corpus as corpora
from pronmetric.cli.suggest_flags import parse
from pronmetric.cli.suggest_flags import parser as parser
from pronmetric.results import write
from pronmetric.scoring.alternatives import THRESHOLD, Alternative, PronounAlternatives
from pronmetric.scoring.score import Counts
from pronmetric.text import records as records_file
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE, Text
from pronmetric.text.corpus import Corpus


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parse(argv)
    flag_checks.check_targets(args)
    note = output.Notes(quiet=args.quiet, verbose=args.verbose)
    output.open_stdout()
    if args.jsonl is not None:
        records, total = records_file.read(args.jsonl, with_source=args.source_lang is not None)
        language = load.language(args)
        records = target_language.check_records(records, total, args.jsonl, language, note, strict=args.strict)
        kind = context_flag.choose(args, load.config(args), GIVEN, note)
        size = None
        said = "none" if kind == NONE else "that of each record"
    else:
        corpus = corpora.read(args, note)
        config = load.config(args)
        size = config["context_size"]
        kind = context_flag.choose(args, config, COMMON if corpus.references else RESPECTIVE, note)
        records, total = _lines(corpus, kind, size), corpus.segments
        context_flag.note_boundaries(kind, corpus.documents, note)
        said = kind
    metric = load.metric(args, note)

    counts, ids, found = Counts(), deque[tuple[Any, str]](), Tally()

    def texts() -> Iterator[Text]:
        for record in records:
            ids.append((record.id, record.text.text))
            yield record.text._replace(context="") if kind == NONE else record.text

    threshold = None if args.all else THRESHOLD if args.threshold is None else args.threshold
    with output.bar(args, total=total, label="suggest") as bar:
        flags = {"batch_size": args.batch_size, "counts": counts, "advance": bar.update}
        each = metric.alternatives(texts(), below=threshold, **flags)
        note.detail(f"context: {said}")
        for places in each:
            identity, text = ids.popleft()
            print(strict_json.dump({"id": identity, "text": text, "pronouns": _to_json(places, args.top)}))
            found.add(places)
            if not ids:  # a batch is finished; pass it on to a reader of the pipe
                sys.stdout.flush()
    asked = "pronouns" if threshold is None else f"pronouns below {threshold:g}"
    note.detail(f"{found.pronouns} {asked} in {found.texts} texts; {found.better} of them with a better form")
    note.lengths(counts)
    note(f"signature: {metric.signature(context=kind, context_size=size)}")
    return 0


class Tally:
    """The number of texts, of listed pronouns, and of pronouns with a better form."""

    def __init__(self) -> None:
        self.texts = self.pronouns = self.better = 0

    def add(self, places: Sequence[PronounAlternatives]) -> None:
        """Count one text."""
        self.texts += 1
        self.pronouns += len(places)
        self.better += sum(bool(place.better(1)) for place in places)


def _lines(corpus: Corpus, kind: str, size: int) -> Iterator[records_file.Record]:
    """The lines of the file, each with its context."""
    for number, (row, contexts) in enumerate(corpus.in_context(kind, size=size)):
        yield records_file.Record(number, Text(contexts[0][0], row.texts[0], row.evidence))


def _to_json(places: Sequence[PronounAlternatives], top: int) -> list[dict[str, Any]]:
    """The pronouns in JSON."""
    return [
        {**write.pronoun(place.pronoun), "better": [_alternative(other) for other in place.better(top)]}
        for place in places
    ]


def _alternative(other: Alternative) -> dict[str, Any]:
    return {**other._asdict(), "probability": write.round_score(other.probability)}
