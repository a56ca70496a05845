"""Which passages a run draws: shares of the pieces by source, and how often each is seen."""

from __future__ import annotations

import numpy as np
import pytest
from datasets import Dataset

from pronmetric.errors import InputError
from pronmetric.text.writing import ENGLISH
from pronmetric.training.examples.planning import Passages, Plan, plan_epoch

SOURCES = ("news", "novels", "mail")
KNOWN = Passages(
    lengths=np.array([10, 10, 20, 40, 40, 40, 40, 40, 5, 5], dtype=np.int32),
    source=np.array([0, 0, 0, 1, 1, 1, 1, 1, 2, 2], dtype=np.int16),
    weights=np.array([1.0, 3.0, 1.0, *[1.0] * 7]),
    sources=SOURCES,
)


def shares(rates: np.ndarray) -> list[float]:
    pieces = KNOWN.pieces(rates)
    return [round(float(part), 6) for part in pieces / pieces.sum()]


def test_what_planning_needs_of_passages() -> None:
    rows = Dataset.from_dict(
        {
            "text": ["She left.", "Nothing.", "It " * 140],
            "source": ["mail", "novels", "mail"],
            "forms": [["she"], [], ["it", "she"]],
            "id": ["a", "b", "c"],
        }
    )
    found = Passages.of(rows, {"she": 1.5}, ENGLISH)
    assert found.lengths.tolist() == [5, 4, 103]  # letters / 4.2, and 3
    assert found.sources == ("mail", "novels") and found.source.tolist() == [0, 1, 0]
    assert found.weights.tolist() == [1.5, 0.0, 1.5]
    kept = found.select(np.array([0, 2]))
    assert kept.weights.tolist() == [1.5, 1.5] and kept.pieces().tolist() == [5 + 103, 0]


def test_sources_have_their_share_of_the_pieces_and_the_others_the_rest() -> None:
    # weighted pieces: news 10 + 30 + 20, novels 200, mail 10
    assert shares(KNOWN.mixed({})) == [round(60 / 270, 6), round(200 / 270, 6), round(10 / 270, 6)]
    assert shares(KNOWN.mixed({"novels": 0.3})) == [round(0.7 * 60 / 70, 6), 0.3, 0.1]
    assert shares(KNOWN.mixed({"news": 0.5, "mail": 0.1})) == [0.5, 0.4, 0.1]
    assert shares(KNOWN.mixed({"news": 0.2, "novels": 0.2, "mail": 0.1, "none": 0.5})) == [0.4, 0.4, 0.2]
    rates = KNOWN.mixed({"novels": 0.3})
    assert rates[1] / rates[0] == pytest.approx(3.0)  # weights hold within a source
    with pytest.raises(InputError, match="leave nothing for mail: give smaller shares"):
        KNOWN.mixed({"news": 0.4, "novels": 0.6})


def test_a_limit_holds_over_the_epochs_and_is_counted() -> None:
    assert KNOWN.limits({}) is None
    limits = KNOWN.limits({"mail": 2, "none": 1})
    assert limits is not None and limits[8:].tolist() == [2, 2] and limits[:8].min() > 10**9
    plan = Plan.join(
        plan_epoch(
            passages=KNOWN.lengths,
            pairs=[],
            pair_share=0,
            pieces=80,
            max_pieces=40,
            seed=1,
            epoch=epoch,
            passage_weights=KNOWN.mixed({"mail": 0.5}),
            passage_turns=limits,
        )
        for epoch in range(3)
    )
    found = KNOWN.drawn(plan)
    assert list(found) == sorted(SOURCES)
    assert found["mail"] == {**found["mail"], "pieces": 2 * 10, "passages": 2, "turns": 2}
    assert sum(each["share"] for each in found.values()) == pytest.approx(1, abs=1e-3)
    times = plan.draws("passages", 10)
    assert found["novels"]["pieces"] == 40 * times[3:8].sum() and found["novels"]["turns"] == times[3:8].max()
