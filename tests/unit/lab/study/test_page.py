"""The page of a study: what it holds, and what it does not reveal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.study import guide
from pronmetric.lab.study.answers import of_item
from pronmetric.lab.study.folder import TWO_STAGES, Design, Item, Study, Task
from pronmetric.lab.study.page import PageOptions, code, differing, page
from pronmetric.pronouns.languages import language

EVIL = "</script><img src=x> {{js}} \u202e"
ITEMS = (
    Item("x", "de", "it", "he", ("One.", "Two."), "It came.", "He came.", "Er kam.", ("Eins.", "Zwei.")),
    Item("y", "de", "he", "it", (EVIL,), f"He {EVIL}", f"It {EVIL}", None, ()),
)
TASKS = {"1": (Task("x", False, False), Task("y", True, False), Task("x", True, True)), "2": (Task("y", False, False),)}
STUDY = Study({item.id: item for item in ITEMS}, Design(annotators=2), TASKS)


def data_of(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_tasks_show_the_versions_in_their_order() -> None:
    data = data_of(page(STUDY))
    for name, tasks in TASKS.items():
        assert len(data["annotators"][name]) == len(tasks)
        for task, (number, first) in zip(tasks, data["annotators"][name], strict=True):
            identity, _, _, _, versions = data["items"][number]
            shown = versions[first][0]
            reference = of_item("first", swapped=task.swapped) == "reference"
            item = STUDY.items[task.item]
            assert identity == item.id
            assert shown.replace("\\u202e", "\u202e") == (item.text_a if reference else item.text_b)


def test_the_items_do_not_tell_the_reference() -> None:
    turned = [replace(i, text_a=i.text_b, text_b=i.text_a, pronoun_a=i.pronoun_b, pronoun_b=i.pronoun_a) for i in ITEMS]
    other = replace(STUDY, items={item.id: item for item in turned})
    assert data_of(page(STUDY))["items"] == data_of(page(other))["items"]


def test_the_source_and_the_marks_are_optional() -> None:
    plain = data_of(page(STUDY))["items"][0]
    assert plain == ["x", ["One.", "Two."], None, [], [["He came."], ["It came."]]]
    shown = data_of(page(replace(STUDY, design=Design(annotators=2, source=True, highlight=True))))["items"][0]
    assert shown == ["x", ["One.", "Two."], "Er kam.", ["Eins.", "Zwei."], [["", "He", " came."], ["", "It", " came."]]]


@pytest.mark.parametrize(
    ("one", "other", "marked"),
    [
        ("I saw her there.", "I saw them there.", ("her", "them")),
        ("He is.", "They are.", ("He is", "They are")),
        ("She told him all.", "She told all.", ("him", "")),
        ("Him him him.", "Him him.", ("him", "")),
        ("A", "B", ("A", "B")),
        ("the same", "the same", ("", "")),
    ],
)
def test_the_words_that_differ(one: str, other: str, marked: tuple[str, str]) -> None:
    (a, b), (c, d) = differing(one, other)
    assert (one[a:b], other[c:d]) == marked


def test_text_of_the_data_is_no_markup() -> None:
    html = page(STUDY, PageOptions(title=EVIL, question=EVIL, guide=guide.own(STUDY.design)))
    assert "<img" not in html and html.count("</script>") == 2 and "\u202e" not in html
    assert re.search(r"default-src 'none'; .*style-src 'sha256-[^']+'; script-src 'sha256-[^']+'\"", html)
    assert "http" not in re.sub(r"http-equiv", "", html)


def test_texts_run_in_the_direction_of_their_letters() -> None:
    html = page(STUDY)
    for place in ("source-before", "source", "before", "alone-text", "first-text", "second-text"):
        assert re.search(rf'<\w+ [^>]*id="{place}" dir="auto"', html)


def test_a_page_of_one_annotator_has_only_these_items() -> None:
    data = data_of(page(STUDY, annotators=["2"]))
    assert (
        list(data["annotators"]) == ["2"]
        and data["codes"] == {code(STUDY, "2"): "2"}
        and [item[0] for item in data["items"]] == ["y"]
    )
    with pytest.raises(InputError, match='unknown annotator "3"; expected one of 1, 2'):
        page(STUDY, annotators=["3"])


def test_every_annotator_of_a_page_has_an_own_link() -> None:
    codes = data_of(page(STUDY))["codes"]
    assert codes == {code(STUDY, "1"): "1", code(STUDY, "2"): "2"} and all(len(each) == 8 for each in codes)
    assert not set(codes) & set(data_of(page(replace(STUDY, design=Design(annotators=2, both=False))))["codes"])


DESIGNS = [
    Design(both=both, neither=neither, invalid=invalid)
    for both in (True, False)
    for neither in (True, False)
    for invalid in (True, False)
]


@pytest.mark.parametrize("design", [*DESIGNS, TWO_STAGES, replace(TWO_STAGES, invalid=False)])
def test_our_guide_has_three_training_items_with_offered_answers(design: Design) -> None:
    found = guide.own(design)
    assert len(found.training) == guide.TRAINING and len({one.answer for one in found.training}) > 1
    for one in (found.example, *found.training):
        assert one.answer in design.answers and len(one.versions) == (1 if design.stages else 2)


def test_the_guide_is_on_the_page_as_its_items_are_shown() -> None:
    assert data_of(page(STUDY))["guide"] is None
    study = replace(STUDY, design=Design(annotators=2, highlight=True))
    shown = data_of(page(study, PageOptions(guide=guide.own(study.design), breaks=7)))
    assert shown["breaks"] == 7 and len(shown["guide"]["training"]) == 3
    item, answer, why = shown["guide"]["example"]
    assert item[4] == [["", "It", " was full of letters."], ["", "She", " was full of letters."]]
    assert answer == "first" and why.startswith("The suitcase")


def test_the_guide_of_texts_in_another_language_names_its_pronouns_and_says_that_it_is_english_itself() -> None:
    found = guide.own(Design(target="de"))
    assert found.instructions[0].endswith("The versions differ in a pronoun, such as er, sie or es.")
    assert found.instructions[1] == "Your sentences are in German; the example and the training are in English."
    assert len(found.instructions) == len(guide.own(Design()).instructions) + 1
    assert guide.own(Design()).instructions[0].endswith("such as he, it or their.")
    of_own_table = guide.own(Design(target="xx"))
    assert of_own_table.instructions[0].endswith("The versions differ in a pronoun.")
    assert guide.own(replace(TWO_STAGES, target="hr")).instructions[1].startswith("Your sentences are in Croatian;")


def test_the_language_of_texts_and_guide_is_on_the_page(tmp_path: Path) -> None:
    study = replace(STUDY, design=Design(annotators=2, target="de"))
    path = tmp_path / "guide.json"
    path.write_text(json.dumps(FILE), encoding="utf-8")
    for used, own in ((guide.own(study.design), "en"), (guide.read(path, study.design), "de")):
        shown = data_of(page(study, PageOptions(guide=used)))
        assert (shown["lang"], shown["guide"]["lang"]) == ("de", own)
    assert data_of(page(STUDY))["lang"] == "en"


def test_the_words_of_a_script_without_spaces_are_marked() -> None:
    one, other = "他来了。", "它来了。"
    (a, b), (c, d) = differing(one, other, language("zh"))
    assert (one[a:b], other[c:d]) == ("他", "它")


ONE = {"context": ["A lamp fell."], "versions": ["It broke.", "He broke."], "answer": "first", "why": "A lamp."}
FILE = {"instructions": ["Read."], "example": ONE, "training": [ONE]}


def test_a_guide_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "guide.json"
    path.write_text(json.dumps(FILE), encoding="utf-8")
    one = guide.Example(("A lamp fell.",), ("It broke.", "He broke."), "first", "A lamp.")
    assert guide.read(path, Design()) == guide.Guide(("Read.",), one, (one,))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"training": []}, '"training" is empty'),
        ({"instructions": None}, '"instructions" must be a list, got null'),
        ({"example": {**ONE, "answer": "neither"}}, '"answer" must be one of "first", "second", "both", got "neither"'),
        ({"training": [{**ONE, "versions": ["It broke."]}]}, 'entry 1: "versions" must be a list of 2 strings'),
        ({"training": [{**ONE, "why": None}]}, '"why" must be a string, got null'),
    ],
)
def test_broken_guides_are_refused(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    path = tmp_path / "guide.json"
    path.write_text(json.dumps({**FILE, **changed}), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(said)) as error:
        guide.read(path, Design())
    assert "guide.json" in str(error.value)
