from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import cai_xiong
from pronmetric.lab.suites.contrastive import Judging, Reading, SuiteVerdicts

ITEMS: list[dict[str, Any]] = [
    {
        "id": "p1",
        "kind": "pronoun",
        "class": "她们",
        "source": "They left .",
        "source_context": ["The women came .", "It rained ."],
        "reference": "她们走了。",
        "source_tokens": [0],
        "contrastive": ["他们走了。"],
    },
    {
        "id": "p2",
        "kind": "pronoun",
        "class": "你",
        "source": "You left .",
        "reference": "你走了。",
        "source_tokens": [0],
    },
    {
        "id": "c1",
        "kind": "connective",
        "class": "while",
        "source": "While I ate .",
        "reference": "虽然我吃了。",
        "right": ["虽然", "尽管"],
        "rivals": ["当"],
        "source_tokens": [0],
    },
    {"id": "e1", "kind": "ellipsis", "class": "verb phrase", "source": "So did I .", "reference": "我也走了。"}
    | {"right": ["走"], "source_tokens": [1]},
]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl"
    write(path, ITEMS)
    return path


def write(path: Path, objects: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects))


def translated(made: Path, lines: list[str], links: list[str] | None = None, **judging: Any) -> SuiteVerdicts:
    for name, given in (("out.txt", lines), ("links.txt", links or [])):
        made.with_name(name).write_text("".join(f"{line}\n" for line in given))
    alignment = None if links is None else str(made.with_name("links.txt"))
    return cai_xiong.judge_translations(made, made.with_name("out.txt"), Judging(alignment=alignment, **judging))


def rights(judged: SuiteVerdicts) -> list[bool]:
    return [verdict.right for verdict in judged.verdicts]


def test_items_have_their_context_and_groups(made: Path) -> None:
    items = cai_xiong.read(made, Reading(context=1))
    assert items[0].candidates[1].source_context == ("It rained .",)
    assert [item.groups["class"] for item in items] == [
        "pronoun: 她们",
        "pronoun: 你",
        "connective: while",
        "ellipsis: verb phrase",
    ]


def test_a_right_form_and_no_rival(made: Path) -> None:
    assert rights(translated(made, ["她们走了", "你走了", "尽管我吃了", "我也走了"])) == [True, True, True, True]
    assert rights(translated(made, ["她们和他们", "你们走了", "当我吃", "我也是"])) == [False, False, False, False]


def test_only_the_aligned_place_is_judged(made: Path) -> None:
    lines = ["她们 和 他们", "你们 走了 你", "当 我 吃", "我 走"]
    links = ["0-0 1-2", "0-2", "", "1-1"]
    found = translated(made, lines, links)
    assert rights(found) == [True, True, False, True]
    assert found.further == {"items without an aligned word, wrong": 1}
    with pytest.raises(InputError, match=r"links.txt:2: expected links s-t below 3 target words, got '0-3'"):
        translated(made, lines, ["0-0", "0-3", "", ""])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"class": "它"}, '"class" must be one of "你", "你们", "他们", "她们", "它们", got "它"'),
        ({"kind": "noun"}, '"kind" must be one of "pronoun", "connective", "ellipsis", got "noun"'),
        ({"kind": "connective", "class": "but"}, '"class" must be one of "while", "as", "since", "though", "or"'),
        ({"id": "c1"}, 'duplicate id "c1"'),
        ({"source": None}, '"source" must be a string, got null'),
    ],
)
def test_a_wrong_item_is_refused_with_its_line(made: Path, change: dict[str, Any], said: str) -> None:
    write(made, [*ITEMS, ITEMS[0] | {"id": "p9"} | change])
    with pytest.raises(InputError) as error:
        cai_xiong.read(made, Reading())
    assert str(error.value).startswith(f"{made}:5: ") and said in str(error.value)


def test_lengths_and_blank_lines(made: Path) -> None:
    with pytest.raises(InputError, match=r"out.txt:3: expected 4 lines, one for each item, got 2"):
        translated(made, ["你", "你"])
    with pytest.raises(InputError, match=r"out.txt:2: a blank line"):
        translated(made, ["你", " ", "你", "你"])
    assert rights(translated(made, ["她们", "", "虽然", "走"], compat=True)) == [True, False, True, True]


def test_forms_are_needed_where_they_are_not_the_class(made: Path) -> None:
    write(made, [{k: v for k, v in ITEMS[2].items() if k != "right"}])
    with pytest.raises(InputError, match='"right" is missing: a connective needs the forms'):
        translated(made, ["虽然"])


def test_the_majority_of_the_judges_decides(made: Path, tmp_path: Path) -> None:
    given = {"p1": "++-", "p2": "+-", "c1": "-", "e1": "++"}
    judgments = [
        {"id": id, "judge": f"r{n}", "correct": sign == "+"}
        for id, signs in given.items()
        for n, sign in enumerate(signs)
    ]
    write(tmp_path / "humans.jsonl", judgments)
    automatic = translated(made, ["她们", "你", "虽然", "没"])
    found = cai_xiong.judge_humans(made, tmp_path / "humans.jsonl", automatic)
    assert rights(found) == [True, False, False, True]
    assert found.further == {
        "judges": 3,
        "items on which the judges are tied, wrong": 1,
        "items on which all judges agree": 2,
        "items on which automatic and human verdicts agree": 1,
        "correct by the automatic verdicts": 3,
    }


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ({"id": "x", "judge": "a", "correct": True}, 'humans.jsonl:5: unknown item "x"'),
        ({"id": "e1", "judge": "r", "correct": True}, 'humans.jsonl:5: "r" judges item "e1" twice'),
        ({"id": "e1", "judge": "a", "correct": 1}, '"correct" must be one of true, false, got 1'),
    ],
)
def test_a_wrong_judgment_is_refused(made: Path, tmp_path: Path, last: dict[str, Any], said: str) -> None:
    judgments = [{"id": item["id"], "judge": "r", "correct": True} for item in ITEMS]
    write(tmp_path / "humans.jsonl", [*judgments, last])
    with pytest.raises(InputError) as error:
        cai_xiong.judge_humans(made, tmp_path / "humans.jsonl")
    assert said in str(error.value)
    write(tmp_path / "humans.jsonl", judgments[1:])
    with pytest.raises(InputError, match='1 items have no judgment, first "p1"'):
        cai_xiong.judge_humans(made, tmp_path / "humans.jsonl")


def test_scores_are_judged_where_there_are_contrastive_sentences(made: Path) -> None:
    items = cai_xiong.read(made, Reading())
    judged = cai_xiong.judge(items, [[2.0, 1.0], [0.0], [0.0], [0.0]], Judging())
    assert rights(judged) == [True]
    assert judged.further == {"items without contrastive sentences, left out": 3}
