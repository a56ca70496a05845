"""The page of the translation models: a row for each system that was run, and the names of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.checkpoint import translation_models
from pronmetric.errors import PronmetricError
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


def test_a_system_that_starts_from_the_base_runs_it_first() -> None:
    assert translation_models.with_base(["concat21", "cadec, p = 0"]) == ["none", "concat21", "cadec, p = 0"]
    assert translation_models.with_base(["concat21"]) == ["concat21"]


def test_figures_of_other_settings_are_not_continued(tmp_path: Path) -> None:
    path, settings = tmp_path / "figures.json", {"documents": 50, "overrides": ["seed=1"]}
    assert translation_models.read_figures(path, settings) == {}
    path.write_text(json.dumps({**settings, "systems": {"none": 1}}))
    assert translation_models.read_figures(path, settings) == {"none": 1}
    with pytest.raises(PronmetricError, match="its figures are of documents 50, not 60: give another --work"):
        translation_models.read_figures(path, {**settings, "documents": 60})
