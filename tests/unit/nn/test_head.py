from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn, tensor

from pronmetric.errors import InputError
from pronmetric.nn.head import RARE, AverageHead, GapHead, LogitHead, PairHead, PaperHead, gather, mean
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


def pair_head(*, heads: int = 2) -> PairHead:
    """A pair head after some training: its correction of the pronoun head's scores is not 0."""
    torch.manual_seed(7)
    head = PairHead(WIDTH, heads=heads, dropout=0.0).eval()
    nn.init.normal_(head.z.weight)
    return head


def scored_inputs() -> dict[str, Tensor]:
    """Inputs of a pair head: those of a pronoun head, and its scores."""
    given = inputs()
    return {**given, "scores": torch.linspace(-2, 2, given["real"].numel()).view(given["real"].shape)}


def test_a_new_pair_head_orders_as_the_pronoun_head_does() -> None:
    given = scored_inputs()
    found = PairHead(WIDTH, heads=2, dropout=0.0)(**given)
    assert torch.equal(found, 1.5 * given["scores"].masked_fill(~given["real"], 0.0))


def test_the_pair_loss_has_no_gradient_with_respect_to_the_scores() -> None:
    head, given = pair_head(), scored_inputs()
    scores = given["scores"].requires_grad_()
    head(**{**given, "scores": scores}).sum().backward()
    assert scores.grad is None
    assert head.a.grad is not None and head.a.grad.item() == pytest.approx(scores[given["real"]].sum().item())


def test_the_pair_head_with_one_head_by_hand() -> None:
    head, given = pair_head(heads=1), scored_inputs()
    states, at = given["states"][1], [1, 3]
    with torch.no_grad():
        head.a.fill_(0.5)
        found = head(**given)[1]
        keys, values = head.key(states[:5]), head.value(states[:5])
        for slot, word in enumerate(at):
            weights = (head.query(states[word]) @ keys.T / math.sqrt(WIDTH)).softmax(0)
            b = head.norm(states[word] + head.out(weights @ values))
            correction = head.z(nn.functional.gelu(head.hidden(b))).squeeze()
            torch.testing.assert_close(found[slot], 0.5 * given["scores"][1, slot] + correction)
    assert found[2:].tolist() == [0, 0]


def test_the_heads_of_its_attention_are_independent_parts() -> None:
    """With the keys of the second part at zero, the first part attends as before and the second evenly."""
    head, given = pair_head(), scored_inputs()
    with torch.no_grad():
        head.key.weight[3:], head.key.bias[3:] = 0, 0
        head.out.weight[:], head.out.bias[:] = torch.eye(WIDTH), 0
        states = given["states"][0]
        query, key, value = head.query(states[:1]), head.key(states), head.value(states)
        first = (query[:, :3] @ key[:, :3].T / math.sqrt(3)).softmax(-1) @ value[:, :3]
        b = head.norm(states[0] + torch.cat([first[0], value[:, 3:].mean(0)]))
        correction = head.z(nn.functional.gelu(head.hidden(b))).squeeze()
        torch.testing.assert_close(head(**given)[0, 0], 1.5 * given["scores"][0, 0] + correction)


def test_a_preference_depends_on_the_words_around_the_pronoun() -> None:
    head, given = pair_head(), scored_inputs()
    given["real"][0] = tensor([True, False, False, False])  # the pronoun is word 0
    other = given["states"].clone()
    other[0, 5] *= -5
    with torch.no_grad():
        assert (head(**given) - head(**{**given, "states": other})).abs()[0, 0] > 1e-4


def test_a_preference_is_a_mean_so_that_dropping_a_pronoun_wins_nothing() -> None:
    """Not a sum: where all pronouns have the same u, one, two and three of them have the same preference."""
    head = pair_head()
    scores, real = torch.full((3, 3), -1.5), tensor([[True, False, False], [True, True, False], [True, True, True]])
    assert head.segment(scores.masked_fill(~real, 0.0), real).tolist() == [-1.5] * 3
    better_dropped = head.segment(tensor([[1.0, -1.0], [-1.0, 0.0]]), tensor([[True, True], [True, False]]))
    assert better_dropped[0] > better_dropped[1]


def test_a_preference_does_not_grow_with_length() -> None:
    """The same words twice over are attended to in the same proportions."""
    head, given = pair_head(), scored_inputs()
    states, mask = given["states"][:1], given["mask"][:1]
    rest = {key: given[key][:1] for key in ("at", "real", "scores")}
    with torch.no_grad():
        once = head(states=states, mask=mask, **rest)
        twice = head(states=torch.cat([states, states], 1), mask=torch.cat([mask, mask], 1), **rest)
    torch.testing.assert_close(once, twice)


def test_words_that_are_not_there_change_no_preference() -> None:
    head, given = pair_head(), scored_inputs()
    other = given["states"].masked_fill(~given["mask"][:, :, None], 77.0)
    with torch.no_grad():
        torch.testing.assert_close(head(**given), head(**{**given, "states": other}))
    assert head.segment(head(**given), given["real"]).isnan().tolist() == [False, False, True]


def test_the_heads_of_the_attention_divide_the_width() -> None:
    with pytest.raises(InputError, match=r"head\.pair\.heads=4: expected a divisor of the encoder's width 6"):
        PairHead(WIDTH, heads=4, dropout=0.0)


def test_a_gap_depends_on_the_words_on_its_two_sides_alone() -> None:
    torch.manual_seed(1)
    head, states = GapHead(WIDTH, forms=3, dropout=0.0).eval(), torch.randn(2, 5, WIDTH)
    found = head(states)
    assert found.shape == (2, 5, 4) and found.dtype == torch.float32
    changed = states.clone()
    changed[:, 2] += 1.0
    differs = ~torch.isclose(head(changed), found, atol=1e-5).all(-1)
    assert differs.tolist() == [[False, False, True, True, False]] * 2
    assert found[..., 0].mean().item() == pytest.approx(RARE, abs=1.5)  # of a new head
