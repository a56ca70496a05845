from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import AutoTokenizer, BertModel

from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.word_vectors import WordVectors


@pytest.fixture
def make(tiny_encoder: Path):  # type: ignore[no-untyped-def]
    def vectors(layer: int, batch_size: int = 64) -> WordVectors:
        encoder = HuggingFaceEncoder.from_pretrained(str(tiny_encoder), local_files_only=True)
        return WordVectors(encoder, AutoTokenizer.from_pretrained(tiny_encoder), layer=layer, batch_size=batch_size)

    return vectors


@pytest.mark.parametrize("layer", [1, 2])
def test_a_word_is_the_mean_of_its_pieces_at_the_layer(make, tiny_encoder: Path, layer: int) -> None:  # type: ignore[no-untyped-def]
    words = ["she", "unforgettable", "it"]
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    pieces = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in words]
    assert len(pieces[1]) > 1
    inputs = tokenizer(" ".join(words), return_tensors="pt")
    model = BertModel.from_pretrained(tiny_encoder).eval()
    hidden = model(**inputs, output_hidden_states=True).hidden_states[layer][0].detach().numpy()
    ends = 1 + np.cumsum([len(of_word) for of_word in pieces])
    expected = [hidden[end - len(of_word) : end].mean(axis=0) for of_word, end in zip(pieces, ends, strict=True)]
    (found,) = make(layer)([words])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_batches_and_empty_lists_change_nothing(make) -> None:  # type: ignore[no-untyped-def]
    sides = [["she", "saw", "it"], [], ["they"], ["the", "house", "was", "cold", "."]]
    together, apart = make(2)(sides), make(2, batch_size=1)(sides)
    assert [vectors.shape for vectors in together] == [(3, 32), (0, 32), (1, 32), (5, 32)]
    for one, other in zip(together, apart, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_list_beyond_the_encoder_is_cut_between_words(make) -> None:  # type: ignore[no-untyped-def]
    words = ["house"] * 400
    (vectors,) = make(1)([words])
    assert vectors.shape == (400, 32) and np.abs(vectors).sum(axis=1).min() > 0


def test_a_layer_that_is_not_there(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="expected a layer from 1 to 2, got 3"):
        make(3)
