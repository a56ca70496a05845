"""Suites out of English: the choices of each set, their judgment, the tables, a language that is not scored."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from benchmarks.checkpoint import target_suites
from benchmarks.checkpoint.target_suites import ALL, FIRST, MAJORITY, MEAN, WAYS, Choice, SuiteSet
from pronmetric.cli.main import main as pronmetric
from pronmetric.lab.suites.contrastive import Candidate, Item
from pronmetric.text.context import Text
from tests.tools.source_readers import make_tokenizer, save_scorer


def german(corpus: str, document: str, segment: int, form: str, distance: int) -> dict[str, Any]:
    return {
        "src segment": "It is old.",
        "ref segment": f"{form.capitalize()} ist alt.",
        "src pronoun": "it",
        "ref pronoun": form,
        "corpus": corpus,
        "document id": f"{corpus}/{document}",
        "segment id": segment,
        "ante distance": distance,
        "intrasegmental": distance == 0,
        "errors": [{"contrastive": f"{o.capitalize()} ist alt."} for o in ("er", "sie", "es") if o != form],
        "src context": ["A.", "B.", "C.", "D."],
        "ref context": ["E.", "F.", "G.", "H."],
    }


def spanish(text: str, expected: str, rule: str, distance: int, number: int) -> dict[str, Any]:
    told: dict[str, Any] = {"src segment": "They left.", "ref segment": text, "expected": expected, "rule": rule}
    told |= {"ante distance": distance, "src ante segment": "The nurses came.", "ref ante segment": "Vinieron todas."}
    return told | {"document id": f"en-es/{number}", "segment id": 5}


SPANISH = [
    spanish("Ellas se fueron.", "ellas", "NOM.FEM.PLUR", 1, 1),
    spanish("No la vi.", "la", "ACC.FEM.SING", 0, 2),
    spanish("Fui con él.", "él", "NOM.MASC.SING", 5, 3),
    spanish("Ellos y ellos.", "ellos", "NOM.MASC.PLUR", 2, 4),
    spanish("Hablan ellos.", "ellos", "NOM.MASC.PLUR", 2, 5),
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder like the shared one, and beside it a German set."""
    suites = tmp_path / "shared" / target_suites.SUITES
    for name in ("voita", "ctxpro", "bawden"):
        (suites / name).mkdir(parents=True)
    lines = "Мы пришли . _eos Дом пуст . _eos Где она ? _eos"
    right, wrong = f"{lines} Это твой дом ?", f"{lines} Это ваш дом ?"
    source = "We came . _eos The house is empty . _eos Where is she ? _eos Is it your house ?"
    deixis = [
        {"src": source, "dst": [right, other], "true_ind": 0, "ctx_dist": n}
        for n in (1, 2, 3)
        for other in (wrong, right)
    ]
    write(tmp_path / "shared" / target_suites.DEIXIS, deixis)
    write(tmp_path / "shared" / target_suites.SPANISH, SPANISH)
    inputs = (tmp_path / "shared" / target_suites.SPANISH).with_suffix("")
    inputs.write_text("One.<eos> Two.<eos> Three.<eos> Four.<eos> They left.\n" * len(SPANISH), encoding="utf-8")
    pair = {"correct": ["Le vélo est là.", "Il brille."], "incorrect": ["Le vélo est là.", "Elle brille."]}
    block = {"src": ["The bike is there.", "It shines."], "trg": [{**pair, "type": "m.sg"}]}
    write(tmp_path / "shared" / target_suites.FRENCH, {"1": block})
    forms = ["es", "er", "es", "sie", "es"]
    known = [german("wmt24.en-de", f"d{n}", 3, form, n % 4) for n, form in enumerate(forms)]
    unknown = [german("kites.de-en", "kites.de-en", segment, "es", 1) for segment in (1, 20, 21)]
    write(tmp_path / "german.json", [*known, *unknown, german("read.en-de", "d", 1, "er", 0)])
    return tmp_path


def write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def test_natural_items_are_those_of_the_corpora_in_documents_or_blocks(files: Path) -> None:
    found = target_suites.of_corpora(files / "german.json", ["wmt24.en-de", "kites.de-en"])
    assert [choice.form for choice in found.choices] == ["es", "er", "es", "sie", "es", "es", "es", "es"]
    assert [choice.distance for choice in found.choices[:5]] == ["0", "1", "2", "3", "0"]
    assert [choice.unit for choice in found.choices[4:]] == ["wmt24.en-de/d4"] + [f"kites.de-en {n}" for n in (0, 0, 1)]
    assert found.choices[0].item.candidates[0].target_context == ("F.", "G.", "H.")
    assert list(found.left_out.values()) == [1]


def test_written_texts_are_balanced_and_their_copies_differ_in_pronouns_alone() -> None:
    found = target_suites.written(36)
    assert Counter((c.distance, c.form) for c in found.choices) == {
        (str(n), form): 3 for n in range(4) for form in ("er", "sie", "es")
    }
    for choice in found.choices:
        right, *copies = choice.item.candidates
        assert 1 <= len(copies) <= 2 and len({right, *copies}) == len(copies) + 1
        for copy in copies:
            assert (copy.source, copy.source_context, copy.target_context) == (
                right.source,
                right.source_context,
                right.target_context,
            )
            pairs = zip(right.target.split(), copy.target.split(), strict=True)
            changed = {a.lower() for a, b in pairs if a != b}
            assert changed and all(form.startswith(("er", "sie", "es", "ih", "sein")) for form in changed)


def test_spanish_forms_by_rule_with_both_contexts_and_why_others_are_left_out(files: Path) -> None:
    found = target_suites.gender(files / "shared" / target_suites.SPANISH)
    assert [[one.target for one in choice.item.candidates] for choice in found.choices] == [
        ["Ellas se fueron.", "Ellos se fueron."],
        ["Fui con él.", "Fui con ella."],
        ["Hablan ellos.", "Hablan ellas."],
    ]
    assert [(c.distance, c.form, c.rivals) for c in found.choices[:2]] == [
        ("1", "NOM.FEM.PLUR", "NOM.PLUR"),
        (">3", "NOM.MASC.SING", "NOM.SING"),
    ]
    first, second = (choice.item.candidates[1] for choice in found.choices[:2])
    assert first.source_context == ("Two.", "Three.", "Four.") and first.target_context == ("Vinieron todas.",)
    assert second.target_context == ()
    assert found.left_out == {
        "the form is no pronoun of the table (ACC.FEM.SING)": 1,
        "the form is several times in the reference as a pronoun (NOM.MASC.PLUR)": 1,
    }


def choice(number: int, form: str, rivals: str = "", distance: str = "1") -> Choice:
    candidates = (Candidate("It left.", "a"), Candidate("It left.", "b"))
    return Choice(Item(str(number), candidates, document=str(number)), distance, form, rivals)


def test_the_most_frequent_form_is_that_of_the_rivals() -> None:
    made = [choice(n, *each) for n, each in enumerate([("a", "x"), ("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])]
    assert target_suites.most_frequent(made) == [True, True, False, True, False]
    assert target_suites.most_frequent([choice(0, "")]) is None


def test_the_mean_over_forms_weighs_each_form_alike_and_a_tie_is_wrong() -> None:
    made = SuiteSet("set", "de", [*(choice(n, "es") for n in range(6)), choice(6, "er"), choice(7, "er", "", "2")])
    scores = [[1.0, 0.0]] * 6 + [[1.0, 1.0], [1.0, 0.5]]
    right = target_suites.rights(made, scores, ties=False)
    assert right == [True] * 6 + [False, True]
    assert all(target_suites.rights(made, scores, ties=True))
    found = target_suites.figures(made, {FIRST: right, MAJORITY: target_suites.most_frequent(made.choices)})
    assert list(found["distance"]) == ["1", "2", ALL] and found["distance"][ALL]["items"] == 8
    assert found["form"][MEAN][FIRST].value == 0.75 and found["form"][MEAN][MAJORITY].value == 0.5
    assert found["form"]["er"][FIRST].value == 0.5 and found["distance"][ALL][FIRST].value == 7 / 8


def run(arguments: Sequence[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["target_suites", *map(str, arguments)])
    target_suites.main()


def test_the_page_names_a_language_that_was_not_trained(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "er sie es ist alt ellos ellas él ella твой ваш дом это abcdefghijklmnopqrstuvwxyz"
    model = save_scorer(files / "multi", make_tokenizer(words), {"de": None, "ru": None, "es": None})
    monkeypatch.setattr(target_suites, "WRITTEN", 12)
    shared, out = files / "shared", files / "page.md"
    flags = ["--model", model, "--shared", shared, "--german", files / "german.json", "--corpora", "wmt24.en-de"]
    run([*flags, "--page", out], monkeypatch)
    content, told = json.loads(out.with_suffix(".json").read_text(encoding="utf-8")), capsys.readouterr().out
    assert told == out.read_text(encoding="utf-8") == target_suites.page(content)
    found = {one["suite"]: one for one in content["sets"]}
    assert set(found) == {
        "own, natural",
        "own, written",
        "ctxpro, gender",
        "DiscEvalMT, anaphora",
        "consistency, deixis, a tie is right",
        "consistency, deixis, a tie is wrong",
    }
    assert all(set(WAYS) < set(one["distance"][ALL]) for one in content["sets"])
    assert "| DiscEvalMT, anaphora | fr, not trained |" in told
    assert "- ContraPro (de): no file of it is given." in told
    assert "- own, natural (de): 4 items left out, of texts that training may have read." in told
    assert f"| own, written | de | {MEAN} | 12 |" in told and "| own, written | de | 3 | 3 |" in told
    assert "- consistency, deixis (ru): in 3 of 6 items source and context gives all candidates the same score." in told
    deixis = ["suite", "score", "consistency", "--set", str(shared / target_suites.DEIXIS), "--model", str(model)]
    assert pronmetric([*deixis, "--lang", "ru", "--context", "3", "--to_json", str(files / "cli.json"), "--quiet"]) == 0
    verb = json.loads((files / "cli.json").read_text(encoding="utf-8"))
    shares = [found[f"consistency, deixis, a tie is {name}"]["distance"][ALL][FIRST] for name in ("right", "wrong")]
    assert shares[0]["value"] == verb["accuracy"] >= 0.5
    assert shares[1]["value"] == verb["further"]["strict accuracy (a tie is wrong)"] == shares[0]["value"] - 0.5


def test_a_language_model_beside_it(
    files: Path, unigram: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads the candidates after their context, without the source."""
    read: list[Text] = []

    class Reader:
        def read(self, texts: Sequence[Text]) -> list[Namespace]:
            read.extend(texts)
            return [Namespace(total=-float(len(each.text))) for each in texts]

    monkeypatch.setattr(target_suites, "LanguageModel", lambda folder, precision: Reader())
    monkeypatch.setattr(target_suites, "WRITTEN", 12)
    model = save_scorer(files / "one", unigram, {"de": None})
    out = files / "page.json"
    given = ["--shared", files / "none", "--german", files / "german.json", "--limit", 4]
    run(["--model", model, *given, "--language_model", files / "small", "--out", out], monkeypatch)
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content["language_model"] == "small" and content["limit"] == 4
    assert all(one["distance"][ALL]["items"] == 4 for one in content["sets"])
    assert all(0 <= one["distance"][ALL][target_suites.LANGUAGE_MODEL]["value"] < 1 for one in content["sets"])
    assert read and all(each.source is None for each in read) and any(each.context for each in read)
    assert "small, by the log-probability" in target_suites.page(content)
