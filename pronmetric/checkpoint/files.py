"""Checkpoints on disk: config.yaml, the weights (safetensors), and the tokenizer or vocabulary; no pickle files."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import model_config, weights
from pronmetric.checkpoint.locate import CARD, CONFIG, name_of, reader_of
from pronmetric.checkpoint.model_config import Model
from pronmetric.checkpoint.shards import INDEX, WEIGHTS, hash_weights, is_weight_file, weight_files
from pronmetric.checkpoint.weights import broken
from pronmetric.data.collate import Collator
from pronmetric.data.pieces import Pieces
from pronmetric.data.source_rows import SourceCollator
from pronmetric.errors import InputError, PronmetricError
from pronmetric.nn.encoders import kinds
from pronmetric.nn.encoders.kinds import Kind
from pronmetric.nn.head import GapHead, LogitHead, PairHead
from pronmetric.nn.scorer import PronounScorer, make_head
from pronmetric.pronouns.languages import Language

# Keys of tokenizer_config.json that record how the tokenizer was loaded; they do not affect tokenization.
_NOTES = frozenset({"is_local", "local_files_only", "name_or_path", "tokenizer_file", "transformers_version"})
WEIGHTS_HASH = "weights"  # key of the config
_SPARE = 4  # allowed ratio of parameters to stored tensors: shared ones count twice


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A scorer with its tokenizer and configuration.

    pieces: the tokenizer of its encoder. config: the keys of `Model`, as config.yaml has them. hash: the first 8 hex
    digits of the weights' SHA-256 (`shards.hash_weights`). settings: the same of the tokenizer and of the config's keys
    that affect scores.
    """

    model: PronounScorer
    pieces: Pieces
    config: Mapping[str, Any]
    hash: str
    settings: str

    @property
    def collator(self) -> Collator:
        """The collator of this checkpoint's pieces, length and language."""
        return self.collator_of(self.language)

    def collator_of(self, language: Language) -> Collator:
        """The collator for one of its languages."""
        return _collator(self.config, self.pieces, language)

    @property
    def language(self) -> Language:
        """The language of the texts that it scores; an error if there are several (`load` chooses one)."""
        return checkpoint_config.language_of(self.config)


def encoder_kind(config: Mapping[str, Any]) -> Kind:
    """The kind of a checkpoint's encoder."""
    return model_config.Encoder.model_validate(config["encoder"]).kind


def _pieces_class(config: Mapping[str, Any]) -> type[Pieces]:
    """The class of the pieces that the encoder in `config` reads."""
    return kinds.module(encoder_kind(config)).PIECES


def build(config: Mapping[str, Any], *, trainable: bool = True) -> PronounScorer:
    """An fp32 scorer of the architecture in `config`, with random weights; `trainable` as for `load`."""
    described = Model.read(config)
    encoder = kinds.module(described.encoder.kind).build(config["encoder"], trainable=trainable)
    head, pair_head, gap_head = make_heads(encoder.width, described.head, described.pair_head, described.gap_head)
    scorer = PronounScorer(encoder, head, word_state=described.word_state, pair_head=pair_head, gap_head=gap_head)
    return scorer.float()  # whatever PyTorch's default type is


def make_heads(
    width: int,
    head: model_config.Head,
    pair: model_config.PairHead | None,
    gaps: model_config.GapHead | None = None,
) -> tuple[nn.Module, PairHead | None, GapHead | None]:
    """New heads on word states of `width`: the one that scores pronouns, and the others, if they are there."""
    made = make_head(head.kind, width, dropout=head.dropout, slots=head.slots)
    pair_head = None if pair is None else PairHead(width, heads=pair.heads, dropout=pair.dropout)
    return made, pair_head, None if gaps is None else GapHead(width, forms=len(gaps.forms), dropout=gaps.dropout)


def load(folder: str | Path, *, trainable: bool = True, lang: str | None = None) -> Checkpoint:
    """Read a checkpoint; the model comes in fp32, in evaluation mode.

    Without `trainable` a BERT or MPNet is loaded as a module of this package, which needs no transformers and starts
    faster. `lang`: the checkpoint for this one of its languages, its calibration folded into the head; None: as it is,
    for several languages without a collator.

    Everything is checked before it is used: the config key by key, then names and shapes of the weights against the
    architecture (without allocating either), then the weights' values, then the tokenizer against the encoder, then the
    weights' hash against that of the config, if it names one.

    Raises:
        InputError: with the file, if `folder` is not a checkpoint or its parts do not fit together.
        PronmetricError: it does not score `lang`.
    """
    folder = Path(folder)
    _need(folder, CONFIG)
    stored = weight_files(folder)
    config = checkpoint_config.read(folder / CONFIG)
    if lang is not None:
        config = checkpoint_config.of_language(config, lang, name=name_of(folder))
    pieces_class = _pieces_class(config)
    _need(folder, *pieces_class.FILES[:1])
    entries = weights.read_headers(stored)
    plan = _plan(config, folder / CONFIG, tensors=len(entries), trainable=trainable)
    weights.refuse_other(entries, plan, file=stored[0])
    with _WithoutValues():
        model = build(config, trainable=trainable)
    weights.load(model.state_dict(), entries)
    try:
        pieces = pieces_class.load(folder, config["encoder"])
        _collator(config, pieces, checkpoint_config.languages_of(config)[0])
    except Exception as error:  # the tokenizers library raises bare Exceptions
        raise broken("tokenizer", folder, error) from error
    settings, digest = _settings(folder, config), hash_weights(folder)
    if (expected := config.get(WEIGHTS_HASH)) not in (None, digest):
        why = f"their hash is {digest}, that of {CONFIG} {expected}"
        raise broken("weights", stored[0] if len(stored) == 1 else folder, ValueError(why))
    if (calibration := Model.read(config).calibration) is not None:
        assert isinstance(model.head, LogitHead)  # checked by `Model`
        model.head.calibrate(scale=calibration.scale, bias=calibration.bias)
    return Checkpoint(model.eval(), pieces, config, digest, settings)


def load_reader(folder: Path, *, model: str | None) -> Checkpoint:
    """Read the reader of sources of the weights `model` (None: of any) in `folder` (`locate.reader_of`), for scoring.

    Raises:
        InputError: as for `load`; it is no reader of sources, or one for other weights.
    """
    found = load(folder, trainable=False)
    described = Model.read(found.config).source
    if described is None:
        raise InputError("expected a reader of sources, got another checkpoint; delete the folder", file=folder)
    if model is not None and described.model != model:
        raise InputError(
            f"this reader of sources is for the weights {described.model}, and its checkpoint has {model}: join it to "
            "these (`pronmetric checkpoint export --reader`), train one (`train experiment=source`), or delete the "
            "folder",
            file=folder,
        )
    return found


def hash_reader(folder: Path) -> str:
    """The first 8 hex digits of a hash of what the numbers of a reader of sources depend on."""
    parts = hash_weights(folder), _settings(folder, checkpoint_config.read(folder / CONFIG))
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:8]


def _collator(config: Mapping[str, Any], pieces: Pieces, language: Language) -> Collator:
    """The collator of the model in `config` for texts in `language`."""
    split, rows = language.words, Model.read(config).source_rows
    if rows is None:
        return Collator(pieces, max_pieces=config["max_pieces"], separator=config["separator"], split=split)
    limits = {"context": rows.context, "before": rows.before}
    return SourceCollator(pieces, max_pieces=config["max_pieces"], split=split, **limits)


def _need(folder: Path, *names: str) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise InputError(
                f"not a checkpoint: expected {name} in it; give a folder that `pronmetric train` wrote", file=folder
            )


class _TooLarge(Exception):
    """An architecture has more parameters than its weights."""


@contextmanager
def _at_most(parameters: int) -> Iterator[None]:
    """Raise `_TooLarge` if the modules made in this context have more parameters in total."""
    made = 0

    def count(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        nonlocal made
        made += 1
        if made > parameters:
            raise _TooLarge

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()


class _WithoutValues(TorchFunctionMode):
    """Parameters are not drawn at random; on the meta device that would import PyTorch's compiler, for seconds."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Call `func`, or leave its tensor as it is."""
        given = kwargs or {}
        if func is nn.init.normal_:
            return args[0] if args else given["tensor"]
        return func(*args, **given)


def _plan(config: Mapping[str, Any], path: Path, *, tensors: int, trainable: bool) -> dict[str, Tensor]:
    """The tensors of an architecture on the meta device, that is, without allocating them."""
    try:
        with _at_most(_SPARE * tensors + 16), torch.device("meta"), _WithoutValues():
            return build(config, trainable=trainable).state_dict()
    except _TooLarge as error:
        sizes = {key: value for key, value in config["encoder"].items() if type(value) is int}
        largest = max(sizes, key=lambda key: ("layer" in key and sizes[key] > tensors, sizes[key]), default="")
        raise InputError(
            f"encoder.{largest}: expected an architecture of {tensors} tensors, which {WEIGHTS} has, got a much larger "
            f"one (encoder.{largest} is {sizes.get(largest)}); restore the value, or download the checkpoint again",
            file=path,
        ) from error
    except Exception as error:  # transformers raises many kinds of errors for an invalid architecture
        raise broken("config", path, error) from error


def _settings(folder: Path, config: Mapping[str, Any]) -> str:
    """The first 8 hex digits of a hash of the tokenizer's files and the keys of `config` that affect scores."""
    digest = hashlib.sha256(_canonical(Model.read(config).of_scores()))
    for name in _pieces_class(config).FILES:
        path = folder / name
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".json":
                found = json.loads(content)
                content = _canonical({k: v for k, v in found.items() if k not in _NOTES})
            digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:8]


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str).encode()


def save(
    folder: str | Path,
    model: PronounScorer,
    pieces: Pieces,
    config: Mapping[str, Any],
    *,
    half: bool,
    bits: int | None = None,
) -> str:
    """Write a checkpoint and return its hash.

    `folder` is written completely or not at all. In an existing folder only the checkpoint's files are replaced.

    Args:
        folder: where to.
        model: its weights are stored.
        pieces: its tokenizer.
        config: its configuration.
        half: store the weights in half precision.
        bits: store the matrices as integers of so many bits (`low_bit`), the rest in half precision, in shards.

    Raises:
        PronmetricError: a weight is not finite, or not in the stored precision, or the weights cannot be written (for
            instance because the disk is full).
    """
    folder = Path(folder)
    try:
        stored = weights.to_store(model.state_dict(), half=half, bits=bits)
    except ValueError as error:
        cure = "; half=false can store larger numbers" if half and bits is None else ""
        raise PronmetricError(f"no checkpoint is written: {error}{cure}") from error
    with _whole(folder) as part:
        pieces.save(part)
        try:
            weights.write(part, stored, in_shards=bits is not None)
        except SafetensorError as error:
            raise PronmetricError(f"{folder}: its weights cannot be written: {error}") from error
        write_config(part, config)
    return hash_weights(folder)


def copy(folder: Path, to: Path) -> None:
    """Copy the files of a checkpoint, its card and its reader of sources, no others; symbolic links are followed."""
    with _whole(to) as part:
        for path in own_files(folder):
            place = part / path.relative_to(folder)
            place.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, place)


def own_files(folder: Path) -> list[Path]:
    """The files of a checkpoint, its card and its reader of sources, no others.

    Raises:
        InputError: there are no weights.
    """
    pieces = _pieces_class(checkpoint_config.read(folder / CONFIG)).FILES
    texts = (folder / name for name in (CONFIG, INDEX, CARD, *pieces))
    found = [*weight_files(folder), *(path for path in texts if path.is_file())]
    return found if (reader := reader_of(folder)) is None else [*found, *own_files(reader)]


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A hidden temporary folder, renamed to `folder` on success and deleted on failure."""
    folder = folder.resolve()
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # left by a killed process
    part.mkdir(parents=True)
    try:
        yield part
        if folder.exists():
            new = {path.name for path in part.iterdir()}
            for path in folder.iterdir():
                if is_weight_file(path.name) and path.name not in new:
                    path.unlink()  # weights of before, as one file or in more shards
            for path in part.iterdir():
                if path.is_dir():  # a reader of sources
                    shutil.rmtree(folder / path.name, ignore_errors=True)
                path.replace(folder / path.name)
        else:
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write a checkpoint's config.yaml, its keys in their order; with the hash of the weights, if they are there."""
    if any(is_weight_file(path.name) for path in folder.iterdir()):
        config = {**config, WEIGHTS_HASH: hash_weights(folder)}
    (folder / CONFIG).write_text(yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True), encoding="utf-8")


def hash_file(path: Path) -> str:
    """First 8 hex digits of a file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:8]
