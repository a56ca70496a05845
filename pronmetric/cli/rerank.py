"""`pronmetric rerank`: choose among several candidate translations of each line by their pronouns."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from pronmetric.cli import output
from pronmetric.cli.rerank_flags import parse
from pronmetric.cli.rerank_flags import parser as parser
from pronmetric.cli.run import choose_context, context_scope, load_config, load_metric, note_boundaries, previous_lines
from pronmetric.output import targets
from pronmetric.results import write
from pronmetric.scoring.rerank import Choice, Weighting, rerank, rerank_by_agreement
from pronmetric.scoring.score import Counts
from pronmetric.text.candidates import Candidates, line_parallel, read_nbest, read_parallel, read_scores
from pronmetric.text.context import COMMON, NONE, RESPECTIVE, Source, SourceHistory, previous
from pronmetric.text.corpus import check_docids

_CONTEXTS = {RESPECTIVE: "the {} as chosen", COMMON: "the {} of the reference", NONE: "none"}
Given = Sequence[Sequence[float]] | None


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parse(argv)
    read = [
        *(args.candidates or []),
        args.nbest,
        args.references,
        args.sources,
        args.docids,
        *(args.scores or []),
        args.model,
    ]
    targets.check((args.output, args.to_json), read=read)
    note = output.Notes(quiet=args.quiet, verbose=args.verbose)
    output.open_stdout()
    candidates = read_parallel(args.candidates, note) if args.candidates else read_nbest(args.nbest, args.size)
    given = None if args.scores is None else read_scores(args.scores, candidates)
    weighting = Weighting(weight=1.0 if args.weight is None else args.weight, margin=args.margin)
    if args.mbr:
        note.begin()
        with output.bar(args, total=len(candidates), label="rerank", unit="lines") as bar:
            choices = []
            for choice in rerank_by_agreement(candidates, weighting=weighting, given=given):
                choices.append(choice)
                bar.update()
        signature = None
    else:
        choices, signature = _rerank(candidates, given, weighting, args, note)
    _write(candidates, given, choices, signature, args)
    changed = sum(choice.chosen > 0 for choice in choices)
    without = sum(choice.scores[0] is None for choice in choices)
    (note if signature is None else note.detail)(
        f"another candidate than the first was chosen for {changed} of {len(choices)} lines"
    )
    if without:
        note.detail(f"the first candidate of {without} lines has no pronoun: pronouns do not affect the choice there")
    if signature is not None:
        note(f"signature: {signature}")
    return 0


def _rerank(
    candidates: Candidates, given: Given, weighting: Weighting, args: argparse.Namespace, note: output.Notes
) -> tuple[list[Choice], str]:
    """The choices by the model, in the order of the lines, and its signature."""
    config = load_config(args)
    kind = choose_context(args, config, COMMON if args.references else RESPECTIVE, note)
    size = config["context_size"]
    reference = None if args.references is None else line_parallel(args.references, len(candidates))
    docs = None
    if args.docids is not None:
        file = line_parallel(args.docids, len(candidates))
        check_docids(file, note)
        docs = list(file)
    contexts = {NONE: [""] * len(candidates)}.get(kind)
    if kind == COMMON and reference is not None:
        contexts = list(previous(reference, docs, size=size))
    sources = None if args.sources is None else _sources(line_parallel(args.sources, len(candidates)), docs)
    metric = load_metric(args, note)

    said = _CONTEXTS[kind].format(previous_lines(size))
    note.detail(f"context: {said}" + ("" if kind == NONE else f", {context_scope(docs is not None)}"))
    note_boundaries(kind, docs is not None, note)
    counts = Counts()
    with output.bar(args, total=sum(map(len, candidates)), label="rerank") as bar:
        stream = partial(metric.stream, batch_size=args.batch_size, counts=counts, advance=bar.update)
        choices = dict(
            rerank(
                candidates,
                stream,
                weighting=weighting,
                given=given,
                contexts=contexts,
                sources=sources,
                docs=docs,
                context_size=size,
            )
        )
    note.lengths(counts)
    return [choices[line] for line in range(len(candidates))], str(metric.signature(context=kind, context_size=size))


def _sources(lines: Iterable[str], docs: Sequence[str] | None) -> list[Source]:
    """The source of each line with the source lines before it in its document."""
    history = SourceHistory()
    return [history.source(line, None if docs is None else docs[i]) for i, line in enumerate(lines)]


def _write(
    candidates: Candidates, given: Given, choices: Sequence[Choice], signature: str | None, args: argparse.Namespace
) -> None:
    """Write the chosen lines, and with --to_json all candidates and their scores."""
    with write.Writer(json_path=args.to_json, tsv_path=None, columns=()) as exports:
        for line, (texts, choice) in enumerate(zip(candidates, choices, strict=True)):
            each: dict[str, Sequence[Any]] = {
                "text": texts,
                "score": [write.round_score(score) for score in choice.scores],
                **({} if given is None else {"given": given[line]}),
                "gain": [write.round_score(gain) for gain in choice.gains],
            }
            listed = [dict(zip(each, row, strict=True)) for row in zip(*each.values(), strict=True)]
            exports.segment({"segment": line, "chosen": choice.chosen, "candidates": listed}, ())
        by = "agreement with the other candidates" if args.mbr else "model"
        exports.finish(pronouns_by=by, weight=args.weight, margin=args.margin, signature=signature)
    chosen = (texts[choice.chosen] for texts, choice in zip(candidates, choices, strict=True))
    if args.output is None:
        for text in chosen:
            print(text)
    else:
        with targets.AtomicFile(args.output) as out:
            out.writelines(f"{text}\n" for text in chosen)
