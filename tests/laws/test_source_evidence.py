"""Laws of what the source says: whose evidence it is, and where it counts nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from pronmetric.checkpoint import files, locate
from pronmetric.data.collate import Example
from pronmetric.metric import PronounMetric
from pronmetric.scoring.score import MOST, Counts
from pronmetric.text.context import Source, Text

WORDS = {
    "en": ["she", "he", "it", "they", "saw", "her", "his", "house", "we", "who", "the", "late"],
    "de": ["sie", "er", "es", "sah", "ihr", "sein", "Haus", "wir", "wer", "das", "spät", "und"],
}
NOTHING = {"model": 1.0, "reader": 0.0, "bias": 0.0}


def changed(folder: Path, copy: Path, **source: Any) -> PronounMetric:
    """The checkpoint with other keys of its reader."""
    shutil.copytree(folder, copy)
    file = copy / locate.READER / "config.yaml"
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    config["source"] |= source
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return PronounMetric.from_pretrained(copy, gpus=0, precision="32")


def random_texts(number: int, *, language: str | None = None) -> list[Text]:
    rng = np.random.default_rng(5)

    def sentence(code: str) -> str:
        return " ".join(rng.choice(WORDS[code], rng.integers(1, 9))).capitalize() + "."

    return [
        Text(sentence("en") if k % 2 else "", f"She {sentence('en')}", Source(sentence("de"), (), language))
        for k in range(number)
    ]


def test_the_sign_of_the_evidence_is_that_of_the_readers_own_logit(with_reader: Path) -> None:
    metric = PronounMetric.from_pretrained(with_reader, gpus=0, precision="32")
    reader = files.load(with_reader / locate.READER)
    signs = set()
    for text, segment in zip(given := random_texts(40), metric.stream(given), strict=True):
        (row,) = reader.collator.encode([Example(*text[:2], [(p.start, p.end) for p in segment.pronouns], text.source)])
        with torch.inference_mode():
            logits = reader.model(reader.collator.pad([row])).scores[0].tolist()
        for pronoun, logit in zip(segment.pronouns, logits, strict=True):
            assert pronoun.evidence is not None and abs(pronoun.evidence.log_odds) <= MOST
            if abs(logit) > 1e-3:
                assert np.sign(pronoun.evidence.log_odds) == np.sign(logit)
                signs.add(np.sign(logit))
    assert signs == {-1.0, 1.0}


def test_the_evidence_does_not_depend_on_the_bias_and_the_share_of_the_checkpoint(
    with_reader: Path, tmp_path: Path
) -> None:
    given = random_texts(20)
    other = {
        "in_context": {"model": 0.2, "reader": 0.5, "bias": -3.0},
        "alone": {"model": 2.0, "reader": 2.0, "bias": 3.0},
    }
    metrics = (
        PronounMetric.from_pretrained(with_reader, gpus=0, precision="32"),
        changed(with_reader, tmp_path / "c", **other),
    )
    ours, theirs = ([p for segment in metric.stream(given) for p in segment.pronouns] for metric in metrics)
    assert [p.evidence for p in ours] == [p.evidence for p in theirs]
    assert all(p.score != q.score for p, q in zip(ours, theirs, strict=True))


def test_a_source_counts_nothing_in_a_language_in_which_its_weight_is_0(with_reader: Path, tmp_path: Path) -> None:
    metric = changed(with_reader, tmp_path / "c", others={"in_context": NOTHING, "alone": NOTHING})
    usual = PronounMetric.from_pretrained(with_reader, gpus=0, precision="32")
    for language, ignored, unnamed in (("et", 10, 0), ("de", 0, 0), (None, 0, 10)):
        given, counts = random_texts(10, language=language), Counts()
        found = list(metric.stream(given, counts=counts))
        bare = [text._replace(source=None) for text in given]
        assert found == list(usual.stream(bare if language == "et" else given))
        assert (counts.source_ignored, counts.source_unnamed) == (ignored, unnamed)
        assert ("source" in dict(metric.signature(counts=counts).fields)) == (language != "et")
    told = list(counts.notes())
    assert any(line.startswith("sources in a language that is not named: 10; if the reader was not") for line in told)
    assert metric._reader_hash != usual._reader_hash


def test_a_source_that_counts_nothing_anywhere_is_ignored_and_noted(with_reader: Path, tmp_path: Path) -> None:
    metric, given = changed(with_reader, tmp_path / "c", in_context=NOTHING, alone=NOTHING), random_texts(6)
    counts = Counts()
    found = list(metric.stream(given, counts=counts))
    assert found == list(metric.stream([text._replace(source=None) for text in given]))
    assert all(p.evidence is None for segment in found for p in segment.pronouns)
    assert "texts whose source does not affect their score: 6; with it" in "\n".join(counts.notes())
    list(metric.alternatives(given, counts=counts))
    assert counts.source_ignored == 12, "texts are counted, their variants are not"


@pytest.mark.parametrize("language", ["de", "et"])
def test_weights_of_other_languages_are_theirs(language: str, with_reader: Path, tmp_path: Path) -> None:
    own = {
        "in_context": {"model": 0.3, "reader": 1.5, "bias": 0.1},
        "alone": {"model": 0.9, "reader": 0.1, "bias": 1.0},
    }
    metric = changed(with_reader, tmp_path / "c", others=own)
    same = changed(with_reader, tmp_path / "d", **own) if language == "et" else None
    expected = same or PronounMetric.from_pretrained(with_reader, gpus=0, precision="32")
    given = random_texts(10, language=language)
    assert list(metric.stream(given)) == list(expected.stream(given))
