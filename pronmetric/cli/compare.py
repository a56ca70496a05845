"""`pronmetric compare`: which of two or more system outputs has the better pronouns, and how sure that is."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice
from typing import Any, NamedTuple

from pronmetric.cli import context_flag, load, numbers, options, output, tie
from pronmetric.cli import corpus as corpora
from pronmetric.cli import exports as files
from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import MINIMUM
from pronmetric.eval.significance import FEWEST, RESAMPLES, holm
from pronmetric.output.display import visible
from pronmetric.results import FEW, TIE
from pronmetric.scoring.alternatives import Stream
from pronmetric.scoring.comparison import Decision, Duel, Outcome, average
from pronmetric.scoring.score import Counts, PronounScore, SegmentScore, SystemScore
from pronmetric.text.context import COMMON, CROSSED, Text
from pronmetric.text.corpus import Corpus, Row

DESCRIPTION = """Compare the pronouns of two or more translations of the same text, segment by segment and as a whole.

For each segment: which one is better, by how much, and the pronouns that decided it. For each pair of systems: the
difference of their scores (100 x the mean probability over all pronouns; above 0 where the first is better), its 95 %
interval and p value, wins, ties and losses. Interval and p come from one paired bootstrap over documents: the interval
excludes 0 exactly where p < 0.05; with fewer than 5 documents there is neither. Approximate randomisation is a second
test, whose p may differ. With more than two systems the p values are also adjusted by Holm's method; the intervals are
those of each pair alone."""
EPILOG = f"""context:
  common      the previous sentences of the reference; the default with -r and -d. With several references each
              text is scored in the context of each; scores and differences are means, and each one's is given too
  crossed     without a reference: each pair in the context of the one output and again in that of the other, the
              differences averaged, so that the order of the two only changes the sign; the default then
  respective  each output in its own context
  none        the segments alone
{context_flag.SIZE_HELP}
Without --docids the lines of a file count as one document, and the tests resample segments.
Segments count from 0, as in COMET; lines in errors count from 1: segment 0 is line 1.

examples:
  pronmetric compare -t sysA.txt sysB.txt -r ref.txt --docids ids.txt
  pronmetric compare -t sysA.txt sysB.txt sysC.txt --only_system"""
_COLUMNS = ("a", "b", "segment", "doc", "better", "difference", "a_score", "b_score", "a_decided", "b_decided")


class Pair(NamedTuple):
    """Two systems by their place in the corpus, the running count between them, and that with each reference."""

    a: int
    b: int
    duel: Duel
    by_reference: tuple[Duel, ...]


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = options.parser("compare", DESCRIPTION, EPILOG, jsonl=False)
    parser.add_argument(
        "--tie",
        type=tie.parse_value,
        default=TIE,
        metavar="auto|X",
        help="segments whose scores differ by no more than X are ties; auto: than the band in the checkpoint's config, "
        "which ties the same share of its development pairs as were ties among the answers published with the paper "
        "(1.7 %%); people may tie far more often on your texts (default: %(default)s)",
    )
    parser.add_argument(
        "--num_splits", type=_splits, metavar="N", help=f"number of resamples of both tests (default: {RESAMPLES})"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = made.parse_args(argv)
    options.check_flags(made, args)
    options.check_targets(args)
    if args.translations is not None and len(args.translations) < 2:
        raise PronmetricError(
            f"expected two or more systems to compare, got only {args.translations[0]}; name them after -t"
        )
    band = tie.threshold(args.tie, args.model, allow_network=args.allow_network, storage=args.model_storage_path)
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    corpus = corpora.read(args, note)
    if len(corpus.systems) < 2:
        raise PronmetricError(
            f"expected two or more systems to compare, got only {corpus.systems[0]}; give more --systems"
        )
    config = load.config(args)
    kind = context_flag.choose(args, config, COMMON if corpus.references else CROSSED, note)
    context_flag.announce(kind, corpus, args, note, size=config["context_size"])
    _compare(args, corpus, kind, band, note)
    return 0


def _splits(text: str) -> int:
    """The value of --num_splits."""
    if numbers.positive(text) < FEWEST:
        raise argparse.ArgumentTypeError(f"expected a whole number from {FEWEST}, got {text!r}")
    return int(text)


def _compare(args: argparse.Namespace, corpus: Corpus, kind: str, band: float, note: output.Notes) -> None:
    metric = load.metric(args, note)
    counts = Counts()
    signature = metric.signature(context=kind, context_size=metric.context_size, seed=args.seed)
    signature = tie.add_threshold(context_flag.add_references(signature, kind, corpus, args), band)
    if args.num_splits is not None:
        signature = signature.plus(resamples=args.num_splits)
    resamples = RESAMPLES if args.num_splits is None else args.num_splits
    references = context_flag.averaged_references(kind, corpus)
    texts_a_row = len(corpus.systems) * (len(corpus.systems) if kind == CROSSED else max(1, len(references)))
    pairs = [
        Pair(a, b, Duel(tie=band), tuple(Duel(tie=band) for _ in references))
        for a, b in combinations(range(len(corpus.systems)), 2)
    ]
    columns = (*_COLUMNS, *(f"difference with {name}" for name in references))
    with (
        files.Exports(json_path=args.to_json, tsv_path=args.to_tsv, columns=columns) as exports,
        output.bar(args, total=corpus.segments * texts_a_row) as bar,
    ):
        stream = partial(load.stream, metric, args=args, counts=counts, advance=bar.update)
        for number, (row, scores) in enumerate(_scored(corpus, kind, metric.context_size, stream)):
            for a, b, duel, by_reference in pairs:
                decision = duel.add(average(*scores[a, b]), average(*scores[b, a]), row.doc)
                each = [
                    one.add(x, y, row.doc) for one, x, y in zip(by_reference, scores[a, b], scores[b, a], strict=False)
                ]
                names = corpus.systems[a], corpus.systems[b]
                if not args.only_system:
                    print(_line(names, number, decision))
                in_each = dict(zip(references, each, strict=True))
                _export(exports, names, number, row, (row.texts[a], row.texts[b]), decision, in_each)
        outcomes = [pair.duel.outcome(seed=args.seed, resamples=resamples) for pair in pairs]
        parts = [
            {
                ref: one.outcome(seed=args.seed, resamples=resamples)
                for ref, one in zip(references, pair.by_reference, strict=True)
            }
            for pair in pairs
        ]
        adjusted = _adjusted(outcomes)
        names_of = [(corpus.systems[a], corpus.systems[b]) for a, b, *_ in pairs]
        exports.finish(
            pairs=[_pair(*told) for told in zip(names_of, outcomes, adjusted, parts, strict=True)],
            tie=band,
            counts=files.encoded(counts),
            signature=str(signature),
        )
    for told in zip(names_of, outcomes, adjusted, parts, strict=True):
        print(_summary(*told, band=band))
    few = min(outcome.units for outcome in outcomes)
    if few < FEW:
        note(f"intervals and tests rest on {few} {outcomes[0].resampled} only")
    note.lengths(counts)
    note(f"signature: {signature}")


def _scored(
    corpus: Corpus, kind: str, size: int, stream: Stream
) -> Iterator[tuple[Row, dict[tuple[int, int], tuple[SegmentScore, ...]]]]:
    """Rows, with the scores of each system x as it stands against each other one y, under (x, y).

    There are as many as references in whose context the texts are scored, else one.
    """
    systems = range(len(corpus.systems))
    contexts_of = len(corpus.references) if kind == COMMON else 1
    owners = {
        x: [(y, 0) for y in systems] if kind == CROSSED else [(x, k) for k in range(contexts_of)] for x in systems
    }
    waiting: deque[Row] = deque()

    def texts() -> Iterator[Text]:
        for row, contexts in corpus.in_context(kind, size=size):
            waiting.append(row)
            yield from (Text(contexts[owner][k], row.texts[x]) for x in systems for owner, k in owners[x])

    found = stream(texts())
    while waiting_scores := list(islice(found, sum(map(len, owners.values())))):
        scores = iter(waiting_scores)
        in_context = {(x, owner): next(scores) for x in systems for owner in owners[x]}
        yield (
            waiting.popleft(),
            {
                (x, y): (average(in_context[x, (x, 0)], in_context[x, (y, 0)]),)
                if kind == CROSSED
                else tuple(in_context[x, owner] for owner in owners[x])
                for x in systems
                for y in systems
                if x != y
            },
        )


def _adjusted(outcomes: Sequence[Outcome]) -> list[tuple[float | None, float | None]]:
    """The p values of bootstrap and randomisation of each pair after Holm; None where there is no test."""
    return list(
        zip(
            _holm([outcome.p_bootstrap for outcome in outcomes]),
            _holm([outcome.p_randomisation for outcome in outcomes]),
            strict=True,
        )
    )


def _holm(values: Sequence[float | None]) -> list[float | None]:
    tested = iter(holm([value for value in values if value is not None]))
    return [None if value is None else next(tested) for value in values]


def _line(names: tuple[str, str], number: int, decision: Decision) -> str:
    """One segment on stdout."""
    names = visible(names[0]), visible(names[1])
    better = {"a": names[0], "b": names[1], None: "null"}.get(decision.better, decision.better)
    difference = "null" if decision.difference is None else f"{decision.difference:.4f}"
    cells = [*names, f"Segment {number}", f"better: {better}", f"difference: {difference}"]
    for name, pronouns in zip(names, (decision.a_decided, decision.b_decided), strict=True):
        if pronouns:
            cells.append(f"{name}: {_listed(pronouns)}")
    return "\t".join(cells)


def _listed(pronouns: Sequence[PronounScore]) -> str:
    return ", ".join(f"{p.text} {p.score:.2f}" for p in pronouns)


def _summary(
    names: tuple[str, str],
    outcome: Outcome,
    adjusted: tuple[float | None, float | None],
    by_reference: Mapping[str, Outcome],
    *,
    band: float,
) -> str:
    """What a person reads about two systems."""
    names = visible(names[0]), visible(names[1])
    width = max(map(len, names))
    lines = [f"{names[0]} against {names[1]}"]
    for name, score in zip(names, (outcome.a, outcome.b), strict=True):
        lines.append(f"  {name:<{width}}  {_system(score)}")
    if outcome.difference is not None:
        between = "" if outcome.interval is None else f", 95 % {outcome.interval[0]:+.2f} to {outcome.interval[1]:+.2f}"
        rough = "; few: interval and p are rough" if between and outcome.units < FEW else ""
        lines.append(f"  difference {outcome.difference:+.2f}{between} ({outcome.units} {outcome.resampled}{rough})")
    for reference, part in by_reference.items():
        if part.a.score is not None and part.b.score is not None:
            between = "" if part.interval is None else f", 95 % {part.interval[0]:+.2f} to {part.interval[1]:+.2f}"
            scores = f"{part.a.score:.2f} and {part.b.score:.2f}"
            lines.append(f"    with {visible(reference)}: {scores}, difference {part.difference:+.2f}{between}")
    lines.append(
        f"  segments: {outcome.wins} better in {names[0]}, {outcome.losses} in {names[1]}, {outcome.ties} ties "
        f"(within {band:g}); {outcome.one_sided} with pronouns in one only, {outcome.unscored} in neither"
    )
    if outcome.p_bootstrap is None:
        lines.append(f"  no interval, no bootstrap p: fewer than {MINIMUM} {outcome.resampled} with a pronoun")
    else:
        lines.append(f"  paired bootstrap p = {_p(outcome.p_bootstrap, adjusted[0])}, from the interval's resamples")
    if outcome.p_randomisation is not None:
        lines.append(f"  second test: approximate randomisation p = {_p(outcome.p_randomisation, adjusted[1])}")
    return "\n".join(lines)


def _p(p: float, adjusted: float | None) -> str:
    return f"{p:.4f}" + ("" if adjusted is None or adjusted == p else f" (Holm {adjusted:.4f})")


def _system(score: SystemScore) -> str:
    number = "null" if score.score is None else f"{score.score:.2f}"
    return f"{number}  ({score.pronouns} pronouns in {score.with_pronoun} of {score.segments} segments)"


def _pair(
    names: tuple[str, str],
    outcome: Outcome,
    adjusted: tuple[float | None, float | None],
    by_reference: Mapping[str, Outcome],
) -> dict[str, Any]:
    """Two systems in JSON."""
    each = [
        {
            "reference": reference,
            "a": files.rounded(part.a.score),
            "b": files.rounded(part.b.score),
            "difference": files.rounded(part.difference),
            "interval": None if part.interval is None else [files.rounded(end) for end in part.interval],
            "p_bootstrap": files.rounded(part.p_bootstrap),
        }
        for reference, part in by_reference.items()
    ]
    return {
        "a": files.system(names[0], outcome.a),
        "b": files.system(names[1], outcome.b),
        "difference": files.rounded(outcome.difference),
        "interval": None if outcome.interval is None else [files.rounded(end) for end in outcome.interval],
        "a_ahead": files.rounded(outcome.a_ahead),
        "p_bootstrap": files.rounded(outcome.p_bootstrap),
        "p_bootstrap_holm": files.rounded(adjusted[0]),
        "p_randomisation": files.rounded(outcome.p_randomisation),
        "p_randomisation_holm": files.rounded(adjusted[1]),
        "wins": outcome.wins,
        "ties": outcome.ties,
        "losses": outcome.losses,
        "one_sided": outcome.one_sided,
        "unscored": outcome.unscored,
        "resampled": outcome.resampled,
        "units": outcome.units,
        **({"by_reference": each} if each else {}),
    }


def _export(
    exports: files.Exports,
    names: tuple[str, str],
    number: int,
    row: Row,
    texts: tuple[str, str],
    decision: Decision,
    each: Mapping[str, Decision],
) -> None:
    content: dict[str, Any] = {
        "a": names[0],
        "b": names[1],
        "segment": number,
        "doc": row.doc,
        "source": row.source,
        "reference": row.reference,
        "better": decision.better,
        "difference": files.rounded(decision.difference),
        "a_text": texts[0],
        "b_text": texts[1],
        "a_scored": files.scored(decision.a),
        "b_scored": files.scored(decision.b),
        "a_decided": [files.pronoun(p) for p in decision.a_decided],
        "b_decided": [files.pronoun(p) for p in decision.b_decided],
    }
    if each:
        content["by_reference"] = [
            {"reference": reference, "text": text, "difference": files.rounded(its.difference), "better": its.better}
            for (reference, its), text in zip(each.items(), row.references, strict=True)
        ]
    cells = (*names, number, row.doc, decision.better, decision.difference, decision.a.score, decision.b.score)
    decided = _listed(decision.a_decided), _listed(decision.b_decided)
    exports.segment(content, [(*cells, *decided, *(its.difference for its in each.values()))])
