"""The small translation models on WMT text: which sentences they are trained on, and their page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.checkpoint import translation_wmt
from pronmetric.errors import PronmetricError


def test_the_page_has_bleu_and_pronoun_scores_beside_each_other() -> None:
    scores = {"score": 81.26, "errors": 12.5, "bleu": 3.21, "chrf": 20.0, "exact": 40.04}
    poor = {**scores, "score": None, "exact": None}  # translations without pronouns
    pairs = {
        "de-en": {
            "sentences": 7000,
            "signature": "model:tiny|weights:00c0ffee",
            "systems": {"none": scores, "concat21": poor},
        }
    }
    text = translation_wmt.page({"date": "d", "command": "c", "overrides": ["seed=2"], "pairs": pairs})
    assert "| de-en | 7000 | none | 3.2 | 20.0 | 81.3 | 12.5 | 40.0 |" in text
    assert "| de-en | 7000 | concat21 | 3.2 | 20.0 | - | 12.5 | - |" in text and "(seed=2)" in text
    assert "Weights of the scores: `00c0ffee`; signature `model:tiny|weights:00c0ffee`." in text


def test_figures_are_those_of_a_system_in_the_json_of_score() -> None:
    also = {"bleu": {"score": 0.8, "instances": 9}, "chrf": {"score": 9.1}, "exact": {"score": None}}
    system = {"score": 88.4, "errors_per_100_pronouns": {"value": 11.6, "interval": [10.2, 13.1]}, "also": also}
    assert translation_wmt.figures(system) == {"score": 88.4, "errors": 11.6, "bleu": 0.8, "chrf": 9.1, "exact": None}
    without = {**system, "score": None, "errors_per_100_pronouns": None}
    assert translation_wmt.figures(without)["errors"] is None


def test_training_takes_the_other_years_and_the_parallel_text(tmp_path: Path) -> None:
    parallel = tmp_path / "data" / "parallel" / "wmt21.de-en"
    parallel.mkdir(parents=True)
    (parallel / "src.de").write_text("Die Lampe\n" * 21)
    (parallel / "ref.en").write_text("The lamp\n" * 21)
    for year in ("2021", "2022"):
        folder = tmp_path / "data" / "wmt" / f"wmt{year[2:]}-news-systems" / "txt"
        for name, line in (("sources", "src.de"), ("references", "ref.A.en"), ("system-outputs", "hyp.S.en")):
            (folder / name).mkdir(parents=True)
            (folder / name / f"newstest{year}.de-en.{line}").write_text(f"{name} {year}\n" * 22)
    train = list(translation_wmt.rows(tmp_path, "de-en", "train"))
    assert [row.source for row in train] == ["sources 2021"] * 22 + ["Die Lampe"] * 21
    assert len({row.doc for row in train[:22]}) == 2 and train[19].doc != train[20].doc  # the file names no documents
    assert {row.doc for row in train[22:]} == {"wmt21.de-en.0", "wmt21.de-en.1"}
    test = list(translation_wmt.rows(tmp_path, "de-en", "test"))
    assert (test[0].source, test[0].target) == ("sources 2022", "references 2022") and len(test) == 22
    shutil.rmtree(tmp_path / "data" / "wmt" / "wmt22-news-systems")
    with pytest.raises(PronmetricError, match="no test sentences of de-en in"):
        translation_wmt.write_data(tmp_path, "de-en", tmp_path)
