"""The trial of ties: annotators for whom some pronoun pairs have two right versions, and its figures."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import study_ties
from benchmarks.study_simulation import made_up
from pronmetric.lab.study.design import Design
from pronmetric.lab.study.sample import sample
from pronmetric.lab.study.votes import collect


def test_annotators_without_errors_follow_the_pronoun_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_ties, "ERRORS", (0.0, 0.0))
    study = sample(made_up(2), Design(annotators=2, strict=False))
    votes = collect(study, study_ties.answer(study, {("he", "it")}, 1))
    expected = {name: "both" if item.pronouns == ("he", "it") else "reference" for name, item in study.items.items()}
    assert votes.first == {"1": expected, "2": expected}


def test_the_figures_of_a_model() -> None:
    assert study_ties.figures(np.array([0.3, -0.1, 0.0, 0.2])) == {"distance": 0.15, "higher": 0.5}
