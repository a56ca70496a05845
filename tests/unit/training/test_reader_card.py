"""The card of a reader of sources: its figures on held-out documents, and where its sources count nothing."""

from __future__ import annotations

from typing import Any

import pytest

from pronmetric.training.card.reader import card

MIXING = {"model": 1.0, "reader": 0.5, "bias": 0.0}
SILENT = {"model": 1.0, "reader": 0.0, "bias": 0.0}
FIGURES = {
    "people/model": 0.7,
    "people/model_set:et-en": 0.7,
    "people/held_without_set:et-en": 0.25,
    "people/held_with_set:et-en": 0.2,
    "people/held_without_others": 0.25,
    "people/held_with_others": 0.2,
}


def made(**source: Any) -> str:
    given = {"context": 64, "before": 64, "languages": ["de"], "model": "12345678", "preference": 1.0}
    given |= {"in_context": MIXING, "alone": MIXING, **source}
    return card({"source": given, "training": {"figures": FIGURES}}, weights="87654321")


def test_figures_of_held_out_documents() -> None:
    said = made(others={"in_context": MIXING, "alone": MIXING})
    assert "| set:et-en | 25.0 | 20.0 |" in said and "| other languages, mean | 25.0 | 20.0 |" in said
    assert "for which the weights were fitted on the other documents." in said and "does not affect" not in said
    assert "the languages that it was trained on, mean" not in said, "there are no such figures"


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ({"others": {"in_context": SILENT, "alone": SILENT}}, "other languages"),
        ({"in_context": SILENT, "alone": SILENT}, "the languages that it was trained on"),
    ],
)
def test_where_the_source_counts_nothing_the_card_says_so(source: dict[str, Any], where: str) -> None:
    assert f"In {where} they are lower with the source, which therefore does not affect scores there." in made(**source)


def test_the_card_tells_surplus_pronouns() -> None:
    said = made(surplus={"": 0.25, "it": 0.125, "my": 0.5})
    assert "deleted instead of replacing, 25 % of all and from 12 % of *it* to 50 % of *my*" in said
    assert "are expected" not in said and "## Surplus pronouns" not in made()


def test_the_card_tells_how_the_preference_with_a_source_is_made() -> None:
    judged = {"own": 0.5, "logit": 0.25, "missing": -2.0, "empty": 0.75}
    given = {"context": 64, "before": 64, "languages": ["de"], "model": "12345678", "preference": 1.0}
    given |= {"in_context": MIXING, "alone": MIXING, "judged": judged, "decision": "preference"}
    pairs = {"decision": {"preference": {"mended, more": 0.5}}, "decision_pairs": {"mended": 40, "marked": 2}}
    said = card({"source": given, "training": {"figures": FIGURES, **pairs}}, weights="87654321")
    assert "is 0.500 x that of the pair head + 0.250 x the mean logit of the pronouns\n-2.000 x the expected" in said
    assert "0.750 in place of" in said and "is 0.500 x" not in made()
