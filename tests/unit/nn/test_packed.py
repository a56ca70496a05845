"""The packed encoders against those that they are made of."""

from __future__ import annotations

import pytest
import torch

from pronmetric.nn.encoders.huggingface import packed
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder


@pytest.fixture(params=["small_bert", "small_mpnet"])
def encoder(request: pytest.FixtureRequest) -> HuggingFaceEncoder:
    made: HuggingFaceEncoder = request.getfixturevalue(request.param)
    return made.requires_grad_(False)


def pack(encoder: HuggingFaceEncoder, dtype: torch.dtype) -> packed.PackedEncoder:
    made = packed.pack(encoder, dtype)
    if made is None:
        pytest.skip(f"this CPU or PyTorch has no packed products in {dtype}")
    return made


@pytest.fixture
def made(encoder: HuggingFaceEncoder) -> packed.PackedEncoder:
    return pack(encoder, torch.bfloat16)


def batch(lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Random pieces, padded on the right."""
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    ids = torch.randint(1, 100, mask.shape, generator=torch.Generator().manual_seed(1))
    return ids.masked_fill(~mask, 0), mask


def test_states_are_near_and_nearer_than_a_cast(encoder: HuggingFaceEncoder, made: packed.PackedEncoder) -> None:
    ids, mask = batch([5, 30, 1, 17])
    with torch.inference_mode():
        exact, found = encoder(ids, mask)[mask], made(ids, mask)[mask]
        cast = encoder.to(torch.bfloat16)(ids, mask)[mask].float()
    assert found.dtype == torch.float32
    gap, gap_of_cast = (found - exact).abs().mean().item(), (cast - exact).abs().mean().item()
    assert exact.abs().mean() > 0.5
    assert 0 < gap < gap_of_cast < 0.05


def test_in_fp32_the_states_are_the_encoders(encoder: HuggingFaceEncoder) -> None:
    ids, mask = batch([5, 30, 1, 17])
    with torch.inference_mode():
        exact, found = encoder(ids, mask)[mask], pack(encoder, torch.float32)(ids, mask)[mask]
    assert exact.abs().mean() > 0.5
    assert (found - exact).abs().max() < 1e-4


def test_in_fp32_padding_and_other_rows_change_nothing(encoder: HuggingFaceEncoder) -> None:
    made = pack(encoder, torch.float32)
    ids, mask = batch([12, 40, 3])
    with torch.inference_mode():
        together, alone = made(ids, mask)[0, :12], made(ids[:1, :12], mask[:1, :12])[0]
    assert (together - alone).abs().max() < 1e-4


def test_padding_changes_nothing(made: packed.PackedEncoder) -> None:
    ids, mask = batch([12, 40])
    with torch.inference_mode():
        together, alone = made(ids, mask)[0, :12], made(ids[:1, :12], mask[:1, :12])[0]
    assert (together - alone).abs().max() < 0.05  # one rounding to bf16 may turn


def test_the_encoder_stays_as_it_was(encoder: HuggingFaceEncoder, made: packed.PackedEncoder) -> None:
    assert {p.dtype for p in encoder.parameters()} == {torch.float32}
    assert (made.width, made.max_pieces) == (encoder.width, encoder.max_pieces)


@pytest.mark.parametrize("other", [{"model_type": "roberta"}, {"hidden_act": "relu"}, {"is_decoder": True}])
def test_other_architectures_are_left_alone(bert_config: dict[str, object], other: dict[str, object]) -> None:
    assert packed.pack(HuggingFaceEncoder.from_config({**bert_config, **other}), torch.float32) is None


@pytest.mark.parametrize("other", [{"hidden_act": "relu"}, {"relative_attention_num_buckets": 64}])
def test_other_mpnets_are_left_alone(mpnet_config: dict[str, object], other: dict[str, object]) -> None:
    assert packed.pack(HuggingFaceEncoder.from_config({**mpnet_config, **other}), torch.float32) is None


def test_without_bf16_in_hardware_only_fp32_is_packed(
    encoder: HuggingFaceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    assert packed.pack(encoder, torch.bfloat16) is None and packed.pack(encoder, torch.float16) is None
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert packed.pack(encoder, torch.float32) is None
