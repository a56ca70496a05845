"""What a frozen encoder says, stored: the same to half precision, found again, whole after a kill."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from pronmetric.checkpoint import files
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.data.collate import Example
from pronmetric.nn.stored import key
from pronmetric.training.paper.encoder_cache import States, cached_encoder, fill, weights_hash

TEXTS = [Example("Anna left.", "She lost her keys.", ((0, 3),)), Example("", "It rained on them.", ((0, 2),))]


@pytest.fixture(params=["huggingface", "elmo"])
def loaded(request: pytest.FixtureRequest, tiny_checkpoint: Callable[..., Path]) -> Checkpoint:
    return files.load(tiny_checkpoint(head="paper", encoder=request.param))


def test_stored_states_are_the_encoders_to_half_precision(loaded: Checkpoint, tmp_path: Path) -> None:
    encoder, states = cached_encoder(loaded.model.encoder, tmp_path)
    batch = loaded.collator.pad(loaded.collator.encode(TEXTS))
    with torch.inference_mode():
        wanted = loaded.model(batch)
    assert fill(states, encoder.encoder, loaded.collator, TEXTS) == 2
    encoder.encoder.forward = None  # it is not asked again
    loaded.model.encoder = encoder
    with torch.inference_mode():
        found = loaded.model(batch)
    torch.testing.assert_close(found.segment, wanted.segment, rtol=5e-3, atol=5e-3)
    torch.testing.assert_close(found.weights, wanted.weights, rtol=5e-2, atol=5e-3)


def test_it_is_neither_trained_nor_saved_with_the_model(loaded: Checkpoint, tmp_path: Path) -> None:
    encoder, _ = cached_encoder(loaded.model.encoder, tmp_path)
    assert list(encoder.parameters()) == [] and encoder.state_dict() == {}
    assert encoder.config == loaded.model.encoder.config and encoder.width == loaded.model.encoder.width
    encoder.train()
    assert not encoder.encoder.training and not any(p.requires_grad for layer in encoder.layers() for p in layer)


def test_a_text_that_was_not_stored_is_computed(loaded: Checkpoint, tmp_path: Path) -> None:
    encoder, states = cached_encoder(loaded.model.encoder, tmp_path)
    fill(states, encoder.encoder, loaded.collator, TEXTS[:1])
    batch = loaded.collator.pad(loaded.collator.encode(TEXTS))
    with torch.inference_mode():
        wanted = loaded.model.encoder(batch.ids, batch.piece_mask)
        assert torch.equal(encoder(batch.ids, batch.piece_mask), wanted)


def test_each_row_is_computed_once_whoever_asks(loaded: Checkpoint, tmp_path: Path) -> None:
    encoder, states = cached_encoder(loaded.model.encoder, tmp_path)
    other, its = cached_encoder(loaded.model.encoder, tmp_path)
    assert fill(states, encoder.encoder, loaded.collator, [*TEXTS, *TEXTS]) == 2
    assert fill(its, other.encoder, loaded.collator, [*TEXTS, Example("", "We left.", ((0, 2),))]) == 1
    assert len(its) == 3 and len(states) == 2
    states.refresh()
    assert list(states) == list(its) and all((states[name] == its[name]).all() for name in its)


def test_other_weights_have_another_folder(loaded: Checkpoint, tmp_path: Path) -> None:
    before = weights_hash(loaded.model.encoder)
    assert before == weights_hash(loaded.model.encoder)
    with torch.no_grad():
        next(iter(loaded.model.encoder.parameters())).view(-1)[0] += 1
    assert weights_hash(loaded.model.encoder) != before


def test_what_a_killed_process_left_half_written_is_overwritten(tmp_path: Path) -> None:
    states = States(tmp_path, 2)
    rows = [np.array([[1, 2], [3, 4]]), np.array([[5, 6]])]
    with states.adding():
        states.add([b"a" * 32], rows[:1])
    with (tmp_path / "states").open("ab") as file:
        file.write(b"123")
    with (tmp_path / "places").open("ab") as file:
        file.write(b"b" * 20)
    again = States(tmp_path, 2)
    assert list(again) == [b"a" * 32]
    with again.adding():
        again.add([b"c" * 32], rows[1:])
    last = States(tmp_path, 2)
    assert last[b"a" * 32].tolist() == [[1, 2], [3, 4]] and last[b"c" * 32].tolist() == [[5, 6]]
    assert last[b"a" * 32].dtype == np.float16 and len(States(tmp_path, 2)) == 2


def test_keys_hang_on_the_pieces_alone() -> None:
    ids = np.array([3, 1, 2])
    assert key(ids) == key(ids.astype(np.int32)) != key(ids[::-1])
