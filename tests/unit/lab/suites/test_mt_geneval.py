from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import mt_geneval
from pronmetric.lab.suites.contrastive import Judging, Reading, SuiteVerdicts

SENTENCES = {
    "masculine-dev.en_de.en": "<M>He</M> is a baker.\nThe <M>king</M> left.\n",
    "masculine-dev.en_de.de": "<M>Er</M> ist <M>Bäcker</M>.\n<M>Der König</M> ging.\n",
    "feminine-dev.en_de.en": "She is a baker.\nThe queen left.\n",
    "feminine-dev.en_de.de": "Sie ist Bäckerin.\nDie Königin ging.\n",
}
CONTEXT = {
    "2to1-test.en_fr.en": "She lives here. <sep> The baker sings.\n <sep> The author left.\n",
    "original-test.en_fr.fr": "La boulangère chante.\nL'auteur partit.\n",
    "flipped-test.en_fr.fr": "Le boulanger chante.\nL'autrice partit.\n",
}


def write(folder: Path, stem: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / f"{stem}{name}").write_text(text)


@pytest.fixture
def counterfactual(tmp_path: Path) -> Path:
    write(tmp_path, "geneval-sentences-", SENTENCES)
    return tmp_path / "geneval-sentences-feminine-dev.en_de.en"


@pytest.fixture
def contextual(tmp_path: Path) -> Path:
    write(tmp_path, "geneval-context-wikiprofessions-", CONTEXT)
    return tmp_path / "geneval-context-wikiprofessions-2to1-test.en_fr.en"


def translated(path: Path, lines: list[str], **judging: bool) -> SuiteVerdicts:
    out = path.with_name("out.txt")
    out.write_text("".join(f"{line}\n" for line in lines))
    return mt_geneval.judge_translations(path, out, Judging(**judging))


@pytest.mark.parametrize("named", ["feminine-dev.en_de.en", "masculine-dev.en_de.de"])
def test_each_source_has_its_translation_and_that_of_the_other_gender(counterfactual: Path, named: str) -> None:
    items = mt_geneval.read(counterfactual.with_name(f"geneval-sentences-{named}"), Reading())
    assert [(item.id, item.document, item.groups["gender"], item.language) for item in items] == [
        ("1, male", "1", "male", "de"),
        ("2, male", "2", "male", "de"),
        ("1, female", "1", "female", "de"),
        ("2, female", "2", "female", "de"),
    ]
    assert [one.target for one in items[0].candidates] == ["Er ist Bäcker.", "Sie ist Bäckerin."]
    assert [one.target for one in items[3].candidates] == ["Die Königin ging.", "Der König ging."]
    assert {one.source for one in items[3].candidates} == {"The queen left."}


def test_sentences_with_both_genders_right_are_counted(counterfactual: Path) -> None:
    items = mt_geneval.read(counterfactual, Reading())
    judged = mt_geneval.judge(items, [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.0, 0.0)], Judging())
    assert [one.right for one in judged.verdicts] == [True, True, True, False]
    assert judged.further == {"sentences with both genders right": 1, "sentences": 2}


def test_the_previous_sentence_shows_the_gender(contextual: Path) -> None:
    items = mt_geneval.read(contextual, Reading(context=2))
    assert [one.target for one in items[0].candidates] == ["La boulangère chante.", "Le boulanger chante."]
    assert items[0].candidates[0].source_context == ("She lives here.",)
    assert items[1].candidates[0].source_context == ()
    assert [item.groups["gender"] for item in items] == ["female", "unclear"]
    assert mt_geneval.read(contextual, Reading())[0].candidates[0].source_context == ()
    assert mt_geneval.judge(items, [(1.0, 0.0), (0.0, 1.0)], Judging()).further == {}


def test_a_translation_with_a_word_of_the_other_gender_is_wrong(counterfactual: Path, contextual: Path) -> None:
    judged = translated(contextual, ["La boulangère, elle chante!", "L'autrice partit."])
    assert [one.right for one in judged.verdicts] == [True, False]
    judged = translated(counterfactual, ["Er ist Bäcker.", "Der Herrscher ging.", "Sie backt.", "Der Königin ging."])
    # the second segment's feminine translation has "der", which only the masculine reference has
    assert [(one.id, one.right) for one in judged.verdicts] == [("1", True), ("2", False)]
    assert judged.further == {"translations of male sources, right": 2, "translations of female sources, right": 1}


def test_wrong_files_are_refused(counterfactual: Path, contextual: Path) -> None:
    with pytest.raises(InputError, match="a blank line; `compat=True` judges it too"):
        translated(contextual, ["La boulangère chante.", ""])
    assert translated(contextual, ["La boulangère chante.", ""], compat=True).verdicts[1].right
    with pytest.raises(InputError, match=r"out.txt:3: expected 4 lines, one for each item, got 2"):
        translated(counterfactual, ["a", "b"])
    with pytest.raises(InputError, match="expected a file of MT-GenEval under its own name, such as geneval-sentences"):
        mt_geneval.read(counterfactual.with_name("out.txt"), Reading())
    contextual.write_text("She lives here. The baker sings.\nx <sep> y\n")
    with pytest.raises(InputError, match=r"en_fr.en:1: expected the previous sentence, <sep>, and the sentence"):
        mt_geneval.read(contextual, Reading())
    counterfactual.with_suffix(".de").write_text("Sie ist Bäckerin.\n")
    with pytest.raises(InputError, match=r"feminine-dev.en_de.de:2: 1 lines, but geneval-sentences-masculine-dev"):
        mt_geneval.read(counterfactual, Reading())
    counterfactual.with_suffix(".de").unlink()
    with pytest.raises(InputError, match=r"feminine-dev.en_de.de: no such file"):
        mt_geneval.read(counterfactual, Reading())
