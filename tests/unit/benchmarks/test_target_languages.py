"""Figures of a checkpoint of several languages: the texts, the choice of gender, the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from benchmarks.checkpoint import target_languages
from benchmarks.checkpoint.target_languages import Sample, as_read, choices, genders, kind_of
from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.pronouns.languages import language
from pronmetric.text.context import Source, Text
from tests.tools.source_readers import save_scorer

PAIRS = [
    ("The lamp is old.", "Die Lampe ist alt."),
    ("It shines.", "Sie leuchtet."),
    ("He saw his sister.", "Er sah seine Schwester."),
    ("She gave him the book.", "Sie gab ihm das Buch."),
]


def sample(source: str, text: str) -> Sample:
    return Sample({"text": text, "context": ["Eins.", "Zwei."], "source": source, "source_context": ["One."]}, 0)


def test_a_text_is_read_with_its_source_without_it_and_without_context() -> None:
    given = sample(*PAIRS[1])
    read = [as_read(given, "Sie leuchtet.", way) for way in target_languages.WAYS]
    assert read == [
        Text("Eins. Zwei.", "Sie leuchtet.", Source("It shines.", ("One.",))),
        Text("Eins. Zwei.", "Sie leuchtet.", None),
        Text("", "Sie leuchtet.", Source("It shines.")),
    ]


@pytest.mark.parametrize(
    ("english", "kind"),
    [
        ("It lost its light.", "it"),
        ("She saw her.", "he or she"),
        ("He saw him.", "he or she"),
        ("He saw it.", None),
        ("She saw him.", None),
        ("They left.", None),
        ("I left.", None),
    ],
)
def test_the_kind_of_the_english_pronouns(english: str, kind: str | None) -> None:
    assert kind_of(english) == kind


def test_the_genders_are_those_of_subjects_and_of_forms_without_cases() -> None:
    assert genders(language("de")) == {"er": "masculine", "sie": "feminine", "es": "neuter"}
    assert genders(language("ru")) == {"он": "masculine", "оно": "neuter", "она": "feminine"}
    assert genders(language("ja")) == {"彼": "masculine", "彼女": "feminine"}


def test_a_choice_is_between_the_genders_in_the_case_of_the_text() -> None:
    (one,) = choices([sample(*PAIRS[1]), sample(*PAIRS[0])], language("de"))
    assert one.texts[0] == "Sie leuchtet." and set(one.texts[1:]) == {"Er leuchtet.", "Es leuchtet."}
    assert (one.form, one.kind) == ("sie", "it")
    (one,) = choices([sample("He left.", "他走了。")], language("zh"))
    assert one.texts == ("他走了。", "她走了。", "它走了。")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prepared folder of German."""
    folder = tmp_path_factory.mktemp("prepared")
    place = folder / "parallel" / "home31.de-en"
    place.mkdir(parents=True)
    rows = [(f"{en} {k * 37} {k * 41}", f"{de} {k * 37} {k * 41}") for k in range(1, 21) for en, de in PAIRS]
    for name, lines in zip(("ref.en", "src.de"), zip(*rows, strict=True), strict=True):
        (place / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    given = ["data.wmt=[]", f"data.parallel={folder / 'parallel'}", "data.target=de", "splits.block=4"]
    assert main(["prepare", *given, "splits.development_share=0.5", f"out={folder / 'de'}"]) == 0
    return folder / "de"


def test_the_page_of_a_checkpoint(
    prepared: Path,
    unigram: PreTrainedTokenizerFast,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = save_scorer(tmp_path / "multi", unigram, {"de": None, "ru": None})
    for folder, name, lines in (("references", "ref.A.en", 0), ("sources", "src.de", 1)):
        place = tmp_path / "data" / "wmt" / "wmt31-news-systems" / "txt" / folder
        place.mkdir(parents=True)
        text = "".join(f"{pair[lines]}\n" for pair in PAIRS)
        (place / f"generaltest2031.de-en.{name}").write_text(text, encoding="utf-8")
    deixis = tmp_path / target_languages.DEIXIS
    deixis.parent.mkdir(parents=True)
    before = "Один . _eos Два . _eos Три . _eos "
    item = {
        "src": "One . _eos Two . _eos Three . _eos Your dog .",
        "dst": [f"{before}Ваша собака .", f"{before}Твоя собака ."],
        "true_ind": 0,
        "ctx_dist": 1,
    }
    deixis.write_text(json.dumps([item, item]), encoding="utf-8")
    contrapro = tmp_path / "contrapro.json"
    wrong = {
        "src segment": "It shines .",
        "src pronoun": "it",
        "ref segment": "Sie leuchtet .",
        "ref pronoun": "sie",
        "document id": "d1",
        "segment id": 2,
        "intrasegmental": False,
        "ante distance": 1,
        "errors": [{"contrastive": "Er leuchtet ."}, {"contrastive": "Es leuchtet ."}],
    }
    contrapro.write_text(json.dumps([wrong]), encoding="utf-8")
    flags = ["--shared", tmp_path, "--model", model, "--data", prepared, "--testset", "wmt31", "--limit", 10]
    flags += ["--contrapro", contrapro, "--page", tmp_path / "page.md"]
    monkeypatch.setattr("sys.argv", ["target_languages", *map(str, flags)])
    target_languages.main()
    content: dict[str, Any] = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    of_development, of_test = (content["figures"][name]["de"] for name in ("development", "test"))
    assert of_development["detection"]["texts"] == 10 and of_test["detection"]["texts"] == 3  # with a pronoun
    for found in (of_development, of_test):
        assert found["detection"]["pronouns third"] == found["detection"]["pronouns all"] > 3
    assert of_test["choice"]["it: sie"]["choices"] == of_test["choice"]["he or she: er"]["choices"] == 1
    assert [(each["set"], each["language"], each["total"]) for each in content["suites"]] == [
        ("deixis_dev.json", "ru", 2),
        ("contrapro.json", "de", 1),
    ]
    assert all("source:read" in each["judged"] for each in content["suites"])
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text == target_languages.page(content) and text in capsys.readouterr().out
    assert "at most 10 texts" in text and "| pronoun pair | it:sie | 1 |" in text and "originals of wmt31" in text


def test_data_in_another_language_is_refused(
    prepared: Path, unigram: PreTrainedTokenizerFast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = save_scorer(tmp_path / "multi", unigram, {"ru": None, "cs": None})
    monkeypatch.setattr("sys.argv", ["target_languages", "--model", str(model), "--data", str(prepared)])
    with pytest.raises(InputError, match=r"expected data in ru, cs, the languages of multi"):
        target_languages.main()
