from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pronmetric.errors import InputError, MissingExtra, PronmetricError
from pronmetric.lab.suites import ctxpro
from pronmetric.lab.suites.contrastive import Judging, Reading, SuiteVerdicts, Verdict
from pronmetric.pronouns.languages import language


def entry(reference: str, expected: str, rule: str, **given: Any) -> dict[str, Any]:
    return {
        "src segment": "La vedo.",
        "ref segment": reference,
        "expected": expected,
        "rule": rule,
        "document id": "en-it/1",
        "segment id": 3,
        "ante distance": 2,
        "src ante segment": "Una barca.",
        "ref ante segment": "A boat.",
    } | given


ENTRIES = [
    entry("I see it.", "it", "ACC.FEM.SING"),
    entry("It and it.", "it", "ACC.MASC.SING"),
    entry("It left.", "it", "NOM.MASC.SING", **{"ante distance": 0}),
    entry("She left.", "she", "NOM.FEM.SING"),
]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "animacy.opensubtitles.it-en.dev.json"
    path.write_text(json.dumps(ENTRIES))
    return path


def test_the_pronoun_is_swapped_for_the_one_of_the_other_animacy(made: Path) -> None:
    items = ctxpro.read(made, Reading())
    assert [[one.target for one in item.candidates] for item in items] == [
        ["I see it.", "I see her."],
        ["It and it."],  # two pronouns: which one is tested is not known
        ["It left.", "He left."],
        ["She left.", "It left."],
    ]


def test_the_context_is_the_antecedents_sentence_where_it_is_near_enough(made: Path) -> None:
    first = ctxpro.read(made, Reading(context=2))[0].candidates[1]
    assert (first.source_context, first.target_context) == (("Una barca.",), ("A boat.",))
    assert ctxpro.read(made, Reading(context=1))[0].candidates[0].source_context == ()
    assert ctxpro.read(made, Reading(context=5))[2].candidates[0].source_context == ()  # the same sentence


def test_context_from_documents(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "documents.tsv"
    path.write_text("en-it/1\tA.\tB.\nother\tX.\tY.\nen-it/1\tC.\tD.\nen-it/1\tLa vedo.\tI see it.\n")
    first = ctxpro.read(made, Reading(str(path), 5))[0].candidates[0]
    assert (first.source_context, first.target_context) == (("A.", "C."), ("B.", "D."))
    path.write_text("en-it/1\tA.\tB.\n")
    with pytest.raises(InputError, match=r"item 1: segment 3 of the document is not in"):
        ctxpro.read(made, Reading(str(path), 5))
    path.write_text("en-it/1\tA.\tB.\nen-it/1\tA.\n")
    with pytest.raises(InputError, match=r"documents.tsv:2: expected document, source, target, got 2 columns"):
        ctxpro.read(made, Reading(str(path), 5))


def test_context_from_context_inputs(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "inputs"
    path.write_text("One.<eos> Two.<eos> La vedo.\n" * 4)
    assert ctxpro.read(made, Reading(str(path), 1))[0].candidates[0].source_context == ("Two.",)
    path.write_text("One.<eos> Two.<eos> La vedo.\n" * 3)
    with pytest.raises(InputError, match=r"inputs:4: expected 4 lines, one for each item, got 3"):
        ctxpro.read(made, Reading(str(path), 1))


def test_items_without_a_copy_are_left_out_and_counted(made: Path) -> None:
    items = ctxpro.read(made, Reading())
    judged = ctxpro.judge(items, [[1.0, 0.0], [1.0], [0.0, 0.0], [0.0, 1.0]], Judging())
    assert [(v.id, v.right) for v in judged.verdicts] == [("0", True), ("2", False), ("3", False)]
    assert judged.further == {"items without a contrastive copy, left out": 1}
    with pytest.raises(InputError, match="no item has a contrastive copy"):
        ctxpro.judge(items[1:2], [[1.0]], Judging())


GENDER = [
    entry("Ellas se fueron.", "ellas", "NOM.FEM.PLUR"),
    entry("No la vi.", "la", "ACC.FEM.SING"),
    entry("¿Viene Él o él?", "él", "NOM.MASC.SING"),
    entry("Se fueron.", "ellos", "NOM.MASC.PLUR"),
    entry("Te veo.", "te", "T-V"),
]


def test_gender_out_of_english_has_a_copy_in_each_other_gender_or_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "gender.opensubtitles.en-es.dev.json"
    path.write_text(json.dumps(GENDER))
    items = ctxpro.read(path, Reading())
    assert [one.target for one in items[0].candidates] == ["Ellas se fueron.", "Ellos se fueron."]
    assert {item.language for item in items} == {"es"}
    judged = ctxpro.judge(items, [[1.0, 0.0], *([[1.0]] * 4)], Judging())
    assert [verdict.right for verdict in judged.verdicts] == [True]
    assert judged.further == {
        "items without a contrastive copy, left out": 4,
        "left out: the form is no pronoun of the table": 1,
        "left out: the form is several times in the reference as a pronoun": 1,
        "left out: the form is not in the reference as a pronoun": 1,
        "left out: the rule names no gender": 1,
    }
    italian = tmp_path / "gender.opensubtitles.en-it.dev.json"
    italian.write_text(json.dumps(GENDER[:1]))
    assert ctxpro.read(italian, Reading())[0].groups["left out"] == "no table of pronouns for it"


@pytest.mark.parametrize(
    ("code", "form", "rule", "others"),
    [
        ("es", "ella", "NOM.FEM.SING", ["él"]),  # ello is the pronoun of no noun
        ("de", "sie", "NOM.FEM.SING", ["er", "es"]),
        ("de", "sie", "ACC.FEM.SING", ["ihn", "es"]),
        ("de", "ihm", "DAT.MASC.SING", ["ihr"]),  # the neuter is the same
        ("fr", "elles", "NOM.FEM.PLUR", ["ils"]),
        ("ru", "неё", "ACC.FEM.SING", ["него"]),  # after a preposition
        ("ru", "она", "NOM.FEM.SING", ["он", "оно"]),
    ],
)
def test_forms_of_the_other_genders(code: str, form: str, rule: str, others: list[str]) -> None:
    assert ctxpro.other_genders(language(code), form, rule) == others


class Splitter:
    """Cuts after a full stop."""

    def __init__(self, language: str) -> None:
        if language == "xx":
            raise ValueError("no such language")

    def split(self, text: str) -> list[str]:
        return [part.strip() for part in text.replace(".", ".\n").split("\n") if part.strip()]


@pytest.fixture
def splitter(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(SentenceSplitter=Splitter, SentenceSplitterException=ValueError)
    monkeypatch.setitem(sys.modules, "sentence_splitter", module)


def translated(made: Path, lines: list[str], **judging: Any) -> SuiteVerdicts:
    out = made.with_name("out.txt")
    out.write_text("".join(f"{line}\n" for line in lines))
    return ctxpro.judge_translations(made, out, Judging(**judging))


@pytest.mark.usefixtures("splitter")
def test_the_last_sentence_has_the_expected_form(made: Path) -> None:
    found = translated(made, ["She came. I see IT!", "It came. I left.", "I see its end.", "SHE"])
    assert [v.right for v in found.verdicts] == [True, False, False, True]
    assert found.further["form of each rule"] == {
        "ACC.FEM.SING": "it",
        "ACC.MASC.SING": "it",
        "NOM.MASC.SING": "it",
        "NOM.FEM.SING": "she",
    }


@pytest.mark.usefixtures("splitter")
def test_punctuation_goes_from_the_translation_and_but_with_compat_from_the_form(made: Path) -> None:
    made.write_text(json.dumps([entry("", "t'", "FORMAL")]))
    assert [v.right for v in translated(made, ["Je t' aime"]).verdicts] == [True]
    assert [v.right for v in translated(made, ["Je t' aime"], compat=True).verdicts] == [False]
    assert not ctxpro.has_form("Où est-il ?", "il") and ctxpro.has_form("« il »", "il")


@pytest.mark.usefixtures("splitter")
def test_wrong_lengths_and_blank_lines(made: Path) -> None:
    with pytest.raises(InputError, match=r"out.txt:2: expected 4 lines, one for each item"):
        translated(made, ["it"])
    with pytest.raises(InputError, match=r"out.txt:5: expected 4 lines"):
        translated(made, ["it"] * 5)
    with pytest.raises(InputError, match=r"out.txt:3: a blank line"):
        translated(made, ["it", "it", "", "it"])
    assert [v.right for v in translated(made, ["it", "it", ""], compat=True).verdicts] == [True, True, False]
    assert len(translated(made, ["it"] * 5, compat=True).verdicts) == 4


@pytest.mark.usefixtures("splitter")
def test_the_language_is_in_the_files_name_or_given(made: Path) -> None:
    other = made.with_name("set.json")
    other.write_text(made.read_text())
    with pytest.raises(InputError, match="the target language is not in the file's name; give `language=`"):
        translated(other, ["it"] * 4)
    with pytest.raises(InputError, match="`language=xx`: no such language"):
        translated(other, ["it"] * 4, language="xx")


def test_translations_need_the_sentence_splitter(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_splitter", None)
    with pytest.raises(MissingExtra, match="sentence-splitter"):
        translated(made, ["it"] * 4)


def test_subsampled_wins_count_ties_against_a_system() -> None:
    def verdicts(right: list[bool]) -> list[Verdict]:
        return [Verdict(str(k), one, {}, "") for k, one in enumerate(right)]

    systems = {"a": verdicts([False] * 6), "b": verdicts([True] * 6), "c": verdicts([False] * 6)}
    assert ctxpro.subsampled_wins(systems, size=3, seed=0) == {"b": 0.0, "c": 1.0}
    with pytest.raises(PronmetricError, match="expected a subsample of at most 6 items, got 7"):
        ctxpro.subsampled_wins(systems, size=7, seed=0)


def test_subsampled_wins_do_not_depend_on_the_order_of_items_nor_of_the_other_systems() -> None:
    rng = np.random.default_rng(3)
    right = {name: rng.random(40) < share for name, share in (("a", 0.5), ("b", 0.55), ("c", 0.6))}

    def wins(items: Sequence[int], names: str) -> dict[str, float]:
        systems = {name: [Verdict(str(k), bool(right[name][i]), {}, "") for k, i in enumerate(items)] for name in names}
        return ctxpro.subsampled_wins(systems, size=10, draws=200, seed=1)

    first = wins(range(40), "abc")
    assert 0 < first["c"] < 1 and wins(rng.permutation(40).tolist(), "acb") == first
