"""A checkpoint of several target languages that reads sources itself: the choice of one, its scores, the errors."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import Calibration, Model
from pronmetric.checkpoint.people import people_of
from pronmetric.data.collate import Example
from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.languages import language
from pronmetric.text.context import Source, Text
from tests.tools.source_readers import save_scorer

CALIBRATION = Calibration(scale=0.5, bias=2.0)
TEXT, SOURCE = "Er sah ihren Hut, she said.", Source("He saw her hat.", ("It was late.",))


@pytest.fixture(scope="module")
def folder(unigram: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    targets = {"de": CALIBRATION, "cs": None, "en": None}
    return save_scorer(tmp_path_factory.mktemp("several") / "multi", unigram, targets)


def logits(folder: Path, lang: str, text: Text) -> list[float]:
    """The logits of the pronouns of a text, by the checkpoint without its calibration."""
    loaded = files.load(folder)
    spans = [(found.start, found.end) for found in language(lang).find(text.text)]
    collator = files.load(folder, lang=lang).collator
    (row,) = collator.encode([Example(text.context, text.text, spans, text.source)])
    with torch.inference_mode():
        return [float(each) for each in loaded.model(collator.pad([row])).scores[0]]


@pytest.mark.parametrize(("lang", "found"), [("de", ["Er", "ihren"]), ("en", ["she"]), ("cs", [])])
def test_the_pronouns_are_those_of_the_chosen_language(folder: Path, lang: str, found: list[str]) -> None:
    metric = PronounMetric.from_pretrained(folder, lang=lang, gpus=0)
    assert metric.language == language(lang)
    scored = metric.predict([{"text": TEXT}])
    assert [p.text for p in scored.pronouns[0]] == found
    assert dict(scored.signature.fields).get("language", "en") == lang
    assert dict(scored.signature.fields)["pronouns"] == str(len(language(lang).forms))


@pytest.mark.parametrize("source", [SOURCE, None])
def test_the_score_is_that_of_text_and_source_calibrated_for_the_language(folder: Path, source: Source | None) -> None:
    metric = PronounMetric.from_pretrained(folder, lang="de", gpus=0)
    text = Text("Es war spät.", TEXT, source)
    (scored,) = metric.stream([text])
    for pronoun, logit in zip(scored.pronouns, logits(folder, "de", text), strict=True):
        assert pronoun.probability == pytest.approx(1 / (1 + math.exp(-(0.5 * logit + 2.0))), abs=1e-5)
    assert scored.score == pytest.approx(sum(p.score for p in scored.pronouns) / 2)


def test_equal_texts_with_other_sources_have_scores_of_their_own(folder: Path) -> None:
    metric = PronounMetric.from_pretrained(folder, lang="de", gpus=0)
    sources = (SOURCE, None, SOURCE._replace(before=()), Source("They slept."), Source(" "), SOURCE)
    texts = [Text("Es war spät.", TEXT, source) for source in sources]
    together = [segment.score for segment in metric.stream(texts, batch_size=1)]
    for text, score in zip(texts, together, strict=True):
        (alone,) = metric.stream([text])
        assert alone.score == pytest.approx(score, abs=1e-5)
    assert together[0] == together[5] and together[1] == together[4]  # a blank source is none
    assert len(set(together)) == 4


def test_sources_count_unless_they_are_ignored_and_the_signature_says_it(folder: Path) -> None:
    records = [{"text": TEXT, "source": SOURCE.text}]
    metric = PronounMetric.from_pretrained(folder, lang="de", gpus=0)
    ignored = PronounMetric.from_pretrained(folder, lang="de", gpus=0, no_source=True)
    with_source, without = metric.predict(records), metric.predict([{"text": TEXT}])
    assert with_source.scores != without.scores == ignored.predict(records).scores
    assert metric.with_source is None and ignored.with_source is False
    assert with_source.signature["source"] == "read" and with_source.counts.with_source == 1
    for found in (without, ignored.predict(records)):
        assert "source" not in dict(found.signature.fields)


def test_missing_pronouns_are_counted_beside_the_sources_that_it_reads(folder: Path) -> None:
    texts = [Text("", text, Source("Er sagte, sie schläft.")) for text in ("He said, sleeps.", "Sleeps.")]
    plain, counting = (
        PronounMetric.from_pretrained(folder, lang="en", gpus=0, source_lang=code) for code in (None, "de")
    )
    found = list(counting.stream(texts))
    assert [each._replace(unmatched=None) for each in found] == list(plain.stream(texts))
    assert found[1].unmatched is not None
    assert [word.text for word in found[1].unmatched.missing] == ["Er", "sie"]


def test_attention_is_over_context_and_text_although_the_context_is_cut(folder: Path) -> None:
    metric = PronounMetric.from_pretrained(folder, lang="de", gpus=0)
    context = "Das Haus war alt . " * 20
    (looks,) = metric.attention([Text(context, TEXT, SOURCE)])
    own = len(language("de").words(context)), len(language("de").words(TEXT))
    for look in looks:
        assert look.weights is not None and look.weights.shape == (sum(own),)
        assert look.weights.sum() == pytest.approx(1, abs=1e-5)
        assert not look.weights[: own[0] // 2].any() and (look.weights[own[0] :] > 0).all()


def test_alternatives_are_forms_of_the_language_scored_with_the_source(folder: Path) -> None:
    metric = PronounMetric.from_pretrained(folder, lang="de", gpus=0)
    text = Text("", TEXT, SOURCE)
    ((first, _),) = metric.alternatives([text])
    assert first.others and {other.form for other in first.others} <= set(language("de").forms)
    other = first.others[0]
    (scored,) = metric.stream([text._replace(text=other.text + TEXT[2:])])
    assert scored.pronouns[0].probability == pytest.approx(other.probability, abs=1e-5)


def test_one_language_must_be_chosen(folder: Path, tiny_checkpoint: object) -> None:
    with pytest.raises(PronmetricError, match="several languages: give `lang=` one of de, cs, en"):
        PronounMetric.from_pretrained(folder, gpus=0)
    with pytest.raises(PronmetricError, match="tables of counts are for English targets"):
        PronounMetric.from_pretrained(folder, lang="de", gpus=0, source_lang="de")
    with pytest.raises(PronmetricError, match="give `lang=`"):
        assert files.load(folder).language
    config = checkpoint_config.read(folder / "config.yaml")
    with pytest.raises(PronmetricError, match="checkpoint m scores several languages: give `lang=` one of de, cs, en"):
        checkpoint_config.of_language(config, None, name="m")


def test_a_language_of_a_table_that_it_was_not_trained_on_is_scored_and_noted(
    unigram: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    targets = {"de": CALIBRATION, "ru": Calibration(scale=1.5, bias=1.0), "zh": None}
    folder = save_scorer(tmp_path / "multi", unigram, targets)
    metric = PronounMetric.from_pretrained(folder, lang="hrv", gpus=0)
    assert metric.language == language("hr") and not metric.finds_missing
    with pytest.warns(UserWarning, match='multi was not trained on hr: .*"Languages not in training"'):
        scored = metric.predict([{"text": "Ona ga voli.", "source": "She loves it."}])
    signature = dict(scored.signature.fields)
    assert (signature["language"], signature["in_training"]) == ("hr", "no")
    assert signature["pronouns"] == str(len(language("hr").forms))
    assert [p.text for p in scored.pronouns[0]] == ["Ona", "ga"]
    text = Text("", "Ona ga voli.", Source("She loves it."))
    spans = [(found.start, found.end) for found in language("hr").find(text.text)]
    loaded = files.load(folder)
    collator = loaded.collator_of(language("hr"))
    (row,) = collator.encode([Example("", text.text, spans, text.source)])
    with torch.inference_mode():
        found = loaded.model(collator.pad([row])).scores[0]
    expected = [1 / (1 + math.exp(-(1.0 * float(logit) + 1.5))) for logit in found]  # the mean of both calibrations
    assert [p.probability for p in scored.pronouns[0]] == pytest.approx(expected, abs=1e-5)
    assert copy.deepcopy(metric).signature() == metric.signature()
    with pytest.raises(PronmetricError, match="was not trained on hr and has no tie threshold"):
        metric.description.tie_threshold(by="score")


def test_a_language_that_it_was_trained_on_has_no_such_note(folder: Path, recwarn: pytest.WarningsRecorder) -> None:
    metric = PronounMetric.from_pretrained(folder, lang="de", gpus=0)
    assert "in_training" not in dict(metric.predict([{"text": TEXT}]).signature.fields)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("lang", "cure"),
    [
        ("sv", "nor one of the further tables of the package \\(es, fr, .*data.target=FILE.tsv"),
        ("en", "give a checkpoint of English texts, such as base"),
    ],
)
def test_a_language_without_a_table_and_english_are_refused_with_a_cure(
    unigram: PreTrainedTokenizerFast, tmp_path: Path, lang: str, cure: str
) -> None:
    folder = save_scorer(tmp_path / "multi", unigram, {"de": None, "cs": None})
    with pytest.raises(PronmetricError, match=f"scores texts in de, cs, and `lang={lang}` is none of them.*{cure}"):
        PronounMetric.from_pretrained(folder, lang=lang, gpus=0)


def test_what_is_known_of_people_is_not_of_a_language_out_of_training(folder: Path) -> None:
    config = checkpoint_config.read(folder / "config.yaml")
    known = {**config, "people": {"texts": "some", "shared": 0.2, "raters": 0.3}}
    chosen = {code: checkpoint_config.of_language(known, code, name="m") for code in ("de", "hr")}
    assert people_of(chosen["de"]) is not None and people_of(chosen["hr"]) is None


def test_a_checkpoint_of_one_language_needs_no_choice(
    unigram: PreTrainedTokenizerFast, tmp_path: Path, folder: Path
) -> None:
    one = save_scorer(tmp_path / "one", unigram, {"de": None})
    named, unnamed = (PronounMetric.from_pretrained(one, lang=lang, gpus=0) for lang in ("de", None))
    assert named.signature() == unnamed.signature()
    with pytest.raises(PronmetricError, match="checkpoint one scores texts in de, and `lang=en` is none of them"):
        PronounMetric.from_pretrained(one, lang="en", gpus=0)


def test_a_copy_has_the_language_and_what_it_changes_is_signed(folder: Path, tmp_path: Path) -> None:
    metric = PronounMetric.from_pretrained(folder, lang="de", gpus=0)
    assert copy.deepcopy(metric).predict([{"text": TEXT}]).scores == metric.predict([{"text": TEXT}]).scores
    metric.save_pretrained(tmp_path / "multi")
    again = PronounMetric.from_pretrained(tmp_path / "multi", lang="de", gpus=0)
    assert again.signature() == metric.signature()
    others = [PronounMetric.from_pretrained(folder, lang=lang, gpus=0).settings for lang in ("cs", "en")]
    assert len({metric.settings, files.load(folder).settings, *others}) == 4
    chosen = Model.read(checkpoint_config.of_language(checkpoint_config.read(folder / "config.yaml"), "de", name=""))
    assert chosen.calibration == CALIBRATION
    changed = chosen.model_copy(update={"calibration": Calibration(scale=1.0, bias=0.0)})
    assert changed.of_scores() != chosen.of_scores()
