"""Classifiers of slots: padding and batch change nothing, weights balance the classes."""

from __future__ import annotations

from typing import ClassVar

import pytest
import torch

from pronmetric.lab.clpp.slots import STREAMS, SlotEncoder, SlotGru, balanced_weights, class_loss, config_of


def gru() -> SlotGru:
    torch.manual_seed(3)
    return SlotGru(words=7, tags=5, sources=6, classes=3, width=4, layers=2, dropout=0.5).eval()


def test_padding_changes_no_logit() -> None:
    model = gru()
    streams = torch.randint(2, 5, (2, STREAMS, 3))
    mask = torch.tensor([True, True, False]).expand(2, STREAMS, 3)
    longer = torch.cat([streams, torch.full((2, STREAMS, 2), 4)], dim=2)
    more = torch.cat([mask, torch.zeros(2, STREAMS, 2, dtype=torch.bool)], dim=2)
    pronoun = torch.tensor([2, 3])
    assert torch.allclose(model(streams, mask, pronoun), model(longer, more, pronoun), atol=1e-6)
    alone = model(streams[:1], mask[:1], pronoun[:1])
    assert torch.allclose(alone, model(streams, mask, pronoun)[:1], atol=1e-6)


def test_an_empty_stream_counts_nothing() -> None:
    model = gru()
    streams = torch.randint(2, 5, (1, STREAMS, 2))
    mask = torch.ones(1, STREAMS, 2, dtype=torch.bool)
    mask[0, 0] = False
    other = streams.clone()
    other[0, 0] = 1
    assert torch.equal(model(streams, mask, torch.tensor([2])), model(other, mask, torch.tensor([2])))


def test_the_sizes_make_it_again() -> None:
    model = gru()
    again = SlotGru(**config_of(model))
    again.load_state_dict(model.state_dict())
    assert config_of(again) == config_of(model)


def test_the_encoder_reads_two_words() -> None:
    class Constant(torch.nn.Module):
        width, max_pieces = 2, 9
        config: ClassVar[dict[str, int]] = {}

        def layers(self) -> list[list[torch.nn.Parameter]]:
            return []

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return torch.stack([ids.float(), torch.ones_like(ids).float()], dim=2)

    model = SlotEncoder(Constant(), classes=2, dropout=0.0)
    with torch.no_grad():
        model.out.weight.copy_(torch.tensor([[1.0, 0, 0, 0], [0, 0, 1.0, 0]]))
        model.out.bias.zero_()
    ids, word = torch.tensor([[5, 7, 9, 0]]), torch.tensor([[0, 0, 1, -1]])
    logits = model(ids, ids > 0, word, torch.tensor([[0, 1]]))
    assert logits.tolist() == [[6.0, 9.0]]  # the mean of 5 and 7; 9


def test_every_class_counts_alike() -> None:
    weights = balanced_weights([1, 3, 0])
    assert weights.tolist() == [2.0, 4 / (2 * 3), 0.0] or torch.allclose(weights, torch.tensor([2.0, 2 / 3, 0.0]))
    logits = torch.zeros(4, 3)
    labels = torch.tensor([0, 1, 1, 1])
    share = torch.nn.functional.cross_entropy(logits[:1], labels[:1])
    assert torch.allclose(class_loss(logits, labels, weights), share * (2 + 3 * 2 / 3) / 4)


@pytest.mark.parametrize("attention", [False, True])
def test_the_word_next_to_the_slot_is_told_from_the_others(attention: bool) -> None:
    """The words of a stream end at the slot, and their number varies: only the last state knows what stands there."""
    torch.manual_seed(1)
    sizes = {"words": 8, "tags": 3, "sources": 3, "classes": 3, "width": 16, "layers": 1, "dropout": 0.0}
    model = SlotGru(**sizes, attention=attention)  # type: ignore[arg-type]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def draw(count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        lengths = torch.randint(6, 13, (count,))
        mask = (torch.arange(12) < lengths[:, None])[:, None].expand(count, STREAMS, 12)
        ids = torch.randint(2, 5, (count, STREAMS, 12))
        ids[:, 2:] = 2
        labels = ids[torch.arange(count), 0, lengths - 1] - 2
        return ids * mask, mask, labels

    for _ in range(60):
        ids, mask, labels = draw(32)
        loss = torch.nn.functional.cross_entropy(model(ids, mask, torch.full((32,), 2)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids, mask, labels = draw(200)
    right = model(ids, mask, torch.full((200,), 2)).argmax(1) == labels
    assert float(right.float().mean()) > 0.9
