"""XML of a WMT repository alone: what is read, and the file and line of each fault."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from data_prep.wmt import xml
from data_prep.wmt.testset import Columns, Extent, TestSet
from pronmetric.errors import InputError

GOOD = """\
<?xml version='1.0' encoding='utf-8'?>
<dataset id="wmttest2031">
<doc origlang="de" id="one">
<src lang="de"><p><seg id="1">Sie ging.</seg><seg id="2">Es regnete.</seg></p></src>
<ref lang="en"><p><seg id="1">She left.</seg><seg id="2">It rained.</seg></p></ref>
<hyp lang="en" system="North"><p>
<seg id="1">He left.</seg>
<seg id="2">It rained &amp; rained.</seg></p></hyp>
</doc>
</dataset>
"""


def write(folder: Path, content: str, name: str = "wmttest2031.de-en.all.xml") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def read(path: Path) -> Columns:
    (testset,) = xml.find([path])
    return xml.read(testset)


def test_columns(tmp_path: Path) -> None:
    assert read(write(tmp_path, GOOD)) == Columns(
        src=["Sie ging.", "Es regnete."],
        refs={"ref": ["She left.", "It rained."]},
        hyps={"North": ["He left.", "It rained & rained."]},
        extents=[Extent("one", 2, None, "de")],
    )


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "wmttest2031.de-en.xml.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert read(path).size == 2


def test_name_and_pair_may_be_only_in_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD, "download.xml")
    found = TestSet("wmttest2031", 2031, "de-en", xml.find([path])[0].parts)
    assert xml.find([path]) == [found]


def test_other_xml_is_passed_over(tmp_path: Path) -> None:
    assert xml.find([write(tmp_path, "<project><p/></project>", "build.xml")]) == []


def test_only_references_may_lack_a_document(tmp_path: Path) -> None:
    two = GOOD.replace("</dataset>", GOOD[GOOD.index("<doc") : GOOD.index("</dataset>")] + "</dataset>")
    without = two.replace("<ref", '<ref translator="B"', 1)
    columns = read(write(tmp_path, without))
    assert columns.refs == {
        "B": ["She left.", "It rained.", None, None],
        "ref": [None, None, "She left.", "It rained."],
    }
    start = two.rindex("<hyp")
    with pytest.raises(InputError, match=r"all\.xml:10: document one has no output of system North"):
        read(write(tmp_path, two[:start] + two[two.rindex("</doc>") :]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</seg></p></hyp>", "</p></hyp>", ":8: broken XML: mismatched tag"),
        ("</dataset>", "", ":11: broken XML: no element found"),
        ("He left.", "A < B", ":7: broken XML: not well-formed"),
        ("He left.", "A & B", ":7: broken XML: not well-formed"),
        ("He left.", "&nbsp;", ":7: broken XML: undefined entity"),
        ('<seg id="1">He left.</seg>', "", r":6: document one: <hyp> 'North' has 1 segments, <src> '' has 2"),
        ('<seg id="1">He', '<seg id="2">He', ":8: a second segment 2"),
        ('<seg id="1">He', "<seg>He", ':7: <seg> without its attribute "id"'),
        ('<hyp lang="en" system="North">', '<hyp lang="en">', ':6: <hyp> without its attribute "system"'),
        ('<doc origlang="de" id="one">', "<doc>", ':3: <doc> without its attribute "id"'),
        ('<ref lang="en">', '<hyp lang="en" system="North">', "mismatched tag"),
        ("<dataset", "<!DOCTYPE d [<!ENTITY x 'y'>]><dataset", ":2: a DTD or an entity declaration"),
        ("<dataset", '<!DOCTYPE d SYSTEM "http://x.invalid/d.dtd"><dataset', ":2: a DTD"),
        ("He left.", "\x00", ":7: broken XML"),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError, match=message):
        read(write(tmp_path, GOOD.replace(old, new)))


def test_a_byte_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "wmttest2031.de-en.all.xml"
    path.write_bytes(GOOD.replace("He left.", "café").encode("latin-1"))
    with pytest.raises(InputError, match=r"all\.xml:7: broken XML: not well-formed"):
        read(path)


def test_two_versions_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":6: a second <ref> 'ref' in document one"):
        read(write(tmp_path, GOOD.replace('<hyp lang="en" system="North">', "<ref>").replace("</hyp>", "</ref>")))


def test_a_line_break_in_an_attribute_is_a_blank(tmp_path: Path) -> None:
    content = GOOD.replace('id="one"', 'id="o&#10;ne"').replace('<hyp lang="en" system="North">', "<ref>")
    with pytest.raises(InputError, match=r":6: a second <ref> 'ref' in document o ne$"):
        read(write(tmp_path, content.replace("</hyp>", "</ref>")))


def test_broken_gzip(tmp_path: Path) -> None:
    path = tmp_path / "wmttest2031.de-en.xml.gz"
    path.write_bytes(gzip.compress(GOOD.encode())[:-12])
    with pytest.raises(InputError, match=r"broken gzip"):
        read(path)
