"""WMT26: codes with scripts, `_###_` ids, HTML and JSON texts, documents without references, contrastive ESA."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from data_prep.people import sets
from data_prep.wmt import blocks, corpus, discovery
from pronmetric.cli.main import main
from pronmetric.lab.human import human_scores
from pronmetric.lab.human.contrastive_esa import CONTROL
from pronmetric.pronouns.languages import language
from tests.tools.correlated import result, run

NEWS = "WMT37_###_news_###_eng_Latn_###_deu_Latn_###_kite.1"
SPEECH = "WMT37_###_speech_###_eng_Latn_###_deu_Latn_###_id_x_1.0-2.0"


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "tests" / "fixtures" / "wmt26" / "wmt37-general-mt"


def test_pairs_and_variants(folder: Path) -> None:
    assert [testset.id for testset in discovery.find(folder)] == [
        "wmt37-genmt.en-de",
        "wmt37-genmt.eng_Latn-zho_Hans.en-zh",
        "wmt37-genmt.eng_Latn-zho_Hant.en-zh",
    ]
    (found,) = discovery.discover(folder, target="de", pairs=["eng_Latn-deu_Latn"]).testsets
    assert (found.id, found.year) == ("wmt37-genmt.en-de", 2037)
    simplified = discovery.find(folder)[1]
    assert [segment.refs for document in discovery.read(simplified) for segment in document.segments] == [
        {"refA": "她放了风筝。"}
    ]


def test_segments_without_marks(folder: Path) -> None:
    tally: Counter[str] = Counter()
    news, edu, speech, software = discovery.read(discovery.find(folder)[0], tally=tally)
    assert (news.doc, news.domain) == (NEWS, "news")
    assert [segment.src for segment in news.segments] == [
        "The kite rose over the harbour. It was red.",
        "Anna held the string, and she laughed.",
    ]
    assert news.segments[1].hyps["Nord 2.0"] == "Anna hielt die Schnur, und er lachte."
    assert edu.segments[1].src == "The clock stopped. It is old & slow." and edu.segments[0].refs == {}
    assert set(edu.segments[0].hyps) == {"Nord 2.0", "PseudoRef"}  # Süd has one paragraph for two
    assert [segment.src for segment in software.segments] == ["Your lamp", "Switch it off"]
    assert len(speech.segments) == 1
    assert tally["outputs for documents in another number of paragraphs than the document has"] == 1


def test_a_corpus_tells_what_is_left_out(folder: Path) -> None:
    notes: list[str] = []
    found = corpus.read("wmt37:eng-deu_Latn", str(folder), None, notes.append, target="de")
    assert (found.systems, found.segments, found.source_language) == (("Nord 2.0", "PseudoRef", "Süd"), 7, "en")
    assert notes[0].endswith("1 outputs for documents in another number of paragraphs than the document has, left out")
    assert "Süd has no output for 2 of 7 segments" in notes[1]
    assert "no reference for 5 of 7 segments, in 3 of 4 documents" in notes[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One.\n\nTwo.", ["One. Two."]),
        ("<p>One.</p>\n\n<p>Two.</p>\n", ["One.", "Two."]),
        ("<p class='x'>One<br/>and a half.</p> Two.", ["One and a half.", "Two."]),
        ("5 < 6 and 7 > 3 &amp; so on", ["5 < 6 and 7 > 3 &amp; so on"]),
        ('```json\n{"a": {"b": "It\\u2019s \\"his\\""}, "c": ["Hers"]}\n```', ['It\u2019s "his"', "Hers"]),
        ("```json\n{}\n```", ["```json {} ```"]),
        ("", [""]),
        ("<p></p>", [""]),
    ],
)
def test_blocks(text: str, expected: list[str]) -> None:
    assert blocks.blocks(text) == expected
    assert len(blocks.without_tags(text)) == len(text)


def test_prepare(folder: Path, tmp_path: Path) -> None:
    assert main(["prepare", f"data.wmt={folder}", "data.target=deu_Latn", f"out={tmp_path / 'data'}"]) == 0
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text(encoding="utf-8"))
    assert "wmt37-genmt.en-de" in json.dumps(manifest) and '"de"' in json.dumps(manifest)


def test_correlate(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    docs = ["WMT37_###_edu_###_eng_Latn_###_deu_Latn_###_edu7", NEWS, NEWS, SPEECH]
    systems = {"Nord 2.0": [0.5, 0.9, 0.2, 0.1], "Süd": [None, 0.9, 0.8, 0.9], "PseudoRef": [0.4, 0.9, 0.9, 0.8]}
    people = str(folder / "data" / "annotations.json")
    found = run(result("r.json", systems, docs), people, "--pair", "en-de")
    assert (found["scores"], found["human_rows_left_out"]) == (9, {CONTROL: 1})
    assert found["metrics"][0]["tau_b"]["value"] == pytest.approx(
        (2 / 6**0.5 + 1) / 2
    )  # kite: people tie two; speech: right
    means = human_scores.read(people).means(["Nord 2.0"])
    assert means["Nord 2.0"] == pytest.approx((93 + 45 + 20) / 3)


@pytest.mark.parametrize(
    ("docs", "message"),
    [
        (None, "give SCORES as a result of `score -d`"),
        ([NEWS, SPEECH], "has segment 2 of document 'news_###_kite.1', of which the metric has 1"),
    ],
)
def test_another_text_is_refused(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    docs: list[str] | None,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    metric = result("r.json", {"Nord 2.0": [0.5, 0.9], "Süd": [0.4, 0.9]}, docs)
    assert main(["correlate", metric, str(folder / "data" / "annotations.json")]) == 1
    assert message in capsys.readouterr().err


def test_marks_of_people_have_their_places(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "data" / "annotations.json", tmp_path)
    (found,) = sets.find([str(tmp_path)], target="de")
    german = language("de")
    texts = list(found.read(context_size=2, longest=2, language=german, tally=Counter()))
    marked = {
        (text.system, text.text[p.start : p.end], p.marked_by) for text in texts for p in text.pronouns if p.marked_by
    }
    assert marked == {
        ("Nord 2.0", "er", ("x", "y")),
        ("Nord 2.0", "Sie", ("y",)),
        ("Nord 2.0", "ihr", ("y",)),
    }
    assert not any("<" in text.text for text in texts)
