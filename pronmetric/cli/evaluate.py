"""`pronmetric evaluate` on pairs of texts: how often a metric prefers the better text."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pronmetric.cli import flags, output, pair_figures, pair_json
from pronmetric.cli.pair_json import Scores
from pronmetric.cli.run import (
    check_texts,
    choose_context,
    load_config,
    load_language,
    load_metric,
    note_english_figures,
)
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.human import judged_pairs, pair_accuracy, pair_sets, prepared_pairs, seen_pairs
from pronmetric.lab.human import pair_baselines as pair_scores
from pronmetric.lab.human import pair_evaluation as evaluation
from pronmetric.lab.human.judged_pairs import PairScores
from pronmetric.lab.human.pair_evaluation import Settings
from pronmetric.lab.human.pair_sets import PairSet
from pronmetric.output import targets
from pronmetric.results import FEW
from pronmetric.scoring.score import Counts
from pronmetric.text.context import COMMON, CONTEXT_SIZE

Config = Mapping[str, Any]


def run(args: argparse.Namespace, note: output.Notes) -> None:
    """Evaluate scores of pairs of texts."""
    if args.threshold is not None:
        raise PronmetricError("--threshold needs labelled pronouns, these are pairs of texts")
    config = None if args.scores is not None else load_config(args)
    note_english_figures(config, note)
    threshold = (
        None
        if args.tie is None
        else flags.tie_threshold(args.tie, args.model, by=args.by, allow_network=args.allow_network)
    )
    seen = _read_seen(args, config, note)
    pairs = _read_pairs(args, config, note)
    context = args.context or COMMON if config is None else choose_context(args, config, COMMON, note)
    settings = Settings(
        seed=args.seed,
        tie_threshold=threshold,
        seen=seen,
        against=None if args.against is None else _read_scores(pairs, args.against),
        baselines=None if args.also is None else pair_scores.score_pairs(args.also, pairs, source=pairs.name),
        language_model={} if args.language_model is None else _read_by_language_model(pairs, context, args),
    )
    if config is None:
        scores = Scores(_read_scores(pairs, args.scores), scored_by=args.scores)
    else:
        scores = _score(pairs, config, threshold, context, args, note)
    note.begin()
    if args.save_scores is not None:
        with targets.AtomicFile(args.save_scores) as file:
            file.writelines(f"{judged_pairs.score_line(pair.id, scores.by_id[pair.id])}\n" for pair in pairs)
    results = {name: evaluation.evaluate(part, scores.by_id, settings) for name, part in pairs.parts.items()}
    if args.to_json is not None:
        pair_json.write(args.to_json, pairs, scores, results, settings, against=args.against)
    for number, (name, part) in enumerate(pairs.parts.items()):
        title = f"{pairs.name}{name and ', '}{name}; {scores.scored_by or f'context {scores.context}'}"
        sections = pair_figures.format_results(
            title, part, results[name], settings, scored_by=scores.scored_by, against=args.against
        )
        print(("\n" if number else "") + sections)
        unit, clusters = results[name].figures.clusters
        if clusters <= FEW:
            note(f"the intervals are based on only {clusters} {pair_figures.UNITS[unit]}")
    _note_signatures(scores, settings, note)


def _read_seen(args: argparse.Namespace, config: Config | None, note: output.Notes) -> seen_pairs.PronounPairs | None:
    """The pronoun pairs of the training data: from --seen, else from the checkpoint."""
    if args.seen is not None:
        return seen_pairs.read(args.seen)
    found = None if config is None else seen_pairs.read_config(config)
    if found is None:
        where = "a file of scores" if config is None else "the checkpoint"
        note.detail(
            f"{where} does not record which pronoun pairs occur in the training data; give --seen confusion.json of "
            "the prepared folder"
        )
    return found


def _read_pairs(args: argparse.Namespace, config: Config | None, note: output.Notes) -> PairSet:
    if args.dataset is not None:
        from data_prep import test_set_pairs

        size = CONTEXT_SIZE if config is None else config["context_size"]
        pairs = test_set_pairs.read(
            args.dataset, args.wmt_dir, args.systems, context_size=size, seed=args.seed, note=note
        )
    elif Path(args.pairs).is_dir():
        pairs = prepared_pairs.read(args.pairs, args.split or prepared_pairs.SPLITS[0], note=note)
    elif args.split is not None:
        raise InputError("--split needs a prepared folder, this is a file", file=args.pairs)
    else:
        pairs = pair_sets.read_file(args.pairs, note=note)
    for part in pairs.parts.values():
        pair_accuracy.refuse_undecided(part, file=args.pairs)
    if both := [name for name in pairs.testsets if name in _training_testsets(config)]:
        note(f"the checkpoint was trained on {', '.join(both)}: these figures do not measure it on unseen data")
    return pairs


def _training_testsets(config: Config | None) -> Sequence[str]:
    try:
        return () if config is None else tuple(config["training"]["data"]["splits"]["train"]["testsets"])
    except (KeyError, TypeError):
        return ()


def _read_scores(pairs: PairSet, file: str) -> PairScores:
    """The scores in a file, which must contain exactly these pairs."""
    scores = judged_pairs.read_scores(file)
    judged_pairs.scores_of(pairs, scores, file=file)
    return scores


def _read_by_language_model(pairs: PairSet, context: str, args: argparse.Namespace) -> dict[str, PairScores]:
    """The log-probability of both texts of each pair, summed and by piece."""
    from pronmetric.lab.seq2seq.language_model import LanguageModel

    texts = list(pairs.texts(context, seed=args.seed))
    precision = "32" if args.precision in (None, "int8") else args.precision
    model = LanguageModel(args.language_model, precision=precision, gpus=args.gpus)
    with output.bar(args, total=len(texts), label="language model") as bar:
        read = model.read(texts, advance=bar.update)
    both = [(pair.id, a, b) for pair, a, b in zip(pairs, read[::2], read[1::2], strict=True)]
    return {
        "sum": {identity: (a.total, b.total) for identity, a, b in both},
        "per piece": {identity: (a.per_piece, b.per_piece) for identity, a, b in both},
    }


def _score(
    pairs: PairSet,
    config: Config,
    threshold: float | None,
    context: str,
    args: argparse.Namespace,
    note: output.Notes,
) -> Scores:
    """The model's numbers that decide (--by)."""
    by = flags.choose_decision(args, config)
    size = config["context_size"] if args.dataset is not None else None  # other pairs contain their context
    texts = list(pairs.texts(context, seed=args.seed))
    named = {args.dataset or args.pairs: (text.text for text in texts)}
    check_texts(named, load_language(args), note, strict=args.strict)
    metric = load_metric(args, note)
    counts = Counts()
    with output.bar(args, total=len(texts)) as bar:

        def both_scores() -> Iterator[tuple[float | None, float | None]]:
            stream = metric.stream(texts, batch_size=args.batch_size, counts=counts, advance=bar.update)
            while both := tuple(islice(stream, 2)):
                yield both[0].value(by), both[1].value(by)

        by_id = dict(zip((pair.id for pair in pairs), both_scores(), strict=True))
    signature = metric.signature(context=context, context_size=size, seed=args.seed).plus(by=by)
    return Scores(by_id, None, context, str(flags.add_tie(signature, threshold)), counts)


def _note_signatures(scores: Scores, settings: Settings, note: output.Notes) -> None:
    for name, signature in (settings.baselines.signatures if settings.baselines is not None else {}).items():
        note.detail(f"signature of {name}: {signature}")
    if scores.counts is not None:
        note.lengths(scores.counts)
    if scores.signature is not None:
        note(f"signature: {scores.signature}")
