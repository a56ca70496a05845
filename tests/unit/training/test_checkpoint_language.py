"""The target language in a checkpoint's config, signature and card, and in the settings of training."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import Model
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.baselines.reference_based import check_language
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.training.card.checkpoint import Making, card
from pronmetric.training.examples import prepared
from pronmetric.training.settings import Train

GERMAN = language("de")


@pytest.fixture
def german(tiny_checkpoint: Callable[..., Path], tmp_path: Path) -> Path:
    """The tiny checkpoint with the German table."""
    loaded, folder = files.load(tiny_checkpoint()), tmp_path / "german"
    config = {**loaded.config, "pronouns": list(GERMAN.forms), "language": GERMAN.to_record()}
    files.save(folder, loaded.model, loaded.pieces, config, half=False)
    return folder


def test_a_checkpoint_without_the_key_is_english(tiny_checkpoint: Callable[..., Path]) -> None:
    loaded = files.load(tiny_checkpoint())
    assert checkpoint_config.LANGUAGE not in loaded.config and loaded.language is ENGLISH
    assert "language" not in Model.read(loaded.config).of_scores()
    metric = PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)
    assert metric.language is ENGLISH and "|language:" not in str(metric.signature())


def test_a_checkpoint_scores_the_pronouns_of_its_table(german: Path, tiny_checkpoint: Callable[..., Path]) -> None:
    metric = PronounMetric.from_pretrained(german, gpus=0)
    found = metric.predict([{"text": "Er sah ihren Hut, she said."}])
    assert metric.language == GERMAN and found.signature["language"] == "de"
    assert [(p.text, p.start) for p in found.pronouns[0]] == [("Er", 0), ("ihren", 7)]
    assert metric.settings != PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0).settings
    with pytest.raises(PronmetricError, match="tables of counts are for English targets, and german scores de"):
        PronounMetric.from_pretrained(german, gpus=0, source_lang="ru")


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("de", "language=de: expected {NAME: VALUE, ...} or null"),
        ({"code": "de"}, "language: expected a code and a list of uses"),
        ({"code": "de", "uses": ["er personal"]}, "language: expected uses of six words"),
    ],
)
def test_a_broken_table_is_refused(german: Path, record: Any, expected: str) -> None:
    path = german / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    path.write_text(yaml.safe_dump({**config, "language": record}, allow_unicode=True), encoding="utf-8")
    with pytest.raises(InputError, match=expected):
        files.load(german)


def test_pronouns_must_be_forms_of_the_table(german: Path) -> None:
    path = german / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    path.write_text(yaml.safe_dump({**config, "pronouns": ["he"]}, allow_unicode=True), encoding="utf-8")
    with pytest.raises(InputError, match=r"pronouns: expected forms of the inventory \(ich, mich"):
        files.load(german)


def test_the_card_names_the_language(german: Path, tiny_checkpoint: Callable[..., Path]) -> None:
    manifest = {"schema_version": 1, "package_version": "0", "inputs": {}, "config": {}, "splits": {}}
    for folder, code, said in (
        (german, "de", "a translation into `de`"),
        (tiny_checkpoint(), "en", "an English transl"),
    ):
        text = card(
            name="x",
            weights="0",
            config=checkpoint_config.read(folder / "config.yaml"),
            manifest=manifest,
            manifest_hash="0",
            making=Making("a machine", "2026-01-02"),
        )
        assert f"language:\n- {code}\n" in text and said in text
        assert ("Pronouns are found by a table" in text) == (code == "de")
        assert "ich personal" not in text


def test_forms_must_be_pronouns_of_the_language(train_settings: Callable[..., Train]) -> None:
    prepared.check_language(train_settings(), ENGLISH)
    for key in ("form_weight", "corruption.emphasis"):
        settings = train_settings({f"objective.{key}": {"shee": 2.0}})
        with pytest.raises(InputError, match=rf"objective\.{key}\.shee: expected a pronoun, one of he, her"):
            prepared.check_language(settings, ENGLISH)


def test_what_is_written_for_english_is_refused_for_others(train_settings: Callable[..., Train]) -> None:
    with pytest.raises(InputError, match=r"form_weight\.her: expected a pronoun, one of dein, "):
        prepared.check_language(train_settings(), GERMAN)
    fitting: dict[str, Any] = {"objective.form_weight": {"sie": 2.0}, "objective.corruption.emphasis": None}
    fitting |= {"objective.corruption.gender_swap": 0.0, "objective.corruption.name_swap": 0.0}
    prepared.check_language(train_settings(fitting), GERMAN)
    for key in ("gender_swap", "name_swap"):
        settings = train_settings({**copy.deepcopy(fitting), f"objective.corruption.{key}": 0.2})
        with pytest.raises(InputError, match=rf"objective\.corruption\.{key}=0.2 needs English nouns.*expected 0"):
            prepared.check_language(settings, GERMAN)


def test_baselines_of_english_pronouns_are_refused_for_others() -> None:
    check_language(("apt", "bleu"), ENGLISH)
    check_language(("bleu", "chrf"), GERMAN)
    with pytest.raises(
        PronmetricError, match=r"`also=apt,exact`: they count English pronouns.*expected some of bleu, chrf"
    ):
        check_language(("apt", "bleu", "exact"), GERMAN)
