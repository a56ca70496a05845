"""Target languages by their tables: forms, finder, slots, agreement; English stays what it is."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.pronouns import finder, slots, tables
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.pronouns.table_language import TYPES, TableLanguage
from pronmetric.text.words import words


def test_english_is_the_finder() -> None:
    assert language("en") is ENGLISH
    text = "He said that IT workers like her book."
    split = words(text)
    assert ENGLISH.find(text) == finder.find(text) and ENGLISH.forms == finder.FORMS
    assert ENGLISH.slot(split, 6) == slots.slot(split, 6) and ENGLISH.grades(split, 6) == slots.grades(split, 6)


@pytest.mark.parametrize("code", tables.codes())
def test_each_table_is_sound_and_cites_its_grammar(code: str) -> None:
    found = language(code)
    assert isinstance(found, TableLanguage) and found.code == code
    first = files(tables).joinpath(f"target.{code}.tsv").read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ") and re.search(r"\b(?:19|20)\d\d\b", first)
    assert len(set(found.entries)) == len(found.entries)
    for entry in found.entries:
        assert entry.form == entry.form.lower() and entry.type in TYPES
        assert entry.person in "123-" and entry.number in ("singular", "plural", "-")
        assert entry.gender in ("masculine", "feminine", "neuter", "person", "-")
    persons = {(e.person, e.number) for e in found.entries if e.type == "personal"}
    assert {("1", "singular"), ("3", "singular"), ("3", "plural")} <= persons


@pytest.mark.parametrize(
    ("code", "text", "found"),
    [
        ("de", "Er gab ihr Ihren Hut, und es regnete.", ["er", "ihr", "ihren", "es"]),
        ("fr", "C\u2019est l'ami qu'elles m'ont donné.", ["c'", "elles", "m'"]),
        ("fr", "A-t-il dit ce mot ?", ["il", "ce"]),
        ("es", "Él les dio su libro.", ["él", "les", "su"]),
        ("ru", "Он видел её и их дом.", ["он", "её", "их"]),
        ("cs", "Ona mu je dala, má ji ráda a těší se.", ["ona", "mu", "ji"]),
        ("uk", "Він бачив їхній дім та її, тому що вона тут.", ["він", "їхній", "її", "вона"]),
        ("he", "הוא אמר שהיא ראתה אותם, ושאלה מה שלומו של איתן.", ["הוא", "היא", "אותם", "מה"]),
        ("hi", "उसने कहा कि वह मुझसे मिली, क्या उनका घर यही है?", ["उसने", "वह", "मुझसे", "उनका"]),
        ("hr", "Ona ga je vidjela i dala mu svoju knjigu, a te su noći spavali.", ["ona", "ga", "mu", "svoju"]),
        ("is", "Hann er við húsið sem hún gaf honum, því þá er það hans.", ["hann", "hún", "honum", "það", "hans"]),
        ("ja", "それで彼女はどこの国でもそれを誰かに渡し、彼氏と私たちに会った。", ["彼女", "それ", "私たち"]),
        ("zh", "他们说其他人看见了她。", ["他们", "她"]),
    ],
)
def test_the_finder(code: str, text: str, found: list[str]) -> None:
    occurrences = language(code).find(text)
    assert [o.form for o in occurrences] == found
    assert all(text[o.start : o.end] == o.text for o in occurrences)
    assert [o.text.lower().replace("\u2019", "'") for o in occurrences] == found


def test_forms_that_compete_share_type_and_case() -> None:
    german = language("de")
    near, far = german.grades(german.words("er singt"), 0)
    assert near == ("sie", "es", "man") and set(far) == {"ich", "du", "wir", "ihr"}
    assert german.slot(german.words("er singt"), 0) == "personal subject"
    assert "sie" in language("de").grades(german.words("Ich sah ihn"), 2)[0]
    assert language("zh").grades(language("zh").words("他走"), 0)[0][:2] == ("她", "它")


def test_agreement_is_in_person_and_number() -> None:
    german = language("de")
    split = german.words("er singt")
    assert german.agrees(split, 0, "es") and german.agrees(split, 0, "sie")
    assert not german.agrees(split, 0, "wir") and not german.agrees(split, 0, "ich")


def test_a_table_of_the_users(tmp_path: Path) -> None:
    path = tmp_path / "eo.tsv"
    header = "# Plena Manlibro, 2005\n" + "\t".join(finder.Entry._fields)
    path.write_text(f"{header}\nli\tpersonal\t3\tsingular\tmasculine\tsubject\n", encoding="utf-8")
    found = language(str(path))
    assert found.code == "eo" and [o.form for o in found.find("Li venis.")] == ["li"]
    for number, line in enumerate(("ŝi\tpersonal\t3", "Li\tpersonal\t3\t-\t-\t-", "li\tnoun\t3\t-\t-\t-")):
        broken = tmp_path / f"{number}.tsv"
        broken.write_text(f"{header}\n{line}\n", encoding="utf-8")
        with pytest.raises(InputError, match=rf"{number}\.tsv:3: expected"):
            language(str(broken))
    known = "cs, de, en, es, fr, he, hi, hr, is, ja, ru, uk, zh"
    with pytest.raises(InputError, match=f"no table of pronouns for 'xx': expected one of {known}"):
        language("xx")


@pytest.mark.parametrize("code", tables.codes())
def test_the_documentation_names_each_language(code: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "target-languages.md").read_text(encoding="utf-8")
    assert f"(`{code}`)" in page


def test_a_new_form_is_a_line_of_the_table_and_nothing_else(tmp_path: Path) -> None:
    plain = files(tables).joinpath("target.de.tsv").read_text(encoding="utf-8")
    table = tmp_path / "xx.tsv"
    table.write_text(plain.rstrip("\n") + "\nsier\tpersonal\t3\tsingular\t-\tsubject\n", encoding="utf-8")
    found = language(str(table))
    split = found.words("Dann kam sier.")
    assert found.forms == (*language("de").forms, "sier") and found.code == "xx"
    assert [one.form for one in found.find("Dann kam sier.", split)] == ["sier"]
    assert {"er", "es"} <= {form for grade in found.grades(split, 2) for form in grade}
    assert "sier" in {form for grade in found.grades(found.words("Dann kam er."), 2) for form in grade}


def test_the_writing_of_a_language_follows_from_its_table(tmp_path: Path) -> None:
    header = "# Made for this test, 2026\nform\ttype\tperson\tnumber\tgender\tcase\n"
    for name, form, spaced in (("one", "he", True), ("two", "\u4ed6", False)):
        table = tmp_path / f"{name}.tsv"
        table.write_text(f"{header}{form}\tpersonal\t3\tsingular\t-\tsubject\n", encoding="utf-8")
        assert language(str(table)).writing.spaced is spaced
