"""`pronmetric evaluate` on labelled pronouns: how well low scores detect wrong ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.cli import output
from pronmetric.cli.run import check_texts, choose_context, load_config, load_language, load_metric
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.detection import THRESHOLD, Detection
from pronmetric.lab.human import labelled_pronouns as labelled
from pronmetric.lab.human import pronoun_detection
from pronmetric.lab.human.labelled_pronouns import LabelledPronoun
from pronmetric.lab.human.pair_sets import read_first_line
from pronmetric.lab.human.pronoun_detection import DetectionFigures
from pronmetric.output import targets
from pronmetric.report.text import percent, table
from pronmetric.results import FEW
from pronmetric.results.write import counts_entry
from pronmetric.scoring.score import Counts, SegmentScore
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, RESPECTIVE
from pronmetric.text.strict_json import plain


class Scores(NamedTuple):
    """The score of each pronoun; from a model also context, signature and the number of cut texts."""

    values: list[float | None]
    context: str | None = None
    signature: str | None = None
    counts: Counts | None = None


def accepts(path: str) -> bool:
    """Whether a file holds labelled pronouns, judged by its first line."""
    return not Path(path).is_dir() and labelled.is_record(read_first_line(path))


def run(args: argparse.Namespace, note: output.Notes) -> None:
    """Evaluate scores of labelled pronouns."""
    _refuse_pair_flags(args)
    pronouns = labelled.read(args.pairs)
    pronoun_detection.require_both_labels(pronouns, file=args.pairs)
    threshold = THRESHOLD if args.threshold is None else args.threshold
    if args.scores is not None:
        scores = Scores(labelled.read_scores(args.scores, pronouns))
        note.begin()
    else:
        scores = _score(pronouns, args, note)
    if args.save_scores is not None:
        _save_scores(args.save_scores, pronouns, scores)
    figures = pronoun_detection.evaluate(pronouns, scores.values, threshold=threshold, seed=args.seed)
    if args.to_json is not None:
        _write_json(args, scores, threshold, figures)
    unit, number = figures.resampled
    scored_by = args.scores if scores.context is None else f"context {scores.context}"
    print(f"{args.pairs}; {scored_by}; flagged below {threshold:g}; intervals resample {number} {unit}s")
    print(_format(figures))
    if number <= FEW:
        note(f"the intervals are based on only {number} {unit}s")
    if scores.counts is not None:
        note.lengths(scores.counts)
        note(f"signature: {scores.signature}")


def _refuse_pair_flags(args: argparse.Namespace) -> None:
    flags: dict[str, Any] = {
        "--by": args.by,
        "--tie": args.tie,
        "--seen": args.seen,
        "--against": args.against,
        "--also": args.also,
        "--language_model": args.language_model,
        "--split": args.split,
        "--context respective": args.context if args.context == RESPECTIVE else None,
    }
    if extra := [flag for flag, value in flags.items() if value is not None]:
        raise InputError(f"holds labelled pronouns, but {' and '.join(extra)} needs pairs of texts", file=args.pairs)


def _score(pronouns: Sequence[LabelledPronoun], args: argparse.Namespace, note: output.Notes) -> Scores:
    """The model's score of each pronoun; None where the finder finds none."""
    config = load_config(args)
    if not checkpoint_config.has_probabilities(config) and args.threshold is None:
        raise PronmetricError(
            "this checkpoint's scores are not probabilities; give the limit for wrong pronouns with --threshold X"
        )
    context = choose_context(args, config, COMMON, note)
    texts = labelled.texts(pronouns, context, seed=args.seed)
    check_texts({args.pairs: (text.text for text in texts)}, load_language(args), note, strict=args.strict)
    metric = load_metric(args, note)
    counts = Counts()
    with output.bar(args, total=len(texts)) as bar:
        stream = metric.stream(texts, batch_size=args.batch_size, counts=counts, advance=bar.update)
        values = [_find_score(segment, pronoun) for segment, pronoun in zip(stream, pronouns, strict=True)]
    return Scores(values, context, str(metric.signature(context=context, seed=args.seed)), counts)


def _find_score(segment: SegmentScore, pronoun: LabelledPronoun) -> float | None:
    """The score of the found pronoun that overlaps the labelled one."""
    return next((p.score for p in segment.pronouns if p.start < pronoun.end and p.end > pronoun.start), None)


def _save_scores(path: str, pronouns: Sequence[LabelledPronoun], scores: Scores) -> None:
    with targets.AtomicFile(path) as file:
        for pronoun, score in zip(pronouns, scores.values, strict=True):
            file.write(strict_json.dump({"id": pronoun.id, "score": score}) + "\n")


def _format(figures: DetectionFigures) -> str:
    by_frequency = sorted(figures.by_pronoun.items(), key=lambda named: (-named[1].pronouns, named[0]))
    rows = [_row("all", figures.whole)]
    rows += [_row(*named) for named in (*figures.by_system.items(), *by_frequency)]
    return table(["", "pronouns", "wrong", "flagged", "unscored", "P", "R", "F1", "AP", "AUC"], rows)


def _row(name: str, found: Detection) -> list[object]:
    figures = (found.precision, found.recall, found.f1, found.average_precision, found.roc_auc)
    return [name, found.pronouns, found.wrong, found.flagged, found.unscored, *map(percent, figures)]


def _write_json(args: argparse.Namespace, scores: Scores, threshold: float, figures: DetectionFigures) -> None:
    content = {
        "input": args.pairs,
        "scores": args.scores,
        "signature": scores.signature,
        "context": scores.context,
        "threshold": threshold,
        "counts": None if scores.counts is None else counts_entry(scores.counts),
        "resampled": list(figures.resampled),
        "detection": plain(figures.whole),
        "by_system": plain(figures.by_system),
        "by_pronoun": plain(figures.by_pronoun),
    }
    with targets.AtomicFile(args.to_json) as file:
        file.write(strict_json.dump(content, indent=1) + "\n")
