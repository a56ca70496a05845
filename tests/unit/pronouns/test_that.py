"""The uses of "that": what is a pronoun and what is not, in natural text and in the study's form."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.pronouns.finder import explain, find
from pronmetric.pronouns.that import IN_USE, use

NOT_IN_USE = [
    # after verbs
    "He said that he was late.",
    "She told him that the train had gone.",
    "They told reporters that no one was hurt.",
    "We know that you can hear us.",
    "It turned out that the door was open.",
    "He said on Friday that the talks would go on.",
    "She announced last week that two plants will close.",
    "They said in a statement that all flights had been cancelled.",
    "The report shows that prices rose.",
    "The minister said that, if needed, troops would be sent.",
    "He said that \u201cwe will win\u201d.",
    "The study found that in most towns rents had doubled.",
    "Make sure that the lid is closed.",
    "It is said that gold was found here.",
    "He was told that she had left.",
    "I think that Anna will come.",
    "Bear in mind that it may rain.",
    # after adjectives
    "I am sure that they will come.",
    "It is clear that the plan failed.",
    "It became evident to me that nobody knew.",
    "We were surprised that the shop was open.",
    # after nouns
    "The fact that he lied is known.",
    "There is no doubt that the bridge is safe.",
    "The claim that the earth is flat is wrong.",
    "He gave the impression that nothing mattered.",
    "There is a risk that the dam breaks.",
    # after be
    "The problem is that we have no time.",
    "The reason was that the road was blocked.",
    # conjunctions
    "Speak up so that all can hear.",
    "Now that the war is over, they can go home.",
    "Given that it is late, we should go.",
    "He was lucky in that he had a map.",
    "Not that it matters.",
    "The box was so big that nobody could lift it.",
    "It was such a noise that the baby woke.",
    "She ran so fast that I lost sight of her.",
    "It got to the point that no one answered.",
    # degree
    "It is not that bad.",
    "It isn't that big.",
    "He doesn't eat that much.",
    # second clauses, subject clauses
    "He said that the road was closed and that the bridge had fallen.",
    "That the bridge fell is a wonder.",
]

IN_USE_CASES = {
    "relative": [
        "The man that I saw was tall.",
        "The book that fell is new.",
        "Everything that shines is no gold.",
        "The car that the man drove was red.",
        "The claim that he made was false.",
        "This is the best film that has been shown here.",
        "The evidence that convinced us was old.",
        "The people that live here are kind.",
        "The day that we met was cold.",
    ],
    "demonstrative": [
        "That is true.",
        "That's what I mean.",
        "After that, we left.",
        "Do that again.",
        "I know that.",
        "I think that is right.",
        "He said that, and then he left.",
        "What is that?",
        "With that he left.",
        "The price is higher than that of gold.",
        "So that was it.",
    ],
    "demonstrative determiner": [
        "That book is mine.",
        "I like that idea.",
        "In that house they lived.",
        "She thinks that way.",
        "Who is that man?",
        "Is that the man?",
        "I read that book twice.",
        "They met on that day.",
    ],
}


def that(text: str) -> list[bool]:
    return [verdict.in_use for verdict in explain(text) if verdict.occurrence.form == "that"]


@pytest.mark.parametrize("text", NOT_IN_USE)
def test_no_pronoun(text: str) -> None:
    assert not any(that(text))


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in IN_USE_CASES.items() for text in texts])
def test_pronoun(kind: str, text: str) -> None:
    assert that(text) == [True]
    reasons = [v.reason for v in explain(text) if v.occurrence.form == "that"]
    assert reasons[0].split(":")[0].startswith(kind.split()[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I know that that man lied.", [False, True]),
        ("He said that that was wrong.", [False, True]),
        ("She said that the book that fell was hers.", [False, True]),
        ("That is why he said that he would do that.", [True, False, True]),
    ],
)
def test_several(text: str, expected: list[bool]) -> None:
    assert that(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # beyond doubt: right after what takes a clause, and before a subject
        ("he said that he was late", False),
        ("the fact that he lied is known", False),
        ("it is clear that the plan failed", False),
        ("the box was so big that nobody could lift it", True),
        ("they say so that we can hear", False),
        # in doubt without capitals and punctuation
        ("he said that france was late", True),
        ("they told reporters that the road was closed", True),
        # pronouns
        ("the man that i saw was tall", True),
        ("that s what i mean", True),
        ("after that we left", True),
        ("i know that", True),
    ],
)
def test_without_capitals_and_punctuation(text: str, expected: bool) -> None:
    assert that(text) == [expected]


def test_lower_case_with_punctuation_is_no_bare_text() -> None:
    assert that("he said, i guess, that france was late") == [False]
    assert that("he's sure that france was late") == [False]
    assert that("he said that france was late.") == [False]
    assert that("did they say that many people stayed? yes.") == [False]
    assert that("he said that france was late .") == [True]  # the study's form: a punctuation mark is a token


def test_somebody_told_something_without_capitals_and_punctuation() -> None:
    assert that("yesterday the doctor told me that i will be well") == [False]
    assert that("yesterday the doctor told me that story") == [True]


@pytest.mark.shared
def test_lower_case_changes_few_verdicts(shared: Path) -> None:
    folder = shared / "data" / "wmt" / "wmt23-news-systems" / "txt" / "references"
    lines = [line for path in sorted(folder.iterdir()) for line in path.read_text(encoding="utf-8").split("\n")]
    lines = [line for line in lines if "that" in line.lower() and len(line.lower()) == len(line)]
    cased = [verdict for line in lines for verdict in that(line)]
    lower = [verdict for line in lines for verdict in that(line.lower())]
    assert len(cased) == len(lower) == 1229
    assert sum(a != b for a, b in zip(cased, lower, strict=True)) < 10


def test_other_relatives_are_always_in_use() -> None:
    assert [o.form for o in find("the house which fell, and who lived there")] == ["which", "who"]


def test_use_has_kind_and_reason() -> None:
    assert use("so big that it fell".split(), 2).kind == "result"
    assert use("the house that fell".split(), 2) == ("relative", "after house")
    assert use("that".split(), 0).kind in IN_USE
