"""`pronmetric score`: how good the pronouns of system outputs, or of records that contain their context, are."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from pronmetric.cli import also as also_flag
from pronmetric.cli import flags, output
from pronmetric.cli.flags import ModelFlags, OutputFlags, TextFlags
from pronmetric.cli.run import (
    ScoringRun,
    announce_context,
    check_records,
    choose_context,
    load_config,
    load_language,
    needs_source,
    read_corpus,
    signed_references,
)
from pronmetric.lab.baselines import tables as baseline_tables
from pronmetric.output.display import visible
from pronmetric.report.score_text import format_score, note_system
from pronmetric.results import comparisons, scores
from pronmetric.results.write import FORMAT, Writer, counts_entry, segment_entry, system
from pronmetric.scoring.bulk import SystemTally, score_rows
from pronmetric.scoring.comparison import TIE_THRESHOLD
from pronmetric.scoring.missing import count_by_reference
from pronmetric.scoring.score import Tally
from pronmetric.text import records as record_files
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE, Text

DESCRIPTION = """Score the pronouns of translations into English, or the language of --model, in their context.

The score of a pronoun is the probability, from 0 to 1, that it is correct in this context. The score of a segment is
the mean over its pronouns (null if it has none). The score of a system is 100 x the mean over all its pronouns.
Higher is better. Files (--to_json, --to_tsv, --jsonl) also have the errors of a segment, the expected number of wrong
pronouns, and its preference, the number by which a checkpoint with a pair head compares texts. With a reference or
--source-lang they have missing and surplus pronouns, those of one side without a counterpart; they are no errors."""
EPILOG = f"""context:
  common      the previous sentences of the reference; the default with -r and -d. With several references, each
              text is scored once per reference; the mean and each reference's score are printed and exported
  respective  the previous sentences of the output itself; the default without a reference
  none        no context
  given       the context of each record; the default with --jsonl
{flags.CONTEXT_SIZE_HELP}
Without --docids, all lines of a file belong to one document.
Segments are numbered from 0, as in COMET. Error messages number lines from 1: segment 0 is line 1.

--jsonl reads one JSON object per line, {{"id": ..., "text": "...", "context": ["previous", "sentences"]}}, and writes
one per line in the same order, {{"id": ..., "score": 0.91, "errors": 0.09, "pronouns": [{{"text": "she", "start": 0,
"end": 3, "probability": 0.91}}]}}. start and end count code points. --context none ignores the contexts of the records.
The interval of the whole is over documents where each record has a "doc".

--also adds a table of baseline scores, all in [0, 100], higher is better; the number of instances is in brackets:
  apt      share of the reference's pronouns that the output translates identically
  autoprf  F1 of the words aligned to the reference's pronouns
  exact    share of the reference's aligned pronouns that are aligned to the same pronoun
  bleu, chrf  as sacreBLEU computes them (pip install "pronmetric[peers]")
The word alignment is learned from the scored lines themselves.

examples:
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --docids ids.txt
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --only_system --also apt,autoprf,bleu,chrf,exact
  pronmetric score -d wmt22:de-en --wmt-dir wmt22-news-systems --only_system
  pronmetric score --jsonl records.jsonl > scores.jsonl"""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = flags.scoring_parser("score", DESCRIPTION, EPILOG, jsonl=True)
    also_flag.add(made)
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = made.parse_args(argv)
    texts, model, out = flags.scoring_flags(made, args)
    if args.also is not None and args.dataset is None and args.references is None:
        made.error("--also needs a reference: give -r" + (" with -t" if args.jsonl else ""))
    flags.check_targets(texts, model, out)
    note = out.notes()
    output.open_stdout()
    if texts.jsonl is None:
        _score_corpus(texts, model, out, args.also or (), note)
    else:
        _score_records(texts.jsonl, texts, model, out, note)
    return 0


def _score_corpus(
    texts: TextFlags, model: ModelFlags, out: OutputFlags, baselines: Sequence[str], note: output.Notes
) -> None:
    corpus = read_corpus(texts, model, note)
    config = load_config(model)
    also_flag.check_language(baselines, load_language(model))
    otherwise = COMMON if corpus.references else RESPECTIVE
    kind = choose_context(texts.context, config, otherwise, note, needed=texts.refs is not None)
    announce_context(kind, corpus, texts, model, note, size=config["context_size"])
    also = also_flag.scorer(baselines, corpus, dataset=texts.dataset) if baselines else None
    run = ScoringRun(model, out, note)

    references, by_reference = corpus.averaged_references(kind), run.metric.source is None
    tallies = [SystemTally(name, references) for name in corpus.systems]
    size = run.metric.context_size
    columns = scores.columns(references, baselines)
    decision = comparisons.decision_entry(flags.choose_decision(None, model, config), TIE_THRESHOLD)
    say = output.Lines(out.to_json, out.to_tsv)
    with (
        Writer(json_path=out.to_json, tsv_path=out.to_tsv, columns=columns) as writer,
        run.progress(corpus.segments * len(corpus.systems) * max(1, len(references))),
    ):
        rows = score_rows(corpus, kind, size=size, stream=run.stream)
        if by_reference:
            rows = count_by_reference(rows, run.metric.language)
        for number, (scored_row, others) in enumerate(zip(rows, also_flag.score_rows(also, corpus), strict=False)):
            row = scored_row.row
            for tally, text, contexts, each, other in zip(
                tallies, row.texts, scored_row.contexts, scored_row.segments, others, strict=True
            ):
                segment = tally.add(each, row.doc)
                if not out.only_system:
                    say(f"{visible(tally.name)}\tSegment {number}\tscore: {format_score(segment.score)}")
                head = {"system": tally.name, "segment": number, "doc": row.doc}
                its_texts = scores.texts_of(row, text, contexts, references, each)
                scores.add_segment(writer, head, its_texts, segment, also=other, each=each if references else ())
        results = [tally.result() for tally in tallies]
        also_scores = [None] * len(results) if also is None else also.score_systems()
        more: dict[str, Any] = {} if also is None else {"also": also.signatures()}
        writer.finish(
            format=FORMAT,
            systems=[scores.system_entry(r, also=its) for r, its in zip(results, also_scores, strict=True)],
            **decision,
            counts=counts_entry(run.counts),
            signature=run.sign(kind, size=size, references=signed_references(kind, corpus, texts)),
            source_language=corpus.source_language,
            **more,
        )
    for result in results:
        say(f"{visible(result.name)}\tscore: {format_score(result.score.score)}")
        for reference, part in result.by_reference.items():
            say(f"{visible(result.name)}\treference {visible(reference)}\tscore: {format_score(part.score)}")
        note_system(result.name, result.score, note.detail, side="reference" if by_reference else "source")
    if also is not None:
        say(f"\n{baseline_tables.format_systems(also, [result.score for result in results])}")
        also_flag.note_system_table(also, note)
        if len(corpus.references) > 1:
            note(f"--also uses only the first reference, {corpus.references[0]}")
    run.finish()
    say.finish()


def _score_records(name: str, texts: TextFlags, model: ModelFlags, out: OutputFlags, note: output.Notes) -> None:
    """Score the records of the file `name`, and print one JSON object for each."""
    records, total = record_files.read(name, with_source=needs_source(model))
    records = check_records(records, total, name, load_language(model), note, strict=texts.strict)
    kind = choose_context(texts.context, load_config(model), GIVEN, note)
    note.detail("context: none" if kind == NONE else "context: that of each record")
    run = ScoringRun(model, out, note)

    tally, waiting = Tally(), deque[record_files.Record]()
    say = output.Lines(out.to_json, out.to_tsv)

    def read_texts() -> Iterator[Text]:
        for record in records:
            waiting.append(record)
            yield record.text._replace(context="") if kind == NONE else record.text

    with (
        Writer(json_path=out.to_json, tsv_path=out.to_tsv, columns=scores.RECORD_COLUMNS) as writer,
        run.progress(total, unit="records"),
    ):
        for segment in run.stream(read_texts()):
            record = waiting.popleft()
            tally.add(segment, record.doc)
            if not out.only_system:
                say(strict_json.dump({"id": record.id, **segment_entry(segment)}))
            scores.add_segment(writer, {"id": record.id}, {}, segment)
            if not waiting:  # all records read so far are scored; a pipe may wait for them
                say.flush()
        score = tally.score()
        writer.finish(systems=[system(name, score)], counts=counts_entry(run.counts), signature=run.sign(kind))
    if out.only_system:
        say(f"{visible(name)}\tscore: {format_score(score.score)}")
    note_system(name, score, note.detail)
    run.finish()
    say.finish()
