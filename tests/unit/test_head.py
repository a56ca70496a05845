from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn, tensor

from pronmetric.errors import InputError
from pronmetric.nn.head import AverageHead, LogitHead, PaperHead, gather, mean
from pronmetric.nn.scorer import make_head

WIDTH = 6
KINDS = {
    "logit": lambda: LogitHead(WIDTH, dropout=0.0),
    "paper": lambda: PaperHead(WIDTH, slots=3),
    "average": lambda: AverageHead(WIDTH),
}


def inputs(batch: int = 3, words: int = 7, slots: int = 4) -> dict[str, Any]:
    """Random states; the first row is full, the second has two pronouns and five words, the third no pronoun."""
    torch.manual_seed(3)
    mask, real = torch.ones(batch, words, dtype=torch.bool), torch.zeros(batch, slots, dtype=torch.bool)
    mask[1:, 5:] = False
    real[0], real[1, :2] = True, True
    return {
        "states": torch.randn(batch, words, WIDTH),
        "mask": mask,
        "at": tensor([[0, 2, 4, 6], [1, 3, 0, 0], [0, 0, 0, 0]]),
        "real": real,
    }


def test_gather_takes_the_rows_of_each_element() -> None:
    states = tensor([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])
    assert gather(states, tensor([[2, 0], [1, 1]])).squeeze(-1).tolist() == [[3.0, 1.0], [5.0, 5.0]]


def test_mean_is_over_the_real_slots() -> None:
    found = mean(
        tensor([[1.0, 3.0, 9.0], [2.0, 5.0, 5.0], [7.0, 7.0, 7.0]]), tensor([[True, True, False]] * 2 + [[False] * 3])
    )
    assert found[:2].tolist() == [2.0, 3.5] and math.isnan(found[2])


def paper_by_hand(head: PaperHead, states: Tensor, pronouns: list[int], words: int) -> tuple[list[float], float]:
    """Equations 1 to 5 of Jwalapuram et al. 2019 with plain loops over one sentence."""
    keys = [states[i] for i in range(words)]
    queries = [keys[at] for at in pronouns]  # eq. 1: the pronouns are rows of K
    u = []
    for query in queries:
        scores = [float(query @ key) / math.sqrt(WIDTH) for key in keys]
        total = sum(math.exp(score) for score in scores)
        attended = sum(
            (math.exp(s) / total * key for s, key in zip(scores, keys, strict=True)), start=torch.zeros(WIDTH)
        )
        b = query + attended
        centred = b - b.mean()
        normed = centred / math.sqrt(float((centred**2).mean()) + head.norm.eps)
        u.append(float((normed * head.norm.weight + head.norm.bias) @ head.z.weight[0]))
    return u, sum(ui * float(wi) for ui, wi in zip(u, head.w, strict=False))  # pronouns beyond the slots count 0


def test_the_papers_head_follows_the_papers_equations() -> None:
    torch.manual_seed(5)
    head = PaperHead(WIDTH, slots=3)
    for parameter in head.parameters():
        nn.init.normal_(parameter)
    given = inputs()
    with torch.no_grad():
        out = head(**given)
        for row, (pronouns, words) in enumerate([([0, 2, 4, 6], 7), ([1, 3], 5)]):
            u, y = paper_by_hand(head, given["states"][row], pronouns, words)
            torch.testing.assert_close(out.scores[row, : len(u)], tensor(u))
            torch.testing.assert_close(out.segment[row], tensor(y))
    assert out.segment[2].isnan() and not head.probability


def test_the_average_heads_score_is_the_map_of_the_mean_state() -> None:
    head, given = AverageHead(WIDTH), inputs()
    out = head(**given)
    mean_state = given["states"][1, [1, 3]].mean(0)
    torch.testing.assert_close(out.segment[1], head.z(mean_state).squeeze())
    assert out.weights is None and not head.probability


def test_the_logit_heads_segment_is_the_mean_probability() -> None:
    head = LogitHead(WIDTH, dropout=0.0)
    out = head(**inputs())
    torch.testing.assert_close(out.segment[0], out.scores[0].sigmoid().mean())
    torch.testing.assert_close(out.segment[1], out.scores[1, :2].sigmoid().mean())
    assert head.probability
    assert 0 < out.segment[0] < 1


@pytest.mark.parametrize("kind", KINDS)
def test_padded_slots_hold_zero_and_a_row_without_pronouns_is_nan(kind: str) -> None:
    out = KINDS[kind]()(**inputs())
    assert (out.scores[1, 2:] == 0).all() and (out.scores[2] == 0).all()
    assert out.segment.isnan().tolist() == [False, False, True]


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_are_not_there_change_nothing(kind: str) -> None:
    head, given = KINDS[kind](), inputs()
    other = given["states"].masked_fill(~given["mask"][:, :, None], 77.0)
    with torch.no_grad():
        torch.testing.assert_close(head(**given), head(**{**given, "states": other}), equal_nan=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_without_pronouns_sends_back_no_nan(kind: str) -> None:
    head, given = KINDS[kind](), inputs()
    states = given["states"].requires_grad_()
    out = head(**given)
    out.segment[:2].sum().backward()
    assert states.grad is not None and states.grad.isfinite().all() and (states.grad[2] == 0).all()


def test_more_pronouns_than_slots_count_nothing_in_the_papers_score() -> None:
    head = PaperHead(WIDTH, slots=2)
    scores = tensor([[1.0, 2.0, 100.0]])
    assert head.segment(scores, torch.ones(1, 3, dtype=torch.bool)).tolist() == [0.5 * 1 + 0.5 * 2]


def test_heads_by_name() -> None:
    made = [make_head(kind, 8, dropout=0.5, slots=2) for kind in ("logit", "paper", "average")]
    assert [type(head) for head in made] == [LogitHead, PaperHead, AverageHead]
    with pytest.raises(InputError, match="expected head logit, paper or average, got 'log'"):
        make_head("log", 8, dropout=0.0, slots=0)


def test_an_empty_slot_neither_attends_nor_scores_wherever_it_points() -> None:
    head, given = PaperHead(WIDTH, slots=3), inputs()
    elsewhere = given["at"].masked_fill(~given["real"], 6)  # a padded word
    with torch.no_grad():
        nn.init.ones_(head.norm.bias)  # so that an empty slot that is scored has u > 0
        found, other = head(**given), head(**{**given, "at": elsewhere})
    torch.testing.assert_close(found.scores, other.scores)
    torch.testing.assert_close(found.segment, other.segment, equal_nan=True)
    assert (other.scores[~given["real"]] == 0).all()
