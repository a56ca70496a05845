"""Human scores of systems on the board: found in folders, correlated, averaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.eval.correlation import Correlation, correlate
from pronmetric.eval.resampling import SEED
from pronmetric.lab.board import human, limits
from pronmetric.lab.board.figures import ALL, Figures, Group, SystemFigures
from pronmetric.lab.board.scored import BoardSet

SCORES = {"Alder": 90.0, "Birch": 80.0, "Cedar": 70.0, "Elm": 60.0, "Fir": 50.0}


def named(name: str, year: int | None = 2022) -> BoardSet:
    return BoardSet(f"{name}.liv-en", name, year, "liv-en", "common", "ref")


def board(name: str, scores: dict[str, float]) -> Figures:
    group = Group(systems=tuple(SystemFigures(9, score, None, None) for score in scores.values()), pairs={})
    return Figures(
        testset=named(name),
        segments=9,
        resampled="segments",
        systems=tuple(scores),
        groups={ALL: group},
        by="score",
        verdicts={},
        signature="",
    )


def test_human_scores_of_rankings_and_of_plain_files(tmp_path: Path) -> None:
    da = tmp_path / "human" / "wmt22-da"
    da.mkdir(parents=True)
    lines = [f"70 {z} 9 9 {name}.{k} {name}" for k, (name, z) in enumerate({"Alder": 0.2, "refA": 0.5}.items())]
    (da / "ad-sys-ranking-lv-en-z-names.csv").write_text("\n".join(lines) + "\n")
    (da / "ad-sys-ranking-js-en-z-names.csv").write_text("")
    (tmp_path / "kites.liv-en.sys.score").write_text("Alder\t1.5\nrefB\t2\nBirch\tNone\n")
    sets = [named("generaltest2022"), named("kites", None), named("other", 2021)]
    found, notes = human.find([tmp_path], sets, target="en")
    assert found["generaltest2022.liv-en"] == {"Alder": 0.2}  # WMT22's code lv is Livonian; refA is a translator
    assert found["kites.liv-en"] == {"Alder": 1.5}
    assert not found.get("other.liv-en")
    assert notes == ["wmt22-da/ad-sys-ranking-js-en-z-names.csv: empty, left out"]


def test_human_scores_of_evalsets_and_esa(tmp_path: Path) -> None:
    scores = tmp_path / "wmt32" / "human-scores"
    scores.mkdir(parents=True)
    (scores / "liv-en.wmt-z.sys.score").write_text("Alder 9\n")
    (scores / "liv-en.mqm.sys.score").write_text("Alder -1.5\nrefA -1\nBirch None\n")
    (scores / "cs-en.mqm.sys.score").write_text("Alder 3\n")
    item = "u,{},{},TGT,liv,eng,{},d,False,[],1,2\n"
    rows = (("Alder", 1, 90), ("Alder", 2, 60), ("refA", 1, 100))
    (tmp_path / "esa_generalMT2034_wave0.csv").write_text("".join(item.format(*row) for row in rows))
    (tmp_path / "esa_generalMT2034_wave1.csv").write_text(item.format("Alder", 3, 0))
    (tmp_path / "esa_generalMT2035.csv").write_text("Alder,1\n")  # another file
    (tmp_path / "mesa2034.csv").write_text("not,read\n")
    sets = [named("wmt32", 2032), named("wmt33", 2033), named("other", 2034), named("wmt35", 2035)]
    found, notes = human.find([tmp_path], sets, target="en")
    assert found == {"wmt32.liv-en": {"Alder": -1.5}, "other.liv-en": {"Alder": 75.0}}
    assert notes == [
        "wmt32.liv-en: human scores of liv-en.mqm.sys.score (wmt-z unused)",
        "other.liv-en: human scores are the means of ESA in esa_generalMT2034_wave0.csv; unused: "
        "esa_generalMT2034_wave1.csv (join files of CSV into one)",
    ]


def test_correlations_of_each_test_set_and_their_mean() -> None:
    turned = dict(zip(SCORES, reversed(SCORES.values()), strict=True))
    boards = [board("one", SCORES), board("two", turned), board("three", {"Alder": 1.0})]
    people = {f"{name}.liv-en": SCORES | {"Gone": 1.0} for name in ("one", "two", "three")}
    found = human.agree(boards, people, held_out=["two.liv-en"], seed=SEED)
    assert list(found.sets) == ["one.liv-en", "two.liv-en"]  # one system is too few
    assert found.sets["one.liv-en"] == correlate(SCORES, SCORES, seed=SEED)
    assert found.mean["kendall"].value == pytest.approx(0)  # (1 - 1) / 2
    assert found.held_out["kendall"].value == pytest.approx(-1)
    low, high = found.mean["kendall"].low, found.mean["kendall"].high
    assert (low, high) == (None, None)  # the two test sets are opposite in each draw


def test_the_mean_over_test_sets_does_not_depend_on_their_order() -> None:
    names = list(SCORES)
    other = dict(zip([names[1], names[0], *names[2:]], SCORES.values(), strict=True))
    boards = [board("one", SCORES), board("two", other)]
    people = dict.fromkeys(("one.liv-en", "two.liv-en"), SCORES | {names[-1]: 0.5})
    found = human.agree(boards, people, held_out=[], seed=SEED).mean
    again = human.agree(boards[::-1], people, held_out=[], seed=SEED).mean
    assert found["pearson"].low is not None
    for name, one in found.items():
        assert (one.value, one.low, one.high) == pytest.approx((again[name].value, again[name].low, again[name].high))


def test_equal_human_scores_have_no_correlation_and_few_systems_no_interval() -> None:
    few = dict(list(SCORES.items())[:3])
    people = {"one.liv-en": dict.fromkeys(SCORES, 1.0), "two.liv-en": few}
    none = human.agree([board("one", SCORES)], people, held_out=[], seed=SEED).mean
    assert set(none.values()) == {Correlation(None, None, None)}
    found = human.agree([board("one", SCORES), board("two", few)], {"two.liv-en": few}, held_out=[], seed=SEED)
    assert found.mean["kendall"] == Correlation(pytest.approx(1), None, None)
    shown = limits.section([board("one", SCORES)], found, uses={}, context_size=2)
    assert "Kendall's tau-b 1.00, pairwise accuracy 1.00." in shown


def test_no_human_scores() -> None:
    found = human.agree([board("one", SCORES)], {}, held_out=[], seed=SEED)
    assert found == ({}, {}, {})
    shown = limits.section([board("one", SCORES)], found, uses={}, context_size=2)
    assert "No human scores were given" in shown and "mean of" not in shown


def test_the_limits_give_the_correlation_with_its_interval_and_what_the_checkpoint_saw() -> None:
    boards, people = [board("one", SCORES), board("two", SCORES)], {"one.liv-en": SCORES, "two.liv-en": SCORES}
    found = human.agree(boards, people, held_out=["two.liv-en"], seed=SEED)
    shown = limits.section(boards, found, uses={"one.liv-en": limits.TRAINED}, context_size=2)
    assert "mean of 2 test sets: Pearson's r 1.00" in shown
    assert "neither trained nor tuned on" not in shown  # the same figures
    assert "was trained on references and outputs of these test sets: one.liv-en." in shown
    assert "the previous 2 sentences of the reference, not of the output" in shown
    assert shown.count("<tr>") == 3


def test_what_a_checkpoint_used_also_through_averages() -> None:
    older = {"splits": {"train_noisy": {"testsets": ["b"]}, "development": {"testsets": ["c", "a"]}}}
    config = {"training": {"data": {"splits": {"train": {"testsets": ["a"]}}}, "average": [{"data": older}]}}
    assert limits.uses(config) == {"a": limits.TRAINED, "b": limits.TRAINED, "c": limits.TUNED}
    assert limits.uses({"training": {"average": [{"data": "73423007"}]}}) == {} == limits.uses({})
