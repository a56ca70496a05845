"""`pronmetric evaluate` on single pronouns labelled right or wrong: does a low score find the wrong ones?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pronmetric.cli import context_flag, exports, load, output
from pronmetric.cli.pair_sources import SHUFFLED, first_line
from pronmetric.cli.tables import percent, plain, table
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.detection import THRESHOLD, Detection, detect, detect_by
from pronmetric.eval.shuffling import shuffled
from pronmetric.output import targets
from pronmetric.results import FEW
from pronmetric.scoring.score import Counts, SegmentScore
from pronmetric.suites import labelled_pronouns as labelled
from pronmetric.suites.labelled_pronouns import LabelledPronoun
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, NONE, RESPECTIVE, Text


def holds_tokens(path: str) -> bool:
    """Whether a file holds labelled pronouns, by its first line."""
    return not Path(path).is_dir() and labelled.holds_tokens(first_line(path))


def run(args: argparse.Namespace, note: output.Notes) -> None:
    """Judge the scores of labelled pronouns."""
    _check(args)
    tokens = labelled.read(args.pairs)
    if len({token.wrong for token in tokens}) < 2:
        label = labelled.WRONG if tokens[0].wrong else labelled.RIGHT
        raise InputError(f"all pronouns are labelled {label}: expected some right and some wrong ones", file=args.pairs)
    kind = None if args.scores is not None else context_flag.choose(args, load.config(args), COMMON, note)
    threshold = THRESHOLD if args.threshold is None else args.threshold
    if kind is None:
        scores, signature, counts = labelled.read_scores(args.scores, tokens), None, None
        note.begin()
    else:
        scores, signature, counts = _scored(tokens, kind, args, note)
    if args.save_scores is not None:
        with targets.AtomicFile(args.save_scores) as file:
            for token, score in zip(tokens, scores, strict=True):
                file.write(strict_json.dump({"id": token.id, "score": score}) + "\n")

    wrong = [token.wrong for token in tokens]
    resampled, clusters = _clusters(tokens)
    whole = detect(wrong, scores, clusters, threshold=threshold, seed=args.seed)
    by_pronoun = detect_by([token.form for token in tokens], wrong, scores, threshold=threshold)
    systems = [token.system for token in tokens]
    by_system = (
        {} if None in systems else detect_by([str(system) for system in systems], wrong, scores, threshold=threshold)
    )
    judging = args.scores if kind is None else f"context {kind}"
    print(f"{args.pairs}; {judging}; flagged below {threshold:g}; intervals resample {len(set(clusters))} {resampled}s")
    often = sorted(by_pronoun.items(), key=lambda named: (-named[1].pronouns, named[0]))
    rows = [_row("all", whole), *(_row(*named) for named in by_system.items()), *(_row(*named) for named in often)]
    print(table(["", "pronouns", "wrong", "flagged", "unscored", "P", "R", "F1", "AP", "AUC"], rows))
    if len(set(clusters)) < FEW:
        note(f"the intervals rest on {len(set(clusters))} {resampled}s only")
    if counts is not None:
        note.lengths(counts)
        note(f"signature: {signature}")
    if args.to_json is not None:
        content = {
            "input": args.pairs,
            "scores": args.scores,
            "signature": signature,
            "context": kind,
            "threshold": threshold,
            "counts": None if counts is None else exports.encoded(counts),
            "resampled": [resampled, len(set(clusters))],
            "detection": plain(whole),
            "by_system": plain(by_system),
            "by_pronoun": plain(by_pronoun),
        }
        with targets.AtomicFile(args.to_json) as file:
            file.write(strict_json.dump(content, indent=1) + "\n")


def _check(args: argparse.Namespace) -> None:
    """Refuse what only pairs of texts can have."""
    of_pairs: dict[str, Any] = {
        "--tie": args.tie,
        "--seen": args.seen,
        "--against": args.against,
        "--also": args.also,
        "--split": args.split,
        "--context respective": args.context if args.context == RESPECTIVE else None,
    }
    if extra := [flag for flag, value in of_pairs.items() if value is not None]:
        raise InputError(f"holds single pronouns, {' and '.join(extra)} asks for pairs of texts", file=args.pairs)


def _clusters(tokens: Sequence[LabelledPronoun]) -> tuple[str, list[str]]:
    """Documents; where some pronoun has none, each text in its context."""
    docs = [token.doc for token in tokens]
    if None not in docs:
        return "document", [str(doc) for doc in docs]
    return "text", ["\0".join(token.text) for token in tokens]


def _scored(
    tokens: Sequence[LabelledPronoun], kind: str, args: argparse.Namespace, note: output.Notes
) -> tuple[list[float | None], str, Counts]:
    """The model's score of each pronoun; None where the finder sees no pronoun in that place."""
    contexts = [token.text.context for token in tokens]
    if kind == SHUFFLED:
        _, groups = _clusters(tokens)
        contexts = shuffled(contexts, items=list(zip(groups, contexts, strict=True)), groups=groups, seed=args.seed)
    texts = [
        Text("" if kind == NONE else context, token.text.text) for token, context in zip(tokens, contexts, strict=True)
    ]
    metric = load.metric(args, note)
    if not metric.probability and args.threshold is None:
        raise PronmetricError("this checkpoint's scores are no probabilities; say with --threshold X what is too low")
    counts = Counts()
    with output.bar(args, total=len(texts)) as bar:
        stream = metric.stream(texts, batch_size=args.batch_size, counts=counts, advance=bar.update)
        scores = [_at(segment, token) for segment, token in zip(stream, tokens, strict=True)]
    return scores, str(metric.signature(context=kind, seed=args.seed)), counts


def _at(segment: SegmentScore, token: LabelledPronoun) -> float | None:
    """The score of the pronoun that overlaps the token's place."""
    return next((p.score for p in segment.pronouns if p.start < token.end and p.end > token.start), None)


def _row(name: str, found: Detection) -> list[object]:
    figures = (found.precision, found.recall, found.f1, found.average_precision, found.roc_auc)
    return [name, found.pronouns, found.wrong, found.flagged, found.unscored, *map(percent, figures)]
