"""`pronmetric score`: how good the pronouns of system outputs, or of records that contain their context, are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

from pronmetric.cli import flags
from pronmetric.cli.corpus_run import CorpusRun, RecordsRun
from pronmetric.cli.defaults import ConfiguredCommand
from pronmetric.cli.flags import ScoringFlags
from pronmetric.cli.parser import UsageError, flag, number, whole
from pronmetric.errors import PronmetricError
from pronmetric.lab.baselines.corpus_scores import SystemBaselines, format_systems, format_units
from pronmetric.lab.baselines.reference_based import check_language
from pronmetric.output.display import visible
from pronmetric.report.score_text import format_score, note_system
from pronmetric.results import mqm, write
from pronmetric.results.mqm import Severities
from pronmetric.results.write import FORMAT, Writer, counts_entry, segment_entry, system
from pronmetric.scoring.bulk import SystemTally, score_rows
from pronmetric.scoring.comparison import TIE_THRESHOLD
from pronmetric.scoring.missing import count_by_reference
from pronmetric.scoring.score import Tally
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE, Text
from pronmetric.text.records import Record

DESCRIPTION = """Score the pronouns of translations into English, or the language of --model, in their context.

The score of a pronoun is the probability, from 0 to 1, that it is correct in this context. The score of a segment is
the mean over its pronouns (null if it has none). The score of a system is 100 x the mean over all its pronouns.
Higher is better. Files (--to_json, --to_tsv, --jsonl) also have the errors of a segment, the expected number of wrong
or surplus pronouns and, with a source whose reader finds them, of missing ones, then also apart; and its preference,
the number by which a checkpoint with a pair head compares texts. With a reference or --source-lang they have the
pronouns of one side without a counterpart ("missing", "surplus"); these are no part of the errors, and scores do not
depend on them."""
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
The interval of the whole is over documents where each record has a "doc". "speaker" names who says the text,
"context_speakers" who says each sentence of the context.

--speakers FILE, and "speaker" in records, are for talk: the model reads "NAME: " before the line and before each line
of its context whose speaker is known, so that it can tell I from you. No pronoun in a name is scored.

--also adds a table of baseline scores, all in [0, 100], higher is better; the number of instances is in brackets:
  apt      share of the reference's pronouns that the output translates identically
  autoprf  F1 of the words aligned to the reference's pronouns
  exact    share of the reference's aligned pronouns that are aligned to the same pronoun
  bleu, chrf  as sacreBLEU computes them (extra peers)
The word alignment is learned from the scored lines themselves.

--to_mqm has a line for each pronoun below the thresholds of --mqm-thresholds, its span marked in the target, rater
"{mqm.RATER}", category {mqm.CATEGORY}; a line of category {mqm.OMISSION}, with a span of no width, for each
gap where the reader of the source finds that a pronoun is missing, by the same thresholds; and a line No-error for each
segment without either. Pronouns without a counterpart in the source or reference are not in it.

examples:
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --docids ids.txt
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --only_system --also apt,autoprf,bleu,chrf,exact
  pronmetric score -d wmt22:de-en --wmt-dir wmt22-news-systems --only_system
  pronmetric score --jsonl records.jsonl > scores.jsonl"""


class ScoreFlags(ScoringFlags):
    """What is scored, by which model, and beside which baselines."""

    jsonl: str | None = flag(group=flags.TEXTS, metavar="FILE|-", help="records, one JSON object per line; - is stdin")
    context: str | None = flag(group=flags.TEXTS, choices=[COMMON, RESPECTIVE, NONE, GIVEN], help="see below")
    unused_seed: int | None = flag(
        "--seed",
        "--seed_everything",
        group=flags.COMET,
        type=whole(0),
        metavar="N",
        help="accepted and not used: nothing is drawn",
    )
    also: Sequence[str] | None = flags.also_flag()
    to_mqm: str | None = flag(
        group=flags.OUTPUT,
        metavar="FILE",
        help="write doubtful pronouns as MQM errors: a table with their spans, category and severity",
    )
    mqm_thresholds: Sequence[float] = flag(
        group=flags.OUTPUT,
        nargs=2,
        type=number(0, 1),
        default=Severities(),
        metavar=("MINOR", "MAJOR"),
        help="with --to_mqm: the probabilities below which a pronoun is a minor and a major error (default: "
        f"{Severities().minor:g} {Severities().major:g})",
    )

    @property
    def severities(self) -> Severities:
        """The thresholds of --to_mqm."""
        return Severities(*self.mqm_thresholds)

    def inputs(self) -> dict[str, object]:
        """Also records."""
        return super().inputs() | {"--jsonl": self.jsonl}

    def check(self) -> None:
        """Refuse also baselines without a reference, and thresholds and texts that --to_mqm does not have."""
        super().check()
        if self.also is not None and self.jsonl is not None:
            raise UsageError("--also needs a reference: give -r with -t")
        if self.severities.major > self.severities.minor:
            raise UsageError("--mqm-thresholds: expected MINOR MAJOR, the second no greater than the first")
        if self.to_mqm is not None and self.jsonl is not None:
            raise UsageError("--to_mqm is of lines of text (-t, -d), not of --jsonl")


def run(task: ScoreFlags) -> None:
    """Score the texts, print and write the scores."""
    flags.check_targets(task.texts, task.model, task.out)
    if task.jsonl is None:
        with CorpusRun(task.texts, task.model, task.out, alone=RESPECTIVE) as run:
            _score_corpus(task, run)
    else:
        with RecordsRun(task.jsonl, task.texts, task.model, task.out) as run_of_records:
            _score_records(task, task.jsonl, run_of_records)


def _score_corpus(task: ScoreFlags, run: CorpusRun) -> None:
    corpus, references, out, baselines = run.corpus, run.references, task.out, task.also or ()
    check_language(baselines, run.language)
    if baselines and not corpus.references:
        if task.texts.dataset is None:
            raise UsageError("--also needs a reference: give -r")
        raise PronmetricError(f"--also needs a reference, and {task.texts.dataset} has none")
    also = SystemBaselines.of(corpus, baselines) if baselines else None
    by_reference = run.metric.source is None
    tallies = [SystemTally(name, references) for name in corpus.systems]
    columns = write.score_columns(references, baselines, apart=run.apart, placed=corpus.placed)
    decision = run.checkpoint.decision(None, sourced=corpus.has_source)
    with (
        Writer(json_path=out.to_json, tsv_path=out.to_tsv, columns=columns) as writer,
        mqm.writer(out.to_mqm, task.severities) as add_errors,
    ):
        rows = run.rows(score_rows)
        if by_reference:
            rows = count_by_reference(rows, run.language)
        also_rows = repeat((None,) * len(tallies)) if also is None else also.score_corpus(corpus)
        for number, (scored_row, others) in enumerate(zip(rows, also_rows, strict=False)):
            row = scored_row.row
            places = row.places or (None,) * len(tallies)
            for tally, text, contexts, each, other, place in zip(
                tallies, row.texts, scored_row.contexts, scored_row.segments, others, places, strict=True
            ):
                segment = tally.add(each, row.doc)
                add_errors(tally.name, number, row, text, segment)
                if out.prints_segments:
                    run.lines(f"{visible(tally.name)}\tSegment {number}\tscore: {format_score(segment.score)}")
                head = {"system": tally.name, "segment": number, "doc": row.doc}
                if row.places:
                    head |= write.place_entry(place)
                its_texts = write.texts_of(row, text, contexts, references, each)
                each = each if references else ()
                write.add_scored(writer, head, its_texts, segment, apart=run.apart, also=other, each=each)
        results = [tally.result() for tally in tallies]
        people = run.people()
        also_scores = [None] * len(results) if also is None else also.score_systems()
        more: dict[str, Any] = {} if also is None else {"also": also.signatures()}
        writer.finish(
            format=FORMAT,
            systems=[write.system_entry(r, also=its) for r, its in zip(results, also_scores, strict=True)],
            **write.decision_entry(decision, TIE_THRESHOLD),
            counts=counts_entry(run.counts),
            signature=run.sign_texts(),
            source_language=run.source_language,
            **write.people_entry(people),
            **more,
        )
    for result in results:
        run.lines(f"{visible(result.name)}\tscore: {format_score(result.score.score)}")
        for reference, part in result.by_reference.items():
            run.lines(f"{visible(result.name)}\treference {visible(reference)}\tscore: {format_score(part.score)}")
        side = "reference" if by_reference else "source"
        note_system(result.name, result.score, run.note, run.note.detail, side=side, people=people)
    run.note_no_translations({result.name: result.score for result in results})
    if also is not None:
        run.lines(f"\n{format_systems(also, [result.score for result in results])}")
        run.note.detail(f"in brackets: {format_units(also)}")
        if also.without_reference:
            run.note(f"left out of --also: {also.without_reference} segments without a reference")
        for name, signature in also.scorer.signatures().items():
            run.note.detail(f"signature of {name}: {signature}")
        if len(corpus.references) > 1:
            run.note(f"--also uses only the first reference, {corpus.references[0]}")


def _score_records(task: ScoreFlags, name: str, run: RecordsRun) -> None:
    """Score the records of the file `name`, and print one JSON object for each."""
    out, apart, tally, waiting = task.out, run.metric.finds_missing, Tally(), deque[Record]()

    def read_texts() -> Iterator[Text]:
        for record in run.records():
            waiting.append(record)
            yield record.text

    with (
        Writer(json_path=out.to_json, tsv_path=out.to_tsv, columns=write.record_columns(apart=apart)) as writer,
        run.progress(run.total, unit="records"),
    ):
        for segment in run.stream(read_texts()):
            record = waiting.popleft()
            tally.add(segment, record.doc)
            if out.prints_segments:
                run.lines(strict_json.dump({"id": record.id, **segment_entry(segment)}))
            write.add_scored(writer, {"id": record.id}, {}, segment, apart=apart)
            if not waiting:  # all records read so far are scored; a pipe may wait for them
                run.lines.flush()
        score = tally.score()
        writer.finish(systems=[system(name, score)], counts=counts_entry(run.counts), signature=run.sign_texts())
    if not out.prints_segments:
        run.lines(f"{visible(name)}\tscore: {format_score(score.score)}")
    note_system(name, score, run.note, run.note.detail, people=run.people())
    run.note_no_translations({name: score}, unit="record")


VERB = ConfiguredCommand("score", ScoreFlags, run, DESCRIPTION, EPILOG, stray=flags.stray_output, refused=flags.REFUSED)
