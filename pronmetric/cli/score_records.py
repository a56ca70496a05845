"""`pronmetric score --jsonl`: records that contain their context."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator

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
    records = target_language.check_records(records, total, name, load.language(args), note, strict=args.strict)
    kind = context_flag.choose(args, load.config(args), GIVEN, note)
    note.detail("context: none" if kind == NONE else "context: that of each record")
    metric = load.metric(args, note)

    counts, tally, waiting = Counts(), Tally(), deque[record_files.Record]()
    signature = metric.signature(context=kind)
    say = output.Lines(args.to_json, args.to_tsv)

    def texts() -> Iterator[Text]:
        for record in records:
            waiting.append(record)
            yield record.text._replace(context="") if kind == NONE else record.text

    with (
        Writer(json_path=args.to_json, tsv_path=args.to_tsv, columns=scores.RECORD_COLUMNS) as writer,
        output.bar(args, total=total, unit="records") as bar,
    ):
        for segment in load.stream(metric, texts(), args, counts=counts, advance=bar.update):
            record = waiting.popleft()
            tally.add(segment, record.doc)
            if not args.only_system:
                say(strict_json.dump({"id": record.id, **segment_entry(segment)}))
            scores.add_segment(writer, {"id": record.id}, {}, segment)
            if not waiting:  # all records read so far are scored; a pipe may wait for them
                say.flush()
        score = tally.score()
        writer.finish(systems=[system(name, score)], counts=counts_entry(counts), signature=str(signature))
    if args.only_system:
        say(f"{visible(name)}\tscore: {score_text.format_score(score.score)}")
    score_text.note_system(name, score, note)
    note.lengths(counts)
    note(f"signature: {signature}")
    say.finish()
