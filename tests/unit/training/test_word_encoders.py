"""Encoders of words as a run starts them: GloVe + BiLSTM and ELMo."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pronmetric.checkpoint import files
from pronmetric.data.pieces import Characters, Vocabulary
from pronmetric.errors import InputError
from pronmetric.nn.encoder import NO_LIMIT, Encoder
from pronmetric.nn.encoders.elmo.encoder import Elmo
from pronmetric.nn.encoders.elmo.options import Elmo as ElmoOptions
from pronmetric.nn.encoders.glove.encoder import BiLSTM
from pronmetric.nn.encoders.glove.options import Glove as GloveOptions
from pronmetric.pronouns.finder import FORMS
from pronmetric.training.encoders.glove import count_words
from pronmetric.training.encoders.start import InitialEncoder, make, of_checkpoint
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.settings import Train

GLOVE: dict[str, Any] = {
    "kind": "glove",
    "vectors": None,
    "width": 6,
    "trainable": True,
    "hidden": 4,
    "dropout": 0.25,
    "max_pieces": 64,
}
ELMO: dict[str, Any] = {"kind": "elmo", "trainable": False, "dropout": 0.25, "max_pieces": 64}
PLAIN_ELMO = ElmoOptions(**ELMO, options=None, weights=None)


def glove(data: Path, **changes: Any) -> tuple[BiLSTM, Vocabulary, dict[str, Any]]:
    start = make(GloveOptions(**{**GLOVE, **changes}), data=data)
    assert isinstance(start.encoder, BiLSTM) and isinstance(start.pieces, Vocabulary)
    return start.encoder, start.pieces, start.origin


@pytest.fixture
def elmo(tiny_elmo_files: tuple[Path, Path], tiny_prepared: Path) -> Callable[..., InitialEncoder]:
    options, weights = map(str, tiny_elmo_files)

    def start(**changes: Any) -> InitialEncoder:
        return make(ElmoOptions(**{**ELMO, "options": options, "weights": weights, **changes}), data=tiny_prepared)

    return start


def test_without_a_file_the_words_are_the_frequent_ones(tiny_prepared: Path) -> None:
    encoder, pieces, told = glove(tiny_prepared)
    counts = count_words(tiny_prepared)
    assert set(pieces.words) == {word for word, n in counts.items() if n > 1} | set(FORMS)
    assert encoder.config == {"kind": "glove", "words": len(pieces.words), "vector": 6, "hidden": 4, "layers": 1}
    known = sum(counts[word] for word in pieces.words)
    assert told == {"vectors": None, "words": len(pieces.words), "coverage": round(known / counts.total(), 4)}
    assert 0.5 < told["coverage"] < 1 and encoder.vectors.weight.std() > 0.1
    assert glove(tiny_prepared)[1].words == pieces.words


def test_vectors_of_a_file_are_those_of_its_words(tiny_prepared: Path, tiny_vectors: Path) -> None:
    encoder, pieces, told = glove(tiny_prepared, vectors=str(tiny_vectors))
    lines = gzip.decompress(tiny_vectors.read_bytes()).decode().splitlines()[1:]
    there = {word: [float(x) for x in numbers] for word, *numbers in map(str.split, lines)}
    counts = count_words(tiny_prepared)
    assert set(pieces.words) == there.keys() & counts.keys() and "zyx" not in pieces.words
    expected = np.array([there[word] for word in pieces.words], dtype=np.float32)
    assert np.array_equal(encoder.vectors.weight.detach().numpy(), expected)
    assert told["vectors"] == "vectors.txt.gz" and told["repeated"] == 0 and 0 < told["coverage"] < 1


def test_what_is_trained(
    tiny_prepared: Path,
    tiny_vectors: Path,
    elmo: Callable[..., InitialEncoder],
    tiny_checkpoint: Callable[..., Path],
    train_settings: Callable[..., Train],
) -> None:
    def learned(encoder: Encoder) -> set[str]:
        assert isinstance(encoder, torch.nn.Module)
        return {name.partition(".")[0] for name, p in encoder.named_parameters() if p.requires_grad}

    assert learned(glove(tiny_prepared)[0]) == {"marks", "vectors", "lstm"}
    fixed = glove(tiny_prepared, vectors=str(tiny_vectors), trainable=False)[0]
    assert learned(fixed) == {"marks", "lstm"}
    assert learned(elmo().encoder) == {"mix"} and learned(elmo(trainable=True).encoder) == {"bilm", "mix"}
    loaded = files.load(tiny_checkpoint(encoder="elmo"))
    changes = {"optim.lr": 0.1, "optim.head_lr": 0.4, "optim.layer_decay": 0.5, "optim.weight_decay": 0.0}
    optim, still = (train_settings({**changes, "optim.frozen": frozen}).optim for frozen in (False, True))
    of_checkpoint(loaded, PLAIN_ELMO)
    settings = train_settings()
    given: dict[str, Any] = {
        "loss": settings.loss,
        "objective": settings.objective,
        "length": Length(1, 1.0),
        "seed": 1,
    }
    module = ScorerModule(loaded.model, optim=optim, **given)
    rates = {id(p): group["lr"] for group in module._groups() for p in group["params"]}
    assert rates.keys() == {id(p) for p in module.parameters() if p.requires_grad}
    assert {rates[id(p)] for p in loaded.model.encoder.mix.parameters()} == {0.1}  # type: ignore[attr-defined]
    frozen = ScorerModule(loaded.model, optim=still, **given)
    assert learned(frozen.scorer.encoder) == set()
    assert {id(p) for g in frozen._groups() for p in g["params"]} == {id(p) for p in frozen.scorer.head.parameters()}


def test_elmo_is_an_encoder(elmo: Callable[..., InitialEncoder], tiny_elmo_files: tuple[Path, Path]) -> None:
    encoder, pieces, told = elmo()
    assert isinstance(encoder, Elmo) and isinstance(encoder, Encoder) and isinstance(pieces, Characters)
    assert (encoder.width, encoder.max_pieces) == (6, NO_LIMIT) and told == {
        "options": "options.json",
        "weights": "weights.hdf5",
    }
    assert encoder.dropout.p == 0.25
    layers, names = encoder.layers(), {id(p): name for name, p in encoder.named_parameters()}
    assert sorted(id(p) for layer in layers for p in layer) == sorted(names)
    told_layers = [{".".join(names[id(p)].split(".")[:2]) for p in layer} for layer in layers]
    assert told_layers == [{"bilm.words"}, {"bilm.directions"}, {"bilm.directions"}, {"mix.weights", "mix.scale"}]
    assert all(f".layers.{n - 1}." in names[id(p)] for n in (1, 2) for p in layers[n])
    again = Elmo.from_config(encoder.config)
    again.load_state_dict(encoder.state_dict())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"vectors": "/no/such/file"}, "/no/such/file: no such file"),
        ({"width": 5}, "vectors.txt.gz:1: expected a word and 5 numbers, got 6: give encoder.width=6"),
        ({"kind": "elmo", "options": "/no/such", "weights": "x"}, "/no/such: no such file"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(value),
)
def test_what_is_refused(tiny_prepared: Path, tiny_vectors: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        if changes.get("kind") == "elmo":
            make(ElmoOptions(**{**ELMO, **changes}), data=tiny_prepared)
        else:
            make(GloveOptions(**{**GLOVE, "vectors": str(tiny_vectors), **changes}), data=tiny_prepared)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_checkpoint_of_another_kind_is_refused(tiny_checkpoint: Callable[..., Path]) -> None:
    for encoder in ("huggingface", "glove"):
        loaded = files.load(tiny_checkpoint(encoder=encoder))
        with pytest.raises(
            InputError, match=f"encoder.kind: expected {encoder}, the kind of the checkpoint init=, got elmo"
        ):
            of_checkpoint(loaded, PLAIN_ELMO)
    start = of_checkpoint(loaded, GloveOptions(**{**GLOVE, "trainable": False}))
    assert start.pieces is loaded.pieces and start.origin == {} and isinstance(start.encoder, BiLSTM)
    assert start.encoder.dropout.p == 0.25 and not start.encoder.vectors.weight.requires_grad
