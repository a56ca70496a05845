from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import pages
from benchmarks.checkpoint import people, people_page, scoring
from benchmarks.checkpoint.people_page import DOUBTS, METRIC, UNTOUCHED
from benchmarks.checkpoint.scoring import Record, Result
from pronmetric.checkpoint import locate
from pronmetric.errors import InputError
from pronmetric.lab.human import mqm
from pronmetric.lab.human.mqm import Error, Judgement
from pronmetric.lab.human.pair_baselines import FEWER, SYSTEM
from pronmetric.text.words import words

SHIPPED = locate.locate().folder
DRAWS = 20  # resamples: enough to see an interval
HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


def line(system: str, doc: str, seg: int, target: str, severity: str, rater: str = "r1") -> str:
    category = "Accuracy/Mistranslation" if severity != "No-error" else "No-error"
    return f"{system}\t{doc}\t1\t{seg}\t{rater}\tquelle\t{target}\t{category}\t{severity}\n"


def talk(doc: str) -> str:
    """Oak is wrong in segment 1 (him for her) and 3, where it adds a pronoun; Elm in 2, by a word next to pronouns."""
    return "".join(
        [
            line("ref", doc, 1, "The dog saw her.", "No-error"),
            line("Oak", doc, 1, "The dog saw <v>him</v>.", "Major"),
            line("Elm", doc, 1, "The dog saw her.", "No-error"),
            line("ref", doc, 2, "She slept.", "No-error"),
            line("Oak", doc, 2, "She slept.", "No-error"),
            line("Elm", doc, 2, "She <v>sleeps</v>.", "Minor"),
            line("ref", doc, 3, "The bell rang.", "No-error", "r2"),
            line("Oak", doc, 3, "<v>It</v> was the bell.", "Minor", "r2"),
            line("Elm", doc, 3, "The bell rang.", "No-error", "r2"),
        ]
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    where = tmp_path / "shared" / people.FILE
    where.parent.mkdir(parents=True)
    where.write_text(HEADER + "".join(map(talk, ("one", "two", "three"))), encoding="utf-8")
    return where


def knows_her(records: Sequence[Record]) -> list[Result]:
    """A scorer that finds him wrong and every other pronoun almost right; without a pronoun there is no score."""
    results = []
    for record in records:
        found = [w for w in words(record["text"]) if w.text.lower() in ("her", "him", "she", "it")]
        pronouns = [{"start": w.start, "end": w.end, "probability": 0.2 if w.text == "him" else 0.9} for w in found]
        score = sum(p["probability"] for p in pronouns) / len(pronouns) if pronouns else None
        results.append(Result(score=score, pronouns=pronouns))
    return results


def test_pairs_and_baselines(file: Path) -> None:
    found = people.measure(knows_her, mqm.read(file), threshold=0.05, draws=DRAWS)
    assert (found["judgements"], found["documents"], found["raters"], found["tie_threshold"]) == (27, 3, 2, 0.05)
    close = found["sets"][people.CLOSE]
    # in each talk Oak against ref and Elm in segment 1; in 3 "rang" replaces "was the", so that the pair is close
    assert close["pairs"] == 12 and close["documents"] == 3
    own, doubts, fewer = (close["accuracy"][row] for row in (METRIC, DOUBTS, FEWER))
    assert (own.right, own.null) == (6, 6)  # the bell has no pronoun, hence no score
    assert doubts.right == 12  # but no doubt either
    assert (fewer.right, fewer.equal) == (6, 6)
    assert close["accuracy"][SYSTEM].right == 12  # ref and Elm do better in the other talks
    beside = close["beside"][FEWER]
    assert (beside.decided, beside.baseline.value, beside.metric.value) == (6, 1.0, 0.0)
    assert close["doubts_beside"][FEWER].metric.value == 1.0
    kinds = close["by_kind"][METRIC]
    assert kinds[people.REPLACED].accuracy == 1.0 and kinds[people.BETTER_FEWER].accuracy == 0.0
    assert close["expected_fewer"] == 1.0  # the other text has none to blame
    assert set(close["by_rater"]) == {"r1", "r2"}
    agreement = close["agreement"]
    assert agreement[METRIC]["ac1"]["estimate"] == agreement[DOUBTS]["ac1"]["estimate"] == 1.0
    assert agreement[METRIC]["ac1"]["items"] == 6 and agreement[DOUBTS]["ac1"]["items"] == 12
    # She slept, she sleeps: no error touches a pronoun, and no pronoun differs
    assert found["sets"][UNTOUCHED]["pairs"] == 12


def test_each_judged_text_is_read_with_its_source(file: Path) -> None:
    given: list[Record] = []

    def remember(records: Sequence[Record]) -> list[Result]:
        given.extend(records)
        return knows_her(records)

    judgements = mqm.read(file)
    without = people.measure(knows_her, judgements, threshold=None, draws=DRAWS)
    found = people.measure(people.with_sources(remember, judgements), judgements, threshold=None, draws=DRAWS)
    assert found == without
    assert {record["source"] for record in given} == {"quelle"}
    assert {len(record["context"]) == len(record["source_context"]) for record in given} == {True}


def test_detection(file: Path) -> None:
    found = people.measure(knows_her, mqm.read(file), threshold=None, draws=DRAWS)["detection"]
    assert found["metric"].pronouns == 21 and found["metric"].wrong == 6  # him and It, in each talk
    assert found["metric"].precision.value == 1.0 and found["metric"].recall.value == 0.5
    assert found["form"].roc_auc.value == 1.0  # him and it are wrong in every other talk too
    assert found["by_category"] == {"Accuracy/Mistranslation": {"wrong": 6, "median": 0.9}}
    assert set(found["by_pronoun"]) == {"him", "it"}


def study(weights: str, **changes: Any) -> dict[str, Any]:
    ac1 = {"estimate": 0.8, "by_document": [0.7, 0.9], "items": 500}
    part = {
        "common": {"accuracy": 0.85, "low": 0.8, "high": 0.9, "pairs": 500},
        "agreement": {"ac1": ac1, "without_ties": {"ac1": ac1}},
    }
    return {"benchmark": "study", "weights": weights, "figures": {"languages": {"french": part}}, **changes}


def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: Path, *flags: str, tie: float | None = 0.05
) -> tuple[dict[str, Any], str]:
    model = tmp_path / "candidate"
    model.mkdir(exist_ok=True)
    (model / "model.safetensors").write_bytes(b"weights")
    config = yaml.safe_load((SHIPPED / "config.yaml").read_text(encoding="utf-8")) | {"tie": tie}
    config = {key: value for key, value in config.items() if value is not None}
    (model / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    monkeypatch.setattr(people, "measure", partial(people.measure, draws=DRAWS))
    monkeypatch.setattr(scoring, "load", lambda options: scoring.Counting(knows_her, "fake"))
    shared = file.parents[len(people.FILE.parts) - 1]
    out, page = tmp_path / "o.json", tmp_path / "p.md"
    given = ["--model", model, "--shared", shared, "--out", out, "--page", page, *flags]
    monkeypatch.setattr(sys, "argv", ["people", *map(str, given)])
    people.main()
    return json.loads(out.read_text(encoding="utf-8")), page.read_text(encoding="utf-8")


def test_script_and_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, page = run(monkeypatch, tmp_path, file)
    assert capsys.readouterr().out.strip() == page.strip() == people_page.page(content).strip()
    assert content["benchmark"] == "people" and content["figures"]["study"] is None
    assert "no more than 0.05, the checkpoint's tie threshold" in page and "Not measured with these weights" in page
    assert "| at most 2 other words | fewer pronouns | 6 of 12 | 100.0 | pronmetric | 0.0 |" in page
    assert "The metric is **below** this baseline on at most 2 other words (-100.0 points" in page
    assert "| pronmetric | 12 | 50.0 | 0 / 6 |" in page
    assert "fewer pronouns would win 100.0 % (" in page
    for block in page.split("\n\n"):
        if block.startswith("| "):
            assert len({row.count("|") for row in block.splitlines()}) == 1, block


def test_a_metric_above_the_baseline_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: Path) -> None:
    content, _ = run(monkeypatch, tmp_path, file, tie=None)
    assert content["figures"]["tie_threshold"] is None
    for found in content["figures"]["sets"].values():
        found["beside"][FEWER]["difference"] = {"value": 0.1, "low": -0.1, "high": 0.3}
    page = people_page.page(content)
    assert "The metric is not below it: at most 2 other words (+10.0 [-10.0, +30.0] points)" in page
    assert "the checkpoint has no tie threshold" in page and "favour short" not in page


def test_study_figures_are_taken_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: Path) -> None:
    kept = tmp_path / "study.json"
    run(monkeypatch, tmp_path, file)
    weights = pages.weights_hash(tmp_path / "candidate")
    kept.write_text(json.dumps(study(weights)))
    _, page = run(monkeypatch, tmp_path, file, "--study", str(kept))
    assert 'AC1 against "the reference is better"\n\nThis is not human agreement' in page
    assert "| french | 500 | 85.0 [80.0, 90.0] | 0.80 [0.70, 0.90] | 0.80 [0.70, 0.90] |" in page


def test_sources_need_a_reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: Path) -> None:
    with pytest.raises(InputError, match=r"--sources: the checkpoint has no reader of sources"):
        run(monkeypatch, tmp_path, file, "--sources")


def test_study_figures_of_others_are_refused(tmp_path: Path) -> None:
    kept = tmp_path / "study.json"
    kept.write_text(json.dumps(study("00000000")))
    with pytest.raises(InputError, match="figures of weights 00000000, the checkpoint has abcd"):
        people.of_study(kept, "abcd")
    kept.write_text(json.dumps(study("abcd", benchmark="gap")))
    with pytest.raises(InputError, match=r"figures of `python -m benchmarks\.checkpoint\.study"):
        people.of_study(kept, "abcd")
    kept.write_text(json.dumps(study("abcd", figures={"languages": {"french": {"common": {}}}})))
    with pytest.raises(InputError, match="it wrote no agreement"):
        people.of_study(kept, "abcd")


def test_each_text_is_scored_once_in_its_context() -> None:
    judged = [Judgement(s, "d", 1, "r", "She left.", (Error("x", "Minor", ()),)) for s in ("ref", "Oak")]
    assert people.texts(judged) == [("She left.", ())]
