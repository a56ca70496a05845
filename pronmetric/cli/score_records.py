"""`pronmetric score --jsonl`: records that contain their context."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from pronmetric.cli import context_flag, load, output, score_text, target_language
from pronmetric.output.display import visible
from pronmetric.results import scores
from pronmetric.results.write import Writer, counts_entry, segment_entry, system
from pronmetric.scoring.score import Counts, Tally
from pronmetric.text import records as record_files
from pronmetric.text import strict_json
from pronmetric.text.context import GIVEN, NONE, Text


def run(args: argparse.Namespace, note: output.Notes) -> None:
    """Score the records of --jsonl, and print one JSON object for each."""
    name = args.jsonl
    records, total = record_files.read(name, with_source=args.source_lang is not None)
    first = list(islice(records, target_language.LINES))
    texts_read = {name: [record.text.text for record in first]}
    target_language.check(texts_read, load.language(args), note, strict=args.strict)
    records = chain(first, records)
    kind = context_flag.choose(args, load.config(args), GIVEN, note)
    note("context: none" if kind == NONE else "context: that of each record")
    metric = load.metric(args, note)

    counts, tally, ids = Counts(), Tally(), deque[Any]()
    signature = metric.signature(context=kind, seed=args.seed)

    def texts() -> Iterator[Text]:
        for record in records:
            ids.append(record.id)
            yield record.text._replace(context="") if kind == NONE else record.text

    with (
        Writer(json_path=args.to_json, tsv_path=args.to_tsv, columns=scores.RECORD_COLUMNS) as writer,
        output.bar(args, total=total, unit="records") as bar,
    ):
        for segment in load.stream(metric, texts(), args, counts=counts, advance=bar.update):
            identity = ids.popleft()
            tally.add(segment)
            if not args.only_system:
                print(strict_json.dump({"id": identity, **segment_entry(segment)}))
            scores.add_segment(writer, {"id": identity}, {}, segment)
            if not ids:  # all records read so far are scored; a pipe may wait for them
                sys.stdout.flush()
        score = tally.score(seed=args.seed)
        writer.finish(systems=[system(name, score)], counts=counts_entry(counts), signature=str(signature))
    if args.only_system:
        print(f"{visible(name)}\tscore: {score_text.format_score(score.score)}")
    score_text.note_system(name, score, note)
    note.lengths(counts)
    note(f"signature: {signature}")
