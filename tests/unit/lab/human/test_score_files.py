"""mt-metrics-eval's files are written and read back; WMT's rankings are read; faults name file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.correlation import correlate
from pronmetric.lab.human.wmt_scores import (
    AssessedSegment,
    RankedSystem,
    read_assessments,
    read_human,
    read_ranking,
    read_segment_scores,
    read_system_scores,
    segment_score_lines,
    system_score_lines,
)

RANKING = "70.5 0.2 100 120 Alder.3 Alder-MT\n68 -0.05 90 110 HUMAN-B HUMAN\n66.25 -0.1 95 105 Yew.eu.12 Yew.eu\n"
ASSESSED = "SYS SID RAW.SCR Z.SCR N \nAlder.3 7 80 0.5 2 \nAlder.3 2 71.5 -0.25 1 \nYew.eu.12 7 60 -1 1 \n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def to(content: str) -> Path:
        path = tmp_path / "scores"
        path.write_text(content, encoding="utf-8")
        return path

    return to


def test_segment_scores_come_back_exactly(write: Callable[[str], Path]) -> None:
    scores = {"Alder": [0.1 + 0.2, None, -1e-9], "Yew.eu": [None, 1.0, 3.0]}
    text = "".join(segment_score_lines(scores))
    assert text.splitlines()[1] == "Alder\tNone"
    assert read_segment_scores(write(text)) == scores


def test_system_scores_come_back_exactly(write: Callable[[str], Path]) -> None:
    scores = {"Alder": 66.123456789012345, "Yew.eu": None}
    assert read_system_scores(write("".join(system_score_lines(scores)))) == scores


def test_systems_of_a_segment_file_may_alternate_and_blanks_may_replace_tabs(write: Callable[[str], Path]) -> None:
    assert read_segment_scores(write("A 1\nB\t2\r\nA 3\nB None")) == {"A": [1.0, 3.0], "B": [2.0, None]}


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "is empty"),
        ("A\t1\n\nA\t2\n", 2, "expected SYSTEM, a tab and a score or None, got ''"),
        ("A\t1\t2\n", 1, "expected SYSTEM, a tab"),
        ("\t1\n", 1, "expected SYSTEM, a tab"),
        ("A\t1\nA\tgood\n", 2, "expected a finite number, got 'good'"),
        ("A\tnan\n", 1, "expected a finite number, got 'nan'"),
        ("A\t1e999\n", 1, "expected a finite number"),
        ("A\t1\nA\t2\nB\t1\n", None, "1 segments of B, but 2 of A"),
    ],
)
def test_faults_of_segment_files(write: Callable[[str], Path], content: str, line: int | None, message: str) -> None:
    path = write(content)
    with pytest.raises(InputError, match=message) as caught:
        read_segment_scores(path)
    assert (caught.value.file, caught.value.line) == (path, line)


def test_a_system_twice_is_a_fault_of_a_system_file(write: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match=r"scores:3: a second score of A"):
        read_system_scores(write("A\t1\nB\t1\nA\t1\n"))


@pytest.mark.parametrize("name", ["", "two words", "tab\tbed", "line\n"])
def test_names_that_the_files_cannot_hold_are_not_written(name: str) -> None:
    with pytest.raises(PronmetricError, match="white space"):
        list(system_score_lines({name: 1.0}))


def test_scores_that_the_files_cannot_hold_are_not_written() -> None:
    with pytest.raises(PronmetricError, match="finite score or None, got nan"):
        list(system_score_lines({"A": float("nan")}))
    with pytest.raises(PronmetricError, match="A: 1, B: 2"):
        list(segment_score_lines({"A": [1.0], "B": [1.0, 2.0]}))


def test_a_ranking_with_names(write: Callable[[str], Path]) -> None:
    assert read_ranking(write(RANKING)) == [
        RankedSystem("Alder-MT", 70.5, 0.2, 100, 120, "Alder.3"),
        RankedSystem("HUMAN", 68.0, -0.05, 90, 110, "HUMAN-B"),
        RankedSystem("Yew.eu", 66.25, -0.1, 95, 105, "Yew.eu.12"),
    ]


def test_without_names_the_number_is_taken_off(write: Callable[[str], Path]) -> None:
    bare = "".join(line.rpartition(" ")[0] + " \n" for line in RANKING.splitlines())
    assert [ranked.system for ranked in read_ranking(write(bare))] == ["Alder", "HUMAN-B", "Yew.eu"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"scores: the file is empty"),
        ("70 0.1 5 6 A.1\n70 0.1 5\n", r"scores:2: expected 5 or 6 fields"),
        ("70 high 5 6 A.1\n", r"scores:1: expected a finite number, got 'high'"),
        ("70 0.1 5.5 6 A.1\n", r"scores:1: expected a whole number from 0, got '5.5'"),
        ("70 0.1 5 6 A.1\n70 0.1 5 6 A.2\n", r"scores:2: A for the second time"),
    ],
)
def test_faults_of_rankings(write: Callable[[str], Path], content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_ranking(write(content))


def test_assessed_segments(write: Callable[[str], Path]) -> None:
    assert read_assessments(write(ASSESSED)) == {
        "Alder.3": {7: AssessedSegment(80.0, 0.5, 2), 2: AssessedSegment(71.5, -0.25, 1)},
        "Yew.eu.12": {7: AssessedSegment(60.0, -1.0, 1)},
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (RANKING, r"scores:1: expected the head SYS SID RAW.SCR Z.SCR N"),
        (ASSESSED + "Alder.3 7 80 0.5\n", r"scores:5: expected the fields"),
        (ASSESSED + "Alder.3 7 80 0.5 1\n", r"scores:5: segment 7 of Alder.3 for the second time"),
        (ASSESSED + "Alder.3 x 80 0.5 1\n", r"scores:5: expected a whole number from 0, got 'x'"),
        (ASSESSED + "Alder.3 8 NA 0.5 1\n", r"scores:5: expected a finite number, got 'NA'"),
    ],
)
def test_faults_of_assessments(write: Callable[[str], Path], content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_assessments(write(content))


def test_peoples_scores_from_either_kind_of_file(write: Callable[[str], Path]) -> None:
    assert read_human(write(RANKING)) == {"Alder-MT": 0.2, "HUMAN": -0.05, "Yew.eu": -0.1}
    assert read_human(write(RANKING), score="raw") == {"Alder-MT": 70.5, "HUMAN": 68.0, "Yew.eu": 66.25}
    assert read_human(write("Alder\t1.5\nYew\tNone\n")) == {"Alder": 1.5, "Yew": None}


def test_a_file_of_people_that_is_neither_kind_names_both(write: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match=r"scores:1: expected SYSTEM and a score .* or RAW Z .*, got '\{'"):
        read_human(write('{\n"systems": []}\n'))


@pytest.mark.shared
def test_the_real_files(shared: Path) -> None:
    human = shared / "data" / "human"
    rankings = [path for path in sorted(human.glob("wmt2?-da/ad-sys-ranking-*.csv")) if path.stat().st_size]
    assert len(rankings) == 42  # 3 each of 7 pairs in two years
    for path in rankings:
        ranked = read_ranking(path)
        assert all(0 <= system.raw <= 100 for system in ranked)
        segments = path.with_name(f"ad-seg-scores-{'-'.join(path.stem.split('-')[3:5])}.csv")
        assert {system.id for system in ranked} <= read_ids(segments)
    with pytest.raises(InputError, match=r"js-en-z-names\.csv: the file is empty"):
        read_ranking(human / "wmt21-da" / "ad-sys-ranking-js-en-z-names.csv")
    german = read_human(human / "wmt21-da" / "ad-sys-ranking-de-en-z-names.csv")
    assert (len(german), german["NVIDIA-NeMo"], german["HUMAN"]) == (20, -0.01, -0.081)
    raw = read_human(human / "wmt21-da" / "ad-sys-ranking-de-en-z-names.csv", score="raw")
    found = correlate(raw, german, seed=0)
    assert found.left_out == () and found.pearson.value is not None and 0.5 < found.pearson.value < 1
    assessed = read_assessments(human / "wmt22-da" / "ad-seg-scores-lv-en.csv")
    assert sum(map(len, assessed.values())) == 2070
    assert assessed["HuaweiTSC.0"][121] == AssessedSegment(76.6666666666667, 0.0750797130472274, 18)


def read_ids(path: Path) -> set[str]:
    """The systems of a file of assessed segments, without the trouble of reading it well."""
    return {line.split(" ")[0] for line in path.read_text(encoding="utf-8").splitlines()[1:]}
