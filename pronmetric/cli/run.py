"""The checkpoint and the metric that the flags of a verb name."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.cli.output import Notes
from pronmetric.errors import PronmetricError
from pronmetric.pronouns import languages, tables
from pronmetric.pronouns.languages import Language
from pronmetric.results.read import language_code

if TYPE_CHECKING:
    from pronmetric.metric import PronounMetric
    from pronmetric.scoring.score import Counts, SegmentScore
    from pronmetric.text.context import Text


def config(args: argparse.Namespace) -> Mapping[str, Any]:
    """The config of the checkpoint that --model names, read without torch."""
    storage = getattr(args, "model_storage_path", None)
    place = locate.locate(args.model, allow_network=args.allow_network, storage=storage)
    return checkpoint_config.read(place.folder / locate.CONFIG)


def language(args: argparse.Namespace) -> Language:
    """The language of the texts that the checkpoint of --model scores."""
    return checkpoint_config.language_of(config(args))


def note_english_figures(config: Mapping[str, Any] | None, note: Notes) -> None:
    """Note that figures by pronoun are of English, where the checkpoint scores another language."""
    own = languages.ENGLISH if config is None else checkpoint_config.language_of(config)
    if not own.ruled:
        note(f"kinds and numbers of pronouns, and simple baselines, are those of English; the model scores {own.code}")


def language_of_result(args: argparse.Namespace, signature: str) -> Language:
    """The language of a result's texts, by its signature; its table is that of --model, else the package's.

    Raises:
        PronmetricError: neither has a table of this language.
    """
    code = language_code(signature)
    if code == languages.ENGLISH.code:
        return languages.ENGLISH
    own = language(args)
    if own.code == code:
        return own
    if code in tables.codes():
        return languages.language(code)
    raise PronmetricError(
        f"the result is in {code}, of which there is no table of pronouns here: give --model the checkpoint that "
        "scored it"
    )


def metric(args: argparse.Namespace, note: Notes) -> PronounMetric:
    """The metric; begins `note`, and notes if it was not trained or calibrated.

    A folder without a checkpoint is refused before torch is loaded.
    """
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
    if (caveat := checkpoint_config.caveat(loaded.config)) is not None:
        note(f"checkpoint {loaded.name}: {caveat}")
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
