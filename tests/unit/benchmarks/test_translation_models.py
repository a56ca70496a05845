"""The page of the translation models: a row for each system that was run, and the names of the others."""

from __future__ import annotations

from benchmarks.checkpoint import translation_models
from tests.tools import artificial_language as language


def test_the_page_has_a_row_for_each_system_and_names_those_that_are_missing() -> None:
    accuracy = {
        file: {distance: 0.5 for name, distance in translation_models.COLUMNS if name == file}
        for file in translation_models.SETS
    }
    accuracy[language.PRONOUNS]["1"] = 0.9876
    systems = {name: {"accuracy": accuracy, "cpu_seconds": 12} for name in ("none", "concat21")}
    text = translation_models.page({"documents": 5000, "overrides": [], "systems": systems})
    assert "| concat21 | 98.8 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 | 12 |" in text
    assert "Not run yet: concat22, concatN, shared_gate" in text and "5000 documents" in text


def test_each_system_is_one_of_the_settings() -> None:
    from pronmetric.lab.nmt.settings import Shape

    fields = Shape.model_fields
    for overrides in translation_models.SYSTEMS.values():
        for override in overrides:
            key = override.partition("=")[0]
            assert key in ("init", "frozen", "draft.corrupted") or key.removeprefix("nmt.") in fields
