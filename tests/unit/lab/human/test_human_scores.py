"""Human scores as mt-metrics-eval, WMT24 and WMT25 publish them: figures by hand, faults with file and line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.human import esa, human_scores

MINOR = {"start": 0, "end": 3, "category": "Style/Awkward", "severity": "Minor", "score": None}


def rating(*errors: Mapping[str, object]) -> str:
    return json.dumps({"errors": list(errors)})


def write(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def test_a_rating_is_minus_the_sum_of_its_errors(tmp_path: Path) -> None:
    path = write(
        tmp_path / "de-en.mqm.merged.seg.rating",
        "Oak\tNone",
        f"Oak\t{rating()}\tr1",
        f"Oak\t{rating(MINOR, MINOR | {'severity': 'major'})}\tr1",
        f"Elm\t{rating(MINOR | {'score': 25}, MINOR | {'score': 0.1})}\tr2",
        f"Elm\t{rating(MINOR | {'category': 'Non-translation!', 'severity': 'Major'})}",
        f"Elm\t{rating(MINOR | {'category': 'Fluency/Punctuation'}, MINOR | {'severity': 'no_error'})}",
    )
    assert human_scores.read_ratings(path) == {"Oak": [None, 0.0, -6.0], "Elm": [-25.1, -25.0, -0.1]}
    found = human_scores.read(path)
    assert (found.unit, found.size, found.names) == ("segments", 3, {"Oak", "Elm"})
    assert found.means(()) == {"Oak": -3.0, "Elm": pytest.approx(-50.2 / 3)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Oak\tNone\tr\tmore", "expected SYSTEM, RATING and perhaps RATER, with tabs, got 4 fields"),
        ("Oak None", "got 1 fields"),
        ("Oak\t{", "broken JSON of a rating"),
        ("Oak\t{}", 'expected a rating {"errors": '),
        ("Oak\t[]", 'expected a rating {"errors": '),
        (f"Oak\t{rating(MINOR | {'severity': 'bad'})}", "an error without \"score\" and with the severity 'bad'"),
    ],
)
def test_faults_of_ratings(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "x.seg.rating", "Oak\tNone", line)
    with pytest.raises(InputError) as told:
        human_scores.read_ratings(path)
    assert message in str(told.value) and told.value.line == 2
    with pytest.raises(InputError, match="Oak has 1, Elm has 2"):
        human_scores.read_ratings(write(path, "Oak\tNone", "Elm\tNone", "Elm\tNone"))


def test_scores_of_domains_are_in_the_order_of_their_names(tmp_path: Path) -> None:
    path = write(tmp_path / "de-en.mqm.domain.score", "news Oak 1", "mail\tOak\tNone", "mail Elm 3", "news Elm 4")
    found = human_scores.read(path)
    assert (found.unit, found.domains, found.size) == ("domains", ("mail", "news"), 2)
    assert found.align(systems=(), size=2) == {"Oak": [None, 1.0], "Elm": [3.0, 4.0]}
    for line, message in (
        ("news Oak", "got 2 fields"),
        ("news Oak high", "a finite number"),
        ("mail Elm 1", "a second score of Elm in the domain mail"),
    ):
        with pytest.raises(InputError, match=message) as told:
            human_scores.read(write(path, "mail Elm 1", line))
        assert told.value.line == 2
    with pytest.raises(InputError, match="the file is empty"):
        human_scores.read(write(path))


def test_groups_of_segments(tmp_path: Path) -> None:
    path = write(tmp_path / "wmt32" / "human-scores" / "de-en.mqm.domain.score", "news Oak 1")
    with pytest.raises(InputError, match=r"the domains of the segments are expected in .*documents/de-en\.docs"):
        human_scores.read_groups(path, unit="domains")
    docs = write(tmp_path / "wmt32" / "documents" / "de-en.docs", "news a", "mail\tb")
    assert human_scores.read_groups(path, unit="domains") == ["news", "mail"]
    assert human_scores.read_groups(path, unit="documents") == ["a", "b"]
    write(docs, "news a", "mail")
    with pytest.raises(InputError, match=r"de-en\.docs:2: expected DOMAIN and DOCUMENT, got 1 fields"):
        human_scores.read_groups(path, unit="domains")


def row(
    system: str, item: object, score: object, *, kind: str = "TGT", doc: str = "ferry", who: str = "u1", end: object = 9
) -> str:
    spans = '"[{""start_i"":1,""end_i"":2}]"'
    return f"{who},{system},{item},{kind},ces,ukr,{score},{doc},False,{spans},1.5,{end}"


def test_csv_of_wmt24(tmp_path: Path) -> None:
    path = write(
        tmp_path / "esa_generalMT2024_wave0.csv",
        row("ende-tutorial1", 1000001, 0, doc="ende-tutorial1"),
        row("Oak", 3, 10, kind="BAD", doc="ferry#bad"),
        row("Oak", 3, 20, doc="ferry#dup"),
        row("Oak", 3, 30, doc="ferry#incomplete"),
        row("Oak", 3, 40, end=9),
        row("Oak", 3, 80, end=10),  # the same annotator, later
        row("Oak", 3, 100, who="u2"),
        row("Elm", 4, 55.5),
        row("Elm", 3, 1).replace("ukr", "pol"),
    )
    assert human_scores.unit_of(path) == "segments" and esa.pairs(path) == ["cs-pl", "cs-uk"]
    found = human_scores.read(path, pair="cs-uk")
    assert found.scores == {"Oak": {3: 90.0}, "Elm": {4: 55.5}} and found.docs == {3: "ferry", 4: "ferry"}
    assert found.left_out == {esa.CONTROL: 2, esa.REPEATED: 2, esa.EARLIER: 1}
    assert found.align(systems=(), size=5)["Oak"] == [None, None, None, 90.0, None]
    assert found.means(()) == {"Oak": 90.0, "Elm": 55.5}
    with pytest.raises(InputError, match="Elm has a segment 5, but the metric has segments 1 to 4"):
        found.align(systems=(), size=4)
    with pytest.raises(InputError, match="segment 4 is of document 'ferry', but in the metric of 'dog'"):
        found.align(systems=(), size=5, docs=["dog"] * 5)
    with pytest.raises(InputError, match="the language pair to be named; there are cs-pl, cs-uk: give `pair=`"):
        human_scores.read(path)
    with pytest.raises(InputError, match="scores of one language pair de-en; there are cs-pl, cs-uk"):
        human_scores.read(path, pair="de-en")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Oak,1", r":2: expected 12 columns of ESA, with commas, got 2"),
        (row("Oak", 1, 101), r":2: expected a score from 0 to 100, got '101'"),
        (row("Oak", 1, "nan"), r":2: expected a score from 0 to 100, got 'nan'"),
        (row("Oak", "x", 1), r":2: expected the line of the segment, a whole number, got 'x'"),
        (row("Oak", 1, 1, end="late"), r":2: expected a time in seconds, got 'late'"),
        (row("Oak", 3, 1, doc="dog"), r"segment 3 is of document 'ferry' and of 'dog'"),
    ],
)
def test_faults_of_csv(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        esa.read(write(tmp_path / "esa.csv", row("Oak", 3, 10), line))


def test_jsonl_of_wmt24(tmp_path: Path) -> None:
    record = {"langs": "cs-uk", "line_id": 2, "doc_id": "ferry", "esa_score": "70", "system": "Oak", "annotator": "a"}
    path = write(
        tmp_path / "wmt24_esa.jsonl",
        record | {"times": [1, 9]},
        record | {"esa_score": 30, "times": [1, 5]},  # earlier
        record | {"annotator": "b", "esa_score": 50.0},
        record | {"system": "refA", "line_id": 0, "esa_score": 100},
    )
    found = human_scores.read(path)
    assert found.scores == {"Oak": {2: 60.0}, "refA": {0: 100.0}} and found.left_out == {esa.EARLIER: 1}
    write(path, record, record | {"esa_score": 20})  # without times the last counts
    assert human_scores.read(path).scores == {"Oak": {2: 20.0}}
    for fault, message in (
        (record | {"esa_score": None}, "a score from 0 to 100, got 'None'"),
        (record | {"line_id": True}, "the line of the segment"),
        ({"langs": "cs-uk"}, "expected a record with langs"),
        ("{", "broken JSON"),
    ):
        with pytest.raises(InputError, match=rf":2: .*{message}"):
            esa.read(write(path, record, fault))


def test_jsonl_of_wmt25(tmp_path: Path) -> None:
    def record(doc: str, scores: object, pair: str = "cs-de_DE") -> dict[str, object]:
        return {"doc_id": f"{pair}_#_news_#_{doc}", "scores": scores, "src_text": "x", "tgt_text": {}}

    path = write(
        tmp_path / "wmt25-genmt-humeval.jsonl",
        record("ferry_#_0", {"Oak": {"human1": 90, "annotator1": "a", "errors1": [], "human2": 80}}),
        record("ferry_#_0", {"Oak": {"human1": 1}}, pair="en-is_IS"),
        record("ferry_#_1", {}),
        record("dog_#_0", {"Oak": [{"human": 10}, {"human": 40}], "Elm": {"human": 7.5}, "Ash": {"human1": None}}),
    )
    found = human_scores.read(path, pair="cs-de")
    assert found.scores == {"Oak": {0: 85.0, 2: 25.0}, "Elm": {2: 7.5}} and found.size == 3
    assert found.docs == {0: "cs-de_DE_#_news_#_ferry", 2: "cs-de_DE_#_news_#_dog"}
    with pytest.raises(InputError, match="3 segments of each system, but the metric has 4: expected the same text"):
        found.align(systems=(), size=4)
    for fault, message in (
        (record("x", {"Oak": 5}), 'Oak: expected an object such as {"human1": 90}'),
        (record("x", {"Oak": {"human1": "good"}}), "a score from 0 to 100, got 'good'"),
        (record("x", {"Oak": {"human1": 5}}, pair="test"), "begins with the language pair"),
    ):
        with pytest.raises(InputError, match=rf":1: .*{message}"):
            esa.read(write(path, fault))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "a,b", "Oak\t1", "70.1 0.3 10 5 A.1 A", '{"signature": "x"}', '"' * 5]
)
def test_other_files_are_no_esa(tmp_path: Path, text: str) -> None:
    assert not esa.holds(write(tmp_path / "x", text))
