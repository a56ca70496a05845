"""`pronmetric rerank`: choose among several candidate translations of each line by their pronouns."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any

from pronmetric.cli import context_flag, load, numbers, options, output, stray
from pronmetric.cli import corpus as corpora
from pronmetric.errors import InputError, PronmetricError
from pronmetric.output import targets
from pronmetric.results import write
from pronmetric.scoring.rerank import Choice, Rule, consensus, rerank
from pronmetric.scoring.score import Counts
from pronmetric.text.context import COMMON, NONE, RESPECTIVE, previous
from pronmetric.text.corpus import TextFile, check_docids

DESCRIPTION = """Choose among candidate translations of each line by their pronouns; prints the chosen lines.

The rule: the first candidate stays unless another is strictly better, by more than --margin; of equal ones the earliest
is taken. Better is the score of the pronouns (the mean of their probabilities), or with --scores the sum

  WEIGHT x score of the pronouns + (1 - WEIGHT) x given score

A candidate without a pronoun neither wins nor loses by that: beside it, or where the first has none, the pronouns'
part of the difference is nought.

This is no search for the best translation. The model sees no source and judges pronouns alone: a candidate with likely
pronouns and wrong words beside them wins, unless --scores speaks against it. And a text that was chosen by this score
can't be judged by this score."""
EPILOG = f"""candidates:
  --candidates A B C     line-parallel files; the first has the first candidates
  --nbest FILE --size N  N lines for each line to translate
  --nbest FILE           Moses' lists, "0 ||| text ||| ...", any number of candidates; what follows the text is not read
--scores has one number for each candidate, a line each, higher is better, on a scale that suits the weight (nothing is
normalised): as many files as --candidates, or one beside --nbest.

context of each candidate:
  respective  the lines that were chosen before it; the default without a reference
  common      the previous sentences of the reference; the default with -r
  none        the candidate alone
{context_flag.SIZE_HELP}

--mbr needs no model: the pronouns' score is then the average agreement of a candidate's pronouns with those of each of
the other candidates, which stand for the reference (minimum Bayes risk, all equally likely): F1 of the forms, that is
twice the shared forms over the forms of both, 1 where neither has any. Its advice is the candidates' majority, right or
wrong; a candidate without pronouns wins where most have none.

examples:
  pronmetric rerank --candidates a.txt b.txt c.txt --docids ids.txt > best.txt
  pronmetric rerank --nbest out.nbest --size 10 --scores out.logprob --weight 0.3 -o best.txt
  pronmetric rerank --nbest moses.nbest --mbr"""
_SAID = {RESPECTIVE: "the {} as chosen", COMMON: "the {} of the reference", NONE: "none"}
Candidates = Sequence[tuple[str, ...]]


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = stray.parse(
        made, argv, cure="give the files of candidates after --candidates, or lists of candidates with --nbest FILE"
    )
    _check_flags(made, args)
    read = [*(args.candidates or []), args.nbest, args.references, args.docids, *(args.scores or []), args.model]
    targets.check((args.output, args.to_json), read=read)
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()

    candidates = _columns(args.candidates, note) if args.candidates else _lists(args.nbest, args.size)
    given = None if args.scores is None else _given(args.scores, candidates)
    rule = Rule(weight=1.0 if args.weight is None else args.weight, margin=args.margin)
    if args.mbr:
        note.begin()
        choices = _agreeing(candidates, given, rule, args)
        signature = None
    else:
        choices, signature = _scored(candidates, given, rule, args, note)
    _write(candidates, given, choices, signature, args)
    changed = sum(choice.chosen > 0 for choice in choices)
    silent = sum(choice.scores[0] is None for choice in choices)
    note(f"another than the first candidate was chosen for {changed} of {len(choices)} lines")
    if silent:
        note(f"the first candidate of {silent} lines has no pronoun, so that pronouns decide nothing there")
    if signature is not None:
        note(f"signature: {signature}")
    return 0


def _agreeing(
    candidates: Candidates, given: Sequence[Sequence[float]] | None, rule: Rule, args: argparse.Namespace
) -> list[Choice]:
    """The choices by agreement with the other candidates."""
    chosen = []
    with output.bar(args, total=len(candidates), label="rerank", unit="lines") as bar:
        for i, texts in enumerate(candidates):
            chosen.append(rule.choose(consensus(texts), None if given is None else given[i]))
            bar.update()
    return chosen


def _scored(
    candidates: Candidates,
    given: Sequence[Sequence[float]] | None,
    rule: Rule,
    args: argparse.Namespace,
    note: output.Notes,
) -> tuple[list[Choice], str]:
    """The choices by the model, in the order of the lines, and its signature."""
    config = load.config(args)
    kind = context_flag.choose(args, config, COMMON if args.references else RESPECTIVE, note)
    size = config["context_size"]
    reference = _beside(args.references, len(candidates))
    docs = _beside(args.docids, len(candidates))
    if docs is not None:
        check_docids(docs, note)
    contexts: Sequence[str] | None = None
    if kind == NONE:
        contexts = [""] * len(candidates)
    elif kind == COMMON:
        assert reference is not None  # _check_flags
        contexts = list(previous(reference, docs, size=size))
    metric = load.metric(args, note)

    counts = Counts()
    where = "of the same document" if docs is not None else "of the file; document bounds are unknown"
    note(f"context: {_SAID[kind].format(context_flag.previous_lines(size))}" + ("" if kind == NONE else f", {where}"))
    with output.bar(args, total=sum(map(len, candidates)), label="rerank") as bar:
        stream = partial(metric.stream, batch_size=args.batch_size, counts=counts, advance=bar.update)
        by_document = None if docs is None else list(docs)
        made = rerank(
            candidates, stream, rule=rule, given=given, contexts=contexts, docs=by_document, context_size=size
        )
        choices: dict[int, Choice] = dict(made)
    note.lengths(counts)
    return [choices[line] for line in range(len(candidates))], str(metric.signature(context=kind, context_size=size))


def _write(
    candidates: Candidates,
    given: Sequence[Sequence[float]] | None,
    choices: Sequence[Choice],
    signature: str | None,
    args: argparse.Namespace,
) -> None:
    """The chosen lines, on stdout or in a file, and everything in JSON where asked."""
    with write.Writer(json_path=args.to_json, tsv_path=None, columns=()) as exports:
        for line, (texts, choice) in enumerate(zip(candidates, choices, strict=True)):
            each: dict[str, Sequence[Any]] = {
                "text": texts,
                "score": [write.rounded(score) for score in choice.scores],
                **({} if given is None else {"given": given[line]}),
                "gain": [write.rounded(gain) for gain in choice.gains],
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


def _columns(names: Sequence[str], note: output.Notes) -> Candidates:
    """The candidates of line-parallel write."""
    if len(names) < 2:
        raise PronmetricError(f"expected two or more files of candidates, got only {names[0]}")
    only = argparse.Namespace(dataset=None, translations=names, references=None, sources=None, docids=None)
    return [row.texts for row in corpora.read(only, note).rows()]


def _lists(name: str, size: int | None) -> Candidates:
    """The candidates of one file: `size` lines each, or Moses' lists."""
    lines = list(TextFile(name))
    if not lines:
        raise InputError("is empty; expected the candidates of each line", file=name)
    if size is None:
        return _moses(lines, name)
    if len(lines) % size:
        raise InputError(f"expected {size} candidates for each line, got {len(lines)} lines in all", file=name)
    return [tuple(lines[i : i + size]) for i in range(0, len(lines), size)]


def _moses(lines: Sequence[str], name: str) -> Candidates:
    """The candidates of "number ||| text ||| ...", numbers going up by one from 0 (or 1)."""
    found: list[list[str]] = []
    first = 0
    for number, line in enumerate(lines, start=1):
        head, bars, rest = line.partition("|||")
        if not bars or not re.fullmatch(r"[0-9]{1,12}", head.strip()):
            expected = 'expected "number ||| text", or --size N for N lines each'
            raise InputError(f"{expected}, got {line[:40]!r}", file=name, line=number)
        index = int(head)
        if not found:
            first = index if index in (0, 1) else 0
        last = first + len(found) - 1
        if index != last and index != last + 1:
            wanted = f"{last} or {last + 1}" if found else "0 or 1"
            raise InputError(f"expected the number {wanted}, got {index}; none may be missing", file=name, line=number)
        if index > last:
            found.append([])
        found[-1].append(rest.partition("|||")[0].strip())
    return [tuple(texts) for texts in found]


def _given(names: Sequence[str], candidates: Candidates) -> list[tuple[float, ...]]:
    """The given score of each candidate: a file for each candidate's place, or one beside the lists."""
    if len(names) > 1:
        columns = [_numbers(name, len(candidates)) for name in names]
        return list(zip(*columns, strict=True))
    values = iter(_numbers(names[0], sum(map(len, candidates))))
    return [tuple(islice(values, len(texts))) for texts in candidates]


def _numbers(name: str, size: int) -> list[float]:
    """A finite number a line, `size` of them."""
    values = []
    for number, line in enumerate(_beside(name, size) or (), start=1):
        try:
            value = float(line)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"expected a finite number, got {line[:40]!r}", file=name, line=number)
        values.append(value)
    return values


def _beside(name: str | None, size: int) -> TextFile | None:
    """A file that must have `size` lines."""
    if name is None:
        return None
    file = TextFile(name)
    found = sum(1 for _ in file)
    if found != size:
        raise InputError(f"expected {size} lines, as many as the candidates ask for, got {found}", file=name)
    return file


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = argparse.ArgumentParser(
        prog="pronmetric rerank",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    texts = made.add_argument_group("candidates (UTF-8, also gzip; see below)")
    texts.add_argument("--candidates", nargs="+", metavar="FILE", help="line-parallel files of candidates")
    texts.add_argument("--nbest", metavar="FILE", help="or one file of lists of candidates")
    texts.add_argument("--size", type=numbers.positive, metavar="N", help="of --nbest: N lines each, else Moses' lists")
    texts.add_argument("-r", "--references", metavar="FILE", help="reference: its sentences are the context")
    texts.add_argument("--docids", metavar="FILE", help="one document id a line; context never crosses documents")
    texts.add_argument("--context", choices=[COMMON, RESPECTIVE, NONE], help="see below")
    rule = made.add_argument_group("rule")
    rule.add_argument("--mbr", action="store_true", help="by agreement of the candidates' pronouns, without a model")
    rule.add_argument("--scores", nargs="+", metavar="FILE", help="another score of each candidate, one number a line")
    rule.add_argument("--weight", type=numbers.share, metavar="W", help="of the pronouns beside --scores, from 0 to 1")
    rule.add_argument(
        "--margin",
        type=numbers.from_zero,
        default=0.0,
        metavar="X",
        help="how much better than the first another must be (default: 0; 0.01 is the tie band of `compare`)",
    )
    options.add_model(made, seed=False)
    output = made.add_argument_group("output")
    output.add_argument("-o", "--output", metavar="FILE", help="write the chosen lines there (default: stdout)")
    options.both(output, "to-json", metavar="FILE", help="write every candidate with its scores")
    output.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    return made


def _check_flags(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Flags that do not go together: a usage error, exit code 2."""
    if (args.candidates is None) == (args.nbest is None):
        made.error("give one of --candidates, --nbest" + ("" if args.nbest is None else "; got both"))
    if args.size is not None and args.nbest is None:
        made.error("--size goes with --nbest")
    if (args.scores is None) != (args.weight is None):
        made.error("--scores and --weight go together")
    if args.scores is not None and len(args.scores) != len(args.candidates or [args.nbest]):
        made.error(f"expected {len(args.candidates or [args.nbest])} files of --scores, got {len(args.scores)}")
    of_model = {"-r": args.references, "--docids": args.docids, "--context": args.context, "--model": args.model}
    if args.mbr and (extra := [flag for flag, value in of_model.items() if value is not None]):
        made.error(f"--mbr reads neither model nor context; leave out {' and '.join(extra)}")
    if args.context == COMMON and args.references is None:
        made.error("--context common is the reference's context: give -r")
