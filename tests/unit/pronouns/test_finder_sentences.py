"""The pronouns of each sentence in fixtures/finder.tsv; pronoun-finder.md has the figures before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pronmetric.pronouns.finder import explain, find

_LINES = (Path(__file__).parents[2] / "fixtures" / "finder.tsv").read_text(encoding="utf-8").splitlines()[2:]
_ROWS = [line.split("\t") for line in _LINES]


@pytest.mark.parametrize(("text", "pronouns"), [(text, json.loads(spans)) for _, _, text, spans in _ROWS])
def test_the_pronouns_are_those_in_use(text: str, pronouns: list[list[int]]) -> None:
    assert [[one.start, one.end] for one in find(text)] == pronouns
    assert all(verdict.reason for verdict in explain(text))


def test_the_list_has_sixty_sentences_and_twenty_that_no_rule_was_made_for() -> None:
    sets = [row[0] for row in _ROWS]
    assert (sets.count("development"), sets.count("blind"), len({row[2] for row in _ROWS})) == (60, 20, 80)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("THE BOSS HELPED US AND GAVE US IT BACK", "US US IT"),
        ("HE SAYS US WILL LEAVE", "HE"),
        ("ALL OF US WILL VOTE", "US"),
        ("THEY SCAM US AND YOU AND US", "THEY US YOU US"),
        ("WHO SAYS THAT?", "WHO THAT"),
        ("We LOVE IT here", "We IT"),
        ("Thank ME later, said Ann.", "ME"),
        ("his-or-her, he-he, sh-she, th-that", "his her he he she that"),
        ("I saw it-and left.", "I it"),
        ("the letter I wrote", "I"),
        ("(as I) said", "I"),
        ("She told me de Gaulle left.", "She me"),
        ("No me, no you", "me you"),
    ],
)
def test_in_doubt_it_is_a_pronoun(text: str, expected: str) -> None:
    assert " ".join(one.text for one in find(text)) == expected
