from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, tensor

from pronmetric.nn import loss

NAN = float("nan")


def value(found: Tensor) -> float:
    assert found.shape == ()
    return found.item()


def places(mask: Tensor) -> Tensor:
    return mask.flatten().nonzero().flatten()


def test_margin_is_the_papers_hinge() -> None:
    better, worse = tensor([1.0, 0.25, 0.5]), tensor([0.0, 0.5, 0.45])
    # max(0, 0.1 - 1 + 0) = 0, max(0, 0.1 - 0.25 + 0.5) = 0.35, max(0, 0.1 - 0.5 + 0.45) = 0.05
    assert value(loss.margin(better, worse, margin=0.1)) == pytest.approx((0 + 0.35 + 0.05) / 3)


def test_logistic_is_the_log_of_the_odds_lost() -> None:
    # log(1 + e^(worse - better)): gaps 0 and 2
    expected = (math.log(2) + math.log(1 + math.exp(-2))) / 2
    assert value(loss.logistic(tensor([1.0, 3.0]), tensor([1.0, 1.0]))) == pytest.approx(expected)


def test_detection_is_cross_entropy_of_the_real_pronouns() -> None:
    logits, right = tensor([[0.0, 2.0], [-1.0, 50.0]]), tensor([[1.0, 0.0], [1.0, 0.0]])
    mask = tensor([[True, True], [True, False]])
    # -log sigmoid(0) = log 2; -log(1 - sigmoid(2)) = log(1 + e^2); -log sigmoid(-1) = log(1 + e)
    expected = (math.log(2) + math.log(1 + math.exp(2)) + math.log(1 + math.e)) / 3
    assert value(loss.detection(logits, right, places(mask))) == pytest.approx(expected)


def test_antecedent_is_the_log_of_what_its_words_are_attended_to_together() -> None:
    weights = tensor([[[0.25, 0.25, 0.5], [0.125, 0.5, 0.375]], [[1.0, 0.0, 0.0], [0.3, 0.3, 0.4]]])
    where = tensor([[[True, True, False], [True, False, False]], [[True, False, False], [False, False, False]]])
    # 1/2 and 1/8, then all; the last pronoun has no antecedent
    at = places(where.any(-1))
    assert value(loss.antecedent(weights, where, at)) == pytest.approx((math.log(2) + math.log(8) + 0) / 3)
    half = loss.antecedent(weights.bfloat16(), where, at)  # these weights are exact in it
    assert half.dtype == torch.float32 and value(half) == pytest.approx(4 * math.log(2) / 3)


def test_an_antecedent_that_is_not_attended_to_has_a_finite_loss() -> None:
    scores = tensor([[[0.0, 200.0], [0.0, 20.0]]], requires_grad=True)
    found = loss.antecedent(scores.softmax(-1), tensor([[[True, False], [True, False]]]), tensor([0, 1]))
    assert 10 < value(found) < 25
    found.backward()
    assert scores.grad is not None and scores.grad.isfinite().all()
    assert scores.grad[0, 1, 0] < 0 < scores.grad[0, 1, 1]  # attention is drawn there


def test_where_nothing_is_chosen_the_loss_is_zero_and_can_go_back() -> None:
    scores = torch.full((2,), NAN, requires_grad=True)
    logits = torch.randn(2, 3, requires_grad=True)
    weights = torch.rand(2, 3, 5, requires_grad=True)
    nothing = torch.zeros(0, dtype=torch.long)
    none = scores[nothing]
    losses = [
        loss.margin(none, none, margin=0.1),
        loss.logistic(none, none),
        loss.soft_logistic(none, none, none.detach()),
        loss.detection(logits, torch.zeros(2, 3), nothing),
        loss.antecedent(weights, torch.zeros(2, 3, 5, dtype=torch.bool), nothing),
    ]
    assert [value(found) for found in losses] == [0, 0, 0, 0, 0]
    sum(losses, start=torch.zeros(())).backward()
    for leaf in (scores, logits, weights):
        assert leaf.grad is not None and (leaf.grad == 0).all()


def test_ties_have_margin_0_in_both_directions() -> None:
    better, worse = tensor([0.5, 0.2, 0.9]), tensor([0.2, 0.5, 0.1])
    found = loss.margin(better, worse, margin=0.1, tie=tensor([True, True, False]))
    assert value(found) == pytest.approx((0.3 + 0.3 + 0.0) / 3)


def test_a_logistic_tie_is_least_where_the_scores_are_equal() -> None:
    tie = tensor([True])
    assert value(loss.logistic(tensor([2.0]), tensor([2.0]), tie=tie)) == pytest.approx(math.log(2))
    expected = (math.log1p(math.exp(-1)) + math.log1p(math.exp(1))) / 2
    for better, worse in ((1.0, 2.0), (2.0, 1.0)):
        assert value(loss.logistic(tensor([better]), tensor([worse]), tie=tie)) == pytest.approx(expected)


def test_gaps_lose_by_whether_and_which_pronoun_is_missing() -> None:
    # gaps of two rows: none missing, the second form missing; not counted
    outputs = tensor([[[0.0, 0.0, 0.0], [0.0, 0.0, math.log(3)]], [[9.0, 9.0, 9.0], [9.0, 9.0, 9.0]]])
    missing = tensor([[0, 2], [-1, -1]])
    # log 2 for each gap, and -log(3 / 4) for the form of the second
    assert value(loss.gaps(outputs, missing, places(missing >= 0))) == pytest.approx(
        (2 * math.log(2) + math.log(4 / 3)) / 2
    )
    assert value(loss.gaps(outputs, missing, places(missing > 2))) == 0.0
