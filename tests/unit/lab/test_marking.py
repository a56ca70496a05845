"""A chat model that marks wrong pronouns, against a server of this machine that answers as the test says."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pronmetric.lab.baselines.endpoint import Endpoint
from pronmetric.lab.baselines.marking import Question, mark
from pronmetric.text.context import Source, Text
from tests.tools.chat_server import says, serving

ANNA = Question(Text("Anna came.", "He lost her keys.", Source("Sie verlor ihre Schlüssel.")), ((0, 2), (8, 11)))
RAIN = Question(Text("", "Then it rained."), ((5, 7),))
NONE = Question(Text("", "Nothing happened."), ())


def test_the_share_of_the_passes_that_mark_a_pronoun_is_its_doubt() -> None:
    seen: list[dict[str, Any]] = []
    replies = iter(["1", "none", "1, 2", "None.", "Both are fine", "1"])
    advanced: list[int] = []
    with serving(lambda _: says(next(replies)), seen) as url:
        found = mark(Endpoint(url, "m"), [NONE, ANNA, RAIN], passes=3, advance=advanced.append)
    assert found.shares == (1.0, 0.5, pytest.approx(1 / 3))  # the third answer about Anna is unclear
    assert found.by_pass == (pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0)
    assert (found.unsteady, found.unclear) == (2, 1) and advanced == [1] * 6  # nothing is asked without a pronoun
    assert [body["temperature"] for body in seen] == [0, 0, 1, 1, 1, 1]
    assert [body.get("seed") for body in seen] == [None, None, 1, 1, 2, 2]
    prompt = seen[0]["messages"][0]["content"]
    assert "\nText before: Anna came.\n" in prompt and "\nSource: Sie verlor ihre Schlüssel.\n" in prompt
    assert "\nTranslation: He [1] lost her [2] keys.\n" in prompt
    assert "\nSource: (not given)\n" in seen[1]["messages"][0]["content"]


def test_a_pronoun_without_a_clear_answer_has_no_doubt() -> None:
    with serving(lambda _: says("3"), []) as url:
        found = mark(Endpoint(url, "m"), [ANNA])
    assert all(map(math.isnan, (*found.shares, *found.by_pass))) and (found.unsteady, found.unclear) == (0, 1)
