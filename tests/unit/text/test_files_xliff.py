"""XLIFF 1.2 and 2: units, segments, states, inline elements."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text.files import xliff
from pronmetric.text.files.unit import FileTexts


def read_1(folder: Path, body: str, *, file: str = 'original="a.txt"') -> FileTexts:
    path = folder / "a.xlf"
    space = "urn:oasis:names:tc:xliff:document:1.2"
    path.write_text(f'<xliff version="1.2" xmlns="{space}"><file {file}><body>{body}</body></file></xliff>')
    return xliff.read(path)


def read_2(folder: Path, body: str) -> FileTexts:
    path = folder / "a.xlf"
    space = "urn:oasis:names:tc:xliff:document:2.0"
    path.write_text(
        f'<xliff version="2.1" xmlns="{space}" srcLang="de" trgLang="en"><file id="f">{body}</file></xliff>'
    )
    return xliff.read(path)


def unit_1(target: str, *, attributes: str = "", state: str = "") -> str:
    return f'<trans-unit id="u" {attributes}><source>Sie</source><target {state}>{target}</target></trans-unit>'


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ('<g id="1">She</g> left<x id="2"/>.', "She left."),
        ('<bpt id="1">&lt;i title="his"></bpt>She<ept id="1">&lt;/i></ept> left.', "She left."),
        ('She <ph id="1">%s</ph> and <x id="2" equiv-text="{{ name }}"/> left.', "She %s and {{ name }} left."),
        ('She<x id="1" ctype="lb"/>left<ph id="2" equiv-text="&lt;br/>"/>.', "She left."),
        ('<mrk mtype="term">She</mrk> left.', "She left."),
        ('<g id="1"><g id="2">She</g></g>\n   left.', "She left."),
        ("She &lt;b&gt;left&lt;/b&gt;.", "She <b>left</b>."),
    ],
)
def test_inline_elements_of_version_1(tmp_path: Path, target: str, text: str) -> None:
    assert [unit.text for unit in read_1(tmp_path, unit_1(target)).units] == [text]


def test_a_text_within_a_code_is_counted(tmp_path: Path) -> None:
    found = read_1(tmp_path, unit_1('She <ph id="1">&lt;img alt="<sub>His dog</sub>"></ph>left.'))
    assert [unit.text for unit in found.units] == ["She left."]
    assert found.left_out == {"texts within codes (<sub>)": 1}


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ('<pc id="1">She</pc> left<ph id="2" equiv="&lt;hr/>"/>.', "She left."),
        ('<sc id="1"/>She<ec startRef="1"/> left <ph id="2" equiv="%1$s"/>.', "She left %1$s."),
        ('She<ph id="1" subType="xlf:lb"/>left<cp hex="001a"/>.', "She left."),
        ('<mrk id="1" type="comment">She</mrk> left<sm id="2"/>.', "She left."),
    ],
)
def test_inline_elements_of_version_2(tmp_path: Path, target: str, text: str) -> None:
    body = f'<unit id="u"><segment><source>Sie</source><target>{target}</target></segment></unit>'
    assert [unit.text for unit in read_2(tmp_path, body).units] == [text]


@pytest.mark.parametrize(
    ("body", "left_out"),
    [
        ('<trans-unit id="u"><source>Sie</source></trans-unit>', {"untranslated": 1}),
        (unit_1(""), {"untranslated": 1}),
        (unit_1("Sie", state='state="new"'), {"untranslated": 1}),
        (unit_1("Sie", state='state="needs-translation"'), {"untranslated": 1}),
        (unit_1("She", state='state="needs-review-translation"'), {}),
        (unit_1("She", attributes='translate="no"'), {"not to be translated": 1}),
        (f'<group translate="no">{unit_1("She")}</group>', {"not to be translated": 1}),
        (f'<group translate="no">{unit_1("She", attributes="translate=" + chr(34) + "yes" + chr(34))}</group>', {}),
        ('<trans-unit id="u"><source><x id="1"/></source><target><x id="1"/></target></trans-unit>', {"no text": 1}),
        ('<bin-unit id="b"><bin-source/><bin-target><internal-file>She</internal-file></bin-target></bin-unit>', {}),
    ],
)
def test_what_is_not_translated_is_left_out_and_counted(tmp_path: Path, body: str, left_out: dict[str, int]) -> None:
    found = read_1(tmp_path, body)
    assert found.left_out == left_out
    assert len(found.units) == (not left_out and "bin" not in body)


def test_segments_of_version_1_have_their_sources_by_number(tmp_path: Path) -> None:
    def marked(**texts: str) -> str:
        return "".join(f'<g id="1"><mrk mtype="seg" mid="{mid[1:]}">{text}</mrk></g> ' for mid, text in texts.items())

    body = f'<trans-unit id="u"><source>x</source><seg-source>{marked(s1="Sie.", s2="Er.", s4="Es.")}</seg-source>'
    found = read_1(tmp_path, f"{body}<target>{marked(s2='He.', s1='She.', s3='They.', s4='')}</target></trans-unit>")
    assert [(unit.text, unit.source, unit.place) for unit in found.units] == [
        ("He.", "Er.", "unit u, segment 2"),
        ("She.", "Sie.", "unit u, segment 1"),
        ("They.", None, "unit u, segment 3"),
    ]
    assert found.left_out == {"untranslated": 1}


def test_segments_of_version_2(tmp_path: Path) -> None:
    segment = "<segment {}><source>Sie</source><target>She</target></segment>"
    found = read_2(
        tmp_path, f'<unit id="u">{segment.format("id=" + chr(34) + "s" + chr(34))}{segment.format("")}</unit>'
    )
    assert [unit.place for unit in found.units] == ["unit u, segment s", "unit u, segment 2"]
    assert {unit.doc for unit in found.units} == {"f"}


def test_a_file_without_a_name_is_no_document(tmp_path: Path) -> None:
    assert [unit.doc for unit in read_1(tmp_path, unit_1("She"), file="").units] == [None]


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    path.write_text('<xliff version="3.0"><file>\n<unit id="u"/></file></xliff>')
    with pytest.raises(InputError, match=r'a\.xlf:1: version "3\.0"; expected XLIFF 1\.2 or 2\.0'):
        xliff.read(path)
