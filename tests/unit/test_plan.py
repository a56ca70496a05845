from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pronmetric.training.plan import Step, _stretch, plan

RNG = np.random.default_rng(0)
PASSAGES = RNG.integers(20, 130, 500).tolist()
PAIRS = RNG.integers(30, 300, 400).tolist()


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
    return plan(**{**given, **changes})  # type: ignore[arg-type]


def rows(found: list[Step], kind: str) -> list[int]:
    return [row for step in found if step.kind == kind for row in step.rows]


def test_an_epoch_holds_every_passage_once() -> None:
    for epoch in range(3):
        found = steps(epoch=epoch)
        assert sorted(rows(found, "passages")) == list(range(len(PASSAGES)))
        assert {step.epoch for step in found} == {epoch}


def test_the_same_seed_and_epoch_give_the_same_steps_and_others_others() -> None:
    assert steps() == steps()
    assert steps() != steps(seed=0) != steps(seed=2)
    assert steps() != steps(epoch=1)


def test_pairs_make_up_their_share_of_the_pieces() -> None:
    for share in (0.1, 0.3, 0.6):
        found = steps(pair_share=share)
        passages, pairs = sum(PASSAGES), sum(min(PAIRS[i], 256) for i in rows(found, "pairs"))
        assert pairs / (passages + pairs) == pytest.approx(share, abs=0.03)


def test_pairs_go_on_where_the_epoch_before_stopped() -> None:
    found = [rows(steps(epoch=epoch), "pairs") for epoch in range(4)]
    count = len(found[0])
    assert {len(part) for part in found} == {count} and count < len(PAIRS) < 4 * count
    seen = Counter(row for part in found for row in part)
    whole, rest = divmod(4 * count, len(PAIRS))
    assert sorted(Counter(seen.values()).items()) == [(whole, len(PAIRS) - rest), (whole + 1, rest)]


def test_a_stretch_is_a_part_of_an_endless_row_of_permutations() -> None:
    row = np.concatenate([_stretch(5, 4, 7, epoch) for epoch in range(5)])
    assert len(row) == 20
    for turn in range(4):
        assert sorted(row[5 * turn : 5 * turn + 5]) == [0, 1, 2, 3, 4]
    assert len({tuple(row[5 * turn : 5 * turn + 5]) for turn in range(4)}) > 1
    long = _stretch(3, 8, 7, 0)  # longer than there are items
    assert sorted(long[:3]) == sorted(long[3:6]) == [0, 1, 2] and len(set(long[6:])) == 2


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
    found = plan(passages=[5000, 10], pairs=[], pair_share=0.0, pieces=64, max_pieces=512, seed=0, epoch=0)
    assert sorted(step.rows for step in found) == [(0,), (1,)]


def test_rows_of_a_step_are_of_like_length_and_steps_are_shuffled() -> None:
    found = [step for step in steps() if step.kind == "passages"]
    means = [float(np.mean([PASSAGES[i] for i in step.rows])) for step in found]
    filled = sum(PASSAGES) / sum(len(s.rows) * max(PASSAGES[i] for i in s.rows) for s in found)
    assert filled > 0.9  # of the pieces are no padding
    assert means != sorted(means)
