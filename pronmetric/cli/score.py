"""`pronmetric score`: how good the pronouns of system outputs are."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from pronmetric.cli import also as also_flag
from pronmetric.cli import flags, output, score_records
from pronmetric.cli.run import (
    add_references,
    announce_context,
    choose_context,
    load_config,
    load_language,
    load_metric,
    read_corpus,
    stream_scores,
)
from pronmetric.cli.score_text import format_score, note_system
from pronmetric.lab.baselines import tables as baseline_tables
from pronmetric.output.display import visible
from pronmetric.results import comparisons, scores
from pronmetric.results.write import FORMAT, Writer, counts_entry
from pronmetric.scoring.bulk import SystemTally, score_rows
from pronmetric.scoring.comparison import TIE_THRESHOLD
from pronmetric.scoring.missing import count_by_reference
from pronmetric.scoring.score import Counts
from pronmetric.text.context import COMMON, RESPECTIVE

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
    flags.check_flags(made, args)
    if args.also is not None and args.dataset is None and args.references is None:
        made.error("--also needs a reference: give -r" + (" with -t" if args.jsonl else ""))
    flags.check_targets(args)
    note = output.Notes(quiet=args.quiet, verbose=args.verbose)
    output.open_stdout()
    (_score_corpus if args.jsonl is None else score_records.run)(args, note)
    return 0


def _score_corpus(args: argparse.Namespace, note: output.Notes) -> None:
    corpus = read_corpus(args, note)
    config = load_config(args)
    also_flag.check_language(args.also or (), load_language(args))
    kind = choose_context(args, config, COMMON if corpus.references else RESPECTIVE, note)
    announce_context(kind, corpus, args, note, size=config["context_size"])
    also = None if args.also is None else also_flag.scorer(args, corpus)
    metric = load_metric(args, note)

    references, counts = corpus.averaged_references(kind), Counts()
    tallies = [SystemTally(name, references) for name in corpus.systems]
    signature = metric.signature(context=kind, context_size=metric.context_size)
    signature = add_references(signature, kind, corpus, args)
    columns = scores.columns(references, args.also or ())
    decision = comparisons.decision_entry(flags.default_decision(args, config), TIE_THRESHOLD)
    say = output.Lines(args.to_json, args.to_tsv)
    with (
        Writer(json_path=args.to_json, tsv_path=args.to_tsv, columns=columns) as writer,
        output.bar(args, total=corpus.segments * len(corpus.systems) * max(1, len(references))) as bar,
    ):
        stream = partial(stream_scores, metric, args=args, counts=counts, advance=bar.update)
        rows = score_rows(corpus, kind, size=metric.context_size, stream=stream)
        if metric.source is None:
            rows = count_by_reference(rows, metric.language)
        for number, (scored_row, others) in enumerate(zip(rows, also_flag.score_rows(also, corpus), strict=False)):
            row = scored_row.row
            for tally, text, contexts, each, other in zip(
                tallies, row.texts, scored_row.contexts, scored_row.segments, others, strict=True
            ):
                segment = tally.add(each, row.doc)
                if not args.only_system:
                    say(f"{visible(tally.name)}\tSegment {number}\tscore: {format_score(segment.score)}")
                head = {"system": tally.name, "segment": number, "doc": row.doc}
                texts = scores.texts_of(row, text, contexts, references, each)
                scores.add_segment(writer, head, texts, segment, also=other, each=each if references else ())
        results = [tally.result() for tally in tallies]
        also_scores = [None] * len(results) if also is None else also.score_systems()
        writer.finish(
            format=FORMAT,
            systems=[scores.system_entry(r, also=its) for r, its in zip(results, also_scores, strict=True)],
            **decision,
            counts=counts_entry(counts),
            signature=str(signature),
            source_language=corpus.source_language,
            **({} if also is None else {"also": also.signatures()}),
        )
    for result in results:
        say(f"{visible(result.name)}\tscore: {format_score(result.score.score)}")
        for reference, part in result.by_reference.items():
            say(f"{visible(result.name)}\treference {visible(reference)}\tscore: {format_score(part.score)}")
        note_system(result.name, result.score, note, side="reference" if metric.source is None else "source")
    if also is not None:
        say(f"\n{baseline_tables.format_systems(also, [result.score for result in results])}")
        also_flag.note_system_table(also, note)
        if len(corpus.references) > 1:
            note(f"--also uses only the first reference, {corpus.references[0]}")
    note.lengths(counts)
    note(f"signature: {signature}")
    say.finish()
