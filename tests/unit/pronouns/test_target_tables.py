"""The noise of each shipped table: which forms compete, and that a replacement is an error in a right text."""

# ruff: noqa: RUF001  (letters of other scripts)

from __future__ import annotations

import numpy as np
import pytest

from pronmetric.errors import InputError
from pronmetric.pronouns.corrupt import ConfusionTable, CorruptionRates, corrupt, replace
from pronmetric.pronouns.finder import ENTRIES, FORMS
from pronmetric.pronouns.languages import ENGLISH, Language, language, of_record, referents, same_slot
from pronmetric.pronouns.table_language import TableLanguage
from pronmetric.pronouns.tables import codes

CODES = ["cs", "de", "es", "fr", "he", "hi", "hr", "is", "ja", "ru", "uk", "zh"]
SENTENCES = {
    "cs": "On ji viděl. Ona mu dala svůj dům a oni šli s nimi. Naše matka ho zná.",
    "de": "Er sah sie. Sie gab ihm ihren Hut, und es regnete. Wir lachten.",
    "es": "Él la vio con ella. Ellos dieron su libro a usted, y esto le gustó.",
    "fr": "C'est elle qui m'a vu. Il dit qu'elles ont leur livre. Je l'ai.",
    "he": "הוא ראה אותה. היא נתנה לו את הספר שלו, והם הלכו איתם. אנחנו יודעים שהיא כאן.",
    "hi": "वह उसे देखता है। उसने मुझे अपनी किताब दी। वे उनके घर गए और हम तुम्हें जानते हैं।",
    "hr": "On ju je vidio. Ona mu je dala svoju knjigu, a oni su išli s njima. Naša majka ga zna.",
    "is": "Hann sá hana. Hún gaf honum bókina sína og þau fóru með þeim. Ég þekki þig.",
    "ja": "彼は彼女を見た。彼らは私にその本をくれた。あなたたちは自分を知らない。私たちは彼女に会った。",
    "ru": "Он видел её. Она дала ему свой дом, и они ушли с ними.",
    "uk": "Він бачив її. Вона дала йому свій дім, і вони пішли з ними.",
    "zh": "他看见了她。她们给了他他的书，这是我的。",
}


def uses(found: Language, form: str) -> list[tuple[str, ...]]:
    return [tuple(entry) for entry in found.entries if entry.form == form]


def places(found: Language, form: str) -> set[tuple[str, str]]:
    return {(entry.type, entry.case) for entry in found.entries if entry.form == form}


def test_the_shipped_tables() -> None:
    assert codes() == CODES


@pytest.mark.parametrize("code", CODES)
def test_nothing_of_a_closed_class_is_lost(code: str) -> None:
    """Each other form of a place is an alternative, unless it is the same pronoun in another shape."""
    found = language(code)
    for form in found.forms:
        split = found.words(form)
        rest = {found.shape(f, "") for grade in found.grades(split, 0) for f in grade}
        competing = {f for f in found.forms if f != form and places(found, form) & places(found, f)}
        same = {f for f in competing if found.same(form, f)}
        assert rest == {found.shape(f, "") for f in competing - same}
        assert not rest & {form, *same}


@pytest.mark.parametrize("code", CODES)
def test_the_nearest_alternatives_share_the_person_and_agreement_is_in_person_and_number(code: str) -> None:
    found = language(code)
    for form in found.forms:
        split = found.words(form)
        grades = found.grades(split, 0)
        persons = {entry.person for entry in found.entries if entry.form == form}
        for other in same_slot(found, split, 0):
            shared = places(found, form) & places(found, other)
            theirs = [e for e in found.entries if e.form == other and (e.type, e.case) in shared]
            mine = [e for e in found.entries if e.form == form and (e.type, e.case) in shared]
            assert shared and (bool(persons & {e.person for e in theirs}) or other not in grades[0] or len(grades) == 1)
            agree = any(
                a.person == b.person and (a.number == b.number or "-" in (a.number, b.number))
                for a in mine
                for b in theirs
            )
            assert found.agrees(split, 0, other) == agree


@pytest.mark.parametrize("code", CODES)
def test_every_replacement_is_another_pronoun_and_the_finder_finds_it(code: str) -> None:
    found, text = language(code), SENTENCES[code]
    occurrences = found.find(text)
    counts = {
        (a, b): 1 for o in occurrences for a in (o.form,) for b in same_slot(found, found.words(text), o.word) if a != b
    }
    table = ConfusionTable.from_counts(counts, forms=found.forms)
    rates = CorruptionRates(rate=0.7, power=1.0, same_slot_share=0.5, joint=0.5, must_agree=0.3, emphasis={})
    replaced = 0
    for seed in range(40):
        made = corrupt(text, occurrences, np.random.default_rng(seed), rates, table=table, language=found)
        again = found.find(made.text)
        for (start, end), is_new, form, old in zip(made.spans, made.replaced, made.forms, occurrences, strict=True):
            here = [o for o in again if o.start == start]
            assert [o.form for o in here] == [form] and made.text[start:end] == here[0].text
            assert is_new == (form != old.form) and not (is_new and found.same(old.form, form))
            replaced += is_new
    assert replaced > 40
    raw = corrupt(text, occurrences, np.random.default_rng(0), CorruptionRates.raw(0.0), table=table, language=found)
    assert raw.text == text and not any(raw.replaced)


@pytest.mark.parametrize(
    ("code", "one", "other", "same"),
    [
        ("de", "mein", "meinem", True),
        ("de", "ihr", "ihre", True),
        ("de", "seine", "ihre", False),
        ("fr", "je", "j'", True),
        ("fr", "ce", "cet", True),
        ("fr", "son", "leur", False),
        ("es", "este", "ese", True),
        ("es", "esta", "este", False),
        ("cs", "ho", "jej", True),
        ("cs", "jeho", "její", False),
        ("cs", "oni", "ony", False),
        ("he", "זו", "זאת", True),
        ("he", "הוא", "היא", False),
        ("hi", "मेरा", "मेरी", True),
        ("hi", "उसका", "उनका", False),
        ("hr", "njega", "ga", True),
        ("hr", "njegov", "njezin", False),
        ("is", "minn", "mínum", True),
        ("is", "hans", "hennar", False),
        ("ja", "私", "僕", True),
        ("ja", "彼", "彼女", False),
        ("uk", "його", "нього", True),
        ("uk", "його", "її", False),
        ("ru", "его", "него", True),
        ("ru", "его", "её", False),
        ("zh", "他们", "他們", True),
        ("zh", "他", "它", False),
    ],
)
def test_two_shapes_of_one_pronoun_are_no_error(code: str, one: str, other: str, same: bool) -> None:
    assert language(code).same(one, other) == language(code).same(other, one) == same


@pytest.mark.parametrize(
    ("text", "place", "form", "made"),
    [
        ("C'est loin.", 0, "elle", "Elle est loin."),
        ("Tu as faim.", 0, "j'", "J'as faim."),
        ("Je t'ai vu.", 1, "vous", "Je vous ai vu."),
        ("他走了。", 0, "她", "她走了。"),
        ("נראה שהוא הלך.", 0, "היא", "נראה שהיא הלך."),
    ],
)
def test_elision_and_blanks_around_a_replacement(text: str, place: int, form: str, made: str) -> None:
    found = language("zh" if "他" in text else "he" if "ש" in text else "fr")
    old = found.find(text)[place]
    assert replace(text, old.start, old.end, form) == made


def test_french_alternatives_have_the_shape_before_the_next_word() -> None:
    french = language("fr")
    before_vowel, before_consonant = ({*same_slot(french, french.words(t), 0)} for t in ("Tu as", "Tu vas"))
    assert "j'" in before_vowel and "je" not in before_vowel
    assert "je" in before_consonant and "j'" not in before_consonant
    assert french.shape("je", "hier") == "je" and french.shape("j'", "hier") == "j'"


def test_english_is_unchanged() -> None:
    paradigm = {
        entry.form: entry.number + entry.gender
        for entry in ENTRIES
        if entry.person == "3" and entry.gender != "person" and entry.type in ("personal", "possessive", "reflexive")
    }
    assert referents(ENGLISH) == {form: frozenset({name}) for form, name in paradigm.items()}
    assert not any(ENGLISH.same(a, b) for a in FORMS for b in FORMS) and ENGLISH.to_record() is None
    assert ENGLISH.shape("it", "is") == "it" and ENGLISH.places(ENGLISH.words("She left"), 0) == ("subject",)


def test_referents_of_forms_that_do_not_show_them() -> None:
    assert referents(language("fr"))["son"] == {"singularmasculine", "singularfeminine"}
    assert referents(language("fr"))["leur"] == {"pluralmasculine", "pluralfeminine"}
    assert referents(language("de"))["er"] == {"singularmasculine"}
    assert "man" not in referents(language("de"))


@pytest.mark.parametrize("code", CODES)
def test_a_language_is_read_from_its_record(code: str) -> None:
    found = language(code)
    record = found.to_record()
    assert record is not None and of_record(record) == found and of_record(None) is ENGLISH
    assert isinstance(found, TableLanguage) and hash(of_record(record)) == hash(found)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"code": "de"}, "a code and a list of uses"),
        ({"code": "de", "uses": ["er personal 3"]}, "uses of six words"),
        ({"code": "de", "uses": ["Er personal 3 singular masculine subject"]}, "uses of six words"),
        ({"code": "de", "uses": ["er none - - - -"]}, "at least one pronoun"),
    ],
)
def test_another_record_is_refused(record: dict[str, object], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        of_record(record)


def test_chinese_words_in_mixed_text_keep_their_offsets() -> None:
    chinese = language("zh")
    text = "在2019年他说iPhone是\u200b她们的。"
    found = chinese.words(text)
    assert [w.text for w in found] == ["在", "2019", "年", "他", "说", "iPhone", "是", "她们", "的", "。"]
    assert all(text[w.start : w.end] == w.text for w in found)
    assert [(o.form, text[o.start : o.end]) for o in chinese.find(text)] == [("他", "他"), ("她们", "她们")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("וכשהיא באה", ["וכש", "היא", "באה"]),
        ("ו\u200bהוא", ["ו", "הוא"]),
        ("שאלה", ["שאלה"]),
        ("שלו", ["שלו"]),
        ("שמש", ["שמש"]),
        ("ש הוא", ["ש", "הוא"]),
    ],
)
def test_a_hebrew_prefix_is_a_word_of_its_own_before_a_pronoun_alone(text: str, expected: list[str]) -> None:
    found = language("he").words(text)
    assert [w.text for w in found] == expected
    assert all(text[w.start : w.end].replace("\u200b", "") == w.text for w in found)


def test_a_prefix_is_no_pronoun() -> None:
    hebrew = language("he")
    assert "ש" not in hebrew.forms and hebrew.find("ש") == () and "ש" not in same_slot(hebrew, hebrew.words("הוא"), 0)
    assert [(o.text, o.start) for o in hebrew.find("וכשהיא באה")] == [("היא", 3)]


def test_a_language_without_rules_has_one_inventory() -> None:
    with pytest.raises(InputError, match="only inventory=all for ru"):
        language("ru").inventory("paper")
