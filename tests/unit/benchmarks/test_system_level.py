"""The benchmark of system-level correlation: traps of the data, going on after a stop, averages, the table."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.checkpoint import system_level
from benchmarks.checkpoint.system_level import (
    BLEU,
    CHRF,
    EXACT,
    PRONMETRIC,
    average,
    figures,
    measure,
    page,
    rankings,
)
from benchmarks.corpora import Outputs
from pronmetric.checkpoint import files as checkpoint_files
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.correlation import kendall
from pronmetric.lab.human.wmt_scores import Ranking

REFERENCE = [
    "Anna fed the cat and she left.",
    "The dog saw her.",
    "He likes it.",
    "They slept.",
    "We saw them.",
    "Rain fell.",
]
OUTPUTS = {
    "Alder": REFERENCE,
    "Birch": ["Anna fed the cat and it left.", *REFERENCE[1:]],
    "Cedar": ["Anna fed a cat, it left.", "A dog saw him.", "He likes it.", "They slept.", "We saw it.", "Rain fell."],
    "Elm": ["Anna fed cat and it left.", "Dog saw it.", "It likes it.", "It slept.", "We saw it.", "It rained."],
    "Fir": ["Fed the cat and he left.", "The dog saw.", "Likes.", "Slept.", "Saw.", "Fell."],
}
Z = {"Alder": 0.4, "Birch": 0.2, "Cedar": 0.1, "Elm": -0.3, "Fir": -0.4}


def shared(place: Path) -> Path:
    """A folder like the shared one: Livonian and Czech of WMT22, an empty ranking, other files."""
    human = place / "data" / "human" / "wmt22-da"
    human.mkdir(parents=True)
    lines = [f"70 {z} 10 12 {name}.{i} {name}\n" for i, (name, z) in enumerate(Z.items())]
    for code in ("lv", "cs"):
        (human / f"ad-sys-ranking-{code}-en-z-names.csv").write_text("".join(lines) + "66 -0.2 9 9 HUMAN-B.9 HUMAN-B\n")
    (human / "ad-sys-ranking-js-en-z-names.csv").write_text("")
    (human / "ad-sys-ranking-cs-en-z.csv").write_text("no ranking with names")
    texts = place / "data" / "wmt" / "wmt22-news-systems" / "txt"
    for folder in ("references", "system-outputs", "sources"):
        (texts / folder).mkdir(parents=True)
    for lp in ("liv-en", "cs-en"):
        for name, lines in {
            "ref.A": REFERENCE,
            **{f"hyp.{s}": o for s, o in OUTPUTS.items()},
            "hyp.New": OUTPUTS["Fir"],
        }.items():
            folder = "references" if name == "ref.A" else "system-outputs"
            (texts / folder / f"generaltest2022.{lp}.{name}.en").write_text("".join(line + "\n" for line in lines))
    return place


def test_rankings_without_their_traps(tmp_path: Path) -> None:
    found, notes = rankings(shared(tmp_path) / "data" / "human")
    assert found == [Ranking("wmt22:cs-en", Z, ("HUMAN-B",)), Ranking("wmt22:liv-en", Z, ("HUMAN-B",))]
    assert notes == ["wmt22-da/ad-sys-ranking-js-en-z-names.csv: empty, left out"]
    with pytest.raises(InputError, match=r"expected wmtNN-da/ad-sys-ranking-SL-en-z-names\.csv in it, found none"):
        rankings(tmp_path / "data" / "wmt")


def test_exact_match_of_outputs() -> None:
    outputs = Outputs("tiny", REFERENCE * 20, ["d"] * 120, {name: lines * 20 for name, lines in OUTPUTS.items()})
    signature, scores = system_level.peer(EXACT)(outputs)
    assert signature.startswith("exact|aligner:agreement|learned:600|")
    assert scores["Alder"] == 100
    assert scores["Birch"] == pytest.approx(100 * 6 / 7)  # of she her he it they we them one differs
    assert scores["Birch"] > scores["Cedar"] > scores["Elm"]


def test_a_missing_score_is_an_error() -> None:
    outputs = Outputs("tiny", ["Rain fell."] * 5, ["d"] * 5, {"Alder": ["Rain fell."] * 5})
    with pytest.raises(PronmetricError, match="no score of Alder: expected outputs with pronouns"):
        system_level.peer(EXACT)(outputs)


class Reader:
    """Gives outputs, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, dataset: str) -> tuple[Outputs, list[str]]:
        self.times += 1
        return Outputs(dataset, REFERENCE, ["d"] * 6, {**OUTPUTS, "New": OUTPUTS["Fir"]}), [
            f"{dataset}: the reference is A"
        ]


def scoring(value: float, sign: str) -> Callable[[Outputs], tuple[str, dict[str, float]]]:
    return lambda outputs: (sign, {name: value + len(lines[0]) for name, lines in outputs.systems.items()})


def test_what_is_measured_stays_and_the_rest_is_added(tmp_path: Path) -> None:
    file, read, told = tmp_path / "set.json", Reader(), list[str]()
    ranked = Ranking("wmt22:cs-en", Z, ())
    measure(ranked, read, {BLEU: (None, scoring(1, "b1"))}, file, told.append)
    first = json.loads(file.read_text())
    assert first["metrics"][BLEU]["scores"]["Fir"] == 1 + len("Fed the cat and he left.")
    assert list(first["metrics"][BLEU]["scores"]) == list(Z)  # New has no score by people
    measure(ranked, read, {BLEU: (None, scoring(2, "b2"))}, file, told.append)
    assert json.loads(file.read_text()) == first and read.times == 1
    measure(ranked, read, {BLEU: (None, scoring(2, "b2")), PRONMETRIC: ("p1", scoring(3, "p1"))}, file, told.append)
    both = json.loads(file.read_text())["metrics"]
    assert (both[BLEU], both[PRONMETRIC]["signature"]) == (first["metrics"][BLEU], "p1")
    measure(ranked, read, {PRONMETRIC: ("p1", scoring(4, "p1"))}, file, told.append)
    assert json.loads(file.read_text())["metrics"] == both and read.times == 2
    measure(ranked, read, {PRONMETRIC: ("p2", scoring(4, "p2"))}, file, told.append)  # other weights
    assert json.loads(file.read_text())["metrics"][PRONMETRIC]["signature"] == "p2"
    assert [line.split(",")[0] for line in told] == [f"wmt22:cs-en: {name}" for name in (BLEU, PRONMETRIC, PRONMETRIC)]


def test_what_was_measured_before_a_fault_stays(tmp_path: Path) -> None:
    def broken(outputs: Outputs) -> tuple[str, dict[str, float]]:
        raise PronmetricError("stopped")

    file = tmp_path / "set.json"
    with pytest.raises(PronmetricError, match="stopped"):
        measure(
            Ranking("wmt22:cs-en", Z, ()),
            Reader(),
            {BLEU: (None, scoring(1, "b")), CHRF: (None, broken)},
            file,
            lambda line: None,
        )
    assert list(json.loads(file.read_text())["metrics"]) == [BLEU]


def test_a_ranked_system_without_output_is_an_error(tmp_path: Path) -> None:
    ranked = Ranking("wmt22:cs-en", {**Z, "Gone": 0.0}, ())
    with pytest.raises(InputError, match="wmt22:cs-en: no output of Gone, which people ranked"):
        measure(ranked, Reader(), {BLEU: (None, scoring(1, "b"))}, tmp_path / "set.json", lambda line: None)


def test_averages_are_over_the_test_sets_that_have_the_metric() -> None:
    rng = np.random.default_rng(0)
    names = [f"s{i}" for i in range(8)]
    sets = [
        Ranking(f"wmt22:{lp}-en", dict(zip(names, rng.normal(size=8), strict=True)), ()) for lp in ("cs", "de", "ja")
    ]
    noisy = {r.dataset: {s: z + rng.normal() for s, z in r.scores.items()} for r in sets}
    scores = {r.dataset: {BLEU: noisy[r.dataset], EXACT: dict(r.scores)} for r in sets}
    del scores["wmt22:ja-en"][EXACT]
    found = average(sets, scores, EXACT, seed=0)["kendall"]
    taus = [float(kendall(list(noisy[r.dataset].values()), list(r.scores.values()))) for r in sets]
    assert (found.sets, found.value.value, found.value.low) == (2, pytest.approx(1), None)  # all draws are equal
    assert found.above_bleu is not None
    assert found.above_bleu.value == pytest.approx(1 - (taus[0] + taus[1]) / 2)
    bleu = average(sets, scores, BLEU, seed=0)["kendall"]
    assert (bleu.sets, bleu.value.value) == (3, pytest.approx(sum(taus) / 3))
    assert bleu.value.low is not None and bleu.value.high is not None
    assert bleu.value.low < sum(taus) / 3 < bleu.value.high
    assert average(sets, scores, PRONMETRIC, seed=0) == {}
    alone = average(sets[:1], {"wmt22:cs-en": {EXACT: dict(sets[0].scores)}}, EXACT, seed=0)["kendall"]
    assert alone.above_bleu is None


def test_draws_of_one_system_alone_are_left_out() -> None:
    ranked = Ranking("wmt22:cs-en", {"A": 0.1, "B": 0.3}, ())  # half of the draws are twice the same
    found = average([ranked], {"wmt22:cs-en": {EXACT: {"A": 1.0, "B": 2.0}}}, EXACT, seed=0)["pearson"]
    assert (found.value.value, found.value.low, found.value.high) == (1, None, None)


def test_the_table_marks_what_was_kept_from_training() -> None:
    sets = [Ranking("wmt22:cs-en", Z, ("HUMAN-C",)), Ranking("wmt22:de-en", Z, ())]
    one = {"signature": "sig:1", "seconds": 1.0, "scores": dict(Z)}
    files = {
        "wmt22:cs-en": {"notes": ["wmt22:cs-en: the reference is B (C unused)"], "metrics": {BLEU: one, EXACT: one}},
        "wmt22:de-en": {"notes": [], "metrics": {BLEU: one}},
    }
    text = page(figures(sets, files, held_out=["wmt22:de-en"], seed=0))
    assert "| exact pronoun match | 1 | 1.00 |" in text
    assert "| wmt22:cs-en | 5 | 1.00 | 1.00 |" in text
    assert "| wmt22:de-en\\* | 5 |  | 1.00 |" in text
    assert "not trained on (wmt22:de-en):" in text and "Not measured yet: pronmetric score, chrF." in text
    assert "- BLEU: `sig:1`" in text and "left out: wmt22:cs-en HUMAN-C." in text
    assert "- wmt22:cs-en: the reference is B (C unused)." in text


def test_from_files_to_the_table_in_two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    pytest.importorskip("sacrebleu")
    place, out, table = shared(tmp_path / "shared"), tmp_path / "out", tmp_path / "table.md"

    def run(*argv: str) -> str:
        flags = ["--shared", str(place), "--out", str(out), "--table", str(table), *argv]
        monkeypatch.setattr(sys, "argv", ["system_level", *flags])
        system_level.main()
        return capsys.readouterr().err

    told = run("--metrics", "exact,bleu", "--only", "wmt22:liv-en")
    assert "js-en-z-names.csv: empty" in told and "wmt22:liv-en: bleu, 5 systems x 6 segments" in told
    assert sorted(path.name for path in out.iterdir()) == ["wmt22.liv-en.json"]
    assert "| chrF |" not in table.read_text()
    told = run("--metrics", "exact,bleu,chrf")
    assert "wmt22:liv-en: bleu" not in told and "wmt22:liv-en: chrf" in told and "wmt22:cs-en: exact" in told
    rows = [line for line in table.read_text().splitlines() if line.startswith("| chrF | 2 |")]
    assert len(rows) == 1
    scores = json.loads((out / "wmt22.cs-en.json").read_text())["metrics"]
    assert scores[BLEU]["scores"]["Alder"] == pytest.approx(100)
    assert scores[CHRF]["scores"]["Alder"] == pytest.approx(100)


def test_the_model_scores_all_systems_as_predict_does(tiny_checkpoint: Callable[..., Path]) -> None:
    from argparse import Namespace

    from pronmetric.metric import PronounMetric

    folder = tiny_checkpoint()
    outputs = Outputs("tiny", REFERENCE, ["d1"] * 3 + ["d2"] * 3, OUTPUTS)
    found = system_level.learned(Namespace(model=str(folder), precision="32", batch_size=None, seed=5))
    assert list(found) == ["pronmetric", "pronmetric errors"]  # no pair head
    sign, of = found[PRONMETRIC]
    signature, scores = of(outputs)
    metric = PronounMetric.from_pretrained(folder, precision="32")
    expected = {name: metric.predict(outputs.records(name)).system_score for name in ("Alder", "Elm")}
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    assert signature == sign == str(metric.signature(context="common", seed=5))
    sign, of = found["pronmetric errors"]
    _, errors = of(outputs)
    for name in ("Alder", "Elm"):
        doubts = [1 - p.probability for each in metric.predict(outputs.records(name)).segments for p in each.pronouns]
        assert errors[name] == pytest.approx(-100 * sum(doubts) / len(REFERENCE))
    assert sign.endswith("|by:errors")


def test_a_checkpoint_with_two_heads_has_three_numbers(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sacrebleu")
    before, two = checkpoint_files.load(tiny_checkpoint()), tmp_path / "two"
    config = {**before.config, "pair_head": {"heads": 4, "dropout": 0.1}}
    checkpoint_files.save(two, checkpoint_files.build(config), before.pieces, config, half=False)
    place, table = shared(tmp_path / "shared"), tmp_path / "table.md"
    flags = ["--shared", str(place), "--out", str(tmp_path / "out"), "--table", str(table), "--precision", "32"]
    flags += ["--model", str(two), "--metrics", "pronmetric,bleu", "--only", "wmt22:cs-en"]
    monkeypatch.setattr(sys, "argv", ["system_level", *flags])
    system_level.main()
    content = json.loads(table.with_suffix(".json").read_text())
    names = ["pronmetric", "pronmetric errors", "pronmetric preference", BLEU]
    assert list(content["averages"]["all"]) == names and content["averages"]["held out"] == {}
    assert content["averages"]["all"]["pronmetric preference"]["kendall"]["sets"] == 1
    measured = content["test sets"]["wmt22:cs-en"]
    assert sorted(measured["metrics"]) == sorted(names) and measured["people"] == Z
    text = table.read_text()
    for label in ("pronmetric score", "pronmetric errors", "pronmetric preference", "BLEU"):
        assert f"| {label} | 1 | " in text


@pytest.mark.shared
def test_the_real_rankings(shared: Path) -> None:
    found, notes = rankings(shared / "data" / "human")
    assert [ranked.dataset for ranked in found] == [
        *(f"wmt21:{source}-en" for source in ("cs", "de", "ha", "is", "ja", "ru", "zh")),
        *(f"wmt22:{source}-en" for source in ("cs", "de", "ja", "liv", "ru", "uk", "zh")),
    ]
    assert notes == ["wmt21-da/ad-sys-ranking-js-en-z-names.csv: empty, left out"]
    assert {ranked.dataset for ranked in found if ranked.humans} == {
        "wmt21:cs-en", "wmt21:de-en", "wmt21:ru-en", "wmt21:zh-en", "wmt22:cs-en", "wmt22:de-en", "wmt22:zh-en",
    }  # fmt: skip
    assert sum(len(ranked.scores) for ranked in found) == 170
