"""Pruning a vocabulary: known texts keep their states, the rest of the pieces go by their order."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.training.source.pruning import prune

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "\u2581", "a", "b", "c", "d", "\u2581ab", "\u2581abc", "e", "<mask>"]


@pytest.fixture
def pieces() -> Subwords:
    scores = [0.0 if piece.startswith("<") else -float(number) for number, piece in enumerate(PIECES)]
    tokenizer = Tokenizer(models.Unigram(list(zip(PIECES, scores, strict=True)), unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return Subwords(
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, cls_token="<s>", sep_token="</s>", pad_token="<pad>", mask_token="<mask>"
        )
    )


def encoder() -> HuggingFaceEncoder:
    return HuggingFaceEncoder.from_config(
        {
            "model_type": "bert",
            "vocab_size": len(PIECES) + 2,
            "hidden_size": 8,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 8,
            "max_position_embeddings": 16,
            "pad_token_id": 1,
        }
    ).eval()


def states(model: HuggingFaceEncoder, pieces: Subwords, text: str) -> torch.Tensor:
    (found,) = pieces([text])
    ids = torch.from_numpy(found.ids)[None]
    with torch.inference_mode():
        return model(ids, torch.ones_like(ids, dtype=torch.bool))


def test_a_text_of_known_pieces_keeps_its_states(pieces: Subwords) -> None:
    model = encoder()
    before = states(model, pieces, "abc ab")
    smaller = prune(model, pieces, ["abc ab", "d"], most=10)
    assert set(smaller.vocabulary()) == {*PIECES[:4], "<mask>", "\u2581abc", "\u2581ab", "\u2581", "d", "a"}
    assert model.config["vocab_size"] == smaller.config["pieces"] == 10
    assert torch.equal(states(model, smaller, "abc ab"), before)
    assert smaller.prefix.tolist() == [0] and int(smaller.pad) == 1
    numbers = smaller.vocabulary()
    assert sorted(numbers.values()) == list(range(10)) and numbers["<mask>"] == 9


def test_a_tokenizer_of_another_kind_is_refused(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    with pytest.raises(InputError, match=r"source\.pieces: expected a Unigram tokenizer, got WordPiece"):
        prune(encoder(), Subwords(tiny_tokenizer), [], most=10)
