"""Weights and calibrations that are fitted on what people marked."""

from __future__ import annotations

import numpy as np
import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.calibration import fit_shares
from pronmetric.training.after import people_fit
from pronmetric.training.after.people_fit import Marks

RNG = np.random.default_rng(1)


def test_shares_of_raters_give_back_the_weights_they_were_made_with() -> None:
    first, second = RNG.normal(size=(2, 4000))
    shares = 1 / (1 + np.exp(-(0.5 * first + 2.0 * second - 1.0)))
    assert fit_shares([first, second], shares) == pytest.approx((0.5, 2.0, -1.0), abs=1e-2)


@pytest.mark.parametrize(
    ("shares", "why"), [([0.5, 0.5], "different shares"), ([0.0, 1.5], r"in \[0, 1\]"), ([0.0], "one share")]
)
def test_shares_that_cannot_be_fitted_are_refused(shares: list[float], why: str) -> None:
    with pytest.raises(PronmetricError, match=why):
        fit_shares([[0.0, 1.0]], shares)


def test_a_reader_without_a_say_keeps_the_checkpoint_as_it_is() -> None:
    right = (RNG.random(400) < 0.8).astype(float)
    own, read = right + RNG.normal(size=400), right + RNG.normal(size=400)
    mixing = people_fit._mixing(own, read, right)
    assert mixing is not None and mixing.model > 0 and mixing.reader > 0
    assert people_fit._mixing(own, -read, right) is None  # it would count against the labels
    assert people_fit._mixing(own[:20], read[:20], right[:20]) is None  # too few marks


def marks(*, own: float, read: float, name: str = "set:de-en", trained: bool = True, documents: int = 12) -> Marks:
    """Pronouns of documents, 30 % of them marked; own, read: how well the logits of model and reader tell."""
    rng, size = np.random.default_rng(4), 40 * documents
    right = (rng.random(size) < 0.7).astype(float)
    first, second = (weight * right + rng.normal(size=size) for weight in (own, read))
    docs = np.repeat([f"{name}/{k}" for k in range(documents)], 40)
    sides = np.arange(size) % 2 == 0, np.full(size, trained)
    return Marks(first, second, right, np.full(size, name), docs, *sides)


def join(*parts: Marks) -> Marks:
    return Marks(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def test_a_document_is_judged_by_weights_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted, real = list[frozenset[str]](), people_fit._weights

    def weights(own: Marks) -> people_fit.Weights:
        fitted.append(frozenset(own.documents.tolist()))
        return real(own)

    monkeypatch.setattr(people_fit, "_weights", weights)
    given = marks(own=1.0, read=2.0)
    held = people_fit.held_out(given)
    every = frozenset(given.documents.tolist())
    assert sorted(map(sorted, fitted)) == sorted(sorted(every - {document}) for document in every)
    assert held.with_source["set:de-en"] > held.without["set:de-en"] + 0.05
    assert held.marked == {"set:de-en": int((given.right < 1).sum())}


def test_means_weigh_sets_by_their_marks() -> None:
    held = people_fit.HeldOutFigures({"a": 0.2, "b": 0.6}, {"a": 0.4, "b": 0.5}, {"a": 1, "b": 3})
    assert held.means == pytest.approx((0.5, 0.475))
    assert held.figures("trained") == pytest.approx(
        {
            "people/held_without_a": 0.2,
            "people/held_without_b": 0.6,
            "people/held_with_a": 0.4,
            "people/held_with_b": 0.5,
            "people/held_without_trained": 0.5,
            "people/held_with_trained": 0.475,
        }
    )
    assert people_fit.HeldOutFigures({}, {}, {}).figures("others") == {}


def test_each_group_of_languages_has_its_weights() -> None:
    known, other = marks(own=1.0, read=2.0), marks(own=1.0, read=0.7, name="set:et-en", trained=False)
    weights, figures = people_fit._fit_groups(join(known, other))
    assert weights["trained"] == people_fit._weights(known) and weights["others"] == people_fit._weights(other)
    assert figures["people/held_with_trained"] > figures["people/held_without_trained"]
    assert "people/held_with_set:et-en" in figures
    alone, _ = people_fit._fit_groups(known)
    assert alone["others"] == {True: None, False: None}


def test_the_source_counts_nothing_where_held_out_documents_are_worse_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given = join(marks(own=1.0, read=2.0), marks(own=1.0, read=0.7, name="set:et-en", trained=False))
    worse = people_fit.HeldOutFigures({"set:et-en": 0.5}, {"set:et-en": 0.4}, {"set:et-en": 100})
    real = people_fit.held_out
    monkeypatch.setattr(people_fit, "held_out", lambda own: real(own) if own.trained.all() else worse)
    weights, figures = people_fit._fit_groups(given)
    assert weights["others"] == {True: people_fit.SILENT, False: people_fit.SILENT}
    assert weights["trained"] == people_fit._weights(given.select(given.trained))
    assert figures["people/held_with_others"] == 0.4


def test_gaps_are_calibrated_at_their_own_rate() -> None:
    missing = (RNG.random(3000) < 0.05).astype(float)
    logits = 3 * missing + RNG.normal(size=3000)
    fitted = people_fit.calibration(logits, missing)
    assert fitted is not None
    probabilities = 1 / (1 + np.exp(-(fitted.scale * logits + fitted.bias)))
    assert probabilities.mean() == pytest.approx(missing.mean(), abs=1e-4)
    assert people_fit.calibration(-logits, missing) is None
    assert people_fit.calibration(logits, np.zeros(3000)) is None


@pytest.mark.parametrize(("insertions", "enough"), [(9, False), (10, True)])
def test_gaps_are_calibrated_from_ten_insertions_on(insertions: int, enough: bool) -> None:
    missing = np.array([1.0] * insertions + [0.0] * 90)
    logits = np.tile([0.0, 1.0, -1.0], 40)[: len(missing)] + missing
    assert (people_fit.calibration(logits, missing) is not None) == enough


def test_areas_by_set_and_of_all() -> None:
    sets = np.array(["a", "a", "b", "b"])
    found = people_fit._areas("model", sets, np.array([1.0, 0.5, 1.0, 1.0]), np.array([1.0, -1.0, 0.0, 2.0]))
    assert found == {"people/model": 1.0, "people/model_a": 1.0}
