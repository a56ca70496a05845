"""SGM of WMT 2008-2019: text that is no XML, pairs by name, and the file and line of each fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_prep.wmt import discovery, sgm
from data_prep.wmt.testset import Part
from pronmetric.errors import InputError
from pronmetric.schema import Segment

REF = """\
<refset setid="newstest2014" srclang="any" trglang="en">
<doc sysid="ref" docid="a">
<seg id="1">She left.</seg>
<seg id="2">It rained.</seg>
</doc>
</refset>
"""
HYP = REF.replace("refset", "tstset").replace('sysid="ref"', 'sysid="north.1"')


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "tests" / "fixtures" / "wmt" / "sgm"


def write(folder: Path, name: str, content: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_one_reference_belongs_to_every_pair_of_its_language(folder: Path) -> None:
    german, french = discovery.discover(folder).testsets
    assert [(part.role, part.name, part.path.name) for part in german.parts] == [
        ("sgm-hyp", "jhu-nmt", "newstest2012.de-en.jhu-nmt.sgm"),
        ("sgm-ref", "ref", "newstest2012-ref.en.sgm"),
        ("sgm-src", "", "newstest2012-src.de.sgm"),
    ]
    assert (french.id, french.year) == ("newstest2012.fr-en", 2012)
    assert [part.role for part in french.parts] == ["sgm-hyp", "sgm-ref"]


def test_text_that_is_no_xml(folder: Path) -> None:
    first, second = discovery.read(discovery.discover(folder, pairs=["de-en"]).testsets[0])
    assert (first.doc, first.domain, first.origin, first.exact) == ("gazette/1", "news", "de", True)
    assert (second.doc, second.domain, second.origin) == ("gazette/2", "sport", "fr")
    assert first.segments[0] == Segment(
        seg=1,
        src="Schmidt & Söhne ziehen um",
        refs={"ref": "Schmidt & Sons are moving"},
        hyps={"jhu-nmt": "Schmidt & Sons move"},
    )
    assert first.segments[1].refs["ref"] == 'They take their "clocks" &nbsp; with them.'
    assert second.segments[0].seg == 3
    assert second.segments[0].refs["ref"] == "He won 3 < 4 games \u2013 his best."
    assert second.segments[0].hyps["jhu-nmt"] == "He won 3 < 4 games - its best."


@pytest.mark.parametrize(
    ("name", "values", "role", "pair"),
    [
        ("newstest2017-deen-ref.en.sgm", {"srclang": "any", "trglang": "en"}, "ref", ("de", "en")),
        ("newstest2018-zhen-src.zh.sgm", {"srclang": "zh"}, "src", ("zh", "en")),
        ("newstest2017.jhu-nmt.4978.de-en.sgm", {"srclang": "any", "trglang": "en"}, "hyp", ("de", "en")),
        ("newstest2013-ref.en.sgm", {"srclang": "any", "trglang": "en"}, "ref", (None, "en")),
        ("newstest2013-src.cs.sgm", {"srclang": "any"}, "src", ("cs", None)),
        ("system.sgm", {"srclang": "Czech", "trglang": "English"}, "hyp", ("cs", "en")),
        ("system.sgm", {"srclang": "any"}, "hyp", (None, None)),
    ],
)
def test_languages(name: str, values: dict[str, str], role: str, pair: tuple[str | None, str | None]) -> None:
    assert sgm.languages(Path("/data/my-en-stuff/sgm", name), values, role=role) == pair


def test_a_folder_may_give_the_language_pair() -> None:
    path = Path("/data/systems/newstest2014/ru-en/north.sgm")
    assert sgm.languages(path, {"srclang": "any"}, role="hyp") == ("ru", "en")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a &amp; b &lt;c&gt; &quot;d&quot; &apos;e&apos;", "a & b <c> \"d\" 'e'"),
        ("&#233; &#xe9; &#xE9;", "é é é"),
        ("AT&T &copy &copy; &amp;quot; &#0; &#xD800; &#9999999;", "AT&T &copy &copy; &quot; &#0; &#xD800; &#9999999;"),
    ],
)
def test_only_five_entities_and_numbers_are_replaced(raw: str, text: str) -> None:
    assert sgm.unescape(raw) == text


def test_two_files_of_one_name_are_distinguished_by_their_file_names(tmp_path: Path) -> None:
    write(tmp_path, "newstest2014-deen-ref.en.sgm", REF)
    write(tmp_path, "newstest2014.east.de-en.sgm", HYP.replace("She", "He"))
    write(tmp_path, "newstest2014.west.de-en.sgm", HYP)
    (document,) = discovery.read(discovery.discover(tmp_path).testsets[0])
    assert document.segments[0].hyps == {"north.1": "He left.", "newstest2014.west.de-en": "She left."}


def test_several_references_in_one_file(tmp_path: Path) -> None:
    second = REF[REF.index("<doc") : REF.index("</refset>")].replace('"ref"', '"ref2"').replace("She", "They")
    write(tmp_path, "newstest2014-deen-ref.en.sgm", REF.replace("</refset>", second + "</refset>"))
    write(tmp_path, "newstest2014.east.de-en.sgm", HYP)
    (document,) = discovery.read(discovery.discover(tmp_path).testsets[0])
    assert document.segments[0].refs == {"ref": "She left.", "ref2": "They left."}


def test_a_set_without_outputs_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "newstest2014-deen-ref.en.sgm", REF)
    with pytest.raises(InputError, match=r"newstest2014\.de-en: no system output"):
        discovery.discover(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rained.</seg>", "rained.", r"x\.sgm:4: <seg> without its </seg>"),
        ("left.</seg>", "left.", r"x\.sgm:3: <seg> without its </seg>"),
        ('<seg id="2">', '<seg id="2"', r"x\.sgm:4: broken tag <seg: its > is missing"),
        ('<seg id="2">', '<seg id="1">', r"x\.sgm:4: document a has a second segment 1"),
        ('<seg id="2">', "<seg>", r'x\.sgm:4: <seg> without its attribute "id"'),
        ('<seg id="2">It rained.</seg>', "</seg>", r"x\.sgm:4: </seg> without a <seg>"),
        ("</doc>\n", "", r"x\.sgm:2: document a has no </doc>"),
        ('docid="a">\n', 'docid="a\nb"><doc docid="c">\n', r"x\.sgm:2: document a b has no </doc>$"),
        ("</doc>\n", '<doc docid="b">', r"x\.sgm:2: document a has no </doc>"),
        ('<doc sysid="ref" docid="a">\n', "", r"x\.sgm:2: <seg> outside of a <doc>"),
        ('docid="a"', "", r'x\.sgm:2: <doc> without its attribute "docid"'),
        ('<refset setid="newstest2014" srclang="any" trglang="en">', "", r"x\.sgm:2: <doc> outside of <refset>"),
        ("<refset", '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>\n<refset', r"x\.sgm:1: an entity decl"),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in REF
    with pytest.raises(InputError, match=message):
        sgm.parse(write(tmp_path, "x.sgm", REF.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '<seg id="2">It rained.</seg>',
            "",
            r"\.de-en\.sgm:2: document a has 1 segments, that of .*ref\.en\.sgm has 2",
        ),
        ('<seg id="2">', '<seg id="3">', r"\.de-en\.sgm:2: document a has 2 segments.*the same ids"),
        ('docid="a"', 'docid="b"', r"\.de-en\.sgm: document a is missing"),
        ("</tstset>", '<doc docid="c" sysid="north.1"></doc></tstset>', r":6: document c is not in .*ref\.en\.sgm"),
        ("</tstset>", '<doc docid="a" sysid="north.1"></doc></tstset>', ":6: a second document a of north.1"),
    ],
)
def test_a_version_that_differs_from_the_reference(tmp_path: Path, old: str, new: str, message: str) -> None:
    write(tmp_path, "newstest2014-deen-ref.en.sgm", REF)
    write(tmp_path, "newstest2014.north.de-en.sgm", HYP.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        list(discovery.read(discovery.discover(tmp_path).testsets[0]))


def test_sgm_and_text_of_one_set_are_united(tmp_path: Path) -> None:
    write(tmp_path, "newstest2014-deen-ref.en.sgm", REF)
    write(tmp_path, "newstest2014.north.de-en.sgm", HYP)
    write(tmp_path, "newstest2014.de-en.hyp.South.en", "She left.\nIt rained.\n")
    (testset,) = discovery.discover(tmp_path).testsets
    assert Part("hyp", "South", tmp_path / "newstest2014.de-en.hyp.South.en") in testset.parts
    (document,) = discovery.read(testset)
    assert (document.doc, sorted(document.segments[0].hyps)) == ("a", ["South", "north.1"])


def test_other_sgm_is_passed_over(tmp_path: Path) -> None:
    assert sgm.find([write(tmp_path, "book.sgm", "<book><p>Text</p></book>")]) == []
