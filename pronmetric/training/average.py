"""Averages the weights of several checkpoints and calibrates the result.

Weights that were fine-tuned from the same start with different settings or seeds often average to better ones (Wortsman
et al. 2022, "Model soups", section 3.1: the uniform soup). An average is not always better: compare the development
figures in its config with those of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from pronmetric.checkpoint import files, locate, weights
from pronmetric.checkpoint.config import PAIR_HEAD, has_pair_head, languages_of
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import KEYS, architecture
from pronmetric.errors import InputError
from pronmetric.eval.decision import ERRORS
from pronmetric.training.after import decision
from pronmetric.training.after.calibrate import natural_rate, on_references, recorded
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.card import checkpoint as card
from pronmetric.training.card import recipe
from pronmetric.training.card.reader import INITIAL
from pronmetric.training.examples.batches import Labeller
from pronmetric.training.examples.development import development_pairs
from pronmetric.training.examples.prepared import Folder
from pronmetric.training.fit import default_device
from pronmetric.training.module import SUFFIX, accuracies
from pronmetric.training.source import mixing as source_mixing
from pronmetric.training.source import reader as source_reader
from pronmetric.training.source import scorer as source_scorer
from pronmetric.training.source.data import development
from pronmetric.training.start import Result
from pronmetric.version import __version__


def average(
    folders: Sequence[Path], out: Path, *, data: Path, shares: Sequence[float] | None = None, half: bool, seed: int
) -> Result:
    """Write the mean of checkpoints to the folder `out`, with its development pair accuracy (R vs R').

    Args:
        folders: checkpoints with the same kind of encoder and head, and the same scoring settings. The pair head
            is averaged over those that have one. If they differ in pair heads alone, the scores stay as they are.
        out: the folder to write.
        data: the prepared folder whose development splits calibrate it, choose its tie threshold and give its figures;
            of pairs and references as many are drawn as `train` draws by default.
        shares: the weight of each checkpoint, above 0; None for equal weights.
        half: store the weights in half precision.
        seed: of the corruption for the calibration.

    Raises:
        InputError: `out` is in use, there are fewer than two checkpoints, they differ in more than their weights and
            training, or their heads had different initial weights.
    """
    locate.refuse_taken(out)
    shares = _checked(shares, folders)
    prepared = Folder.of(data)
    parts = [files.load(folder) for folder in folders]
    first = next((part for part in parts if has_pair_head(part.config)), parts[0])
    for folder, part in zip(folders, parts, strict=True):
        _refuse_other_kind(first, part, folder)
    head_seed = _head_seed(folders, parts)
    scorer, states = first.model, [part.model.state_dict() for part in parts]
    same_scores = _differ_in_pair_heads_alone(states)
    scorer.load_state_dict(mean_weights(states, shares))
    scorer.to(default_device())
    context, language = first.config["context"], first.language
    prepared.refuse_other(language, "the checkpoints")
    labeller = Labeller(first.collator, forms=first.config["pronouns"], language=language)
    usual = recipe.default("train")
    calibration = recorded(first.config) if same_scores else None
    if scorer.probability and not same_scores:
        calibration = on_references(
            scorer,
            first.collator,
            data,
            context=context,
            forms=first.config["pronouns"],
            language=language,
            rate=natural_rate(prepared.manifest),
            seed=seed,
            most=usual["data.calibrate"],
            dtype=torch.bfloat16,
            progress=True,
        )
    pairs = PairScorer(scorer, labeller, dtype=torch.bfloat16)
    figures: dict[str, float] = {}
    for name, split, kind in (("noisy", "development", "noisy"), ("study_form", "development_study", None)):
        rows = development_pairs(data, split, kind, most=usual["data.development"])
        if len(rows):
            for by, columns in pairs.columns(rows, context=context, label=split)[0].items():
                if by != ERRORS:  # with one pronoun replaced they decide as the score does
                    shares_right = accuracies(columns)
                    figures |= {f"development/{name}{SUFFIX[by]}{part}": v for part, v in shares_right.items()}
    training: dict[str, Any] = {
        "version": __version__,
        "data": prepared.record,
        "seed": seed,
        "head_seed": head_seed,
        "average": [_record(part, share) for part, share in zip(parts, shares, strict=True)],
        "figures": figures,
        "calibration": None if calibration is None else calibration.to_record(),
    }
    choice = decision.choose(pairs, data, context=context, most=usual["data.choose"], progress=True)
    config = decision.record({**first.config, "training": training}, choice, data, language)
    locate.refuse_taken(out)  # may have been created by another process
    digest = files.save(out, scorer.cpu(), first.pieces, config, half=half)
    card.write(out, data=data)
    return Result(out, digest, figures, calibration)


def average_readers(
    folders: Sequence[Path], out: Path, *, data: Path, shares: Sequence[float] | None = None, half: bool
) -> Result:
    """Write a copy of checkpoints with the same weights, with the mean of their readers of sources; its figures.

    Arguments as for `average`; the data have texts with their sources, on which the weights of both logits are fitted.

    Raises:
        InputError: as for `average`; the checkpoints have other weights, or the readers other vocabularies.
    """
    locate.refuse_taken(out)
    shares, prepared, english = _checked(shares, folders), Folder.of(data), files.load(folders[0])
    readers = [folder / locate.READER for folder in folders]
    parts = [files.load(reader) for reader in readers]
    first, usual = parts[0], recipe.default("experiment/source")
    for reader, part in zip(readers, parts, strict=True):
        _refuse_other_kind(first, part, reader)
        if part.config["source"]["model"] != english.hash:
            raise InputError(f"expected a reader of sources for the weights {english.hash} of the first", file=reader)
        _refuse_other_vocabulary(first, part, reader)
    head_seed, scorer, bits = _head_seed(readers, parts), first.model, usual["source.bits"]
    scorer.load_state_dict(mean_weights([part.model.state_dict() for part in parts], shares))
    weights.round_in_place(scorer.state_dict(), bits=bits)
    for model in (scorer, english.model):
        model.to(default_device())
    forms, most = first.config["pronouns"], usual["data.development"]
    mixed = source_mixing.mix(
        english,
        scorer,
        first.collator,
        development(data, forms=forms, language=first.language, most=most),
        data,
        languages=first.config["source"]["languages"],
        rate=natural_rate(prepared.manifest),
        pairs=recipe.default("train")["data.choose"],
        dtype=torch.bfloat16,
        progress=True,
    )
    training = {
        "version": __version__,
        "data": prepared.record,
        "head_seed": head_seed,
        "average": [_record(part, share) for part, share in zip(parts, shares, strict=True)],
        "figures": mixed.figures,
    }
    config = source_reader.with_mixing({**first.config, "training": training}, mixed, model=english.hash)
    locate.refuse_taken(out)  # may have been created by another process
    files.copy(folders[0], out)
    digest = source_reader.save(out, scorer.cpu(), first.pieces, config, half=half, bits=bits, data=data, show=True)
    return Result(out, digest, mixed.figures, None)


def average_scorers(
    folders: Sequence[Path], out: Path, *, data: Sequence[Path], shares: Sequence[float] | None = None, half: bool
) -> Result:
    """Write the mean of scorers that read sources themselves, calibrated for each of their languages; its figures.

    Arguments as for `average`; data: the prepared folder of each language.

    Raises:
        InputError: as for `average`; the scorers have other languages or vocabularies, or the data other languages.
    """
    locate.refuse_taken(out)
    shares, prepared = _checked(shares, folders), Folder.of_languages(data)
    parts = [files.load(folder) for folder in folders]
    first, bits = parts[0], recipe.default("experiment/source")["source.bits"]
    languages = languages_of(first.config)
    for folder, part in zip(folders, parts, strict=True):
        _refuse_other_kind(first, part, folder)
        if languages_of(part.config) != languages or part.config.get("reads_source") != first.config["reads_source"]:
            raise InputError("its languages or its rows of sources differ from those of the first", file=folder)
        _refuse_other_vocabulary(first, part, folder)
    source_scorer.refuse_other_languages(prepared, languages)
    head_seed = _head_seed(folders, parts)
    first.model.load_state_dict(mean_weights([part.model.state_dict() for part in parts], shares))
    weights.round_in_place(first.model.state_dict(), bits=bits)
    record = {
        "version": __version__,
        "head_seed": head_seed,
        "average": [_record(part, share) for part, share in zip(parts, shares, strict=True)],
        "translations": first.config["training"]["translations"],
    }
    return source_scorer.renew(out, first, prepared, record=record, store=source_scorer.Store(half=half, bits=bits))


def _checked(shares: Sequence[float] | None, folders: Sequence[Path]) -> list[float]:
    """The shares of two or more checkpoints."""
    shares = [1.0] * len(folders) if shares is None else list(shares)
    if len(folders) < 2:
        raise InputError(f"expected at least two checkpoints, got {len(folders)}")
    if len(shares) != len(folders) or min(shares) <= 0:
        raise InputError(f"expected {len(folders)} shares above 0, one for each checkpoint, got {shares}")
    return shares


def _differ_in_pair_heads_alone(states: Sequence[dict[str, torch.Tensor]]) -> bool:
    """Whether all other weights are equal."""
    first = states[0]
    return all(
        name in state and torch.equal(first[name], state[name])
        for state in states[1:]
        for name in first
        if not name.startswith(PAIR_HEAD)
    )


def mean_weights(states: Sequence[dict[str, torch.Tensor]], shares: Sequence[float]) -> dict[str, torch.Tensor]:
    """The weighted mean of each tensor over those that have it; equal and integer tensors are taken as they are."""
    mean = {}
    for name in dict.fromkeys(name for state in states for name in state):
        own = [(share, state[name]) for share, state in zip(shares, states, strict=True) if name in state]
        whole, tensor = sum(share for share, _ in own), own[0][1]
        equal = not tensor.is_floating_point() or all(torch.equal(tensor, each) for _, each in own)
        weighted = [tensor] if equal else [share / whole * each for share, each in own]
        mean[name] = torch.stack(weighted).sum(0)
    return mean


def _refuse_other_kind(first: Checkpoint, other: Checkpoint, folder: Path) -> None:
    for key in (*KEYS, PAIR_HEAD, "gap_head"):
        mine, theirs = first.config.get(key), other.config.get(key)
        if key == PAIR_HEAD and None in (mine, theirs):
            continue
        if key == "head":
            mine, theirs = ((part.config["head"]["kind"], part.config["head"]["slots"]) for part in (first, other))
        if key == "encoder":
            mine, theirs = (architecture(part.config["encoder"]) for part in (first, other))
        if mine != theirs:
            raise InputError(
                f"its {key} differs from that of the first: only checkpoints of one kind can be averaged", file=folder
            )


def _refuse_other_vocabulary(first: Checkpoint, other: Checkpoint, folder: Path) -> None:
    if other.pieces.vocabulary() != first.pieces.vocabulary():  # type: ignore[attr-defined]  # of sub-words
        raise InputError("its vocabulary differs from that of the first: train both on the same data", file=folder)


def _head_seed(folders: Sequence[Path], parts: Sequence[Checkpoint]) -> int | None:
    """The seed of the initial weights of all heads, None if unknown; heads of another seed are refused."""
    known: int | None = None
    for folder, part in zip(folders, parts, strict=True):
        seed = part.config.get("training", {}).get("head_seed")
        if None not in (known, seed) and seed != known:
            raise InputError(
                f"its head has other initial weights (head_seed={seed}) than the checkpoints before it ({known}): only "
                "heads with the same ones can be averaged, train it with the same head_seed",
                file=folder,
            )
        known = seed if known is None else known
    return known


def _record(part: Checkpoint, share: float) -> dict[str, Any]:
    """The entry of a part in the average's config."""
    before = part.config.get("training", {})
    keys = (
        "overrides",
        "seed",
        "head_seed",
        "steps",
        "seconds",
        "init",
        INITIAL,
        "teacher",
        "coreference",
        "figures",
        "average",
        recipe.STAGES,
        recipe.STAGE,
    )
    given = before.get("data", {})
    data = given.get("manifest", {code: each["manifest"] for code, each in given.items() if "manifest" in each})
    return {"weights": part.hash, "share": share, "data": data} | {key: before[key] for key in keys if key in before}
