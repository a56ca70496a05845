from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import dip
from pronmetric.lab.suites.contrastive import Judging, Reading, for_pronouns

ENTRY: dict[str, Any] = {
    "id": "wmt:1",
    "lp": "de-en",
    "doc": "news.3",
    "source": "Sie fährt heute nicht.",
    "source_context": ["Guten Morgen.", "Die Fähre ist alt."],
    "reference": "It does not run today.",
    "reference_context": ["Good morning.", "The ferry is old."],
    "noisy_reference": "She does not run today.",
    "right": "it",
    "wrong": "she",
    "system": "online-Z",
}


def read(tmp_path: Path, *entries: dict[str, Any], context: int = 0) -> Any:
    path = tmp_path / "dip.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in entries))
    return dip.read(path, Reading(context=context))


def test_an_entry_of_suite_build_is_an_item_of_anaphora(tmp_path: Path) -> None:
    (item,) = read(tmp_path, ENTRY, context=1)
    assert [one.target for one in item.candidates] == ["It does not run today.", "She does not run today."]
    assert item.candidates[1].target_context == ("The ferry is old.",)
    assert item.candidates[1].source_context == ("Die Fähre ist alt.",)
    assert (item.id, item.document, item.language) == ("wmt:1", "news.3", "en")
    assert item.groups == {"phenomenon": "anaphora", "language pair": "de-en", "pronoun pair": "it:she"}
    assert dip.judge([item], [(1.0, 1.0)], Judging()).verdicts[0].right is False


def test_other_phenomena_are_not_for_a_metric_of_pronouns(tmp_path: Path) -> None:
    other = {key: ENTRY[key] for key in ("source", "reference", "noisy_reference", "lp")}
    connective = other | {"id": 2, "phenomenon": "discourse connectives"}
    items = read(tmp_path, ENTRY, connective, ENTRY | {"id": "3", "lp": "en-de"})
    assert (items[1].groups, items[1].document) == (
        {"phenomenon": "discourse connectives", "language pair": "de-en"},
        "2",
    )
    assert [item.id for item in for_pronouns(items, dip.ABOUT, "en")] == ["wmt:1"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "wmt:1"}, 'duplicate id "wmt:1"'),
        ({"lp": "english"}, '"lp" must be a language pair such as "de-en", got "english"'),
        ({"phenomenon": "style"}, '"phenomenon" must be one of "anaphora", "lexical consistency"'),
        ({"noisy_reference": None}, '"noisy_reference" must be a string, got null'),
    ],
)
def test_a_wrong_entry_is_refused_with_its_line(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"dip.jsonl:2: {said}"):
        read(tmp_path, ENTRY, ENTRY | {"id": "2"} | change)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no items: expected one JSON object a line"):
        read(tmp_path)
    with pytest.raises(InputError, match="this suite judges scores of its candidates, not translations"):
        dip.judge_translations("set", "out", Judging())
