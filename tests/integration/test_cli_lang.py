"""`--lang` chooses the language of a checkpoint that has several, in every verb that scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from pronmetric.cli.main import main
from pronmetric.pronouns import noun_gender
from pronmetric.pronouns.languages import language
from tests.tools.source_readers import save_scorer

GERMAN = ("Er sah ihren Hut.", "Sie gab ihm das Buch.", "Es regnete, sagte er.", "Ihr Bruder kennt sie.")
OTHER = ("Sie sah seinen Hut.", "Er gab ihr das Buch.", "Es regnete, sagte sie.", "Sein Bruder kennt ihn.")
ENGLISH = ("He saw her hat.", "She gave him the book.", "It rained, he said.", "Her brother knows her.")


@pytest.fixture(scope="module")
def several(unigram: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_scorer(tmp_path_factory.mktemp("several") / "multi", unigram, {"de": None, "cs": None}))


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("a", GERMAN), ("b", OTHER), ("s", ENGLISH)):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    records = [{"id": k, "text": t, "source": s} for k, (t, s) in enumerate(zip(GERMAN, ENGLISH, strict=True))]
    Path("r.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def read(path: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return content


@pytest.mark.usefixtures("texts")
def test_score_and_compare_in_the_language_with_and_without_sources(
    several: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["--model", several, "--lang", "de", "--gpus", "0"]
    assert main(["score", "-t", "a", "-s", "s", "--to_json", "with.json", "--verbose", *model]) == 0
    said = capsys.readouterr().err
    assert "does not affect" not in said and "none has one" not in said
    assert main(["score", "-t", "a", "--to_json", "without.json", *model]) == 0
    lacking = "multi is made for texts with their source, and none has one: give -s"
    assert lacking in capsys.readouterr().err
    assert main(["score", "-t", "a", "-s", "s", "--no-source", "--to_json", "ignored.json", *model]) == 0
    assert lacking not in capsys.readouterr().err
    found = {name: read(f"{name}.json") for name in ("with", "without", "ignored")}
    assert all("|language:de|" in each["signature"] for each in found.values())
    assert [("|source:read|" in each["signature"]) for each in found.values()] == [True, False, False]
    assert "source_language" not in found["with"]
    scores = {name: [segment["score"] for segment in each["segments"]] for name, each in found.items()}
    assert scores["with"] != scores["without"] == scores["ignored"]
    assert [p["text"] for p in found["with"]["segments"][1]["pronouns"]] == ["Sie", "ihm"]
    capsys.readouterr()
    assert main(["score", "--jsonl", "r.jsonl", "--context", "none", *model]) == 0
    printed = [json.loads(line)["score"] for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert main(["score", "-t", "a", "-s", "s", "--context", "none", "--to_json", "none.json", *model]) == 0
    assert len(printed) == len(GERMAN)
    assert main(["compare", "-t", "a", "b", "-s", "s", "--to_json", "compared.json", *model]) == 0
    assert "|language:de|" in read("compared.json")["signature"]


@pytest.mark.usefixtures("texts")
def test_a_report_takes_the_language_of_its_result(several: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = ["--model", several, "--gpus", "0"]
    assert main(["compare", "-t", "a", "b", "-s", "s", "--to_json", "c.json", "--lang", "de", *model]) == 0
    assert main(["report", "c.json", "--format", "html", "-o", "page.html", *model]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert '"lang":"de"' in page.replace(" ", "") and "masculine or neuter" in page
    assert "attention and alternative pronouns are not shown" not in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
def test_suggest_and_rerank_in_the_language(several: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = ["--model", several, "--lang", "de", "--gpus", "0"]
    assert main(["suggest", "-t", "a", "-s", "s", "--all", *model]) == 0
    given = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    forms = {one["form"] for each in given for p in each["pronouns"] for one in p["better"]}
    assert forms <= set(language("de").forms)
    assert main(["rerank", "--candidates", "a", "b", "-s", "s", *model]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(GERMAN)


CONTRAPRO = {
    "src segment": "But it stays in Bern .",
    "src pronoun": "it",
    "ref segment": "Aber er bleibt in Bern.",
    "ref pronoun": "er",
    "document id": "d1",
    "segment id": 2,
    "intrasegmental": False,
    "ante distance": 1,
    "errors": [{"contrastive": "Aber sie bleibt in Bern."}, {"contrastive": "Aber es bleibt in Bern."}],
}


@pytest.mark.usefixtures("texts")
def test_a_suite_in_the_language_is_scored_with_its_sources(several: str) -> None:
    Path("set.json").write_text(json.dumps([CONTRAPRO, CONTRAPRO]), encoding="utf-8")
    model = ["--model", several, "--lang", "de", "--gpus", "0"]
    given = ["--set", "set.json", "--context", "0", "--to_json", "figures.json"]
    assert main(["suite", "score", "contrapro", *given, *model]) == 0
    judged = read("figures.json")["judged"]
    assert "language:de" in judged and "source:read" in judged


@pytest.mark.usefixtures("texts")
def test_other_verbs_in_the_language(several: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = ["--model", several, "--lang", "de", "--gpus", "0"]
    assert main(["attention", "Er fiel.", "--context", "Den Tisch sah ich.", *model]) == 0
    shown = capsys.readouterr().out
    assert (
        shown.startswith("Er (masculine)  ") and " attends to " in shown and "Tisch (masculine or plural) 0." in shown
    )
    assert "fiel (" not in shown
    assert main(["check", "-t", "a", "-s", "s", "--min-score", "0", *model]) == 0
    capsys.readouterr()
    assert main(["rerank", "--candidates", "a", "b", "--mbr", "--lang", "de"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(GERMAN)


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize("verb", [["score", "-t", "a"], ["compare", "-t", "a", "b"], ["suggest", "-t", "a"]])
def test_without_it_the_choices_are_named(several: str, verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb, "--model", several, "--gpus", "0"]) == 1
    assert "checkpoint multi scores several languages: give --lang one of de, cs" in capsys.readouterr().err
    assert main([*verb, "--model", several, "--lang", "sw", "--gpus", "0"]) == 1
    assert "checkpoint multi scores texts in de, cs, and --lang sw is none of them, nor" in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
def test_what_it_lacks_is_refused(several: str, capsys: pytest.CaptureFixture[str]) -> None:
    compare = ["compare", "-t", "a", "b", "-s", "s", "--model", several, "--lang", "de", "--gpus", "0"]
    assert main([*compare, "--tie", "auto"]) == 1
    assert "no tie threshold ('tie' in its config.yaml); give --tie a number\n" in capsys.readouterr().err
    assert main([*compare, "--by", "preference"]) == 1
    assert "has no pair head, and no preference: decide by score or errors" in capsys.readouterr().err
    assert main([*compare, "--source-lang", "de"]) == 1
    assert "leave out the source language" in capsys.readouterr().err


def test_a_missing_lexicon_of_genders_is_noted(
    several: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(noun_gender, "find_spec", lambda name: None)
    monkeypatch.setattr(noun_gender, "_MODULES", {"de": ("pymorphy3",)})
    assert main(["attention", GERMAN[0], "--model", several, "--lang", "de", "--gpus", "0"]) == 0
    shown = capsys.readouterr()
    assert "genders are not shown: the gender of nouns (de) needs pymorphy3, which is not installed: pip" in shown.err
    assert "attends to" in shown.out and "masculine" not in shown.out
