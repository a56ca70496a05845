"""BERT and MPNet for scoring against those of Hugging Face, and the stored tokenizer against that of transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pronmetric.checkpoint import files, locate
from pronmetric.data.pieces import StoredTokenizer, Subwords
from pronmetric.nn.encoder import Encoder
from pronmetric.nn.encoders.huggingface import mpnet, packed
from pronmetric.nn.encoders.huggingface.bert import Bert
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.encoders.huggingface.mpnet import Mpnet


@pytest.fixture(params=[Bert, Mpnet])
def both(request: pytest.FixtureRequest) -> tuple[HuggingFaceEncoder, Bert]:
    name = request.param.FIXED["model_type"]
    theirs: HuggingFaceEncoder = request.getfixturevalue(f"small_{name}")
    ours: Bert = request.param(request.getfixturevalue(f"{name}_config"))
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours.eval()


def batch(lengths: list[int], *, padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random pieces, padded on the right."""
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    ids = torch.randint(2, 100, mask.shape, generator=torch.Generator().manual_seed(1))
    return ids.masked_fill(~mask, padding), mask


def test_states_are_those_of_hugging_face(both: tuple[HuggingFaceEncoder, Bert]) -> None:
    theirs, ours = both
    longest = theirs.max_pieces  # beyond the last bucket of relative positions
    ids, mask = batch([5, longest, 1, 17], padding=ours.config["pad_token_id"])
    with torch.inference_mode():
        expected, found = theirs(ids, mask)[mask], ours(ids, mask)[mask]
    assert expected.abs().mean() > 0.5
    assert (found - expected).abs().max() < 1e-4


def test_padding_and_other_rows_change_nothing(both: tuple[HuggingFaceEncoder, Bert]) -> None:
    _, ours = both
    ids, mask = batch([12, 40, 3], padding=ours.config["pad_token_id"])
    with torch.inference_mode():
        together, alone = ours(ids, mask)[0, :12], ours(ids[:1, :12], mask[:1, :12])[0]
    assert (together - alone).abs().max() < 1e-4


def test_a_row_of_padding_alone_has_finite_states(mpnet_config: dict[str, Any]) -> None:
    ids, mask = torch.ones(2, 3, dtype=torch.int64), torch.tensor([[True, True, True], [False, False, False]])
    with torch.inference_mode():
        assert Mpnet(mpnet_config).eval()(ids, mask).isfinite().all()


def test_buckets_of_relative_positions_are_those_of_hugging_face() -> None:
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    at = torch.arange(300)
    theirs = MPNetEncoder.relative_position_bucket(at[None, :] - at[:, None])
    ours = mpnet.buckets(at)
    # at a power of 2 their logarithm may be rounded down on another device
    edge = torch.isin((at[None, :] - at[:, None]).abs(), torch.tensor([16, 32, 64, 128]))
    assert torch.equal(ours[~edge], theirs[~edge]) and torch.isin((ours - theirs)[edge], torch.tensor([0, 1])).all()
    assert ours[0, [0, 1, 7, 8, 11, 12, 15, 16, 22, 23, 299]].tolist() == [0, 17, 23, 24, 24, 25, 25, 26, 26, 27, 31]
    assert ours[[1, 90, 91, 299], 0].tolist() == [1, 14, 15, 15]


def test_it_is_an_encoder_like_the_other(both: tuple[HuggingFaceEncoder, Bert]) -> None:
    theirs, ours = both
    assert isinstance(ours, Encoder)
    assert (ours.width, ours.max_pieces) == (theirs.width, theirs.max_pieces)
    assert ours.max_pieces == {Bert: 64, Mpnet: 160}[type(ours)]
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


@pytest.mark.parametrize(
    "other",
    [
        {"model_type": "bert"},
        {"hidden_act": "relu"},
        {"relative_attention_num_buckets": 64},
        {"pad_token_id": 0},
        {"layer_norm_eps": 1},
        {"num_attention_heads": None},
    ],
)
def test_other_mpnets_are_left_to_transformers(mpnet_config: dict[str, Any], other: dict[str, object]) -> None:
    assert Mpnet.fits(mpnet_config) and not Mpnet.fits({**mpnet_config, **other})


@pytest.mark.parametrize(("encoder", "kind"), [("huggingface", Bert), ("mpnet", Mpnet)])
def test_a_checkpoint_for_scoring_has_the_same_weights(
    tiny_checkpoint: Callable[..., Path], encoder: str, kind: type
) -> None:
    trainable, scoring = (files.load(tiny_checkpoint(encoder=encoder), trainable=value) for value in (True, False))
    assert isinstance(trainable.model.encoder, HuggingFaceEncoder) and type(scoring.model.encoder) is kind
    theirs, ours = trainable.model.state_dict(), scoring.model.state_dict()
    assert theirs.keys() == ours.keys() and all(torch.equal(theirs[name], ours[name]) for name in theirs)
    assert (trainable.hash, trainable.settings) == (scoring.hash, scoring.settings)


def test_the_stored_tokenizer_is_that_of_transformers(sample: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = locate.locate("small").folder
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
