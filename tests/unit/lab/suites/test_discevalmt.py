from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import discevalmt, export
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites.contrastive import Candidate, Judging, Reading, SuiteVerdicts

SOURCE = ["The cars are here.", "They shine."]


def target(kind: str, degree: str, right: str, wrong: str) -> dict[str, Any]:
    return {
        degree: ["Elles sont là.", f"{right} brillent."],
        "incorrect": ["Elles sont là.", f"{wrong} brillent."],
        "type": kind,
        "correct-words": [right],
        "incorrect-words": [wrong],
    }


ANAPHORA = {
    "10": {"src": SOURCE, "trg": [target("f.pl", "correct", "Elles", "Ils")]},
    "2": {
        "src": SOURCE,
        "trg": [target("m.pl", "correct", "Ils", "Elles"), target("f.pl", "semi-correct", "Elles", "Ils")],
    },
}


def example(right: str, wrong: str) -> dict[str, Any]:
    return {
        "src": ["Crazy?", "Yes, crazy."],
        "trg": {"correct": ["Fou ?", right], "incorrect": ["Fou ?", wrong]},
        "correct-words": "le fou",
        "incorrect-words": "dingue",
    }


LEXICAL = {
    "1": {"type": "repet", "examples": [example("Oui, fou.", "Oui, dingue."), example("a", "b")]},
    "2": {"type": "repet, disambig", "examples": [example("c", "d"), example("e", "f")]},
    "3": {"examples": [example("g", "h"), example("i", "j")]},
}


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return tmp_path / "set.json"


def judged(path: Path, value: object, costs: list[float], **judging: Any) -> SuiteVerdicts:
    path.write_text(json.dumps(value))
    items = discevalmt.read(path, Reading())
    return discevalmt.judge(items, export.cut([-c for c in costs], items, "x"), Judging(**judging))


def test_blocks_are_read_in_the_order_of_their_numbers(made: Path) -> None:
    made.write_text(json.dumps(ANAPHORA))
    items = discevalmt.read(made, Reading(context=5))
    assert [item.id for item in items] == ["2.1", "2.2", "10.1"]
    assert items[0].candidates == (
        Candidate("They shine.", "Ils brillent.", (SOURCE[0],), ("Elles sont là.",)),
        Candidate("They shine.", "Elles brillent.", (SOURCE[0],), ("Elles sont là.",)),
    )


def test_anaphora_by_type_degree_and_block(made: Path) -> None:
    found = judged(made, ANAPHORA, [1, 2, 3, 3, 1, 2])  # the second pair ties: wrong
    assert [(v.id, v.right) for v in found.verdicts] == [("2.1", True), ("2.2", False), ("10.1", True)]
    assert found.further["ids of blocks entirely right"] == ["10"]
    assert (found.further["blocks entirely right"], found.further["blocks not entirely right"]) == (1, 1)
    assert found.further["pairs by type"]["f.pl"] == {
        "right correct": 1,
        "right semi-correct": 0,
        "wrong correct": 0,
        "wrong semi-correct": 1,
    }


def test_lexical_choice_leaves_the_mixed_type_out_of_both(made: Path) -> None:
    found = judged(made, LEXICAL, [1, 2, 1, 2, 2, 1, 1, 2, 1, 2, 1, 2])
    groups = suite_figures.figures(found.verdicts).by["type"]
    assert {name: (one.correct, one.total) for name, one in groups.items()} == {"repet": (2, 2)}
    assert sum(v.right for v in found.verdicts) == 5
    assert found.further["ids of blocks entirely right"] == ["1", "3"]
    assert found.further["blocks not entirely right"] == 1
    compat = judged(made, LEXICAL, [1, 2, 1, 2, 2, 1, 1, 2, 1, 2, 1, 2], compat=True)
    assert compat.further["blocks not entirely right"] == 4  # 6 pairs - 2 blocks, as published


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "expected anaphora.json or lexical-choice.json"),
        ({"one": {}}, "got a block named 'one'"),
        ({"1": {"type": "other", "examples": []}}, 'block 1: "type" must be one of "repet", "disambig"'),
        ({"1": {"src": ["a"], "trg": []}}, 'block 1: "src" must be a list of 2 strings'),
        ({"1": {"src": SOURCE, "trg": [{"type": "n.sg"}]}}, '"type" must be one of "m.sg"'),
        ({"1": {"src": SOURCE, "trg": [{"type": "m.sg"}]}}, 'the key "semi-correct" is missing'),
    ],
)
def test_what_is_no_set_is_refused(made: Path, value: object, said: str) -> None:
    made.write_text(json.dumps(value))
    with pytest.raises(InputError) as error:
        discevalmt.read(made, Reading())
    assert said in str(error.value)


def translated(made: Path, value: object, lines: list[str], **judging: Any) -> list[bool]:
    made.write_text(json.dumps(value))
    out = made.with_name("out.txt")
    out.write_text("".join(f"{line}\n" for line in lines))
    return [v.right for v in discevalmt.judge_translations(made, out, Judging(**judging)).verdicts]


def test_translations_have_the_right_words_and_no_wrong_one(made: Path) -> None:
    lines = ["Elles<eos> Ils brillent.", "unread", "Elles ou Ils", "unread", "Elles<eos> elles.", "unread"]
    assert translated(made, ANAPHORA, lines) == [True, False, False]


def test_words_are_whole_words_but_with_compat(made: Path) -> None:
    lexical = {"3": LEXICAL["3"]}
    lines = ["Oui, elle foula.", "", "le fou dingue", ""]
    assert translated(made, lexical, lines) == [False, False]
    assert translated(made, lexical, lines, compat=True) == [True, False]  # "le fou" in "elle foula"


def test_blank_and_missing_translations_are_refused(made: Path) -> None:
    with pytest.raises(InputError, match=r"out.txt:3: a blank translation"):
        translated(made, ANAPHORA, ["Ils", "", " ", "", "Elles", ""])
    with pytest.raises(InputError, match=r"out.txt:3: expected 6 lines, two for each of 3 pairs, got 2"):
        translated(made, ANAPHORA, ["Ils", ""])
    bare = {"1": {"src": SOURCE, "trg": [{k: v for k, v in ANAPHORA["10"]["trg"][0].items() if "words" not in k}]}}
    with pytest.raises(InputError, match="only the fork of the sets with these words judges translations"):
        translated(made, bare, ["Ils", ""])
