"""Two arms of a study, with and without the source: agreement of both, and the disagreements they have in common."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.eval.agreement import gwet_ac1
from pronmetric.lab.study import answers, arms, folder
from pronmetric.lab.study.answers import Answers, TaskAnswer
from pronmetric.lab.study.folder import Design, Item, Study, Task

ITEMS = {name: Item(name, "de", "he", "it", (), f"He {name}.", f"It {name}.", "Er.", doc=name) for name in "abcde"}
TASKS = {name: tuple(Task(item, False, False) for item in ITEMS) for name in "12"}
WITHOUT = Study(ITEMS, Design(annotators=2), TASKS)
WITH = replace(WITHOUT, design=Design(annotators=2, source=True))


def given(**of: str) -> Answers:
    """The annotators' answers to items a to e: f is the first version, the reference; s the second; b both; - none."""
    names = {"f": "first", "s": "second", "b": "both"}
    return {
        name[1:]: tuple(TaskAnswer(k, names[letter]) for k, letter in enumerate(letters) if letter != "-")
        for name, letters in of.items()
    }


SHOWN = given(_1="fffb-", _2="ffsf-")  # they disagree on c and d
HIDDEN = given(_1="ffsfs", _2="fbffs")  # they disagree on b and c


def test_the_figures_of_two_arms() -> None:
    found = arms.compare((WITH, SHOWN), (WITHOUT, HIDDEN), draws=10)
    assert found.items == 4  # e has no answer in the first arm
    assert found.common == ("c",) and found.expected == 1.0
    assert found.joint == gwet_ac1([[4, 0, 0], [3, 0, 1], [2, 2, 0], [3, 0, 1]])
    one, other = found.arms["with source"], found.arms["without source"]
    assert (one.study, one.annotators, one.disagreements) == (WITH.id, 2, 2)
    assert one.ac1 == gwet_ac1([[2, 0, 0], [2, 0, 0], [1, 1, 0], [1, 0, 1]]) and other.disagreements == 2
    assert one.preference is not None and one.preference.value == 0.75
    assert found.difference is not None and found.difference.value == 0.0  # 3 of 4 in both
    pairs = [(first, second) for first in ("", "reference") for second in ("", "reference")]
    assert found.moved == tuple(arms.AnswerShift(first, second, 1) for first, second in pairs)
    text = arms.format_arms(found)
    assert "items with disagreements in both arms: 1 (expected by chance: 1.0)" in text
    assert "prefer reference, with source minus without source: +0.0 points" in text


def test_arms_of_one_kind_are_named_by_their_order() -> None:
    found = arms.compare((WITH, SHOWN), (WITH, HIDDEN), draws=10)
    assert list(found.arms) == ["first arm", "second arm"]


@pytest.mark.parametrize(
    ("other", "own", "said"),
    [
        (WITHOUT, given(_1="fffff"), "no item has two answers in each arm"),
        (replace(WITHOUT, design=Design(annotators=2, both=False)), HIDDEN, "the arms offer different answers"),
        (
            replace(WITHOUT, items={**ITEMS, "b": replace(ITEMS["b"], text_b="She b.")}),
            HIDDEN,
            'the item "b" has other texts in the second arm',
        ),
    ],
)
def test_arms_that_cannot_be_compared(other: Study, own: Answers, said: str) -> None:
    with pytest.raises(InputError, match=said):
        arms.compare((WITH, SHOWN), (other, own))


def test_the_command_compares_two_arms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for name, study, own in (("with", WITH, SHOWN), ("without", WITHOUT, HIDDEN)):
        folder.write(study, tmp_path / name, data="x")
        for annotator, given_answers in own.items():
            path = tmp_path / f"{name}-{annotator}.json"
            path.write_text(answers.dump(study, annotator, given_answers), encoding="utf-8")
            files.append(str(path))
    out = tmp_path / "figures.json"
    arm = [str(tmp_path / "without"), *files[2:]]
    assert main(["study", "report", str(tmp_path / "with"), *files[:2], "--arm", *arm, "--to_json", str(out)]) == 0
    assert "two arms: 4 items" in capsys.readouterr().out
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["study"] == WITH.id and figures["arms"]["common"] == ["c"]
    assert {"first": "reference", "second": "", "items": 1} in figures["arms"]["moved"]
