"""The BERT for scoring against that of Hugging Face, and the stored tokenizer against that of transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pronmetric.checkpoint import files, locate
from pronmetric.data.pieces import StoredTokenizer, Subwords
from pronmetric.nn import packed
from pronmetric.nn.bert import Bert
from pronmetric.nn.encoder import Encoder, HuggingFaceEncoder


@pytest.fixture
def both(small_bert: HuggingFaceEncoder, bert_config: dict[str, Any]) -> tuple[HuggingFaceEncoder, Bert]:
    ours = Bert(bert_config)
    ours.load_state_dict(small_bert.state_dict())
    return small_bert, ours.eval()


def test_states_are_those_of_hugging_face(both: tuple[HuggingFaceEncoder, Bert]) -> None:
    mask = torch.arange(30) < torch.tensor([5, 30, 1, 17])[:, None]
    ids = torch.randint(1, 100, mask.shape, generator=torch.Generator().manual_seed(1)).masked_fill(~mask, 0)
    with torch.inference_mode():
        theirs, ours = (encoder(ids, mask)[mask] for encoder in both)
    assert theirs.abs().mean() > 0.5
    assert (theirs - ours).abs().max() < 2e-5


def test_it_is_an_encoder_like_the_other(both: tuple[HuggingFaceEncoder, Bert]) -> None:
    theirs, ours = both
    assert isinstance(ours, Encoder)
    assert (ours.width, ours.max_pieces) == (theirs.width, theirs.max_pieces) == (48, 64)
    assert [len(layer) for layer in ours.layers()] == [len(layer) for layer in theirs.layers()]
    assert sum(map(len, ours.layers())) == len(list(ours.parameters()))
    assert (packed.pack(ours, torch.float32) is None) == (packed.pack(theirs, torch.float32) is None)


@pytest.mark.parametrize(
    "other",
    [
        {"model_type": "roberta"},
        {"hidden_act": "relu"},
        {"is_decoder": True},
        {"position_embedding_type": "relative_key"},
        {"hidden_size": "48"},
        {"num_hidden_layers": 0},
    ],
)
def test_other_architectures_are_left_to_transformers(bert_config: dict[str, Any], other: dict[str, object]) -> None:
    assert Bert.fits(bert_config) and not Bert.fits({**bert_config, **other})


def test_a_checkpoint_for_scoring_has_the_same_weights(tiny_checkpoint: Callable[..., Path]) -> None:
    trainable, scoring = (files.load(tiny_checkpoint(), trainable=value) for value in (True, False))
    assert isinstance(trainable.model.encoder, HuggingFaceEncoder) and isinstance(scoring.model.encoder, Bert)
    theirs, ours = trainable.model.state_dict(), scoring.model.state_dict()
    assert theirs.keys() == ours.keys() and all(torch.equal(theirs[name], ours[name]) for name in theirs)
    assert (trainable.hash, trainable.settings) == (scoring.hash, scoring.settings)


def test_the_stored_tokenizer_is_that_of_transformers(sample: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = locate.locate().folder
    loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    theirs, ours = Subwords(loaded), Subwords(StoredTokenizer(folder))
    texts = [*(sample / "ref.txt").read_text(encoding="utf-8").splitlines(), "", "Caf\u00e9 [SEP] \U0001f600 \u4f60x"]
    for a, b, text in zip(theirs(texts), ours(texts), texts, strict=True):
        found = loaded(text, add_special_tokens=False, return_offsets_mapping=True)
        assert a.ids.tolist() == b.ids.tolist() == found["input_ids"]
        assert a.offsets.tolist() == b.offsets.tolist() == [list(span) for span in found["offset_mapping"]]
    for name in ("prefix", "suffix", "separator", "pad"):
        assert getattr(theirs, name).tolist() == getattr(ours, name).tolist()
    assert (theirs.separator.tolist(), theirs.pad.tolist()) == (loaded.sep_token_id, loaded.pad_token_id)
    assert theirs.config == ours.config == {"pieces": len(loaded)}
    ours.save(tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"tokenizer.json", "tokenizer_config.json"}
