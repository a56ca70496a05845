"""ELMo against the outputs that AllenNLP keeps for its tests, made by the original program (`../shared`)."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from pronmetric.checkpoint import elmo as elmo_files
from pronmetric.data import characters
from pronmetric.nn.encoders.elmo.encoder import Elmo

pytestmark = pytest.mark.shared

# AllenNLP's own tolerance: numpy.allclose(..., atol=1e-6), which has rtol=1e-5.
TOLERANCE = {"atol": 1e-6, "rtol": 1e-5}


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "elmo-fixture"


def read(folder: Path, *, stateful: bool) -> Elmo:
    return elmo_files.read(
        str(folder / "options.json"), str(folder / "lm_weights.hdf5"), dropout=0.0, stateful=stateful
    ).eval()


def batches(folder: Path) -> list[list[list[str]]]:
    lists = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    return [[sentence.split() for sentence in batch] for batch in zip(*lists, strict=True)]


def expected(folder: Path, row: int, batch: int) -> np.ndarray:
    """The top layer (words, 32), forward and backward states concatenated."""
    with h5py.File(folder / f"lm_embeddings_{row}.hdf5") as file:
        forward, backward = file[str(batch)][()]
    return np.concatenate([forward, backward], axis=-1)


@torch.inference_mode()
def top_layer(elmo: Elmo, sentences: list[list[str]]) -> list[np.ndarray]:
    ids = torch.zeros(len(sentences), max(map(len, sentences)), characters.WIDTH, dtype=torch.long)
    mask = torch.zeros(ids.shape[:2], dtype=torch.bool)
    for row, words in enumerate(sentences):
        ids[row, : len(words)] = torch.from_numpy(characters.ids(words))
        mask[row, : len(words)] = True
    states = elmo.bilm(ids, mask)[2]
    return [states[row, 1 : 1 + len(words)].numpy() for row, words in enumerate(sentences)]


def test_ten_batches_with_the_state_carried_on(folder: Path) -> None:
    elmo = read(folder, stateful=True)
    compared = 0
    for number, sentences in enumerate(batches(folder)):
        for row, found in enumerate(top_layer(elmo, sentences)):
            assert_allclose(found, expected(folder, row, number), **TOLERANCE)
            compared += len(found)
    assert (number, compared) == (9, sum(len(words) for batch in batches(folder) for words in batch))


def test_the_first_batch_without_a_state(folder: Path) -> None:
    elmo = read(folder, stateful=False)
    for sentences in (batches(folder)[1], batches(folder)[0]):  # earlier texts have no effect
        states = top_layer(elmo, sentences)
    for row, found in enumerate(states):
        assert_allclose(found, expected(folder, row, 0), **TOLERANCE)


def test_words_by_their_characters_alone(folder: Path) -> None:
    vocabulary = (folder / "vocab_test.txt").read_text(encoding="utf-8").strip().split("\n")
    with h5py.File(folder / "elmo_token_embeddings.hdf5") as file:
        embedding = file["embedding"][()]
    with torch.inference_mode():
        found = read(folder, stateful=False).bilm.words(torch.from_numpy(characters.ids(vocabulary)))
    assert found.shape == (458, 16)
    assert_allclose(found.numpy(), embedding, **TOLERANCE)
