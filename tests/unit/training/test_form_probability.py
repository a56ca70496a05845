"""Log-probabilities of a slot's forms by tiny causal models, against whole texts without a cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from pronmetric.errors import InputError
from pronmetric.training import form_probability
from pronmetric.training.form_probability import FormReader, default_precision

SLOTS = [
    ["She left.", "He left.", "They left."],
    ["Ada saw her book there and it was old", "Ada saw his book there and it was old"],
    [
        "We know that the boat of the old captain sank, but he did not",
        "We know that the boat of the old captain sank, but it did not",
    ],
    ["Ada gave it", "Ada gave them"],
    ["it", "they"],
]


@pytest.fixture(params=["llama", "gpt2"])
def loaded(request: pytest.FixtureRequest, tiny_causal: Callable[..., Path]) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny_causal(request.param)
    model = AutoModelForCausalLM.from_pretrained(folder)
    return model.eval(), AutoTokenizer.from_pretrained(folder)


def reader(loaded: tuple[Any, Any], **changes: Any) -> FormReader:
    return FormReader(*loaded, **{"positions": 128, "folder": "lm", **changes})


@torch.no_grad()
def whole(model: Any, tokenizer: Any, text: str) -> float:
    """The log-probability of a text, read from its beginning."""
    ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]])
    logits = model(input_ids=ids, use_cache=False).logits.double().log_softmax(-1)
    return float(logits[0, :-1].gather(1, ids[0, 1:, None]).sum())


def differences(numbers: Sequence[float]) -> np.ndarray:
    return np.array(numbers) - numbers[0]


def test_a_slot_has_the_differences_of_its_whole_texts(
    loaded: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [differences([whole(*loaded, text) for text in texts]) for texts in SLOTS]
    assert max(np.abs(each).max() for each in expected) > 1
    for pieces in (1, 60, 1024):  # each slot by itself, some and all together
        monkeypatch.setattr(form_probability, "PIECES", pieces)
        for numbers, right in zip(reader(loaded).read(SLOTS), expected, strict=True):
            np.testing.assert_allclose(differences(numbers), right, atol=1e-3)


def test_what_is_shared_is_computed_once(loaded: tuple[Any, Any]) -> None:
    model, _ = loaded
    read: list[int] = []
    model.base_model.register_forward_hook(
        lambda _, args, given, out: read.append((args or [given["input_ids"]])[0].numel()), with_kwargs=True
    )
    left = "the old captain saw the boat and the boat saw the captain and "
    texts = [f"{left}{form} sank" for form in ("she", "he", "they")]
    reader(loaded).read([texts])
    pieces = [len(loaded[1](text, add_special_tokens=False)["input_ids"]) for text in texts]
    once, forms = read
    assert once > 20 and once + forms < sum(pieces)


def test_slots_that_are_finished_are_told(loaded: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_probability, "PIECES", 40)
    told: list[int] = []
    reader(loaded).read(SLOTS, advance=told.append)
    assert sum(told) == len(SLOTS) and len(told) > 1
    assert reader(loaded).read([]) == []


def test_texts_that_are_too_long_do_not_fit(loaded: tuple[Any, Any]) -> None:
    short = reader(loaded, positions=6)
    assert short.fits(["it"]) and not short.fits(["it", "the old captain saw the boat"])
    assert reader(loaded, positions=None).fits(["the old captain saw the boat" * 99])


def test_models_whose_state_cannot_be_shared_are_refused(loaded: tuple[Any, Any]) -> None:
    model, tokenizer = loaded
    config = SimpleNamespace(layer_types=["full_attention", "linear_attention"])
    mixed = SimpleNamespace(config=config, forward=lambda input_ids, past_key_values: None)
    with pytest.raises(InputError, match=r"lm: expected a causal model with attention alone.*type linear_attention"):
        reader((mixed, tokenizer))
    other = SimpleNamespace(config=SimpleNamespace(), forward=lambda input_ids, state: None)
    with pytest.raises(InputError, match=r"lm: expected a causal model with attention alone.*SimpleNamespace"):
        reader((other, tokenizer))
    bare = SimpleNamespace(bos_token_id=None, eos_token_id=None)
    with pytest.raises(InputError, match=r"lm: the tokenizer has no piece for the beginning or the end"):
        reader((model, bare))


def test_the_default_precision_is_that_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for has, expected in ((True, "bf16"), (False, "32")):
        monkeypatch.setattr(form_probability, "cpu_has_bf16", lambda has=has: has)
        assert default_precision(None) == default_precision(0) == expected
        assert default_precision(1) == "bf16"
