from __future__ import annotations

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites.contrastive import Verdict


def verdicts(right: str, *, documents: int = 100) -> list[Verdict]:
    return [Verdict(str(k), sign == "+", {"rule": f"r{k % 2}"}, str(k % documents)) for k, sign in enumerate(right)]


def test_accuracy_overall_and_by_group() -> None:
    found = suite_figures.figures(verdicts("++-+"))
    assert (found.overall.accuracy, found.overall.correct, found.overall.total) == (0.75, 3, 4)
    assert {name: (s.correct, s.total) for name, s in found.by["rule"].items()} == {"r0": (1, 2), "r1": (2, 2)}
    assert found.overall.low is not None and found.overall.low <= 0.75 <= (found.overall.high or 0)
    assert found.documents == 4


def test_one_document_has_no_interval_and_no_item_is_refused() -> None:
    one = suite_figures.figures(verdicts("+-", documents=1)).overall
    assert (one.low, one.high) == (None, None)
    with pytest.raises(PronmetricError, match="no item is left to judge"):
        suite_figures.figures([])


def test_systems_are_compared_in_pairs_and_p_is_adjusted_by_holm() -> None:
    systems = {"a": verdicts("+" * 40), "b": verdicts("+" * 20 + "-" * 20), "c": verdicts("+" * 19 + "-" * 21)}
    ab, ac, bc = suite_figures.compare(systems, by_document=False)
    assert (ab.difference, ab.only_a, ab.only_b) == (0.5, 20, 0)
    assert (ac.difference, bc.difference) == (21 / 40, 1 / 40)
    assert ab.p is not None and ab.p < 0.01 and ab.holm is not None and ab.holm == pytest.approx(3 * ab.p)
    assert bc.p is not None and bc.p > 0.05 and bc.holm == bc.p
    assert ab.low is not None and ab.low > 0 > (bc.low or 0)


def test_with_documents_there_are_fewer_units() -> None:
    systems = {"a": verdicts("+" * 40, documents=4), "b": verdicts("-" * 40, documents=4)}
    (one,) = suite_figures.compare(systems, by_document=True)
    assert (one.difference, one.p, one.holm) == (1.0, 2 / 16, 2 / 16)  # four documents say too little
    systems = {"a": verdicts("+" * 40, documents=3), "b": verdicts("-" * 40, documents=3)}
    (one,) = suite_figures.compare(systems, by_document=True)
    assert (one.difference, one.p, one.holm, one.low) == (1.0, None, None, None)


def test_other_items_are_refused() -> None:
    with pytest.raises(PronmetricError, match=r"a and b were judged on different items \(3 and 2 items\)"):
        suite_figures.compare({"a": verdicts("+++"), "b": verdicts("++")}, by_document=False)
