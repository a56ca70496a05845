"""Checkpoints with weights of few bits: rounded, and calibrated anew so that scores keep their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from pronmetric.checkpoint import files, locate, weights
from pronmetric.checkpoint.config import languages_of, reads_source
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.data import arrow
from pronmetric.errors import InputError, PronmetricError
from pronmetric.output.targets import AtomicFile
from pronmetric.training.after import decision
from pronmetric.training.after.calibrate import Fit, natural_rate, on_references, recorded
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.card import checkpoint as card
from pronmetric.training.card import recipe
from pronmetric.training.card.recipe import ROUNDED
from pronmetric.training.examples.batches import Labeller
from pronmetric.training.examples.prepared import Folder
from pronmetric.training.fit import default_device
from pronmetric.training.source import mixing as source_mixing
from pronmetric.training.source import reader as source_reader
from pronmetric.training.source import scorer as source_scorer
from pronmetric.training.source.data import development, has_translations
from pronmetric.version import __version__


def round_checkpoint(
    folder: Path, out: Path, *, bits: int, data: Sequence[Path] | None, reader: Path | None = None
) -> str:
    """Write a checkpoint with its matrices in `bits` bits and the rest in half precision; its hash.

    Args:
        folder: the checkpoint.
        out: the folder to write.
        bits: one of `shards.BITS`.
        data: the prepared folder whose development split calibrates the rounded weights and chooses its tie thresholds
            and what decides; of a scorer of several languages that of each. None: those of before are kept.
        reader: a checkpoint with a reader of sources for other weights. The copy has that reader, joined anew to these
            weights on `data`, which must have texts with sources. None: the reader of `folder`, if it has one.

    Raises:
        InputError: `out` is in use, the data are of another language or have no texts with sources for the reader,
            `reader` has no reader or one of other pronoun forms, or the checkpoint reads sources itself and takes none.
        PronmetricError: a weight is too large.
    """
    locate.refuse_taken(out)
    loaded = files.load(folder)
    if reader is not None and reads_source(loaded.config):
        raise InputError("`reader=`: this checkpoint reads sources itself and takes no reader", file=folder)
    if data is not None and reads_source(loaded.config):
        return _round_scorer(folder, loaded, out, bits=bits, data=data)
    if data is not None and len(data) > 1:
        raise InputError(f"`data=`: this checkpoint takes one prepared folder, got {len(data)}", file=folder)
    return _round(folder, loaded, out, bits=bits, data=None if data is None else data[0], reader=reader)


def _round(folder: Path, loaded: Checkpoint, out: Path, *, bits: int, data: Path | None, reader: Path | None) -> str:
    reader_checkpoint = _reader(folder, loaded) if reader is None else _other_reader(reader, loaded, data)
    _round_weights(loaded, bits=bits)
    training = _training(loaded, bits=bits, calibrated=data is not None)
    config: dict[str, Any] = {**loaded.config, "training": training}
    if data is not None:
        config = _calibrated(loaded, config, data)
    locate.refuse_taken(out)  # may have been created by another process
    digest = files.save(out, loaded.model, loaded.pieces, config, half=True, bits=bits)
    if reader_checkpoint is not None:
        _round_reader(reader_checkpoint, out, bits=bits, data=data)
    if data is not None:
        card.write(out, data=data)
    elif (folder / locate.CARD).is_file():
        _keep_card(folder / locate.CARD, out / locate.CARD, bits=bits, before=loaded.hash, after=digest)
    return digest


def _round_scorer(folder: Path, loaded: Checkpoint, out: Path, *, bits: int, data: Sequence[Path]) -> str:
    """Round a scorer that reads sources itself, and calibrate it anew in each of its languages."""
    folders = Folder.of_languages(data)
    source_scorer.refuse_other_languages(folders, languages_of(loaded.config))
    record = _training(loaded, bits=bits, calibrated=True)
    if "translations" not in record:
        raise InputError("its config.yaml records no training (the key `translations`): leave out `data=`", file=folder)
    for key in ("decision", "decision_pairs"):  # chosen anew, where there are enough pairs
        record.pop(key, None)
    _round_weights(loaded, bits=bits)
    store = source_scorer.Store(half=True, bits=bits)
    return source_scorer.renew(out, loaded, folders, record=record, store=store).hash


def _round_weights(loaded: Checkpoint, *, bits: int) -> None:
    try:
        weights.round_in_place(loaded.model.state_dict(), bits=bits)
    except ValueError as error:
        raise PronmetricError(f"no checkpoint is written: {error}") from error


def _training(loaded: Checkpoint, *, bits: int, calibrated: bool) -> dict[str, Any]:
    """The record of the training of a checkpoint, with how its weights are rounded."""
    record = {"bits": bits, "weights": loaded.hash, "calibrated": calibrated}
    return {**loaded.config.get("training", {}), "version": __version__, ROUNDED: record}


def _reader(folder: Path, loaded: Checkpoint) -> Checkpoint | None:
    """The reader of sources of a checkpoint, if it has one."""
    own = locate.reader_of(folder)
    return None if own is None else files.load_reader(own, model=loaded.hash)


def _other_reader(folder: Path, loaded: Checkpoint, data: Path | None) -> Checkpoint:
    """The reader of sources in the checkpoint `folder`, checked against the one that it is joined to."""
    own = locate.reader_of(folder)
    if own is None:
        raise InputError("expected a checkpoint with a reader of sources (a folder `source`)", file=folder)
    if data is None or not has_translations(data):
        raise InputError("expected data with texts and their sources (prepared with data.parallel)", file=data)
    found = files.load_reader(own, model=None)
    if found.language != loaded.language or set(found.config["pronouns"]) != set(loaded.config["pronouns"]):
        raise InputError("this reader of sources is for another language or other pronoun forms", file=own)
    return found


def _round_reader(loaded: Checkpoint, out: Path, *, bits: int, data: Path | None) -> None:
    """Write a reader of sources in `bits` bits for the rounded checkpoint in `out`.

    How their logits are joined is that of before, unless `data` have texts with their sources.
    """
    weights.round_in_place(loaded.model.state_dict(), bits=bits)
    english = files.load(out)
    config: dict[str, Any] = {**loaded.config, "source": {**loaded.config["source"], "model": english.hash}}
    if data is not None and has_translations(data):
        usual = recipe.default("experiment/source")
        for model in (english.model, loaded.model):
            model.to(default_device())
        mixed = source_mixing.mix(
            english,
            loaded.model,
            loaded.collator,
            development(data, forms=config["pronouns"], language=loaded.language, most=usual["data.development"]),
            data,
            languages=config["source"]["languages"],
            rate=natural_rate(arrow.read_manifest(data)),
            pairs=recipe.default("train")["data.choose"],
            dtype=torch.bfloat16,
            progress=True,
        )
        training = {**config["training"], "figures": {**config["training"].get("figures", {}), **mixed.figures}}
        config = source_reader.with_mixing({**config, "training": training}, mixed, model=english.hash)
    source_reader.save(out, loaded.model.cpu(), loaded.pieces, config, half=True, bits=bits, data=data, show=True)


def _calibrated(loaded: Checkpoint, config: dict[str, Any], data: Path) -> dict[str, Any]:
    """Calibrate the head in place, and choose what decides and when; the config with all of it."""
    folder = Folder.of(data)
    context, language, forms = config["context"], loaded.language, config["pronouns"]
    folder.refuse_other(language, "the checkpoint")
    training, usual = {**config["training"]}, recipe.default("train")
    loaded.model.to(default_device())
    if loaded.model.probability:
        fit = on_references(
            loaded.model,
            loaded.collator,
            data,
            context=context,
            forms=forms,
            language=language,
            rate=natural_rate(folder.manifest),
            seed=training.get("seed", 1),
            most=usual["data.calibrate"],
            dtype=torch.bfloat16,
            progress=True,
        )
        if fit is not None:
            training["calibration"] = _after(recorded(config), fit).to_record()
    labeller = Labeller(loaded.collator, forms=forms, language=language)
    pairs = PairScorer(loaded.model, labeller, dtype=torch.bfloat16)
    choice = decision.choose(pairs, data, context=context, most=usual["data.choose"], progress=True)
    return decision.record({**config, "training": training}, choice, data, language)


def _after(before: Fit | None, fit: Fit) -> Fit:
    """Two calibrations, one after the other, as one."""
    if before is None:
        return fit
    return fit._replace(scale=fit.scale * before.scale, bias=fit.scale * before.bias + fit.bias)


def _keep_card(card: Path, to: Path, *, bits: int, before: str, after: str) -> None:
    """Copy a card, with a note below its title that its figures are those of the weights before rounding."""
    note = (
        f"> Weights `{after}`: those of `{before}`, which this card describes, rounded to {bits} bits. Figures, "
        "calibration and tie thresholds are those before the rounding."
    )
    head, title, rest = card.read_text(encoding="utf-8").partition("\n# ")
    first, line, rest = rest.partition("\n")
    with AtomicFile(to) as file:
        file.write(f"{head}{title}{first}{line}\n{note}\n{rest}" if title else f"{note}\n\n{head}")
