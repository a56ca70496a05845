from __future__ import annotations

from typing import Any

import pytest
import torch
import yaml
from torch import tensor
from transformers import AutoConfig, AutoModel

from pronmetric.nn.encoder import Encoder, word_states
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder

SMALL = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
}
TINY: dict[str, dict[str, Any]] = {
    "bert": {},
    "roberta": {"pad_token_id": 1},
    "xlm-roberta": {"pad_token_id": 1},
    "camembert": {"pad_token_id": 1},
    "mpnet": {"pad_token_id": 1},
    "electra": {"embedding_size": 8},
    "deberta-v2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "modernbert": {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2},
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
}
SHIFTED = {"roberta", "xlm-roberta", "camembert", "mpnet"}  # positions start after the padding index, here 1


def config_of(kind: str) -> dict[str, Any]:
    hidden = {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"}
    common = {key: value for key, value in SMALL.items() if kind != "distilbert" or key not in hidden}
    return common | TINY[kind] | {"model_type": kind}


@pytest.fixture(scope="module", params=TINY)
def encoder(request: pytest.FixtureRequest) -> HuggingFaceEncoder:
    torch.manual_seed(0)
    return HuggingFaceEncoder.from_config(config_of(request.param)).eval()


def states(encoder: HuggingFaceEncoder, ids: list[list[int]], lengths: list[int]) -> torch.Tensor:
    mask = torch.arange(len(ids[0])) < tensor(lengths)[:, None]
    with torch.no_grad():
        return encoder(tensor(ids), mask)


def test_an_encoder_gives_a_state_for_each_piece(encoder: HuggingFaceEncoder) -> None:
    assert isinstance(encoder, Encoder)
    found = states(encoder, [[5, 6, 7, 8], [9, 10, 11, 12]], [4, 4])
    assert found.shape == (2, 4, 16) == (2, 4, encoder.width)


@pytest.mark.parametrize(("kind", "found"), [("roberta", "sdpa"), ("mpnet", "eager"), ("deberta-v2", "eager")])
def test_fused_attention_gives_the_same_states_where_there_is_one(kind: str, found: str) -> None:
    torch.manual_seed(0)
    encoder = HuggingFaceEncoder.from_config(config_of(kind)).eval()
    real = torch.arange(4) < tensor([4, 2])[:, None]
    before = states(encoder, [[5, 6, 7, 8], [9, 10, 1, 1]], [4, 2])[real]
    encoder.fuse_attention()
    assert encoder.model.config._attn_implementation == found
    after = states(encoder, [[5, 6, 7, 8], [9, 10, 1, 1]], [4, 2])[real]
    torch.testing.assert_close(after, before, atol=1e-4, rtol=0)


def test_padding_changes_no_state(encoder: HuggingFaceEncoder) -> None:
    pad = encoder.model.config.pad_token_id or 0
    alone = states(encoder, [[5, 6, 7]], [3])
    padded = states(encoder, [[5, 6, 7, pad, pad], [9, 10, 11, 12, 13]], [3, 5])
    torch.testing.assert_close(padded[:1, :3], alone, atol=1e-5, rtol=1e-5)


def test_max_pieces_is_what_the_positions_hold(encoder: HuggingFaceEncoder) -> None:
    kind = encoder.model.config.model_type
    assert encoder.max_pieces == (38 if kind in SHIFTED else 40)
    ids = [[5 + i % 40 for i in range(encoder.max_pieces)]]
    assert states(encoder, ids, [encoder.max_pieces]).isfinite().all()
    if kind in SHIFTED:
        with pytest.raises((IndexError, RuntimeError)):
            states(encoder, [[*ids[0], 5]], [encoder.max_pieces + 1])


def test_layers_are_every_parameter_once_from_the_embeddings_up(encoder: HuggingFaceEncoder) -> None:
    layers = encoder.layers()
    assert len(layers) == 3
    ids = [id(p) for layer in layers for p in layer]
    assert sorted(ids) == sorted(id(p) for p in encoder.parameters())
    names = {id(p): name for name, p in encoder.named_parameters()}
    assert any("embeddings" in names[id(p)] for p in layers[0])
    assert all(".0." in names[id(p)] for p in layers[1]) and all(".1." in names[id(p)] for p in layers[2])


def test_an_encoder_comes_back_from_its_config(encoder: HuggingFaceEncoder) -> None:
    config = yaml.safe_load(yaml.safe_dump(encoder.config))
    assert "_name_or_path" not in config
    again = HuggingFaceEncoder.from_config(config)
    again.load_state_dict(encoder.state_dict())
    assert (again.width, again.max_pieces) == (encoder.width, encoder.max_pieces)
    ids = [[5, 6, 7, 8]]
    torch.testing.assert_close(states(again.eval(), ids, [4]), states(encoder, ids, [4]), atol=0, rtol=0)


def test_the_pooler_is_left_out() -> None:
    model = AutoModel.from_config(AutoConfig.for_model(**config_of("bert")))
    assert any("pooler" in name for name, _ in model.named_parameters())
    assert not any("pooler" in name for name, _ in HuggingFaceEncoder.from_config(config_of("bert")).named_parameters())


PIECES = tensor([[[1.0, 10.0], [3.0, 20.0], [5.0, 30.0], [7.0, 40.0], [9.0, 50.0]]])
WORD = tensor([[-1, 0, 0, 2, -1]])


def test_a_words_state_is_the_mean_of_its_pieces() -> None:
    # word 0: pieces 1 and 2; word 1: none; word 2: piece 3; pieces 0 and 4 belong to no word
    assert word_states(PIECES, WORD, 3, how="mean").tolist() == [[[4.0, 25.0], [0.0, 0.0], [7.0, 40.0]]]


def test_or_that_of_its_first_piece() -> None:
    assert word_states(PIECES, WORD, 3, how="first").tolist() == [[[3.0, 20.0], [0.0, 0.0], [7.0, 40.0]]]


def test_rows_of_a_batch_are_kept_apart() -> None:
    pieces = torch.cat([PIECES, 100 + PIECES])
    found = word_states(pieces, torch.cat([WORD, tensor([[0, 1, 1, 1, 2]])]), 3, how="mean")
    assert found[0].tolist() == [[4.0, 25.0], [0.0, 0.0], [7.0, 40.0]]
    assert found[1].tolist() == [[101.0, 110.0], [105.0, 130.0], [109.0, 150.0]]


def test_another_way_is_refused() -> None:
    with pytest.raises(ValueError, match='expected how="mean" or "first", got \'last\''):
        word_states(PIECES, WORD, 3, how="last")


def test_the_mean_of_low_precision_states_stays_near() -> None:
    found = word_states(PIECES.bfloat16(), WORD, 3, how="mean")
    assert found.dtype == torch.bfloat16 and found[0, 0].tolist() == [4.0, 25.0]
