"""PO catalogues: entries, forms, strings, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text.files import po
from pronmetric.text.files.unit import FileTexts, Unit


def read(folder: Path, text: str) -> FileTexts:
    path = folder / "en.po"
    path.write_text(text, encoding="utf-8")
    return po.read(path)


def test_an_entry_has_its_source_its_context_and_the_line_of_its_msgstr(tmp_path: Path) -> None:
    found = read(
        tmp_path, '# she\n#: a.c:1\nmsgctxt "menu|file"\nmsgid ""\n"Sie "\n"ging."\nmsgstr ""\n"She "\n"left."\n'
    )
    assert found.units == (Unit("She left.", 7, "msgctxt menu|file, line 7", source="Sie ging."),)


@pytest.mark.parametrize(
    ("forms", "sources"),
    [
        (["He has one."], ["%d"]),
        (["She has one.", "She has %d."], ["one", "%d"]),
        (["a", "b", "c"], ["one", "%d", "%d"]),
    ],
)
def test_plural_forms_are_units(tmp_path: Path, forms: list[str], sources: list[str]) -> None:
    strings = "".join(f'msgstr[{number}] "{form}"\n' for number, form in enumerate(forms))
    units = read(tmp_path, f'msgid "one"\nmsgid_plural "%d"\n{strings}').units
    assert [unit.text for unit in units] == forms
    assert [unit.source for unit in units] == sources
    assert [unit.place for unit in units] == [f"line {n + 3}, plural form {n}" for n in range(len(forms))]


@pytest.mark.parametrize(
    ("string", "text"),
    [
        (r"She \"left\".\nHe\tstayed.", 'She "left". He stayed.'),
        (r"C:\\name %(her)s {0} %1$s", r"C:\name %(her)s {0} %1$s"),
        (r"\x41\101", "AA"),
        ('a" "b', "ab"),
        ("_She <b>left</b> &amp; cried", "_She <b>left</b> &amp; cried"),
    ],
)
def test_strings(tmp_path: Path, string: str, text: str) -> None:
    assert [unit.text for unit in read(tmp_path, f'msgid "x"\nmsgstr "{string}"\n').units] == [text]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ('msgid ""\nmsgstr "Language: en\\n"', "header"),
        ('#, fuzzy\nmsgid ""\nmsgstr "Language: en\\n"', "header"),
        ('#, c-format, fuzzy\nmsgid "a"\nmsgstr "she"', "fuzzy"),
        ('#,fuzzy\n#| msgid "b"\nmsgid "a"\nmsgstr "she"', "fuzzy"),
        ('msgid "a"\nmsgstr " "', "untranslated"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[1] ""', "untranslated"),
        ('#~ msgid "a"\n#~ msgstr "she"', "obsolete"),
        ('#, fuzzy\n#~ msgctxt "c"\n#~ msgid "a"\n#~ msgstr "she"', "obsolete"),
    ],
)
def test_entries_that_are_left_out_are_counted(tmp_path: Path, entry: str, reason: str) -> None:
    found = read(tmp_path, f'{entry}\n\nmsgid "k"\nmsgstr "kept"\n')
    assert [unit.text for unit in found.units] == ["kept"]
    assert found.left_out == {reason: 1}


def test_entries_need_no_blank_line_between_them(tmp_path: Path) -> None:
    found = read(tmp_path, 'msgid "a"\nmsgstr "she"\nmsgid "b"\nmsgstr "he"\n#~ msgid "c"\n#~ msgstr "it"\n')
    assert [unit.text for unit in found.units] == ["she", "he"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('msgid "a\nmsgstr "b"', r"en\.po:1: a string without its closing quote"),
        ('msgid "a"\nmsgstr "b "c" d"', r":2: a string without its closing quote, or with a quote inside"),
        ('msgid "a"\nmsgstr "b\nc"', r":2: a string without its closing quote"),
        ("She left.", r':1: expected msgid, .* found "She left\."; is this a PO file\?'),
        ('msgid "a"\nmsgid "b"\nmsgstr "c"', r":2: msgid where none can be"),
        ('msgid_plural "b"', r":1: msgid_plural where none can be"),
        ('msgid "a"\nmsgstr "b"\n\nmsgid "c"\n', r":4: an entry without a msgstr; is the file cut off\?"),
        ('msgstr "b"', r":1: a msgstr without a msgid"),
        ('msgid "a"\nmsgstr[0] "b"', r":2: the entry needs one msgstr, as it has no msgid_plural"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr "c"', r":3: the entry needs msgstr\[0\]"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"', r":3: the entry needs one msgstr"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[0] "d"', r":4: the entry needs msgstr\[1\]"),
        ('msgid "a"\nmsgstr "b\\q"', r":2: unknown escape \\q"),
        ('"a"', r":1: a string without a keyword"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)
