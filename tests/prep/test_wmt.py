"""Discovery of test sets: several layouts, filters, reserved sets, and the error if nothing is left."""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from pathlib import Path

import pytest

from data_prep.wmt import discovery as wmt
from data_prep.wmt.testset import TestSet, year_of
from pronmetric.errors import InputError
from pronmetric.schema import Document, Segment

ALL = [
    "lighthouse.fr-en",
    "newstest2012.de-en",
    "newstest2012.fr-en",
    "generaltest2031.cs-en",
    "generaltest2031.de-en",
    "wmt35-genmt.cs-en",
    "wmt36-genmt.ja-en",
]


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "tests" / "fixtures" / "wmt"


def ids(discovery: wmt.Discovery) -> list[str]:
    return [testset.id for testset in discovery.testsets]


def only(folder: Path, **filters: object) -> TestSet:
    (testset,) = wmt.discover(folder, **filters).testsets  # type: ignore[arg-type]
    return testset


def text_testset(folder: Path, name: str, lp: str = "de-en", *, lines: int = 1) -> None:
    """A test set of one reference and one system in the text layout."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.{lp}.ref.A.en").write_text("She left.\n" * lines, encoding="utf-8")
    (folder / f"{name}.{lp}.hyp.North.en").write_text("He left.\n" * lines, encoding="utf-8")


def test_all_layouts_of_a_folder_are_found(folder: Path) -> None:
    discovery = wmt.discover(folder)
    assert ids(discovery) == ALL
    assert discovery.skipped == ()
    assert [testset.year for testset in discovery.testsets] == [None, 2012, 2012, 2031, 2031, 2035, 2036]


def test_one_checkout_is_a_folder_too(folder: Path) -> None:
    assert ids(wmt.discover(folder / "wmt31-news-systems")) == ["generaltest2031.cs-en", "generaltest2031.de-en"]


@pytest.mark.parametrize("years", [[31], [2031]])
def test_years_in_two_or_four_digits(folder: Path, years: list[int]) -> None:
    assert ids(wmt.discover(folder, years=years)) == ["generaltest2031.cs-en", "generaltest2031.de-en"]


def test_pairs(folder: Path) -> None:
    assert ids(wmt.discover(folder, years=[31, 12], pairs=["de-en"])) == ["newstest2012.de-en", "generaltest2031.de-en"]


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"years": [19]}, r"data\.years=\[19\] leaves no test set; there are the years \[2012, 2031, 2035, 2036\]"),
        ({"years": [31], "pairs": ["ja-en"]}, r"data\.pairs=\['ja-en'\] leaves no test set.*\['cs-en', 'de-en'\]"),
        ({"pairs": ["en-de"]}, "'en-de' is no pair into English"),
        ({"exclude": ["no good"]}, "data.exclude: 'no good' is none of NAME"),
        ({"years": [12], "exclude": ["newstest2012"]}, r"no test set is left \(newstest2012\.de-en: excluded"),
    ],
)
def test_a_filter_that_leaves_nothing_is_named(folder: Path, filters: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        wmt.discover(folder, **filters)  # type: ignore[arg-type]


def test_reserved_sets_are_skipped_and_reported(tmp_path: Path) -> None:
    for name, lp in [
        ("newstest2017", "de-en"),
        ("newsdiscusstest2015", "fr-en"),
        ("newstest2015", "fr-en"),
        ("generaltest2023", "zh-en"),
        ("generaltest2023", "he-en"),
        ("generaltest2023", "de-en"),
        ("generaltest2022", "zh-en"),
    ]:
        text_testset(tmp_path, name, lp)
    discovery = wmt.discover(tmp_path)
    assert ids(discovery) == ["newstest2015.fr-en", "generaltest2022.zh-en", "generaltest2023.de-en"]
    assert [(entry.id, entry.reason) for entry in discovery.skipped] == [
        ("newsdiscusstest2015.fr-en", "excluded by data.exclude (newsdiscusstest2015)"),
        ("newstest2017.de-en", "excluded by data.exclude (newstest2017)"),
        ("generaltest2023.he-en", "excluded by data.exclude (wmt23:he-en)"),
        ("generaltest2023.zh-en", "excluded by data.exclude (wmt23:zh-en)"),
    ]
    lifted = wmt.discover(tmp_path, exclude=[])
    assert len(lifted.testsets) == 7
    assert lifted.skipped == ()


def test_a_set_without_reference_or_output_is_reported(tmp_path: Path) -> None:
    text_testset(tmp_path, "newstest2016", "de-en")
    text_testset(tmp_path, "newstest2016", "cs-en")
    text_testset(tmp_path, "newstest2016", "ru-en")
    (tmp_path / "newstest2016.cs-en.ref.A.en").unlink()
    (tmp_path / "newstest2016.ru-en.hyp.North.en").unlink()
    discovery = wmt.discover(tmp_path)
    assert ids(discovery) == ["newstest2016.de-en"]
    assert [(entry.id, entry.reason) for entry in discovery.skipped] == [
        ("newstest2016.cs-en", "no reference"),
        ("newstest2016.ru-en", "no system output"),
    ]


def test_a_folder_that_is_not_there_or_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing: no such folder; data.wmt is a folder with wmtNN-news-systems"):
        wmt.discover(tmp_path / "missing")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"is no folder"):
        wmt.discover(tmp_path / "file")
    with pytest.raises(InputError, match=r"holds no WMT test set into English; understood are .*\.sgm.*\.jsonl"):
        wmt.discover(tmp_path)


def test_the_same_set_twice_is_an_error(tmp_path: Path) -> None:
    text_testset(tmp_path / "one", "newstest2016")
    text_testset(tmp_path / "two", "newstest2016")
    with pytest.raises(InputError, match=r"the same hyp 'North' as"):
        list(wmt.read(only(tmp_path)))
    for name in ("plain.de-en", "more/plain.de-en"):
        (tmp_path / "three" / name).mkdir(parents=True)
        (tmp_path / "three" / name / "ref.txt").write_text("She left.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"plain.de-en is also in"):
        wmt.discover(tmp_path / "three")


def test_text_and_xml_are_one_set_with_the_documents_of_the_xml(folder: Path) -> None:
    testset = only(folder, years=[31], pairs=["de-en"])
    assert [part.role for part in testset.parts] == ["hyp", "hyp", "ref", "ref", "src", "xml"]
    tally: Counter[str] = Counter()
    keys, bicycle = wmt.read(testset, tally=tally)
    assert keys == Document(
        testset="generaltest2031",
        lp="de-en",
        doc="keys",
        segments=(
            Segment(
                seg=1,
                src="Die Bäckerin verlor ihre Schlüssel.",
                refs={"A": "The baker lost her keys.", "B": "The baker had lost her keys."},
                hyps={
                    "Extra & Co": "A baker lost her keys.",
                    "North": "The baker lost their keys.",
                    "acme.eu": "The baker lost his keys.",
                },
            ),
            Segment(
                seg=2,
                src="Sie fand sie unter dem Ofen.",
                refs={"A": "She found them under the oven.", "B": "They lay beneath the oven."},
                hyps={
                    "Extra & Co": "She found these under the oven.",
                    "North": "She found it under the oven.",
                    "acme.eu": "",
                },
            ),
        ),
        domain="news",
        origin="de",
    )
    assert [segment.seg for segment in bicycle.segments] == [3, 4]
    assert tally["test-suite documents left out"] == 1
    assert tally["empty outputs"] == 1
    assert tally["segments"] == 4
    assert tally["segments where markup and text differ"] == 0


def copied(folder: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A copy of the checkout; the text references and the XML file."""
    checkout = tmp_path / "wmt31-news-systems"
    shutil.copytree(folder / "wmt31-news-systems", checkout)
    return checkout / "txt" / "references", checkout / "xml" / "wmttest2031.de-en.all.xml"


def test_an_unlabelled_reference_takes_its_name_from_the_same_text(folder: Path, tmp_path: Path) -> None:
    _, xml = copied(folder, tmp_path)
    xml.write_text(xml.read_text(encoding="utf-8").replace(' translator="A"', ""), encoding="utf-8")
    documents = list(wmt.read(only(tmp_path, pairs=["de-en"])))
    assert [sorted(document.segments[0].refs) for document in documents] == [["A", "B"], ["A", "B"]]


def test_text_and_xml_of_different_length_are_an_error(folder: Path, tmp_path: Path) -> None:
    _, xml = copied(folder, tmp_path)
    content = xml.read_text(encoding="utf-8")
    xml.write_text(content.replace(' testsuite="riddles"', ""), encoding="utf-8")
    with pytest.raises(InputError, match=r"document suite1 has no output of system Extra & Co"):
        list(wmt.read(only(tmp_path, pairs=["de-en"])))
    start, end = content.index('<doc origlang="de" id="bicycle"'), content.index("  </collection>")
    xml.write_text(content[:start] + content[end:], encoding="utf-8")
    with pytest.raises(InputError, match=r"North\.en:3: 4 lines, but .*all\.xml has 2 segments"):
        list(wmt.read(only(tmp_path, pairs=["de-en"])))


def test_text_and_xml_that_disagree_are_an_error(folder: Path, tmp_path: Path) -> None:
    references, _ = copied(folder, tmp_path)
    path = references / "generaltest2031.de-en.ref.A.en"
    path.write_text(path.read_text(encoding="utf-8").replace("My bicycle squeaks.", "Other."), encoding="utf-8")
    with pytest.raises(InputError, match=r"reference A: 1 of 4 segments differ"):
        list(wmt.read(only(tmp_path, pairs=["de-en"])))


def test_a_mark_before_a_segment_of_the_xml_is_removed_and_counted(folder: Path, tmp_path: Path) -> None:
    _, xml = copied(folder, tmp_path)
    content = xml.read_text(encoding="utf-8").replace("The baker lost their keys.", "\ufeffThe baker lost their keys.")
    xml.write_text(content, encoding="utf-8")
    tally: Counter[str] = Counter()
    first, _ = wmt.read(only(tmp_path, pairs=["de-en"]), tally=tally)
    assert first.segments[0].hyps["North"] == "The baker lost their keys."
    assert tally["bom"] == 1


def test_text_alone_is_one_inexact_document(folder: Path) -> None:
    (document,) = wmt.read(only(folder, years=[31], pairs=["cs-en"]))
    assert not document.exact
    assert document.doc == "generaltest2031.cs-en"
    assert document.segments[1] == Segment(
        seg=2, src="Čekali jsme na něj.", refs={"ref": "We waited for it."}, hyps={"North": "We waited for him."}
    )


def test_text_files_may_be_gzip(tmp_path: Path) -> None:
    text_testset(tmp_path, "newstest2016", lines=2)
    path = tmp_path / "newstest2016.de-en.ref.A.en"
    (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    (document,) = wmt.read(only(tmp_path))
    assert [segment.refs["A"] for segment in document.segments] == ["She left.", "She left."]


def test_files_of_different_length_are_named_with_the_line(tmp_path: Path) -> None:
    text_testset(tmp_path, "newstest2016", lines=3)
    (tmp_path / "newstest2016.de-en.hyp.South.en").write_text("He left.\nHe left.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"South\.en:3: 2 lines, but .*North\.en has 3"):
        list(wmt.read(only(tmp_path)))


def test_a_byte_that_is_not_utf8_is_named_with_the_line(tmp_path: Path) -> None:
    text_testset(tmp_path, "newstest2016")
    (tmp_path / "newstest2016.de-en.hyp.South.en").write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match=r"South\.en:1: byte 0xe9"):
        list(wmt.read(only(tmp_path)))


def test_empty_files_are_an_error(tmp_path: Path) -> None:
    text_testset(tmp_path, "newstest2016", lines=0)
    with pytest.raises(InputError, match=r"newstest2016\.de-en holds no segment"):
        list(wmt.read(only(tmp_path)))


def test_links_are_followed_once(tmp_path: Path) -> None:
    text_testset(tmp_path / "elsewhere", "newstest2016")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "loop").symlink_to(tmp_path / "data")
    assert ids(wmt.discover(tmp_path / "data")) == ["newstest2016.de-en"]


def test_english_sources_come_once(folder: Path) -> None:
    sources = list(wmt.english_sources(folder / "wmt31-news-systems"))
    assert [(document.source, document.doc, len(document.lines), document.exact) for document in sources] == [
        ("wmt31", "generaltest2031.en-cs.1", 3, False)
    ]


def test_english_sources_of_another_pair_give_their_new_runs(tmp_path: Path) -> None:
    lines = [f"The gardener planted {number} trees for her neighbour." for number in range(6)]
    (tmp_path / "newstest2031.en-cs.src.en").write_text("\n".join(lines) + "\n", encoding="utf-8")
    other = ["A cook peeled potatoes in his kitchen.", "Why?", lines[2] + "  " + lines[3].upper(), "Why?", "",
             "A sailor mended the nets that she owns."]  # fmt: skip
    (tmp_path / "newstest2031.en-de.src.en").write_text("\n".join(other) + "\n", encoding="utf-8")
    assert [(document.doc, document.lines) for document in wmt.english_sources(tmp_path)] == [
        ("newstest2031.en-cs.1", tuple(lines)),
        ("newstest2031.en-de.1", (other[0], "Why?")),
        ("newstest2031.en-de.2", (other[5],)),
    ]


def test_english_sources_obey_years_and_exclusion(tmp_path: Path) -> None:
    for name in ("newstest2017", "newstest2016"):
        (tmp_path / f"{name}.en-cs.src.en").write_text("A clock strikes in its tower.\n", encoding="utf-8")
    assert [document.source for document in wmt.english_sources(tmp_path)] == ["wmt16"]
    assert [document.source for document in wmt.english_sources(tmp_path, exclude=[])] == ["wmt16", "wmt17"]
    assert list(wmt.english_sources(tmp_path, years=[17])) == []


@pytest.mark.parametrize(
    ("name", "path", "year"),
    [
        ("newstest2021", None, 2021),
        ("newstestB2018", None, 2018),
        ("wmt25-genmt", None, 2025),
        ("mine", Path("/data/wmt19/mine"), 2019),
        ("mine", Path("/data/wmt25-general-mt/2024/mine"), 2024),
        ("mine", None, None),
        ("take42021", None, None),
    ],
)
def test_year_of(name: str, path: Path | None, year: int | None) -> None:
    assert year_of(name, path) == year


@pytest.mark.shared
def test_real_data_has_the_segments_that_its_files_have_lines(shared: Path) -> None:
    discovery = wmt.discover(shared / "data" / "wmt")
    assert discovery.skipped == ()
    found = {}
    tally: Counter[str] = Counter()
    for testset in discovery.testsets:
        documents = list(wmt.read(testset, tally=tally))
        segments = [segment for document in documents for segment in document.segments]
        assert [segment.seg for segment in segments] == list(range(1, len(segments) + 1))
        lines = {part.path.read_bytes().count(b"\n") for part in testset.having("src", "ref", "hyp")}
        assert lines == {len(segments)}
        hyps = {name for segment in segments for name in segment.hyps}
        assert hyps == {part.name for part in testset.having("hyp")}
        assert sum(len(segment.hyps) for segment in segments) == len(hyps) * len(segments)
        found[testset.id] = (len(documents) if documents[0].exact else None, len(segments), len(hyps))
    assert len(found) == 18
    assert found["newstest2021.ru-en"] == (107, 1000, 10)
    assert found["generaltest2022.uk-en"] == (886, 2018, 10)
    assert found["generaltest2023.de-en"] == (None, 549, 13)
    assert sum(segments for _, segments, _ in found.values()) == 25809
    assert tally["test-suite documents left out"] == 9
    assert tally["empty outputs"] == 8
    assert tally["segments where markup and text differ"] == 0
