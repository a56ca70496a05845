"""Sources that cannot be right, by lines alone."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest

from pronmetric.alignment.parallel import SAMPLE, check_references, check_sources, compare_orders, doubts, pairs_of
from pronmetric.errors import PronmetricError
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.text.context import Source, Text

NAMES = ["Keller", "Oberfeld", "Novak", "Brenner", "Lindholm", "Castelli", "Okafor", "Marchetti", "Sorensen", "Duval"]
GERMAN = ["Gestern kam {} um {} Uhr.", "War das {}, oder waren es {} andere?", "{} hat {} Bücher gelesen, sagte man."]
TEXT = ["Yesterday {} came at {}.", "Was that {}, or was it {} others?", "They said that {} had read {} books."]
RUSSIAN = ["Вчера пришла {} в {} часов.", "Это была {} или ещё {} других?", "{} прочитала {} книг, как говорят."]


def lines(forms: list[str], number: int = 60, *, names: bool = True) -> list[str]:
    """Sentences with names and numbers, some longer than others by a list at their end; the same for all forms."""
    rng = np.random.default_rng(3)
    made = []
    for _ in range(number):
        form, name, hour, more = rng.integers(len(forms)), rng.integers(len(NAMES)), rng.integers(100), rng.integers(9)
        text = forms[form].format(NAMES[name] if names else "", hour)
        made.append(text + " " + ", ".join(str(each) for each in rng.integers(10, 99, more)))
    return made


def said(source: list[str], text: list[str], code: str = "en") -> list[str]:
    own = ENGLISH if code == "en" else language(code)
    return doubts(zip(source, text, strict=True), own)


def test_right_sources_are_not_doubted() -> None:
    assert said(lines(GERMAN), lines(TEXT)) == said(lines(RUSSIAN, names=False), lines(TEXT)) == []
    assert doubts([], ENGLISH) == doubts([(None, "She left.")], ENGLISH) == []
    assert said(["Ja."], ["Yes."]) == said(["Ja.", "Ja."], ["Yes.", "Yeah."]) == []
    assert said(["", "Ja."], ["", "Yes."]) == [], "neither has the other"


def test_lines_without_a_source() -> None:
    assert said(["", " "], ["She left.", "He came."]) == [
        "none of 2 lines has a source, so that it does not count; give the text that was translated"
    ]
    assert doubts([("Sie ging.", "She left."), (None, "He came."), ("", "It rained.")], ENGLISH) == [
        "2 of 3 lines have no source (the first is line 2), so that their texts are scored without; fill them in"
    ]
    many = [("Sie ging.", "She left."), *repeat(("", "He came."), 2 * SAMPLE)]
    (found,) = doubts(iter(many), ENGLISH)
    assert found.startswith("999 of the first 1,000 lines have no source (the first is line 2)")


def test_one_line_again_and_again() -> None:
    text = [
        "She left.",
        "It rains.",
        "Yes!",
        "He saw me.",
        "Who is that?",
        "We know.",
        "Go home.",
        "They came by train.",
    ]
    (found,) = said(["Я не знаю, где он."] * 8, text)
    assert found == "the source is the same line for 8 texts; give the source of each text"
    assert said(["Ja."] * 8, ["Yes."] * 8) == [], "the texts are the same too"
    candidates = [f"I {verb} not know where {form} is." for verb in ("do", "did") for form in ("he", "she", "it")]
    assert said(["Я не знаю, где он."] * 6, candidates) == [], "the texts are alike, as candidates of one line are"


def test_sources_without_a_word() -> None:
    (found,) = said(["1", "2.", "?", "Sie ging."], ["She left.", "He came.", "Who is that?", "She went."])
    assert found == "in 3 of 4 lines the source has no word; give the text that was translated"
    assert said(["1.", "2.", "3."], ["1.", "2.", "3."])[0].startswith("in 3 of 3 lines the source is the text itself")
    assert said(["3:2", "Sie ging."], ["3:2", "She left."]) == []


def test_pairs_of_texts() -> None:
    given = [Text("", "She left.", Source("Sie ging.")), Text("", "He came.")]
    assert list(pairs_of(given)) == [("Sie ging.", "She left."), (None, "He came.")]


def test_the_text_itself_and_another_english_text() -> None:
    text = lines(TEXT)
    (found,) = said(text, [line.upper() if k % 3 else line for k, line in enumerate(text)])
    assert found == "in 60 of 60 lines the source is the text itself; give the text that was translated"
    other = ["He said that they had been there before she came back to them.", "It was as if we had not seen it."]
    (found,) = said(other, ["She told us that it was there when we came.", "They did not know who it was."])
    assert found == "the source looks like en, the language of the text; give the text that was translated"
    assert said(other, ["Sie sagte, dass es da war, als wir kamen.", "Sie wussten nicht, wer es war."], "de") == []


@pytest.mark.parametrize(("source", "names"), [(GERMAN, True), (RUSSIAN, False)])
@pytest.mark.parametrize(("shift", "where"), [(1, "1 line below"), (-1, "1 line above"), (2, "2 lines below")])
def test_shifted_lines(source: list[str], names: bool, shift: int, where: str) -> None:
    text = lines(TEXT)
    (found,) = said(lines(source, names=names), text[-shift:] + text[:-shift])
    assert found == (
        f"the lines of the source look shifted: they go better with the texts {where}; give the source of each text in "
        "the same line"
    )


def checked_references(reference: list[str], text: list[str]) -> list[str]:
    notes: list[str] = []
    check_references({"ref.txt": zip(reference, text, strict=True)}, notes.append, strict=False)
    return notes


def test_references_of_other_lines() -> None:
    reference = lines(TEXT)
    text = [line.replace("the", "a").replace("had", "has") for line in reference]
    assert checked_references(reference, text) == checked_references(reference, reference) == []
    (found,) = checked_references(reference[1:], text[:-1])
    assert found == (
        "ref.txt: the lines of the reference look shifted: they go better with the texts 1 line below; give the "
        "reference of each text in the same line"
    )
    (found,) = checked_references(reference[::-1], text)
    assert found.startswith("ref.txt: the lines of the reference look reversed")
    assert checked_references(reference[1:6], text[:5]) == [], "five lines tell nothing"
    with pytest.raises(PronmetricError, match=r"ref\.txt: the lines of the reference look shifted.* `strict=True`"):
        check_references({"ref.txt": zip(reference[1:], text[:-1], strict=True)}, print, strict=True)


def test_reversed_lines_and_those_of_another_text() -> None:
    (found,) = said(lines(GERMAN), lines(TEXT)[::-1])
    assert found.startswith("the lines of the source look reversed: they go better with the texts in reverse order;")
    source, text = lines(GERMAN, 200), lines(TEXT, 200)
    (found,) = said(source, text[70:] + text[:70])
    assert found.startswith("the lines of the source go hardly better with their texts than with any others;")


def test_numbers_that_the_texts_do_not_have() -> None:
    source = [f"Um {number} Uhr {number + 1}" for number in range(1234, 1242)]
    (found,) = said(source, [f"She saw {name}." for name in NAMES[:8]])
    assert found == (
        "in 8 of 8 lines whose source has numbers the text has none of them; give the source of each text in the same "
        "line"
    )
    assert said(["३० दिन", "०७ दिन", "１２日"] * 3, ["30 days", "7 days", "12 days"] * 3) == [], "other digits"


def test_the_own_order_of_right_lines_is_far_better() -> None:
    found = compare_orders(lines(GERMAN), lines(TEXT))
    assert max(found.better.values()) < -3 and found.own > 0.6
    alike = compare_orders(["Ja."] * 20, ["Yes."] * 20)
    assert set(alike.better.values()) == {0.0} and alike.own == 0


def test_a_doubt_is_a_note_or_an_error() -> None:
    notes: list[str] = []
    check_sources("s.de", [("She left.", "She left.")], ENGLISH, notes.append, strict=False)
    assert notes == ["s.de: in 1 of 1 lines the source is the text itself; give the text that was translated"]
    with pytest.raises(PronmetricError, match=r"^s\.de: in 1 of 1 .* or leave out `strict=True`$"):
        check_sources("s.de", [("She left.", "She left.")], ENGLISH, notes.append, strict=True)
