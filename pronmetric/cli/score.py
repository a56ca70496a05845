"""`pronmetric score`: how good the pronouns of system outputs are."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice, repeat
from typing import Any

from pronmetric.baselines.corpus_scores import BaselineScorer, Line, SystemBaselines
from pronmetric.cli import also as also_flag
from pronmetric.cli import context_flag, load, options, output
from pronmetric.cli import corpus as corpora
from pronmetric.cli import exports as files
from pronmetric.errors import PronmetricError
from pronmetric.output.display import visible
from pronmetric.results import FEW
from pronmetric.scoring.alternatives import Stream
from pronmetric.scoring.comparison import average
from pronmetric.scoring.score import Counts, SegmentScore, SystemScore, Tally
from pronmetric.text import records as records_file
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE, Text
from pronmetric.text.corpus import Corpus, Row

DESCRIPTION = """Score the pronouns of English translations, each in its context.

A pronoun's number is the probability, in [0, 1], that it is right here in this context; a segment's is the mean of its
pronouns' (null without any); a system's is 100 x the mean over all its pronouns. Higher is better."""
EPILOG = (
    """context:
  common      the previous sentences of the reference; the default with -r and -d. With several references each
              text is scored in the context of each: scores are means, and each reference's is printed and exported too
  respective  the previous sentences of the output itself; the default without a reference
  none        the segment alone
  given       that of each record; the default with --jsonl
"""
    + context_flag.SIZE_HELP
    + """
Without --docids the lines of a file count as one document.
Segments count from 0, as in COMET; lines in errors count from 1: segment 0 is line 1.

--jsonl reads one object a line, {"id": ..., "text": "...", "context": ["previous", "sentences"]}, and writes one a line
in the same order, {"id": ..., "score": 0.91, "pronouns": [{"text": "she", "start": 0, "end": 3, "probability": 0.91}]};
start and end count code points. With --context none the records' contexts are left out.

--also adds a table after the systems' scores, the number of instances in brackets, all in [0, 100], higher is better:
  apt      of the reference's pronouns, the share that is the same pronoun in the output
  autoprf  F1 of the words linked to the reference's pronouns
  exact    of the reference's pronouns that are linked to a word, the share that is linked to the same pronoun
  bleu, chrf  sacreBLEU's (pip install "pronmetric[peers]")
The words are linked by the agreement aligner, which learns from these very lines.

examples:
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --docids ids.txt
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --only_system --also apt,autoprf,bleu,chrf,exact
  pronmetric score -d wmt22:de-en --wmt-dir wmt22-news-systems --only_system
  pronmetric score --jsonl records.jsonl > scores.jsonl"""
)
_COLUMNS = ("system", "segment", "doc", "segment_score", "pronoun", "start", "end", "score")


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = options.parser("score", DESCRIPTION, EPILOG, jsonl=True)
    also_flag.add(made)
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = made.parse_args(argv)
    options.check_flags(made, args)
    if args.also is not None and args.dataset is None and args.references is None:
        made.error("--also holds the systems against a reference: give -r" + (" with -t" if args.jsonl else ""))
    options.check_targets(args)
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    if args.jsonl is not None:
        _score_records(args, note)
    else:
        _score_corpus(args, note)
    return 0


def _score_corpus(args: argparse.Namespace, note: output.Notes) -> None:
    corpus = corpora.read(args, note)
    config = load.config(args)
    kind = context_flag.choose(args, config, COMMON if corpus.references else RESPECTIVE, note)
    context_flag.announce(kind, corpus, args, note, size=config["context_size"])
    also = None if args.also is None else _also(args, corpus)
    metric = load.metric(args, note)

    counts, tallies = Counts(), [Tally() for _ in corpus.systems]
    references = context_flag.averaged_references(kind, corpus)
    by_reference = [[Tally() for _ in references] for _ in corpus.systems]
    signature = metric.signature(context=kind, context_size=metric.context_size, seed=args.seed)
    signature = context_flag.add_references(signature, kind, corpus, args)
    columns = (*_COLUMNS, *(f"score with {name}" for name in references), *(args.also or ()))
    with (
        files.Exports(json_path=args.to_json, tsv_path=args.to_tsv, columns=columns) as exports,
        output.bar(args, total=corpus.segments * len(corpus.systems) * max(1, len(references))) as bar,
    ):
        scored = _scored(
            corpus,
            kind,
            metric.context_size,
            partial(load.stream, metric, args=args, counts=counts, advance=bar.update),
        )
        beside = _beside(also, corpus)
        for number, ((row, contexts, segments), others) in enumerate(zip(scored, beside, strict=False)):
            for name, text, context, each, tally, parts, other in zip(
                corpus.systems, row.texts, contexts, segments, tallies, by_reference, others, strict=True
            ):
                segment = average(*each)
                tally.add(segment, row.doc)
                for part, one in zip(parts, each, strict=False):
                    part.add(one, row.doc)
                if not args.only_system:
                    print(f"{visible(name)}\tSegment {number}\tscore: {shown(segment.score)}")
                head = {"system": name, "segment": number, "doc": row.doc}
                given = {"source": row.source, "reference": row.reference, "context": context[0], "text": text}
                if references:
                    given["by_reference"] = [
                        {"reference": ref, "text": line, "context": before, "score": files.rounded(one.score)}
                        for ref, line, before, one in zip(references, row.references, context, each, strict=True)
                    ]
                _export(exports, head, given, segment, other, each if references else ())
        scores = [tally.score(seed=args.seed) for tally in tallies]
        systems = [files.system(name, score) for name, score in zip(corpus.systems, scores, strict=True)]
        parts_of = [[part.score(seed=args.seed) for part in parts] for parts in by_reference]
        if references:
            systems = [
                {**system, "by_reference": list(map(files.in_reference, references, parts))}
                for system, parts in zip(systems, parts_of, strict=True)
            ]
        if also is not None:
            systems = [{**system, "also": its} for system, its in zip(systems, also.score_systems(), strict=True)]
        exports.finish(
            systems=systems,
            counts=files.encoded(counts),
            signature=str(signature),
            **({} if also is None else {"also": also.signatures()}),
        )
    for name, score, parts in zip(corpus.systems, scores, parts_of, strict=True):
        print(f"{visible(name)}\tscore: {shown(score.score)}")
        for ref, part in zip(references, parts, strict=True):
            print(f"{visible(name)}\treference {visible(ref)}\tscore: {shown(part.score)}")
        _say_system(name, score, note)
    if also is not None:
        print(f"\n{also_flag.system_table(also, scores)}")
        also_flag.note_system_table(also, note)
        if len(corpus.references) > 1:
            note(f"--also holds the systems against {corpus.references[0]}, the first reference")
    note.lengths(counts)
    note(f"signature: {signature}")


def _also(args: argparse.Namespace, corpus: Corpus) -> SystemBaselines:
    """The baselines of --also, ready for these systems."""
    if not corpus.references:
        raise PronmetricError(f"{args.dataset} has no reference, against which --also would hold the systems")
    scorer = BaselineScorer(args.also)
    scorer.train_aligner(_lines(corpus), number=corpus.segments * len(corpus.systems))
    return SystemBaselines(scorer, corpus.systems)


def _beside(also: SystemBaselines | None, corpus: Corpus) -> Iterator[Sequence[dict[str, float | None] | None]]:
    """The baselines of each row, system by system; None where they are not asked for."""
    return repeat((None,) * len(corpus.systems)) if also is None else also.score_rows(_lines(corpus))


def _lines(corpus: Corpus) -> Iterator[Line]:
    """Each text with its reference, row by row."""
    return ((row.reference, text) for row in corpus.rows() for text in row.texts)


def _scored(
    corpus: Corpus, kind: str, size: int, stream: Stream
) -> Iterator[tuple[Row, tuple[tuple[str, ...], ...], list[tuple[SegmentScore, ...]]]]:
    """Rows with the contexts of their texts and the score in each, as they come out of the metric."""
    waiting: deque[tuple[Row, tuple[tuple[str, ...], ...]]] = deque()

    def texts() -> Iterator[Text]:
        for row, contexts in corpus.in_context(kind, size=size):
            waiting.append((row, contexts))
            yield from (Text(context, text) for text, each in zip(row.texts, contexts, strict=True) for context in each)

    scores = stream(texts())
    for first in scores:
        row, contexts = waiting.popleft()
        found = chain([first], scores)
        yield row, contexts, [tuple(islice(found, len(each))) for each in contexts]


def _score_records(args: argparse.Namespace, note: output.Notes) -> None:
    name = args.jsonl
    records, total = records_file.read(name)
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
        files.Exports(json_path=args.to_json, tsv_path=args.to_tsv, columns=("id", *_COLUMNS[3:])) as exports,
        output.bar(args, total=total, unit="records") as bar,
    ):
        for segment in load.stream(metric, texts(), args, counts=counts, advance=bar.update):
            identity = ids.popleft()
            tally.add(segment)
            if not args.only_system:
                print(strict_json.dump({"id": identity, **files.scored(segment)}))
            _export(exports, {"id": identity}, {}, segment)
            if not ids:  # a stretch is done; whoever reads the pipe may want it
                sys.stdout.flush()
        score = tally.score(seed=args.seed)
        exports.finish(systems=[files.system(name, score)], counts=files.encoded(counts), signature=str(signature))
    if args.only_system:
        print(f"{visible(name)}\tscore: {shown(score.score)}")
    _say_system(name, score, note)
    note.lengths(counts)
    note(f"signature: {signature}")


def _export(
    exports: files.Exports,
    head: dict[str, Any],
    given: dict[str, Any],
    segment: SegmentScore,
    also: dict[str, float | None] | None = None,
    each: Sequence[SegmentScore] = (),
) -> None:
    """Add a segment to the files; `each`: its score in the context of each of several references."""
    cells = tuple(strict_json.dump(v) if k == "id" and not isinstance(v, str) else v for k, v in head.items())
    empty: list[tuple[object, ...]] = [(None,) * (4 + len(each))]
    in_each = list(zip(*(one.pronouns for one in each), strict=True)) or [()] * len(segment.pronouns)
    rows = [
        (p.text, p.start, p.end, p.score, *(one.score for one in its))
        for p, its in zip(segment.pronouns, in_each, strict=True)
    ] or empty
    told = {} if also is None else {"also": {name: files.rounded(score) for name, score in also.items()}}
    others = tuple((also or {}).values())
    exports.segment(
        {**head, **given, **files.scored(segment), **told}, ((*cells, segment.score, *row, *others) for row in rows)
    )


def _say_system(name: str, score: SystemScore, note: output.Notes) -> None:
    interval = "" if score.interval is None else f" (95 % {score.interval[0]:.2f} to {score.interval[1]:.2f})"
    number = "null" if score.score is None else f"{score.score:.2f}"
    note(f"{name}: {number}{interval}; {score.pronouns} pronouns, in {score.with_pronoun} of {score.segments} segments")
    if score.interval is not None and score.units < FEW:
        note(f"{name}: the interval rests on {score.units} {score.resampled} only")


def shown(score: float | None) -> str:
    """A score as COMET prints it, `null` where there is none."""
    return "null" if score is None else f"{score:.4f}"
