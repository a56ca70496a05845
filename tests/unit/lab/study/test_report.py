"""The report of a study: votes, agreement, consistency, the table for `prepare`, simulated annotators."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from data_prep.filters import agreement_filter
from pronmetric.cli.main import main
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.agreement import gwet_ac1
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.study import answers, findings, folder
from pronmetric.lab.study.answers import TaskAnswer
from pronmetric.lab.study.findings import measure
from pronmetric.lab.study.folder import Design, Item, Study, Task
from pronmetric.lab.study.simulation import expected_ac1, simulate
from pronmetric.text import strict_json
from pronmetric.text.context import Source
from tests.tools.made_up_study import SETTINGS, recover

PRONOUNS = {"a": ("he", "it"), "b": ("he", "it"), "c": ("she", "it"), "d": ("who", "that")}
ITEMS = {
    name: Item(name, "de" if name == "a" else "fr", *pair, (), f"{pair[0]} {name}", f"{pair[1]} {name}", doc=name)
    for name, pair in PRONOUNS.items()
}
# Annotator 1 has b, c and d swapped, and a twice; annotator 2 sees no version swapped.
TASKS = {
    "1": (*(Task(name, name != "a", False) for name in "abcd"), Task("a", True, True)),
    "2": tuple(Task(name, False, False) for name in "abcd"),
}
STUDY = Study(ITEMS, Design(annotators=2, neither=True), TASKS)
GIVEN = {
    "1": tuple(map(TaskAnswer, range(5), ("first", "second", "first", "both", "first"))),
    "2": tuple(map(TaskAnswer, range(4), ("first", "first", "second", "both"))),
}  # a, b: the reference; c: the other; d: both; a again: the other


def test_answers_are_turned_to_the_item() -> None:
    found = findings.collect(STUDY, GIVEN)
    own = {"a": "reference", "b": "reference", "c": "other", "d": "both"}
    assert found.first == {"1": own, "2": own} and found.again == {"1": {"a": "other"}, "2": {}}


def test_the_figures_of_two_annotators() -> None:
    found = measure(STUDY, GIVEN, draws=10)
    assert found.categories == ("reference", "other", "both", "neither")
    counted = gwet_ac1([[2, 0, 0, 0], [2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]])  # "neither" counts, though unused
    assert found.overall.ac1 == counted and counted.categories == 4
    assert found.agreement is not None and found.agreement.raw == 1.0
    assert found.pairs["he", "it"].items == 2 and found.pairs["he", "it"].counts["reference"] == 4
    assert found.overall.preference is not None and found.overall.preference.value == 0.5
    first, second = found.annotators["1"], found.annotators["2"]
    assert (first.tasks, first.answered, first.repeated, first.same, first.first) == (5, 5, 1, 0, 0.75)
    assert first.preference == 0.5 and first.consistency is not None and first.consistency.ac1 < 0
    assert second.repeated == 0 and second.consistency is None
    assert found.won == {"reference": 2, "other": 1, "both": 1}


def test_unfinished_answers_and_one_annotator_are_enough() -> None:
    found = measure(STUDY, {"2": GIVEN["2"][:2]}, draws=10)
    assert found.agreement is None and found.overall.ac1 is None and found.overall.items == 2
    assert list(findings.agreement_lines(found)) == ["ref_pronoun\tnoisy_pronoun\tentry\tac1\tref\ttie\tsys\n"]
    assert findings.without_agreement(found) == 1
    assert measure(STUDY, {"2": ()}, draws=10).overall.preference is None


def test_prepare_reads_the_table(tmp_path: Path) -> None:
    lines = list(findings.agreement_lines(measure(STUDY, GIVEN, draws=10)))
    assert lines[1:4] == [
        "he\tit\tde\t1.0000\t2\t0\t0\n",
        "he\tit\tfr\t1.0000\t2\t0\t0\n",
        "he\tit\tsum\t1.0000\t4\t0\t0\n",
    ]
    path = tmp_path / "table.tsv"
    path.write_text("".join(lines), encoding="utf-8")
    keep = agreement_filter(str(path), min_agreement=0.8)
    assert keep("he", "it") and not keep("she", "it") and not keep("who", "that")


@pytest.mark.parametrize(
    ("given", "won"),
    [
        ({"reference": 2, "both": 1}, "reference"),
        ({"both": 3, "neither": 2}, "both"),
        ({"reference": 2, "other": 2, "both": 1}, None),
        ({}, None),
    ],
)
def test_the_winner_has_more_votes_than_any_other(given: dict[str, int], won: str | None) -> None:
    assert findings.winner(Counter(given)) == won


def test_both_fine_becomes_a_tie_and_neither_is_left_out(tmp_path: Path) -> None:
    given = {**GIVEN, "2": (*map(TaskAnswer, range(4), ("neither", "second", "second", "both")),)}
    given["1"] = (TaskAnswer(0, "neither"), *given["1"][1:4])
    found = {pair.id: pair for pair in findings.judged_pairs(STUDY, findings.collect(STUDY, given))}
    assert {name: pair.better for name, pair in found.items()} == {"b": None, "c": "B", "d": "tie"}
    assert found["b"].votes == {"1": "A", "2": "B"} and found["d"].votes == {"1": "tie", "2": "tie"}
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(judged_pairs.to_line(pair) + "\n" for pair in found.values()), encoding="utf-8")
    assert judged_pairs.read(path) == list(found.values())


def save(path: Path, **changed: object) -> Path:
    content = {**json.loads(answers.dump(STUDY, "2", GIVEN["2"])), **changed}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


ROW = {"task": 0, "item": "a", "answer": "first", "seconds": 1.5}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"format": "x"}, 'expected answers in the format "pronmetric study answers 1"'),
        ({"study": "0"}, "answers to the study 0, not "),
        ({"annotator": "3"}, '"annotator" must be one of "1", "2", got "3"'),
        ({"annotator": ["2"]}, '"annotator" must be one of'),
        (
            {"answers": [{"task": 0, "item": "a", "answer": "first", "comment": 1}]},
            '"comment" must be a string, got a number',
        ),
        ({"answers": {}}, '"answers" must be a list'),
        ({"answers": [1]}, '"answers", entry 1: expected an object, got a number'),
        ({"answers": [{**ROW, "task": 4}]}, '"task" must be a whole number from 0 to 3, got 4'),
        ({"answers": [{**ROW, "task": True}]}, '"task" must be'),
        ({"answers": [{**ROW, "item": "b"}]}, 'task 0 is about "a", got "b"'),
        (
            {"answers": [{**ROW, "answer": "A"}]},
            '"answer" must be one of "first", "second", "both", "neither", got "A"',
        ),
        ({"answers": [{**ROW, "seconds": -1}]}, '"seconds" must be a number from 0'),
        ({"answers": [ROW, ROW]}, "two answers to task 0"),
    ],
)
def test_broken_answers_are_refused(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=f"answers.json: .*{said}"):
        answers.read(STUDY, [save(tmp_path / "answers.json", **changed)])


def test_answers_are_read_as_written_once_for_each_annotator(tmp_path: Path) -> None:
    path = save(tmp_path / "one.json")
    assert answers.read(STUDY, [path]) == {"2": GIVEN["2"]}
    with pytest.raises(InputError, match=r'two\.json: annotator "2" is in .*one\.json too'):
        answers.read(STUDY, [path, save(tmp_path / "two.json")])


def test_simulated_annotators_without_errors_agree_and_are_consistent() -> None:
    found = measure(STUDY, simulate(STUDY, [0.0, 0.0]), draws=10)
    assert found.overall.ac1 is not None and found.overall.ac1.ac1 == 1.0
    assert found.annotators["1"].same == 1 and expected_ac1(STUDY, [0.0, 0.0]) == pytest.approx(1.0)


def test_the_expected_agreement_of_two_annotators() -> None:
    """Two answers, errors 0 and 0.2: they agree in 0.8; the reference has (0.9 + 0.9 * 0.8 + 0.1 * 0.2) / 2 = 0.82."""
    study = replace(STUDY, design=Design(annotators=2, both=False))
    chance = 2 * 0.82 * 0.18
    expected = expected_ac1(study, [0.0, 0.2], truth={"reference": 0.9, "other": 0.1})
    assert expected == pytest.approx((0.8 - chance) / (1 - chance))
    with pytest.raises(PronmetricError, match="an error rate for each of the 2 annotators, got 1"):
        expected_ac1(study, [0.1])
    with pytest.raises(PronmetricError, match="no group has two annotators"):
        expected_ac1(replace(STUDY, design=Design(annotators=1)), [0.1])


def test_the_interval_holds_the_expected_agreement() -> None:
    """The studies of benchmarks/published/study-simulation.md, with fewer seeds."""
    assert sum(recover(SETTINGS[1], seed).held for seed in range(1, 11)) >= 9


@pytest.mark.parametrize(("shown", "source"), [(True, Source("Er kam.", ("Ja.",))), (False, None)])
def test_judged_pairs_have_the_sources_that_annotators_saw(shown: bool, source: Source | None) -> None:
    items = {name: replace(item, source="Er kam.", source_context=("Ja.",)) for name, item in ITEMS.items()}
    study = Study(items, replace(STUDY.design, source=shown), TASKS)
    found = list(findings.judged_pairs(study, findings.collect(study, GIVEN)))
    assert len(found) == 4 and all(pair.source == source for pair in found)


def test_items_that_cannot_be_judged_are_no_preference(tmp_path: Path) -> None:
    study = replace(STUDY, design=Design(annotators=2, invalid=True))
    given = {
        "1": tuple(map(TaskAnswer, range(4), ("first", "invalid", "invalid", "second"))),
        "2": tuple(map(TaskAnswer, range(4), ("first", "invalid", "second", "first"))),
    }  # a, d: the reference; b: invalid; c: invalid and the other
    found = measure(study, given, draws=10)
    assert found.categories == ("reference", "other", "both", "invalid") and found.overall.counts["invalid"] == 3
    counted = gwet_ac1([[2, 0, 0, 0], [0, 0, 0, 2], [0, 1, 0, 1], [2, 0, 0, 0]])
    assert found.overall.ac1 == counted
    assert found.overall.preference is not None and found.overall.preference.value == pytest.approx(2 / 3)
    assert found.annotators["1"].preference == 1.0 and found.won == {"reference": 2, "invalid": 1, "": 1}
    pairs = {pair.id: pair.votes for pair in findings.judged_pairs(study, findings.collect(study, given))}
    assert pairs == {"a": {"1": "A", "2": "A"}, "c": {"2": "B"}, "d": {"1": "A", "2": "A"}}


def test_comments_are_kept_with_the_answer_in_terms_of_the_item(tmp_path: Path) -> None:
    given = {"1": (TaskAnswer(0, "first"), TaskAnswer(1, "second", 1.0, "He\tor it?"))}
    path = tmp_path / "a.json"
    path.write_text(answers.dump(STUDY, "1", given["1"]), encoding="utf-8")
    assert "comment" not in json.loads(path.read_text(encoding="utf-8"))["answers"][0]
    assert answers.read(STUDY, [path]) == given
    found = measure(STUDY, given, draws=10)
    assert found.comments == (findings.Comment("b", "1", "reference", "He\tor it?"),)
    assert "b     1          reference  He\\tor it?" in findings.format_findings(found)


def test_the_id_of_a_study_from_before_later_settings_is_unchanged(tmp_path: Path) -> None:
    folder.write(STUDY, tmp_path / "study", data="x")
    path = tmp_path / "study" / "study.json"
    head = json.loads(path.read_text(encoding="utf-8"))
    later = {key: head["design"].pop(key) for key in ("invalid", "stages", "target")}
    assert later == {"invalid": False, "stages": False, "target": "en"}
    lines = [(tmp_path / "study" / name).read_text(encoding="utf-8") for name in ("items.jsonl", "assignments.jsonl")]
    content = "".join(lines) + strict_json.dump(head["design"])
    head["id"] = hashlib.sha256(content.encode()).hexdigest()[:16]
    path.write_text(json.dumps(head), encoding="utf-8")
    assert folder.read(tmp_path / "study") == STUDY
    assert replace(STUDY, design=replace(STUDY.design, invalid=True)).id != STUDY.id


def test_the_commands_simulate_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write(STUDY, tmp_path / "study", data="x")
    place, given = str(tmp_path / "study"), str(tmp_path / "answers")
    assert main(["study", "simulate", place, "-o", given, "--errors", "0", "0.5"]) == 0
    assert "9 answers of 2 annotators; expected AC1: 0." in capsys.readouterr().out
    files = [f"{given}/answers-{name}.json" for name in "12"]
    outputs = [str(tmp_path / name) for name in ("table.tsv", "pairs.jsonl", "figures.json")]
    flags = ["--table", outputs[0], "--to_pairs", outputs[1], "--to_json", outputs[2]]
    assert main(["study", "report", place, *files, *flags]) == 0
    printed = capsys.readouterr()
    assert "4 items answered, 2 annotators, 9 of 9 tasks" in printed.out and "Gwet's AC1" in printed.out
    assert json.loads(Path(outputs[2]).read_text())["overall"]["items"] == 4
    assert main(["study", "report", place, files[0]]) == 0
    printed = capsys.readouterr()
    assert "no item has two answers" in printed.out and "no answers of annotators 2" in printed.err
    assert main(["study", "simulate", place, "-o", given]) == 1
