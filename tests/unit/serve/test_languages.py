"""A checkpoint of several languages is served in each of them: which are loaded, what is refused, and the page."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from transformers import PreTrainedTokenizerFast

from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import Calibration
from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.nn.head import LogitHead
from pronmetric.serve.app import make_app
from pronmetric.serve.languages import Languages
from pronmetric.serve.service import Service
from pronmetric.text.context import GIVEN
from tests.tools.source_readers import save_scorer

TEXTS = {"de": "Er sah ihren Hut.", "cs": "On ji vid\u011bl.", "hr": "Ona ga voli."}
SELECT = re.compile(r'<option value="(\w+)"( selected)?>([^<]+)</option>')


@pytest.fixture(scope="module")
def folder(unigram: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    targets = {"de": Calibration(scale=0.5, bias=2.0), "cs": None, "en": None}
    return save_scorer(tmp_path_factory.mktemp("several") / "multi", unigram, targets)


def load(folder: Path, lang: str | None) -> PronounMetric:
    return PronounMetric.from_pretrained(folder, lang=lang, precision="32", gpus=0)


def make_client(folder: Path, lang: str | None = "de") -> TestClient:
    return TestClient(make_app(Service(load(folder, lang), context=GIVEN)))


@pytest.fixture(scope="module")
def client(folder: Path) -> TestClient:
    return make_client(folder)


def test_the_genders_of_a_pronoun_and_of_the_nouns_it_attends_to(client: TestClient) -> None:
    def attention(text: str, lang: str) -> dict[str, Any]:
        records = [{"text": text, "context": ["Die Lampe ist alt."]}]
        found: dict[str, Any] = client.post("/attention", json={"records": records, "lang": lang}).json()["records"][0]
        return found["pronouns"][0]

    shown = attention("Sie fiel.", "de")
    assert shown["gender"] == "feminine or plural" and shown["genders"] == {"1": "feminine or plural"}
    for text, lang in (("Ich fiel.", "de"), ("Ona spadla.", "cs")):
        shown = attention(text, lang)
        assert (shown["gender"], shown["genders"]) == (None, {})


def score(client: TestClient, text: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.post("/score", json={"records": [{"text": text}], **more}).json()
    return found


@pytest.mark.filterwarnings("ignore:checkpoint multi was not trained on hr")
@pytest.mark.parametrize(("lang", "code"), [(None, "de"), ("de", "de"), ("cs", "cs"), ("ces", "cs"), ("hr", "hr")])
def test_a_request_is_scored_in_its_language(client: TestClient, folder: Path, lang: str | None, code: str) -> None:
    metric = load(folder, code)
    found = score(client, TEXTS[code], lang=lang)
    scored = metric.predict([{"text": TEXTS[code]}])
    expected = [pytest.approx(p.probability, abs=1e-5) for p in scored.pronouns[0]]
    assert [p["probability"] for p in found["records"][0]["pronouns"]] == expected and expected
    assert found["signature"] == str(metric.signature(context=GIVEN))
    untrained = [note for note in found["notes"] if "was not trained on hr" in note]
    assert len(untrained) == (code == "hr")


@pytest.mark.parametrize("path", ["/suggest", "/attention"])
def test_the_other_requests_have_the_choice_too(client: TestClient, path: str) -> None:
    reply = client.post(path, json={"records": [{"text": TEXTS["cs"]}], "lang": "cs"})
    assert reply.status_code == 200 and "|language:cs|" in reply.json()["signature"]


def test_a_comparison_has_the_choice_too(client: TestClient) -> None:
    sides = {side: [{"text": TEXTS["cs"]}] for side in "ab"}
    reply = client.post("/compare", json={**sides, "lang": "cs"})
    assert reply.status_code == 200 and "|language:cs|" in reply.json()["signature"]


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("xx", "checkpoint multi scores texts in de, cs, en, and `lang=xx` is none of them, nor one of the further"),
        ("../de.tsv", "`lang=../de.tsv` is none of them"),
        ("", "`lang=` is none of them"),
    ],
)
def test_an_unknown_language_is_refused_with_those_that_there_are(client: TestClient, lang: str, said: str) -> None:
    reply = client.post("/score", json={"records": [{"text": "x"}], "lang": lang})
    assert reply.status_code == 400 and said in reply.json()["detail"]
    assert client.get("/", params={"lang": lang}).status_code == 400


def test_a_checkpoint_of_one_language_has_no_choice(unigram: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    client = make_client(save_scorer(tmp_path / "one", unigram, {"de": None}), None)
    assert "<select" not in client.get("/").text
    assert score(client, TEXTS["de"], lang="de") == score(client, TEXTS["de"])
    reply = client.post("/score", json={"records": [{"text": "x"}], "lang": "cs"})
    assert reply.status_code == 400 and "checkpoint one scores texts in de" in reply.json()["detail"]
    assert client.get("/health").json()["languages"] == ["de"]


def test_the_page_has_the_languages_of_the_training(client: TestClient, folder: Path) -> None:
    first, czech = client.get("/").text, client.get("/?lang=cs").text
    names = [("cs", "Czech (cs)"), ("en", "English (en)"), ("de", "German (de)")]
    for html, code in ((first, "de"), (czech, "cs")):
        assert [(value, told) for value, _, told in SELECT.findall(html)] == names
        assert [value for value, chosen, _ in SELECT.findall(html) if chosen] == [code]
        assert f'"lang":"{code}"' in html and f"|language:{code}|" in html
    held = [value for value, _, _ in SELECT.findall(make_client(folder, "hr").get("/").text)]
    assert held == ["hr", "cs", "en", "de"]  # a language of --lang too
    assert client.get("/health").json()["languages"] == ["de", "cs", "en"]


def test_a_language_is_loaded_once_however_many_ask(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric, loaded = load(folder, "de"), list[str]()
    read = files.load

    def counted(*given: Any, lang: str, **more: Any) -> files.Checkpoint:
        loaded.append(lang)
        return read(*given, lang=lang, **more)

    monkeypatch.setattr(files, "load", counted)
    languages = Languages(Service(metric, context=GIVEN))

    async def play() -> list[Service]:
        return await asyncio.gather(*(languages.service(lang) for lang in ("cs", "de", "ces", "en", "cs")))

    found = asyncio.run(play())
    assert sorted(loaded) == ["cs", "en"]
    assert [one.metric.language.code for one in found] == ["cs", "de", "cs", "en", "cs"]
    assert found[0] is found[2] is found[4] and found[1] is languages.first
    encoders = {id(one.metric.inference.replicas[0].encoder) for one in found}
    assert len(encoders) == len({id(one.batches) for one in found}) == 1


def test_other_weights_are_not_mixed_with_those_that_are_loaded(
    unigram: PreTrainedTokenizerFast, folder: Path, tmp_path: Path
) -> None:
    own = tmp_path / "multi"
    load(folder, "de").save_pretrained(own)
    metric = load(own, "de")
    loaded = files.load(folder)
    assert isinstance(loaded.model.head, LogitHead)
    loaded.model.head.calibrate(scale=2.0, bias=0.0)
    files.save(own, loaded.model, loaded.pieces, loaded.config, half=False)
    with pytest.raises(PronmetricError, match=f"multi has changed: expected the weights {metric.hash}, got"):
        metric.in_language("cs")
