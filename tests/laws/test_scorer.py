"""Laws of the model: what must not change the score of a text."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from pronmetric.checkpoint import files
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.data.collate import Encoded, Example
from pronmetric.pronouns.finder import find
from pronmetric.training.encoders.start import set_dropout

Checkpoints = Callable[..., Path]


class Found(NamedTuple):
    """The segment's score of one row, and those of its pronouns."""

    segment: Tensor
    scores: Tensor


CHOICES = [{"head": "logit"}, {"head": "paper"}, {"head": "average"}, {"encoder": "glove"}, {"encoder": "elmo"}]


@pytest.fixture(scope="module", params=CHOICES, ids=lambda choice: next(iter(choice.values())))
def folder(request: pytest.FixtureRequest, tiny_checkpoint: Checkpoints) -> Path:
    return tiny_checkpoint(**request.param)


@pytest.fixture(scope="module")
def loaded(folder: Path) -> Checkpoint:
    return files.load(folder)


@pytest.fixture(scope="module")
def rows(loaded: Checkpoint, sample: Path) -> list[Encoded]:
    """The lines of the sample, each with the line before it."""
    lines = (sample / "ref.txt").read_text(encoding="utf-8").splitlines()
    spans = [tuple((o.start, o.end) for o in find(line)) for line in lines]
    examples = [Example(a, b, s) for a, b, s in zip(["", *lines], lines, spans, strict=False)]
    found = loaded.collator.encode(examples)
    assert len({len(row.ids) for row in found}) > 5 and any(not len(row.pronouns) for row in found)
    return found


@torch.no_grad()
def score(loaded: Checkpoint, rows: Sequence[Encoded]) -> list[Found]:
    out = loaded.model(loaded.collator.pad(rows))
    return [Found(out.segment[i], out.scores[i, : len(row.pronouns)]) for i, row in enumerate(rows)]


def same(first: Sequence[Found], second: Sequence[Found], tolerance: float = 1e-5) -> None:
    assert sum(len(found.scores) for found in first) > 20
    for one, other in zip(first, second, strict=True):
        torch.testing.assert_close(one.scores, other.scores, atol=tolerance, rtol=0)
        torch.testing.assert_close(one.segment, other.segment, atol=tolerance, rtol=0, equal_nan=True)


def test_scores_differ(loaded: Checkpoint, rows: list[Encoded]) -> None:
    scores = torch.cat([found.scores for found in score(loaded, rows)])
    assert scores.std() > 0.01  # else the laws below would say nothing


def test_padding_changes_nothing(loaded: Checkpoint, rows: list[Encoded]) -> None:
    alone = [found for row in rows for found in score(loaded, [row])]
    same(score(loaded, rows), alone)


def test_order_changes_nothing(loaded: Checkpoint, rows: list[Encoded]) -> None:
    order = random.Random(0).sample(range(len(rows)), len(rows))
    shuffled = dict(zip(order, score(loaded, [rows[i] for i in order]), strict=True))
    same(score(loaded, rows), [shuffled[i] for i in range(len(rows))])


def test_batch_size_changes_nothing(loaded: Checkpoint, rows: list[Encoded]) -> None:
    for size in (2, 7):
        parts = [found for i in range(0, len(rows), size) for found in score(loaded, rows[i : i + size])]
        same(score(loaded, rows), parts)


def test_saving_and_loading_change_nothing(loaded: Checkpoint, rows: list[Encoded], tmp_path: Path) -> None:
    files.save(tmp_path, loaded.model, loaded.pieces, loaded.config, half=False)
    same(score(loaded, rows), score(files.load(tmp_path), rows), 0)


def test_dropout_is_the_only_difference_of_training(folder: Path, rows: list[Encoded]) -> None:
    loaded = files.load(folder)
    set_dropout(loaded.model.encoder, 0.1)  # type: ignore[arg-type]
    evaluated = score(loaded, rows)
    loaded.model.train()
    torch.manual_seed(0)
    trained = torch.cat([found.scores for found in score(loaded, rows)])
    assert not torch.allclose(trained, torch.cat([found.scores for found in evaluated]), atol=1e-3)
    set_dropout(loaded.model, 0.0)
    same(score(loaded, rows), evaluated)
    loaded.model.eval()
    same(score(loaded, rows), evaluated, 0)


def test_what_is_no_context_is_not_read(loaded: Checkpoint) -> None:
    """The pieces of the pronoun and of the context change its score; another text in the batch does not."""
    spans = ((0, 3),)
    base, other, third = (
        Example("", "She left.", spans),
        Example("", "They left.", ((0, 4),)),
        Example("Paul is here.", "She left.", spans),
    )
    encoded = loaded.collator.encode([base, other, third])
    scores = [found.scores[0] for found in score(loaded, encoded)]
    assert abs(scores[0] - scores[1]) > 1e-4
    if loaded.model.probability:
        assert abs(scores[0] - scores[2]) > 1e-4
    torch.testing.assert_close(scores[0], score(loaded, encoded[:1])[0].scores[0], atol=1e-5, rtol=0)
