"""Figures of the source: areas over the pronouns that a metric scored, and the table."""

from __future__ import annotations

from benchmarks.checkpoint.source_reader import Case, areas, majority_pairs, show
from pronmetric.schema import Mismatch, Pair
from pronmetric.text.context import Text


def pair(kind: str, system: str, *starts: int, seg: int = 1) -> Pair:
    found = tuple(Mismatch("pronoun", "it", "he", start, start + 2, start, start + 2) for start in starts)
    texts = ("It saw it.", "He saw it.")
    return Pair("id", kind, "t2023", "de-en", "d", seg, "refA", system, *texts, (), (), found)


def test_areas_of_all_pronouns_and_of_the_third_person() -> None:
    given = [
        Case(Text("", "He saw me."), {0: False, 7: True}, {0: True, 7: False}),
        Case(Text("", "It rains."), {0: True}, {0: True}),
    ]
    # of the right ones, 0.4 is below the wrong one's 0.5 and 0.9 is above it
    figures = areas(given, [[0.5, 0.4], [0.9]])
    assert figures == {"all": {"auc": 0.5, "pronouns": 3}, "third": {"auc": 1.0, "pronouns": 2}}
    assert areas(given[1:], [[0.9]])["all"]["auc"] is None  # nothing is wrong
    shown = show({"wmt23:de-en": {"without source": figures, "reader": areas(given, [[0.1, 0.2], [0.3]])}})
    (row,) = [line for line in shown.splitlines() if line.startswith("wmt23:de-en")]
    assert row.split() == ["wmt23:de-en", "3", "2", "50.0", "/", "100.0", "100.0", "/", "100.0"]


def test_natural_errors_are_those_where_at_least_half_of_the_systems_have_the_form_of_the_reference() -> None:
    rare, common = pair("noisy", "a", 0), pair("noisy", "a", 7)
    pairs = [pair("system", "a", 0, 7), pair("system", "b", 7), pair("system", "c", 7), rare, common]
    others = [pair("system", "d", 0, seg=2), pair("noisy", "d", 0, seg=2)]  # of another segment
    assert majority_pairs([*pairs, *others]) == [rare, others[1]]
