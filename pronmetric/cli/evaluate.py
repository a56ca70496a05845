"""`pronmetric evaluate`: a metric held against people's answers, on pairs of texts or on single pronouns."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from pronmetric.baselines.simple import Floor
from pronmetric.cli import also as older
from pronmetric.cli import (
    context_flag,
    exports,
    floor_table,
    load,
    numbers,
    options,
    output,
    stray,
    tie,
    token_detection,
)
from pronmetric.cli import pair_sources as sources
from pronmetric.cli.pair_sources import SHUFFLED, SPLITS, Pairs
from pronmetric.cli.tables import percent, plain, table
from pronmetric.errors import PronmetricError
from pronmetric.eval.accuracy import Accuracy
from pronmetric.output import targets
from pronmetric.results import FEW
from pronmetric.scoring.score import Counts
from pronmetric.signature import Signature
from pronmetric.suites import judged_pairs, pair_accuracy
from pronmetric.suites.pair_accuracy import Contest, Figures
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, CONTEXT_SIZE, NONE, RESPECTIVE

if TYPE_CHECKING:
    from pronmetric.metric import PronounMetric

DESCRIPTION = """Say how often a metric prefers the text that people find better, on pairs that differ in pronouns.

Accuracy is the share of pairs whose better text gets the higher score, in percent, higher is better, with a 95 %
interval that resamples documents (or groups, or pairs, where the pairs name none). Equal scores are wrong, and so are
missing ones (null: a text without a pronoun); both are counted."""
EPILOG = """pairs, one of:
  FILE.jsonl  one object a line: {"id", "context": [sentences], "text_a", "text_b", "better": "A"|"B"|"tie",
              "votes": {rater: "A"|"B"|"tie"}, "group", "doc", "pronoun_a", "pronoun_b", "reference", "system_a",
              "system_b"}; or a file of the published study ({"reference": tokens, "noisy": tokens, ...}, the reference
              being better)
  FILE.tsv    GAP: each sentence against the same with the pronoun of the other gender
  FOLDER      of `pronmetric prepare`: reference against system (R vs S), and against the reference with one pronoun of
              the system (R vs R'), each with its own figures
  -d NAME:LP  a WMT test set, aligned and compared here
People's answer to a pair is "better"; where that is absent, what more than half of the raters voted. Pairs without
either are left out. A pair that people call a tie counts only with --tie, which holds the answers A, B and tie of a
metric with that band against people's.

context:
  common      the pair's context, for both texts (default, but for a checkpoint trained without context: none)
  respective  each text its own: the reference's before the reference, the system's before its output (WMT only)
  shuffled    that of another document
  none        the texts alone

FILE.jsonl may also hold single pronouns labelled right or wrong, as `pronmetric mqm` writes them: then precision,
recall, F1 (wrong is what is sought; flagged is a score below --threshold), average precision and ROC AUC are told.

Floors stand beside the metric, on the pairs that they decide, where the pairs have what they need: the text with fewer
pronouns, the one nearer to "reference" by chrF, the one whose system ("system_a", "system_b") does better in the other
documents. A metric that does no better is not worth its while.

Another metric's scores are judged with --scores FILE: one object a line, {"id", "score_a", "score_b"} for pairs,
{"id", "score"} for pronouns, null where there is none. --against FILE compares with such scores on the same pairs.

--also judges older scores by the same test: each holds both texts against the pair's "reference" (`pronmetric score
--help` says what they are). Left out are pairs without one, and pairs whose reference is one of the two texts, which
any such score prefers. A pair of a WMT test set or prepared folder, whose text A is a reference, is held against
another reference of that segment, where there is one.

examples:
  pronmetric evaluate pairs.jsonl --save-scores mine.jsonl
  pronmetric evaluate pairs.jsonl --scores theirs.jsonl --against mine.jsonl
  pronmetric evaluate -d wmt22:de-en --wmt-dir wmt22-news-systems --context respective"""
ONLY = "pairs"
ById = Mapping[str, tuple[float | None, float | None]]
"""The scores of each pair's texts A and B by the pair's id."""
_PRONOUN_PAIRS, _ERRORS = 20, 15
_UNITS = {pair_accuracy.DOC: "documents", pair_accuracy.GROUP: "groups", pair_accuracy.PAIR: "pairs"}


class Scored(NamedTuple):
    """The scores of all pairs; of a model also in which context, with what signature, and what was cut."""

    of: ById
    context: str | None = None
    signature: Signature | None = None
    counts: Counts | None = None


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = stray.parse(
        made, argv, cure="give one file or folder of pairs; scores of another metric follow --scores or --against"
    )
    _check_flags(made, args)
    read = (args.pairs, args.scores, args.against, args.seen, args.wmt_dir, args.model)
    targets.check((args.to_json, args.save_scores), read=read)
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    if args.pairs is not None and token_detection.holds_tokens(args.pairs):
        token_detection.run(args, note)
    else:
        _evaluate(args, note)
    return 0


def _evaluate(args: argparse.Namespace, note: output.Notes) -> None:
    if args.threshold is not None:
        raise PronmetricError("--threshold goes with single pronouns labelled right or wrong, these are pairs")
    config = None if args.scores is not None else load.config(args)
    band = None if args.tie is None else tie.band(args.tie, args.model, allow_network=args.allow_network)
    size = CONTEXT_SIZE if config is None else config["context_size"]
    seen = _seen(args, config, note)
    if args.dataset is not None:
        pairs = sources.wmt(args.dataset, args.wmt_dir, args.systems, size=size, seed=args.seed, note=note)
    else:
        pairs = sources.read(args.pairs, split=args.split, note=note)
    for part in pairs.parts.values():
        pair_accuracy.refuse_undecided(part, file=args.pairs)
    _say_trained_on(pairs, config, note)
    also = None if args.also is None else older.of_pairs(args.also, pairs, source=pairs.name)
    against = None if args.against is None else _scores_of(pairs, args.against)
    scored = _scored(pairs, config, args, note) if config is not None else Scored(_scores_of(pairs, args.scores))
    note.begin()
    if args.save_scores is not None:
        with targets.AtomicFile(args.save_scores) as file:
            file.writelines(sources.score_line(pair.id, scored.of[pair.id]) + "\n" for pair in pairs)

    figures: dict[str, Figures] = {}
    contests: dict[str, Contest] = {}
    others: dict[str, dict[str, Contest]] = {}
    held: dict[str, dict[str, Floor]] = {}
    for name, part in pairs.parts.items():
        if figures:
            print()
        own = [scored.of[pair.id] for pair in part]
        figures[name] = pair_accuracy.evaluate(part, own, seen=seen, band=band, seed=args.seed)
        _say_few(figures[name].clusters, note)
        print(shown(f"{pairs.name}{name and ', '}{name}; {args.scores or f'context {scored.context}'}", figures[name]))
        if against is not None:
            contests[name] = pair_accuracy.contest(part, own, [against[pair.id] for pair in part], seed=args.seed)
            print(_contest(contests[name], args.scores or "model", args.against))
        if also is not None:
            others[name] = also.contests(part, scored.of, seed=args.seed)
            left_out = also.left_out(part)
            print("\n" + older.shown(others[name], own=args.scores or older.OURS, left_out=left_out))
        held[name] = floor_table.found(part, own, seed=args.seed)
        if held[name]:
            print("\n" + floor_table.shown(held[name]))
    if also is not None:
        for name, its in also.signatures.items():
            note(f"signature of {name}: {its}")
    if scored.counts is not None:
        note.lengths(scored.counts)
    signature = None if scored.signature is None else str(tie.signed(scored.signature, band))
    if signature is not None:
        note(f"signature: {signature}")
    if args.to_json is not None:
        content = {
            "input": pairs.name,
            "scores": args.scores,
            "signature": signature,
            "context": scored.context,
            "tie": band,
            "counts": None if scored.counts is None else exports.encoded(scored.counts),
            "parts": _named(figures),
            "against": None if against is None else {"scores": args.against, "parts": _named(contests)},
            "also": None if also is None else {**also.origin(), "parts": _named(others)},
            "floors": _named(held),
            "pairs": list(_rows(pairs, scored.of, also)),
        }
        with targets.AtomicFile(args.to_json) as file:
            file.write(strict_json.dump(content, indent=1) + "\n")


def _named(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of each part in JSON; the only part of a file is called pairs."""
    return {name or ONLY: plain(found) for name, found in parts.items()}


def _rows(pairs: Pairs, scores: ById, also: older.OfPairs | None) -> Iterator[dict[str, Any]]:
    """Each pair in JSON: the answer it is held against, its scores, and the older ones of both texts."""
    for name, part in pairs.parts.items():
        for pair in part:
            a, b = scores[pair.id]
            told = {} if also is None else {"also": also.of(pair.id)}
            better = pair_accuracy.answer(pair)
            yield {"id": pair.id, "part": name or ONLY, "better": better, "score_a": a, "score_b": b, **told}


def _seen(
    args: argparse.Namespace, config: Mapping[str, Any] | None, note: output.Notes
) -> frozenset[tuple[str, str]] | None:
    """The pronoun pairs of the training data: those of --seen, else those that the checkpoint tells."""
    if args.seen is not None:
        return sources.seen_in(args.seen)
    found = None if config is None else sources.seen_by(config)
    if found is None:
        whose = "a scores file" if config is None else "the checkpoint"
        note(
            f"which pronoun pairs training met is not known ({whose} does not tell); "
            "give --seen confusion.json of the prepared folder"
        )
    return found


def _say_trained_on(pairs: Pairs, config: Mapping[str, Any] | None, note: output.Notes) -> None:
    try:
        trained = config["training"]["data"]["splits"]["train"]["testsets"] if config is not None else ()
    except (KeyError, TypeError):
        return
    if both := [testset for testset in pairs.testsets if testset in trained]:
        note(f"the checkpoint was trained on {', '.join(both)}: these figures tell nothing of other data")


def _say_few(clusters: tuple[str, int], note: output.Notes) -> None:
    if clusters[1] < FEW:
        note(f"the intervals rest on {clusters[1]} {_UNITS[clusters[0]]} only")


def _scores_of(pairs: Pairs, file: str) -> ById:
    """Somebody's scores of exactly these pairs."""
    scores = judged_pairs.read_scores(file)
    judged_pairs.scores_of(pairs, scores, file=file)
    return scores


def _scored(pairs: Pairs, config: Mapping[str, Any], args: argparse.Namespace, note: output.Notes) -> Scored:
    """The model's scores."""
    kind = context_flag.choose(args, config, COMMON, note)
    size = config["context_size"] if args.dataset is not None else None  # other pairs bring their context
    texts = list(pairs.texts(kind, seed=args.seed))
    metric: PronounMetric = load.metric(args, note)
    counts = Counts()
    with output.bar(args, total=len(texts)) as bar:

        def found() -> Iterator[tuple[float | None, float | None]]:
            stream = metric.stream(texts, batch_size=args.batch_size, counts=counts, advance=bar.update)
            while both := tuple(islice(stream, 2)):
                yield both[0].score, both[1].score

        scores = dict(zip((pair.id for pair in pairs), found(), strict=True))
    return Scored(scores, kind, metric.signature(context=kind, context_size=size, seed=args.seed), counts)


def shown(title: str, found: Figures) -> str:
    """What a person reads of one part: accuracies, the most frequent errors, ties."""
    labels, (resampled, units) = found.labels, found.clusters
    judges = ", ".join(f"{judge}: {count}" for judge, count in labels.judges.items())
    told = f"{labels.better} answers given{judges and f' ({judges})'}, {labels.votes} by the majority of votes"
    left = f"{labels.ties} ties, {labels.open} without an answer"
    lines = [title, f"{told}; not in the accuracy: {left}; intervals resample {units} {_UNITS[resampled]}"]
    if labels.against_votes:
        lines.append(f"in {labels.against_votes} pairs the given answer is not what most raters voted")
    rows = [_row("all", found.accuracy)]
    rows += [_row(name, value) for name, value in found.by_group.items()]
    rows += [_row(name, value) for name, value in (found.by_seen or {}).items()]
    rows += [_row(name, value) for name, value in found.by_kind.items()]
    often = sorted(found.by_pronouns.items(), key=lambda named: (-named[1].pairs, named[0]))
    rows += [_row(name, value) for name, value in often[:_PRONOUN_PAIRS]]
    lines.append(table(["", "pairs", "accuracy", "equal", "null"], rows))
    if len(often) > _PRONOUN_PAIRS:
        lines.append(f"... the {_PRONOUN_PAIRS} most frequent of {len(often)} pronoun pairs; --to_json has all")
    errors = [[f"{c.reference} -> {c.system}", c.wrong, c.pairs] for c in found.confusions[:_ERRORS] if c.wrong]
    if errors:
        lines += ["", table(["most errors", "wrong", "of"], errors)]
    if found.people_ties is not None:
        band = "" if found.matching_band is None else f"; a band of {found.matching_band:.4g} would tie as often"
        lines += ["", f"people call {100 * found.people_ties:.1f} % of the pairs a tie{band}"]
    if found.ties is not None:
        ties = found.ties
        head = [f"tie band {ties.band:g}", *ties.table["A"]]
        lines += [
            "",
            f"answers A, B and tie of {ties.pairs} pairs: {percent(ties.accuracy)} equal to people's; "
            f"ties: people {100 * ties.people_ties:.1f} %, metric {100 * ties.metric_ties:.1f} %",
            table(head, [[f"people {said}", *row.values()] for said, row in ties.table.items()]),
        ]
    return "\n".join(lines)


def _row(name: str, found: Accuracy) -> list[object]:
    return [name, found.pairs, percent(found), found.equal, found.null]


def _contest(found: Contest, first: str, second: str) -> str:
    tests = {
        "paired bootstrap, as the interval,": found.p_bootstrap,
        "second test: approximate randomisation": found.p_randomisation,
    }
    said = [f"{test} p = {p:.4f}" for test, p in tests.items() if p is not None]
    return "\n".join(
        [
            "",
            table(
                ["", "accuracy", "right alone"],
                [
                    [first, percent(found.first), found.only_first],
                    [second, percent(found.second), found.only_second],
                ],
            ),
            f"difference {percent(found.difference, signed=True)}; " + ("; ".join(said) or "no test: too few clusters"),
        ]
    )


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = argparse.ArgumentParser(
        prog="pronmetric evaluate",
        usage="pronmetric evaluate [PAIRS | -d NAME:LP --wmt-dir DIR] [--scores FILE] [flags]",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    texts = made.add_argument_group("pairs")
    texts.add_argument("pairs", nargs="?", metavar="PAIRS", help="a JSONL or GAP file, or a prepared folder; see below")
    texts.add_argument("--split", choices=SPLITS, help=f"of a prepared folder (default: {SPLITS[0]})")
    options.add_dataset(texts)
    texts.add_argument("--context", choices=[COMMON, RESPECTIVE, NONE, SHUFFLED], help="see below (default: common)")
    judging = made.add_argument_group("judging")
    judging.add_argument(
        "--tie",
        type=tie.argument,
        metavar="auto|X",
        help="also hold A, B and tie against people's answers: scores that differ by no more than X tie; auto is the "
        "band in the checkpoint's config",
    )
    judging.add_argument(
        "--seen", metavar="FILE", help="confusion.json of the training data's prepared folder: pronoun pairs seen there"
    )
    judging.add_argument("--scores", metavar="FILE", help="judge these scores; no model is loaded")
    judging.add_argument("--against", metavar="FILE", help="compare with these scores on the same pairs")
    older.add(judging)
    judging.add_argument(
        "--threshold", type=numbers.finite, metavar="X", help="of single pronouns: flagged below X (default: 0.5)"
    )
    options.add_model(made)
    output = made.add_argument_group("output")
    options.both(output, "to-json", metavar="FILE", help="write every figure and each pair's scores")
    options.both(output, "save-scores", metavar="FILE", help="write the model's scores, as --scores reads them")
    output.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    return made


def _check_flags(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Flags that do not go together: a usage error, exit code 2."""
    if (args.pairs is None) == (args.dataset is None):
        made.error("give PAIRS or -d" + (", not both" if args.pairs is not None else ""))
    options.check_dataset(made, args)
    if args.dataset is not None and args.split is not None:
        made.error("--split goes with a prepared folder, not with -d")
    if args.scores is None:
        return
    of_model = {
        "--model": args.model,
        "--context": args.context,
        "--precision": args.precision,
        "--gpus": args.gpus,
        "--batch_size": args.batch_size,
        "--allow_network": args.allow_network or None,
        "--save_scores": args.save_scores,
        "--tie auto": args.tie if args.tie == tie.AUTO else None,
    }
    if extra := [flag for flag, value in of_model.items() if value is not None]:
        made.error(
            f"--scores loads no model, so that {' and '.join(extra)} {'go' if extra[1:] else 'goes'} not with it"
        )
