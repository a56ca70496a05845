"""The checkpoint and the metric that the flags of a verb name."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.cli.output import Notes

if TYPE_CHECKING:
    from pronmetric.metric import PronounMetric
    from pronmetric.scoring.score import Counts, SegmentScore
    from pronmetric.text.context import Text


def config(args: argparse.Namespace) -> Mapping[str, Any]:
    """The config of the checkpoint that --model names, read without torch."""
    storage = getattr(args, "model_storage_path", None)
    place = locate.locate(args.model, allow_network=args.allow_network, storage=storage)
    return checkpoint_config.read(place.folder / locate.CONFIG)


def metric(args: argparse.Namespace, note: Notes) -> PronounMetric:
    """The metric; begins `note`. A folder without a checkpoint is refused before torch is loaded."""
    storage = getattr(args, "model_storage_path", None)
    if not args.allow_network:
        locate.locate(args.model, storage=storage)
    from pronmetric.metric import PronounMetric

    loaded = PronounMetric.from_pretrained(
        args.model,
        precision=args.precision,
        gpus=args.gpus,
        allow_network=args.allow_network,
        storage=storage,
        source_lang=getattr(args, "source_lang", None),
    )
    note.begin()
    return loaded


def stream(
    scorer: PronounMetric,
    texts: Iterable[Text],
    args: argparse.Namespace,
    *,
    counts: Counts,
    advance: Callable[[int], object],
) -> Iterator[SegmentScore]:
    """The scores of `texts`, with the settings of the flags of `score` and `compare`."""
    return scorer.stream(
        texts,
        batch_size=args.batch_size,
        counts=counts,
        advance=advance,
        length_batching=not args.disable_length_batching,
        cache=not args.disable_cache,
    )
