from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pronmetric.training.examples.planning import Plan, Step, plan_epoch

RNG = np.random.default_rng(0)
PASSAGES = RNG.integers(20, 130, 500).tolist()
PAIRS = RNG.integers(30, 300, 400).tolist()
ALL = 10**9  # pieces, so that a step holds all of a part


def steps(**changes: object) -> list[Step]:
    given = {
        "passages": PASSAGES,
        "pairs": PAIRS,
        "pair_share": 0.3,
        "pieces": 1024,
        "max_pieces": 128,
        "seed": 1,
        "epoch": 0,
    }
    return list(plan_epoch(**{**given, **changes}))  # type: ignore[arg-type]


def rows(found: list[Step], kind: str) -> list[int]:
    return [row for step in found if step.kind == kind for row in step.rows]


def test_an_epoch_holds_every_passage_once() -> None:
    for epoch in range(3):
        found = steps(epoch=epoch)
        assert sorted(rows(found, "passages")) == list(range(len(PASSAGES)))
        assert {turn for step in found if step.kind == "passages" for turn in step.turns} == {epoch}


def test_the_same_seed_and_epoch_give_the_same_steps_and_others_others() -> None:
    assert steps() == steps()
    assert steps() != steps(seed=0) != steps(seed=2)
    assert steps() != steps(epoch=1)


def test_pairs_make_up_their_share_of_the_pieces() -> None:
    for share in (0.1, 0.3, 0.6):
        found = steps(pair_share=share)
        passages, pairs = sum(PASSAGES), sum(min(PAIRS[i], 256) for i in rows(found, "pairs"))
        assert pairs / (passages + pairs) == pytest.approx(share, abs=0.03)


def test_pairs_come_evenly_over_the_epochs() -> None:
    found = [step for epoch in range(4) for step in steps(epoch=epoch) if step.kind == "pairs"]
    turns = [(row, turn) for step in found for row, turn in zip(step.rows, step.turns, strict=True)]
    seen = Counter(row for row, _ in turns)
    assert len(turns) == len(set(turns))  # no draw is made twice
    assert set(seen.values()) <= {len(turns) // len(PAIRS), len(turns) // len(PAIRS) + 1}


def test_rows_come_by_their_weights_and_an_epoch_keeps_its_pieces() -> None:
    weights = [3.0 if i % 2 else 1.0 for i in range(len(PASSAGES))]
    found = [steps(pairs=[], epoch=epoch, passage_weights=weights) for epoch in range(8)]
    drawn = [row for part in found for row in rows(part, "passages")]
    assert sum(PASSAGES[i] for i in drawn) == pytest.approx(8 * sum(PASSAGES), rel=0.01)
    often, seldom = (sum(row % 2 == odd for row in drawn) for odd in (1, 0))
    assert often / seldom == pytest.approx(3.0, rel=0.01)
    turns = [draw for part in found for step in part for draw in zip(step.rows, step.turns, strict=True)]
    assert len(turns) == len(set(turns))


def test_pairs_have_weights_too() -> None:
    weights = [0.1 if i < 200 else 1.0 for i in range(len(PAIRS))]
    drawn = [row for epoch in range(9) for row in rows(steps(epoch=epoch, pair_weights=weights), "pairs")]
    assert sum(i >= 200 for i in drawn) / sum(i < 200 for i in drawn) == pytest.approx(10.0, rel=0.1)


def test_all_or_none_of_the_steps_may_be_pairs() -> None:
    alone = steps(pair_share=1.0)
    assert {step.kind for step in alone} == {"pairs"}
    assert sorted(rows(alone, "pairs")) == list(range(len(PAIRS)))
    assert {step.kind for step in steps(pair_share=0.0)} == {step.kind for step in steps(pairs=[])} == {"passages"}


def test_a_step_keeps_to_its_pieces_with_padding() -> None:
    for step in steps():
        lengths = [min(PASSAGES[i], 128) if step.kind == "passages" else min(PAIRS[i], 256) for i in step.rows]
        assert len(step.rows) * max(lengths) <= 1024


def test_a_row_longer_than_a_step_has_one_of_its_own() -> None:
    found = plan_epoch(passages=[5000, 10], pairs=[], pair_share=0.0, pieces=64, max_pieces=512, seed=0, epoch=0)
    assert sorted(step.rows for step in found) == [(0,), (1,)]


def test_rows_of_a_step_are_of_like_length_and_steps_are_shuffled() -> None:
    found = [step for step in steps() if step.kind == "passages"]
    means = [float(np.mean([PASSAGES[i] for i in step.rows])) for step in found]
    filled = sum(PASSAGES) / sum(len(s.rows) * max(PASSAGES[i] for i in s.rows) for s in found)
    assert filled > 0.9  # of the pieces are no padding
    assert means != sorted(means)


def test_a_batch_of_so_many_pairs_whatever_their_length() -> None:
    found = steps(passages=[], pair_share=1.0, batch=30)
    assert sorted(len(step.rows) for step in found) == [10] + 13 * [30]
    assert sorted(rows(found, "pairs")) == list(range(400))
    assert found == steps(passages=[], pair_share=1.0, batch=30, pieces=7)


def test_a_row_is_drawn_no_more_often_than_its_limit() -> None:
    limits = [2 if i % 2 else 10 for i in range(len(PASSAGES))]
    weights = [3.0 if i % 4 == 1 else 1.0 for i in range(len(PASSAGES))]
    given = {"pairs": [], "passage_weights": weights}
    free = Counter(row for epoch in range(4) for row in rows(steps(epoch=epoch, **given), "passages"))
    held = Counter(row for e in range(4) for row in rows(steps(epoch=e, passage_turns=limits, **given), "passages"))
    assert max(free[i] for i in range(1, 500, 2)) > 2
    assert held == {row: min(times, limits[row]) for row, times in free.items()}


def test_a_plan_is_a_sequence_of_its_steps() -> None:
    plans = [
        plan_epoch(passages=PASSAGES, pairs=PAIRS, pair_share=0.3, pieces=1024, max_pieces=128, seed=1, epoch=e)
        for e in range(2)
    ]
    joined = Plan.join(plans)
    both = [*plans[0], *plans[1]]
    assert list(joined) == both and len(joined) == len(both) and joined[-1] == both[-1]
    assert list(joined[3::2]) == both[3::2] and list(joined[3::2][:4]) == both[3::2][:4]
    assert list(Plan.join([joined[5:9], joined[:0], joined[2:4]])) == [*both[5:9], *both[2:4]]
    assert list(Plan.join([])) == []
    shuffled = list(joined.shuffled(np.random.default_rng(0)))
    assert sorted(shuffled) == sorted(both) and shuffled != both
    times = Counter(rows(both, "pairs"))
    assert joined.draws("pairs", 400).tolist() == [times[row] for row in range(400)]
    with pytest.raises(IndexError):
        joined[len(both)]


def test_an_epoch_in_parts_is_as_even_in_each() -> None:
    weights = [3.0 if i % 5 == 0 else 0.5 for i in range(len(PASSAGES))]
    given = {"pairs": [], "passage_weights": weights}
    in_parts = {**given, "parts": 4, "pieces": ALL}
    parts = [Counter(step.rows) for epoch in range(2) for step in steps(epoch=epoch, **in_parts)]
    whole = [Counter(rows(steps(epoch=epoch, **given), "passages")) for epoch in range(2)]
    assert [sum(parts[:4], Counter()), sum(parts[4:], Counter())] == whole
    for row in range(len(PASSAGES)):
        assert max(part[row] for part in parts) - min(part[row] for part in parts) <= 1


def test_a_part_draws_each_row_as_often_as_its_count_grows() -> None:
    weights, parts, limit = np.exp(np.random.default_rng(4).normal(0, 2, len(PAIRS))), 7, 3
    rates = weights * (sum(PAIRS) / parts / (weights * PAIRS).sum())
    start = np.random.default_rng([1, 7919]).random(len(PAIRS)) + 1e-9

    def count(row: int, part: int) -> int:
        return min(limit, int(np.floor(rates[row] * part + start[row])))

    given = {"passages": PAIRS, "pairs": [], "max_pieces": 300, "passage_weights": weights, "pair_share": 0.0}
    for epoch in range(3):
        found = steps(**given, passage_turns=[limit] * len(PAIRS), epoch=epoch, parts=parts, pieces=ALL)
        for part, step in enumerate(found, start=epoch * parts):
            drawn = [(row, turn) for row in range(len(PAIRS)) for turn in range(count(row, part), count(row, part + 1))]
            assert sorted(zip(step.rows, step.turns, strict=True)) == drawn
        assert len(found) == parts


def test_moved_steps_have_other_rows_and_the_same_turns() -> None:
    plan = plan_epoch(passages=PASSAGES, pairs=PAIRS, pair_share=0.3, pieces=1024, max_pieces=128, seed=1, epoch=0)
    moved = plan[:20].moved(passages=1000, pairs=5)
    assert len(moved) == 20 and {step.kind for step in moved} == {"passages", "pairs"}
    for step, other in zip(plan[:20], moved, strict=True):
        by = {"passages": 1000, "pairs": 5}[step.kind]
        assert other == Step(step.kind, tuple(row + by for row in step.rows), step.turns)
