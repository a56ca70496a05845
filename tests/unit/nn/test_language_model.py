"""The language models' losses against the states of the LSTMs, prediction by prediction."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, tensor

from pronmetric.data.pieces import SEPARATOR, Vocabulary
from pronmetric.nn.encoders.elmo.encoder import BiLM, Shape
from pronmetric.nn.language_model import LanguageModel
from pronmetric.training.examples.planning import Step
from pronmetric.training.paper.language_data import LanguageData, Rows, WordBatch

VOCABULARY = Vocabulary(["she", "it", "saw", "."], lower=False)  # ids 3 to 6
SHAPE = Shape(
    characters=262,
    character_width=3,
    filters=((1, 3), (2, 4)),
    highway=1,
    activation="relu",
    layers=2,
    cell=7,
    projection=6,
    cell_clip=3.0,
    projection_clip=3.0,
    residual=True,
)
TEXTS = ["She saw it.", "it", "she saw it. it saw."]


def build(*, dropout: float = 0.0, cutoffs: tuple[int, ...] = (3, 5)) -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(BiLM(SHAPE, stateful=False), classes=7, cutoffs=cutoffs, dropout=dropout)


def batch(*rows: int) -> WordBatch:
    return Rows(TEXTS, VOCABULARY)[Step("passages", rows, rows)]


def losses(model: LanguageModel, item: WordBatch) -> tuple[Tensor, Tensor]:
    return model(item.characters, item.mask, item.words)


def test_a_batch_has_the_words_by_characters_and_by_id() -> None:
    item = batch(0, 1)
    assert item.words.tolist() == [[1, 5, 4, 6], [4, 0, 0, 0]]  # "She" is unknown: the vocabulary is case-sensitive
    assert item.mask.tolist() == [[True] * 4, [True, False, False, False]]
    assert item.characters.shape == (2, 4, 50)
    assert item.characters[0, 0, :5].tolist() == [259, ord("S") + 1, ord("h") + 1, ord("e") + 1, 260]
    assert (item.characters[1, 1:] == 0).all()


def test_each_direction_predicts_the_next_word_from_what_it_has_read() -> None:
    model, item = build().eval(), batch(0, 1)
    with torch.no_grad():
        forward, backward = losses(model, item)
        top = model.bilm(item.characters, item.mask)[-1]
    width = model.bilm.shape.projection
    expected: tuple[list[Tensor], list[Tensor]] = ([], [])
    for row, ids in enumerate(([1, 5, 4, 6], [4])):
        tokens = [SEPARATOR, *ids, SEPARATOR]
        for at in range(len(tokens) - 1):
            expected[0].append(-model.softmax.log_prob(top[row, at, None, :width])[0, tokens[at + 1]])
            expected[1].append(-model.softmax.log_prob(top[row, at + 1, None, width:])[0, tokens[at]])
    torch.testing.assert_close(forward, torch.stack(expected[0]))
    torch.testing.assert_close(backward, torch.stack(expected[1]))


def test_the_future_is_not_seen() -> None:
    """Another last word changes no earlier forward loss, another first word no later backward one."""
    model = build().eval()
    rows = Rows(["it saw she", "it saw .", ". saw she"], VOCABULARY)
    with torch.no_grad():
        (f, b), (f_end, _), (_, b_start) = (losses(model, rows[Step("passages", (n,), (0,))]) for n in range(3))
    assert torch.equal(f[:2], f_end[:2]) and not torch.equal(f[2:], f_end[2:])
    assert torch.equal(b[2:], b_start[2:]) and not torch.equal(b[:2], b_start[:2])


def test_padding_and_the_other_rows_change_nothing() -> None:
    model = build().eval()
    with torch.no_grad():
        together, alone = losses(model, batch(0, 1, 2)), [losses(model, batch(row)) for row in range(3)]
    for direction in range(2):
        torch.testing.assert_close(together[direction], torch.cat([each[direction] for each in alone]))


def test_every_weight_learns() -> None:
    model = build()
    torch.cat(losses(model, batch(0, 1, 2))).mean().backward()
    for name, parameter in model.bilm.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.any(), name


def test_dropout_in_training_alone() -> None:
    model, item = build(dropout=0.5), batch(0, 1, 2)
    with torch.no_grad():
        assert not torch.equal(losses(model, item)[0], losses(model, item)[0])
        model.eval()
        assert torch.equal(losses(model, item)[0], losses(model, item)[0])
        model.train()
        assert torch.equal(model.bilm(item.characters, item.mask)[0], model.eval().bilm(item.characters, item.mask)[0])


@pytest.mark.parametrize(
    ("cutoffs", "expected"),
    [((3, 5), [3, 5]), ((5, 2000), [5]), ((2000,), [3]), ((), [3]), ((2, 4, 5), [2, 4])],
)
def test_cutoffs_beyond_the_vocabulary_are_left_out(cutoffs: tuple[int, ...], expected: list[int]) -> None:
    model = build(cutoffs=cutoffs)
    assert model.softmax.cutoffs[:-1] == expected
    with torch.no_grad():
        states = torch.randn(2, model.bilm.shape.projection)
        torch.testing.assert_close(model.softmax.log_prob(states).exp().sum(1), tensor([1.0, 1.0]))


def test_half_precision_in_the_lstms_alone() -> None:
    model, item = build().eval(), batch(0, 1, 2)
    with torch.no_grad():
        full = losses(model, item)
        with torch.autocast("cpu", torch.bfloat16):
            half = losses(model, item)
    assert half[0].dtype == torch.float32
    torch.testing.assert_close(half[0], full[0], atol=0.1, rtol=0.1)


def test_an_epoch_has_each_text_once_and_the_next_another_order() -> None:
    texts, counts = [f"it {'saw ' * n}." for n in range(12)], [2 + n for n in range(12)]
    data = LanguageData(
        train=(texts, counts),
        development=(texts[:2], counts[:2]),
        vocabulary=VOCABULARY,
        epochs=2,
        words=20,
        workers=0,
        pin=False,
        accumulated=1,
        seed=1,
    )
    rows = [row for step in data.steps for row in step.rows]
    assert sorted(rows[:12]) == sorted(rows[12:]) == list(range(12)) and rows[:12] != rows[12:]
    assert all(len(step.rows) * max(counts[row] for row in step.rows) <= 20 for step in data.steps)
    assert sorted(row for step in data.development_steps for row in step.rows) == [0, 1]
