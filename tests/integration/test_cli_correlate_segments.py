"""`pronmetric correlate` on scores of segments, and on several metrics: figures by hand, p values, faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from pronmetric.cli.main import main
from pronmetric.lab.human.wmt_scores import read_segment_scores
from tests.tools.correlated import result, run

# A over B in both segments on both sides; within a system the metric is the wrong way round
METRIC = {"A": [12.0, 10.0], "B": [2.0, 0.0]}
PEOPLE = {"A": [10.0, 11.0], "B": [0.0, 1.0]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def seg_score(name: str, scores: Mapping[str, Sequence[float | None]]) -> str:
    Path(name).write_text("".join(f"{system}\t{score}\n" for system, row in scores.items() for score in row))
    return name


def assessed(name: str, scores: Mapping[str, Sequence[float | None]]) -> str:
    """WMT's segment scores with these z scores, system k numbered k; raw scores in the opposite order."""
    lines = ["SYS SID RAW.SCR Z.SCR N \n"]
    for number, (system, row) in enumerate(scores.items()):
        lines += [f"{system}.{number} {k} {70 - z} {z} 2 \n" for k, z in enumerate(row, start=1) if z is not None]
    Path(name).write_text("".join(lines))
    return name


@pytest.mark.parametrize(
    ("average", "tau", "accuracy", "groups"),
    # none: pairs 4 right between the systems, 2 wrong within; item: each right; sys: each wrong
    [("none", (4 - 2) / 6, 4 / 6, 1), ("item", 1.0, 1.0, 2), ("sys", -1.0, 0.0, 2), (None, 1.0, 1.0, 2)],
)
def test_figures_by_their_average(average: str | None, tau: float, accuracy: float, groups: int) -> None:
    files = seg_score("m.seg.score", METRIC), seg_score("p.seg.score", PEOPLE)
    found = run(*files, *([] if average is None else ["--average", average]))
    assert (found["level"], found["average"], found["significance"]) == ("segment", average or "item", None)
    (one,) = found["metrics"]
    assert one["tau_b"] == {"value": pytest.approx(tau), "groups": groups, "undefined": 0}
    assert one["acc_eq"]["value"] == pytest.approx(accuracy)
    assert (found["scores"], found["human_scores"], found["segments"], one["threshold"]) == (4, 4, 2, 0)


def test_direct_assessment_names_and_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    metric = seg_score("m", {**METRIC, "Only": [1.0, None], "refA": [1.0, 1.0]})
    people = assessed("da.csv", {**PEOPLE, "HUMAN-B": [1.0, 1.0], "Other": [1.0, None]})
    found = run(metric, people)
    assert found["systems"] == ["A", "B"]
    assert found["left_out"] == {"not_scored_by_all": ["Only", "Other.3"], "references": ["refA", "HUMAN-B.2"]}
    assert found["metrics"][0]["tau_b"]["value"] == 1
    assert run(metric, people, "--human_score", "raw")["metrics"][0]["tau_b"]["value"] == -1
    out = capsys.readouterr().out
    assert "2 systems: A, B\nwithout a score by all: 2 (Only, Other.3)\n" in out
    assert (
        "human references, left out: 2 (refA, HUMAN-B.2)\n2 segments; 4 outputs count, of 4 with a human score" in out
    )
    assert "average item: the systems' scores of each segment, then the mean over 2 segments; 2 pairs\n" in out


def test_a_result_of_score_with_segments_without_a_pronoun(capsys: pytest.CaptureFixture[str]) -> None:
    metric = result("r.json", {"news.de-en.hyp.A.en": [0.9, None, 0.5], "out/B.txt": [0.1, 0.2, 0.6]})
    people = assessed("da.csv", {"A": [2.0, 1.0, None], "B": [1.0, 1.0, 1.0]})
    found = run(metric, people, "--to_seg_score", "mine.seg.score")
    assert (found["systems"], found["scores"], found["human_scores"]) == (["A", "B"], 4, 5)
    assert found["metrics"][0]["tau_b"] == {"value": 1.0, "groups": 1, "undefined": 0}
    assert found["metrics"][0]["groups_of_one"] == 2  # the metric, then people, have no score of A
    assert read_segment_scores("mine.seg.score") == {"A": [0.9, None, 0.5], "B": [0.1, 0.2, 0.6]}
    assert run("mine.seg.score", people)["metrics"][0] == {**found["metrics"][0], "metric": "mine.seg.score"}
    assert "2 segments with a single score have no pair and are left out\n" in capsys.readouterr().out


def test_several_metrics_of_segments(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    human = rng.integers(4, size=(3, 60)).astype(float)
    good, bad = human + 0.2 * rng.normal(size=human.shape), rng.normal(size=human.shape)
    names = ("A", "B", "C")
    files = [
        seg_score(name, dict(zip(names, scores.tolist(), strict=True)))
        for name, scores in (("good", good), ("bad", bad))
    ]
    people = seg_score("p.seg.score", dict(zip(names, human.tolist(), strict=True)))
    found = run(*files, people)
    assert found["significance"]["figure"] == "acc_eq" and found["significance"]["metrics"] == ["good", "bad"]
    assert found["significance"]["p"] == [[None, 1 / 1001], [1.0, None]]
    good_one, bad_one = found["metrics"]
    assert good_one["acc_eq"]["value"] > 0.9 > bad_one["acc_eq"]["value"] and good_one["threshold"] > 0
    out = capsys.readouterr().out
    assert "one-sided p of: the row's metric agrees better than the column's, in acc-eq\n(the verdicts on a pair" in out
    assert "good       -  0.0010\n" in out
    found = run(*files, people, "--test", "pearson", "--average", "none")
    assert found["significance"]["p"][0][1] == 1 / 1001
    assert "in Pearson's r\n(the scores of an output of the two" in capsys.readouterr().out


def test_several_metrics_are_held_against_the_same_outputs() -> None:
    first, second = seg_score("m", METRIC), seg_score("n", {"A": [1.0, None], "B": [2.0, 3.0]})
    found = run(first, second, seg_score("p.seg.score", PEOPLE))
    assert found["scores"] == 3 and [one["groups"] for one in found["metrics"]] == [1, 1]


def test_several_metrics_of_systems(capsys: pytest.CaptureFixture[str]) -> None:
    for name, scores in {
        "good": {**{f"s{i}": float(i) for i in range(9)}, "lost": 1.0},
        "bad": {f"s{i}": float((i * 4) % 9) for i in range(9)},
        "people": {**{f"s{i}": float(i) for i in range(9)}, "refA": 2.0},
    }.items():
        Path(name).write_text("".join(f"{s}\t{x}\n" for s, x in scores.items()))
    found = run("good", "bad", "people")
    assert [one["pairwise_accuracy"]["estimate"] for one in found["metrics"]] == [1.0, 18 / 36]
    assert found["left_out"] == {"not_scored_by_all": ["lost"], "references": ["refA"]}
    assert found["significance"]["figure"] == "pairwise" and found["units"] == 9
    p = found["significance"]["p"]
    assert p[0][0] is None and p[0][1] < 0.05 < 0.95 < p[1][0]
    assert run("good", "bad", "people", "--test", "pearson")["significance"]["p"][0][1] < 0.05
    out = capsys.readouterr().out
    assert (
        "without a score by all: 1 (lost)\n" in out
        and "in pairwise accuracy\n(the scores of a system of the two" in out
    )


def test_undefined_figures_are_dashes_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(seg_score("m", {"A": [1.0, 1.0], "B": [1.0, 1.0]}), seg_score("p.seg.score", PEOPLE))
    assert found["metrics"][0]["pearson"] == {"value": None, "groups": 0, "undefined": 2}
    assert found["metrics"][0]["acc_eq"]["value"] == 0
    out = capsys.readouterr().out
    told = "Pearson's r 2, Spearman's rho 2, tau-b 2, tau-c 2"
    assert f"m: undefined, all scores of one side equal, and left out of the mean: {told}\n" in out


BAD = {
    "lengths": (["m", "long.seg.score"], "long.seg.score: 3 segments of each system, but the metric has 2"),
    "lengths of metrics": (["m", "long.seg.score", "p.seg.score"], "long.seg.score: 3 segments of each system, but m"),
    "DA past the end": (["m", "da3.csv"], "da3.csv: A.0 has a segment 3, but the metric has segments 1 to 2"),
    "DA segment 0": (["m", "da0.csv"], "da0.csv: A.0 has a segment 0, but the metric has segments 1 to 2"),
    "two of one": (["m", "twice.csv"], "twice.csv: A.7 is a second one of A: expected one of each"),
    "head alone": (["m", "head.csv"], "head.csv: no segment: expected lines after the head"),
    "systems against segments": (["s", "p.seg.score"], "p.seg.score: 2 segments of each system, but the metric has 1"),
    "segments against systems": (["m", "s"], "m:2: a second score of A: expected one for each (.seg.score holds"),
    "no common name": (["other", "p.seg.score"], "p.seg.score: expected a system that all SCORES have too"),
    "no common output": (["holes", "holes.seg.score"], "holes.seg.score: no output has a score here and in holes"),
    "a single system by item": (["one", "p.seg.score"], "two or more scores of one segment that the metric and people"),
    "resample": (["m", "p.seg.score", "--resample", "segments"], "p.seg.score: has scores of segments, but --resample"),
    "average of systems": (["s", "s2", "--average", "sys"], "s2: has scores of systems, but --average"),
    "test of one": (["m", "p.seg.score", "--test", "pearson"], "m: is the only metric"),
    "test of one, systems": (["s", "s2", "--test", "pearson"], "s: is the only metric, but --test compares"),
    "test of the other level": (
        ["m", "n", "p.seg.score", "--test", "kendall"],
        "--test takes pearson, spearman, tau_b",
    ),
    "writing several": (["m", "n", "p.seg.score", "--to_seg_score", "x"], "m: is one of 2 SCORES, but --to_seg_score"),
    "writing no result": (
        ["m", "p.seg.score", "--to_sys_score", "x"],
        "m: is not a result, which --to_sys_score needs",
    ),
    "one file twice": (["m", "m", "p.seg.score"], "m: is given twice"),
    "overwriting the second": (["m", "n", "p.seg.score", "--to_json", "n"], "n: "),
    "NaN": (["nan", "p.seg.score"], "nan:2: expected a finite number, got 'nan'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file, scores in {
        "m": METRIC,
        "n": METRIC,
        "p.seg.score": PEOPLE,
        "long.seg.score": {"A": [1.0, 2.0, 3.0], "B": [1.0, 2.0, 3.0]},
        "other": {"X": [1.0, 2.0]},
        "one": {"A": [1.0, 2.0]},
        "holes": {"A": [1.0, None]},
        "holes.seg.score": {"A": [None, 1.0]},
        "s": {"A": [1.0], "B": [2.0]},
        "s2": {"A": [1.0], "B": [2.0]},
    }.items():
        seg_score(file, scores)
    head = "SYS SID RAW.SCR Z.SCR N\n"
    for file, content in {
        "da3.csv": head + "A.0 3 1 1 1\n",
        "da0.csv": head + "A.0 0 1 1 1\n",
        "twice.csv": head + "A.0 1 1 1 1\nA.7 1 1 1 1\n",
        "head.csv": head,
        "nan": "A\t1\nA\tnan\n",
    }.items():
        Path(file).write_text(content)
    argv, message = BAD[name]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["correlate", *argv]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("pronmetric: error: ") and err.count("\n") == 1
    assert message in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.shared
def test_segment_scores_of_wmt_against_their_own_raw_scores(shared: Path) -> None:
    path = shared / "data" / "human" / "wmt22-da" / "ad-seg-scores-lv-en.csv"
    rows = [line.split() for line in path.read_text().splitlines()[1:]]
    raw: dict[str, list[float | None]] = {row[0].rpartition(".")[0]: [None] * 420 for row in rows}
    for system, segment, score, *_ in rows:
        raw[system.rpartition(".")[0]][int(segment) - 1] = float(score)
    found = run(seg_score("m", raw), str(path))
    assert (found["scores"], found["human_scores"], len(found["systems"])) == (2070, 2070, 5)
    assert found["metrics"][0]["tau_b"]["value"] > 0.4 and found["metrics"][0]["acc_eq"]["value"] > 0.6


@pytest.mark.parametrize("level", ["seg", "sys"])
def test_long_work_shows_progress(
    level: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = []
    for k in range(3):
        scores = {"A": [0.1 * k, 1.0, 2.0], "B": [1.0, 2.0, 0.5 * k], "C": [3.0, 0.3, 0.2 * k]}
        if level == "sys":
            Path(f"{k}.sys.score").write_text("".join(f"{name}\t{sum(row)}\n" for name, row in scores.items()))
        names.append(seg_score(f"{k}.seg.score", scores) if level == "seg" else f"{k}.sys.score")
    monkeypatch.setattr("pronmetric.output.progress.DELAY", 3600.0)  # seconds; a busy machine is slow
    assert main(["correlate", *names]) == 0
    assert capsys.readouterr().err == ""  # short work shows none
    monkeypatch.setattr("pronmetric.output.progress.DELAY", 0.0)
    assert main(["correlate", *names]) == 0
    assert "correlate: 3/3 steps (100 %)" in capsys.readouterr().err  # two metrics, and the test between them


def evalset(**files: str) -> None:
    """A test set in mt-metrics-eval's layout, with two documents in two domains."""
    files = {"documents/de-en.docs": "news a\nmail b\nmail b\n", **files}
    for name, content in files.items():
        path = Path("wmt32", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def test_scores_of_domains_and_documents() -> None:
    domains = "human-scores/de-en.mqm.domain.score"
    documents = "human-scores/de-en.mqm.doc.score"
    evalset(**{domains: "news A 1\nmail A 4\nnews B 2\nmail B 3\n", documents: "A 1\nA 4\nB 2\nB 3\n"})
    metric = result("r.json", {"A": [0.1, None, 0.5], "B": [0.2, 0.2, 0.3]})
    # A: news 0.1, mail 0.5; B: news 0.2, mail 0.25; in each domain the order is that of people
    found = run(metric, f"wmt32/{domains}")
    assert (found["level"], found["domains"], found["scores"]) == ("domain", 2, 4)
    assert found["metrics"][0]["tau_b"]["value"] == 1
    found = run(metric, f"wmt32/{documents}", "--average", "sys")
    assert (found["level"], found["documents"], found["metrics"][0]["tau_b"]["value"]) == ("document", 2, 1)
    evalset(**{"metric-scores/m.domain.score": "news A 9\nmail A 0\nnews B 8\nmail B 1\n"})
    assert run("wmt32/metric-scores/m.domain.score", f"wmt32/{domains}")["metrics"][0]["tau_b"]["value"] == -1


def test_ratings_and_a_level_above_the_scores(capsys: pytest.CaptureFixture[str]) -> None:
    name = "human-scores/de-en.mqm.seg.rating"
    error = '{"errors": [{"severity": "major", "category": "x", "score": 5.0}]}'
    clean = '{"errors": []}'
    evalset(**{name: f"A\t{clean}\tr\nA\tNone\nA\t{error}\tr\nB\t{error}\nB\t{error}\nB\t{error}\n"})
    metric = result("r.json", {"A": [0.9, None, 0.5], "B": [0.2, 0.2, 0.4]})
    found = run(metric, f"wmt32/{name}")
    assert (found["level"], found["human_scores"], found["scores"]) == ("segment", 5, 5)
    found = run(metric, f"wmt32/{name}", "--level", "systems")
    assert [(one["system"], one["human"]) for one in found["systems"]] == [("A", -2.5), ("B", -5.0)]
    assert main(["correlate", metric, f"wmt32/{name}", "--level", "domains"]) == 1
    assert "has scores of segments, but --level is domains: leave it out" in capsys.readouterr().err
    assert main(["correlate", metric, f"wmt32/{name}", "--pair", "de-en"]) == 1
    assert "has scores of one language pair: leave out --pair" in capsys.readouterr().err


def test_esa(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"u,{system},{k},TGT,ces,eng,{score},d,False,[],1,2" for system in "AB" for k, score in ((0, 90), (2, 40))]
    Path("esa.csv").write_text("\n".join([*rows, rows[0].replace("TGT", "BAD"), rows[0].replace("ces", "deu")]) + "\n")
    metric = result("r.json", {"A": [0.9, 0.9, 0.1], "B": [0.8, 0.1, 0.2]})
    found = run(metric, "esa.csv", "--pair", "cs-en", "--average", "sys")
    assert (found["scores"], found["metrics"][0]["tau_b"]["value"]) == (4, 1)
    assert found["human_rows_left_out"] == {"items of quality control or tutorials": 1}
    assert "esa.csv: 1 items of quality control or tutorials, left out\n" in capsys.readouterr().out
    found = run(metric, "esa.csv", "--pair", "cs-en", "--level", "systems")
    assert found["human_rows_left_out"] and [one["human"] for one in found["systems"]] == [65, 65]
    assert main(["correlate", metric, "esa.csv"]) == 1
    assert "there are cs-en, de-en: give --pair" in capsys.readouterr().err


def test_soft_pairwise_accuracy_of_the_systems(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = seg_score("good.seg.score", METRIC), seg_score("bad.seg.score", {"A": [0.0, 0.0], "B": [1.0, 1.0]})
    people = assessed("ad-seg-scores-de-en.csv", PEOPLE)
    content = run(good, bad, people, "--test", "spa")
    soft = content["soft_pairwise_accuracy"]
    # People and the good metric have the same p, about 1/4; the bad one's is 1, since all swaps are as large.
    assert soft[good] == 1.0 and soft[bad] == pytest.approx(0.25, abs=0.06)
    assert content["soft_pairwise_accuracy_units"] == 2 and content["significance"]["figure"] == "spa"
    out = capsys.readouterr().out
    assert "of systems, on 1 pairs and the 2 segments that all systems have; 1000 permutations" in out
    assert "in soft pairwise accuracy" in out
