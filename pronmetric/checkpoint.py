"""Checkpoints on disk: config.yaml, model.safetensors, and the tokenizer or vocabulary; nothing unpickles."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from pronmetric.data.collate import Collator
from pronmetric.data.pieces import Characters, Pieces, Subwords, Vocabulary
from pronmetric.errors import InputError
from pronmetric.nn.bilstm import BiLSTM
from pronmetric.nn.elmo import Elmo
from pronmetric.nn.encoder import Encoder, HuggingFaceEncoder
from pronmetric.nn.scorer import PronounScorer, make_head

CONFIG, WEIGHTS, CARD = "config.yaml", "model.safetensors", "README.md"
FORMAT = 1
ENCODERS: Mapping[str, Callable[[Mapping[str, Any]], Encoder]] = {
    "huggingface": HuggingFaceEncoder.from_config,
    "glove": BiLSTM.from_config,
    "elmo": Elmo.from_config,
}
KEYS = ("encoder", "head", "word_state", "segment", "max_pieces", "separator", "pronouns", "context")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A scorer with what it needs to read text.

    pieces: how texts are cut for its encoder. config: keys `format`, `encoder` (its `kind`, "glove" or "elmo", and
    architecture; without a `kind` a Hugging Face dict), `head` (kind, dropout, slots), `word_state`,
    `segment`, `max_pieces`, `separator` (whether one stands between context and text), `pronouns` (the inventory),
    `context` (that it was trained in), maybe `tie` (its tie band),
    `training` (what the card tells; of it `confusion` says which pronoun pairs training met). hash: the first 8 hex
    digits of the weights' SHA-256.
    """

    model: PronounScorer
    pieces: Pieces
    config: Mapping[str, Any]
    hash: str

    @property
    def collator(self) -> Collator:
        """The collator of this checkpoint's pieces and length."""
        return Collator(self.pieces, max_pieces=self.config["max_pieces"], separator=self.config["separator"])


def encoder_kind(config: Mapping[str, Any]) -> str:
    """The kind of a checkpoint's encoder: "huggingface", "glove" or "elmo"."""
    return config["encoder"].get("kind", "huggingface")


def build(config: Mapping[str, Any]) -> PronounScorer:
    """A scorer with random weights, as `config` describes it."""
    kind = encoder_kind(config)
    if kind not in ENCODERS:
        raise InputError(f"expected an encoder of kind {', '.join(ENCODERS)}, got {kind!r}")
    encoder: Encoder = ENCODERS[kind](config["encoder"])
    head = config["head"]
    return PronounScorer(
        encoder,
        make_head(head["kind"], encoder.width, dropout=head["dropout"], slots=head["slots"]),
        word_state=config["word_state"],
    )


def load(folder: str | Path) -> Checkpoint:
    """Read a checkpoint; the model comes in fp32, in evaluation mode.

    Raises:
        InputError: `folder` is no checkpoint, or a part of it does not fit.
    """
    folder = Path(folder)
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise InputError(
                f"no checkpoint: expected {name} in it; give a folder that `pronmetric train` wrote", file=folder
            )
    config = _config(folder / CONFIG)
    try:
        model = build(config)
    except Exception as error:  # transformers has many ways to say that an architecture is none
        raise _broken("config", folder / CONFIG, error) from error
    try:
        weights = load_file(folder / WEIGHTS)
        model.load_state_dict({k: v.float() if v.is_floating_point() else v for k, v in weights.items()})
    except (SafetensorError, RuntimeError) as error:
        raise _broken("weights", folder / WEIGHTS, error) from error
    try:
        pieces = _pieces(folder, config)
        Collator(pieces, max_pieces=config["max_pieces"], separator=config["separator"])
    except Exception as error:  # the tokenizers library raises bare Exceptions
        raise _broken("tokenizer", folder, error) from error
    return Checkpoint(model.eval(), pieces, config, hash_file(folder / WEIGHTS))


def _pieces(folder: Path, config: Mapping[str, Any]) -> Pieces:
    """How texts are cut for the encoder that `config` describes."""
    kind, encoder = encoder_kind(config), config["encoder"]
    if kind == "elmo":
        return Characters()
    if kind == "glove":
        vocabulary = Vocabulary.load(folder, lower=encoder["lower"])
        if len(vocabulary.words) != encoder["words"]:
            raise InputError(f"expected {encoder['words']} words in its vocabulary, got {len(vocabulary.words)}")
        return vocabulary
    return Subwords(AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False))


def _config(path: Path) -> dict[str, Any]:
    """The config of a checkpoint, its keys and format checked."""
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        if config["format"] != FORMAT:
            raise InputError(
                f"expected checkpoint format {FORMAT}, got {config['format']}; install the pronmetric that wrote it",
                file=path,
            )
        return {key: config[key] for key in KEYS} | config
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise _broken("config", path, error) from error


def _broken(part: str, path: Path, error: Exception) -> InputError:
    why = repr(error) if isinstance(error, KeyError) else str(error).split("\n")[0]
    return InputError(f"broken checkpoint {part} ({why}); fetch the checkpoint again", file=path)


def save(
    folder: str | Path,
    model: PronounScorer,
    pieces: Pieces,
    config: Mapping[str, Any],
    *,
    half: bool,
) -> str:
    """Write a checkpoint and return its hash; `half` stores the weights in half precision."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    kind = torch.float16 if half else torch.float32
    weights = {
        k: v.detach().to("cpu", kind if v.is_floating_point() else v.dtype).contiguous()
        for k, v in model.state_dict().items()
    }
    write_config(folder, config)
    pieces.save(folder)
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    return hash_file(folder / WEIGHTS)


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write a checkpoint's config.yaml, its keys in their order."""
    (folder / CONFIG).write_text(yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True), encoding="utf-8")


def hash_file(path: Path) -> str:
    """First 8 hex digits of a file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:8]
