"""The plan of several prepared folders: each step has the rows of one, all rows of all are in each epoch."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pronmetric.training.examples.planning import Plan, Step, plan_epoch
from pronmetric.training.source.several_languages import SeveralSources, _SeveralSteps

SIZES = {"passages": (5, 9, 3), "pairs": (40, 7, 23)}


class Part:
    """A folder whose batch of a step names the folder and the step."""

    def __init__(self, number: int) -> None:
        self.settings = SimpleNamespace(
            seed=1,
            source=SimpleNamespace(english=0.25),
            trainer=SimpleNamespace(max_epochs=2, max_steps=-1, num_nodes=1, devices=1, accumulate=1),
        )
        self.number, self.collator = number, None
        self.passage_count, self.size = SIZES["passages"][number], SIZES["pairs"][number]
        self.languages = (("en",), ("de", "en"), ("en",))[number]

    def passage_epoch(self, epoch: int) -> Plan:
        return self.plan(epoch, passages=[10] * self.passage_count, pairs=[], pair_share=0.0)

    def source_epoch(self, epoch: int) -> Plan:
        return self.plan(epoch, passages=[], pairs=[10] * self.size, pair_share=1.0)

    def plan(self, epoch: int, **given: Any) -> Plan:
        return plan_epoch(pieces=20, max_pieces=20, seed=1, epoch=epoch, **given)

    def batches(self, step: Step) -> tuple[int, Step]:
        return self.number, step


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> SeveralSources:
    monkeypatch.setattr("pronmetric.training.source.several_languages.SourceData", Part)
    return SeveralSources([Part(number) for number in range(3)])  # type: ignore[misc]


def test_each_folder_has_all_its_rows_in_each_epoch_and_a_step_has_those_of_one(data: SeveralSources) -> None:
    steps, sets = data.steps(), _SeveralSteps(data.parts, data._starts)
    seen: Counter[tuple[str, int, int]] = Counter()
    for step in steps:
        number, own = sets[step]  # type: ignore[misc]
        assert own.kind == step.kind and own.turns == step.turns and len(own.rows) == len(step.rows)
        seen.update((own.kind, number, row) for row in own.rows)
    expected = {("pairs", number, row) for number, size in enumerate(SIZES["pairs"]) for row in range(size)}
    assert {key for key in seen if key[0] == "pairs"} == expected
    assert {seen[key] for key in expected} == {2}
    assert all(row < SIZES["passages"][number] for kind, number, row in seen if kind == "passages")


def test_passages_come_first_and_the_languages_alternate(data: SeveralSources) -> None:
    kinds = [step.kind for step in data.steps()]
    first = kinds.count("passages")
    assert kinds == ["passages"] * first + ["pairs"] * (len(kinds) - first)
    assert first == round(0.25 * int((len(kinds) - first) / 0.75))
    sets = _SeveralSteps(data.parts, data._starts)
    order = [sets[step][0] for step in data.steps() if step.kind == "pairs"]
    assert np.count_nonzero(np.diff(np.array(order, dtype=int))) > 10
    assert data.languages == ("de", "en") and data.size == 70


def test_the_plan_depends_on_the_seed_alone(data: SeveralSources) -> None:
    again = SeveralSources(data.parts)
    assert list(again.steps()) == list(data.steps())
