"""`pronmetric correlate`: figures by hand, who is left out, files in and out, and bad input."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.eval.correlation import correlate
from pronmetric.lab.human.wmt_scores import read_segment_scores, read_system_scores
from tests.tools.correlated import result, run

METRIC = {"Alder": 1.0, "Birch": 2.0, "Cedar": 3.0, "Elm": 4.0}
PEOPLE = {"Birch": 0.3, "Alder": 0.1, "Cedar": 0.2, "Elm": 0.9}  # one of six pairs is the other way round


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sys_score(name: str, scores: Mapping[str, float | None]) -> str:
    Path(name).write_text("".join(f"{system}\t{score}\n" for system, score in scores.items()))
    return name


def ranking(name: str, scores: Mapping[str, float]) -> str:
    """A WMT ranking with these z scores; raw scores in the opposite order."""
    lines = [f"{70 - z:.3f} {z} 100 120 {system}.{i} {system}\n" for i, (system, z) in enumerate(scores.items())]
    Path(name).write_text("".join(lines))
    return name


def test_figures_of_two_small_files(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(sys_score("metric.sys.score", METRIC), sys_score("people.sys.score", PEOPLE))
    assert found["pairwise_accuracy"]["estimate"] == pytest.approx(5 / 6)
    assert found["kendall"]["estimate"] == pytest.approx((5 - 1) / 6)
    assert found["spearman"]["estimate"] == pytest.approx(1 - 6 * (0 + 1 + 1 + 0) / (4 * 15))
    # deviations -1.5 -.5 .5 1.5 and -.275 -.075 -.175 .525: products 1.15, squares 5 and .3875
    assert found["pearson"]["estimate"] == pytest.approx(1.15 / (5 * 0.3875) ** 0.5)
    assert found["pearson"]["ci_low"] is None and found["units"] == 4
    assert found["systems"][1] == {"system": "Birch", "metric": 2.0, "human": 0.3}
    out = capsys.readouterr().out
    assert "4 systems: Alder, Birch, Cedar, Elm\n" in out
    assert "pairwise accuracy" in out and "0.8333\n" in out and "no intervals: 4 systems, below 5" in out


def test_intervals_and_their_seed() -> None:
    metric = {f"s{i}": float(i % 4) for i in range(8)}
    people = {f"s{i}": float(i) for i in range(8)}
    files = sys_score("a", metric), sys_score("b", people)
    first = run(*files, "--seed", "1")
    assert first == run(*files, "--seed", "1")
    assert first["kendall"]["ci_low"] != run(*files, "--seed", "2")["kendall"]["ci_low"]
    other = correlate(metric, people, seed=1)
    for name, figure in (("pearson", other.pearson), ("pairwise_accuracy", other.pairwise)):
        expected = {"estimate": figure.value, "ci_low": figure.low, "ci_high": figure.high}
        assert first[name] == pytest.approx(expected)
    assert (first["resampled"], first["units"], first["resamples"], first["seed"]) == ("systems", 8, 2000, 1)


def test_who_is_left_out_is_counted_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    metric = sys_score("m", {**METRIC, "refA": 9.0, "Fir": 5.0, "Gorse": 6.0, "Holly": None})
    people = sys_score("p", {**PEOPLE, "HUMAN-B": 1.0, "Ivy": 0.0, "Gorse": None, "Holly": 0.0})
    found = run(metric, people)
    assert found["left_out"] == {
        "metric_only": ["Fir"],
        "human_only": ["Ivy"],
        "unscored": ["Gorse", "Holly"],
        "references": ["refA", "HUMAN-B"],
    }
    out = capsys.readouterr().out
    for line in (
        "only in m: 1 (Fir)",
        "only in p: 1 (Ivy)",
        "without a score: 2 (Gorse, Holly)",
        "human references, left out: 2 (refA, HUMAN-B)",
    ):
        assert f"{line}\n" in out


def test_human_references_may_stay() -> None:
    files = sys_score("m", {**METRIC, "HUMAN": 9.0}), ranking("p.csv", {**PEOPLE, "HUMAN": 2.0})
    assert len(run(*files)["systems"]) == 4
    kept = run(*files, "--keep_references")
    assert kept["systems"][-1] == {"system": "HUMAN", "metric": 9.0, "human": 2.0}
    assert kept["left_out"]["references"] == [] and kept["kendall"]["ci_low"] is not None


def test_z_and_raw_scores_of_a_ranking() -> None:
    files = sys_score("m", METRIC), ranking("p.csv", PEOPLE)
    assert run(*files)["pairwise_accuracy"]["estimate"] == pytest.approx(5 / 6)
    assert run(*files, "--human-score", "raw")["pairwise_accuracy"]["estimate"] == pytest.approx(1 / 6)


def test_a_result_of_score_and_its_file_names() -> None:
    systems = {
        "out/Alder.txt": [0.5, 0.7],
        "news.de-en.hyp.Yew.eu.en": [None, 0.4],
        "Elm": [0.9, 0.9],
        "other.txt": [0.1, 0.1],
        "nothing.txt": [None, None],
    }
    people = sys_score("p", {"Alder": 0.2, "Yew.eu": 0.1, "Elm": 0.3, "nothing": 0.0})
    found = run(result("r.json", systems, [None, None]), people, "--to-sys-score", "s", "--to-seg-score", "g")
    assert [(s["system"], s["metric"]) for s in found["systems"]] == [("Alder", 60), ("Yew.eu", 40), ("Elm", 90)]
    assert found["pearson"]["estimate"] == pytest.approx(5 / (3800 / 3 * 0.02) ** 0.5)
    assert found["left_out"]["metric_only"] == ["other.txt"] and found["left_out"]["unscored"] == ["nothing"]
    scores = {"Alder": 60.0, "Yew.eu": 40.0, "Elm": 90.0, "other.txt": 10.0, "nothing": None}
    assert read_system_scores("s") == pytest.approx(scores)
    assert read_segment_scores("g")["Yew.eu"] == [None, 0.4]
    assert run("s", people) == {**found, "metric": "s"}


def test_segments_or_documents_are_drawn() -> None:
    systems = {name: [0.1 * k + 0.05 * (i % (k + 2)) for i in range(12)] for k, name in enumerate(METRIC)}
    people = sys_score("p", METRIC)
    found = run(result("r.json", systems, [None] * 12), people, "--resample", "segments")
    assert (found["resampled"], found["units"]) == ("segments", 12) and found["pearson"]["ci_low"] is not None
    by_doc = run(result("d.json", systems, [f"d{i // 2}" for i in range(12)]), people, "--resample", "segments")
    assert (by_doc["resampled"], by_doc["units"]) == ("documents", 6)
    assert by_doc["pearson"]["estimate"] == pytest.approx(found["pearson"]["estimate"])
    assert by_doc["pearson"]["ci_low"] != found["pearson"]["ci_low"]
    one = run(result("o.json", systems, ["same"] * 12), people, "--resample", "segments")
    assert (one["resampled"], one["units"]) == ("segments", 12)


def test_older_scores_of_a_result_are_in_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    systems = {
        name: [0.1 * k + 0.05 * (i % (k + 2)) for i in range(6)] for k, name in enumerate([*METRIC, "Fir", "refA"])
    }
    content = json.loads(Path(result("r.json", systems, [None] * 6)).read_text())
    bleu = {"Alder": 10.0, "Birch": 30.0, "Cedar": 20.0, "Elm": 90.0, "Fir": 5.0, "refA": 1.0}
    for system in content["systems"]:
        exact = {"score": 50.0 if system["system"] == "Alder" else None, "instances": 3, "unit": "pronouns"}
        system["also"] = {"bleu": {"score": bleu[system["system"]], "instances": 6, "unit": "segments"}, "exact": exact}
    Path("r.json").write_text(json.dumps(content))
    people = {**PEOPLE, "Fir": 0.0}
    found = run("r.json", sys_score("p", people))
    alone = correlate({s: bleu[s] for s in people}, people, seed=found["seed"])
    assert list(found["also"]) == ["bleu"]  # exact has the score of one system only
    assert found["also"]["bleu"]["kendall"] == {
        "estimate": alone.kendall.value,
        "ci_low": alone.kendall.low,
        "ci_high": alone.kendall.high,
    }
    assert alone.kendall.value == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if "0000" in line] == ["r.json", "bleu"]
    found = run("r.json", "p", "--resample", "segments")
    assert found["also"]["bleu"]["kendall"] == {"estimate": 1.0, "ci_low": None, "ci_high": None}
    assert found["pearson"]["ci_low"] is not None
    content["systems"][0]["also"]["bleu"]["score"] = None
    Path("r.json").write_text(json.dumps(content))
    run("r.json", "p")
    assert "without bleu: 1 (Alder)\n" in capsys.readouterr().out
    content["systems"][1]["also"]["bleu"]["score"] = "good"
    Path("r.json").write_text(json.dumps(content))
    assert main(["correlate", "r.json", "p"]) == 1
    assert 'r.json: "systems", entry 2, "also", "bleu": "score" must be a number, got "good"' in capsys.readouterr().err


def test_a_real_result(root: Path) -> None:
    shutil.copy(root / "tests" / "fixtures" / "report" / "score.json", "score.json")
    people = sys_score("p", {"system-a": 3.0, "system-b": 2.0, "system-c": 1.0})
    found = run("score.json", people, "--resample", "segments")
    told = {s["system"]: s["score"] for s in json.loads(Path("score.json").read_text())["systems"]}
    assert {f"{s['system']}.txt": s["metric"] for s in found["systems"]} == told
    assert (found["resampled"], found["units"]) == ("documents", 5)
    assert run("score.json", people)["pearson"]["estimate"] == pytest.approx(found["pearson"]["estimate"], abs=1e-4)


def test_the_bundled_example(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = root / "examples" / "ranking"
    assert main(["correlate", str(folder / "metric.sys.score"), str(folder / "people.csv")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("8 systems: ") and "human references, left out: 2 (refA, HUMAN-B)" in out


def test_two_systems_get_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    run(sys_score("m", {"A": 1, "B": 2}), sys_score("p", {"A": 1, "B": 9}))
    assert "with two systems the first three figures are always 1 or -1" in capsys.readouterr().out


def test_equal_scores_have_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(
        sys_score("m", dict.fromkeys("ABCDEF", 1.0)), sys_score("p", dict(zip("ABCDEF", range(6), strict=True)))
    )
    assert found["pearson"] == {"estimate": None, "ci_low": None, "ci_high": None}
    assert found["pairwise_accuracy"]["estimate"] == 0
    assert ["m", "-", "-", "-", "0.0000"] in [line.split() for line in capsys.readouterr().out.splitlines()]


BAD = {
    "missing": (["nix", "people"], "nix: no such file"),
    "empty": (["empty", "people"], "empty: the file is empty"),
    "JSON as people": (["metric", "broken.json"], "broken.json:1: expected SYSTEM and a score or None (.sys.score)"),
    "broken JSON": (["broken.json", "people"], "broken.json: broken JSON"),
    "other JSON": (["other.json", "people"], 'other.json: the key "segments" is missing; the record has'),
    "no common name": (
        ["other", "people"],
        "other: expected two or more systems with a score here and in people, found 0: here are X, Y; there are A, B; "
        "name them alike",
    ),
    "references only": (
        ["humans", "humans"],
        "found 1: here are A, refA, refB; there are A, refA, refB; name them alike (human references are left out: "
        "refA, refB)",
    ),
    "drawing segments": (["metric", "people", "--resample", "segments"], "metric: has no segments, which --resample"),
    "writing segments": (["metric", "people", "--to_seg_score", "x"], "metric: has no segments, which --to_seg"),
    "overwriting": (["metric", "people", "--to_json", "metric"], "metric: would be overwritten"),
    "no folder": (["metric", "people", "--to_sys_score", "no/where"], "no/where: the folder no does not exist"),
    "one name twice": (["twofiles.json", "people"], "twofiles.json: duplicate system A (of there/A.txt)"),
}


@pytest.fixture
def bad(folder: Path) -> Path:
    for name, content in {
        "metric": "A\t1\nB\t2\n",
        "people": "A\t1\nB\t2\n",
        "empty": "",
        "broken.json": '{"segments": [\n',
        "other.json": '{"ac1": 1}\n',
        "other": "X\t1\nY\t2\n",
        "humans": "A\t1\nrefA\t2\nrefB\t3\n",
    }.items():
        (folder / name).write_text(content)
    result("twofiles.json", {"here/A.txt": [0.5], "there/A.txt": [0.4], "B": [0.1]}, [None])
    return folder


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name: str, bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv, message = BAD[name]
    before = sorted(path.name for path in bad.iterdir())
    assert main(["correlate", *argv]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("pronmetric: error: ") and err.count("\n") == 1
    assert message in err
    assert sorted(path.name for path in bad.iterdir()) == before


@pytest.mark.shared
def test_a_ranking_of_wmt_against_its_own_raw_scores(shared: Path) -> None:
    path = shared / "data" / "human" / "wmt21-da" / "ad-sys-ranking-de-en-z-names.csv"
    raw = {line.split()[5]: float(line.split()[0]) for line in path.read_text().splitlines()}
    found = run(sys_score("m", raw), str(path))
    assert (found["units"], found["left_out"]["references"]) == (19, ["HUMAN"])
    assert 0.5 < found["pearson"]["ci_low"] < found["pearson"]["estimate"] < found["pearson"]["ci_high"]
