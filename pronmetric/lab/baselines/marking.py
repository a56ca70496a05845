"""A chat model asked which pronouns of a text are wrong, several times: a baseline of what people mark.

The pronouns are numbered in the text (`mark_prompt.txt`). The first pass takes the most probable answer, further ones
are drawn, each with a seed of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import NamedTuple

from pronmetric.lab.baselines.endpoint import Endpoint
from pronmetric.text.context import Text

LONGEST = 256  # pieces of an answer
_NONE = re.compile(r"\W*none\W*", re.IGNORECASE)
_NUMBERS = re.compile(r"\W*\d+(?:(?:\W|\band\b)+\d+)*\W*", re.IGNORECASE)


class Question(NamedTuple):
    """A text, and the places (start, end) of its pronouns in their order."""

    text: Text
    places: tuple[tuple[int, int], ...]


class MarkingResult(NamedTuple):
    """What the passes marked.

    shares: of each pronoun, the share of the passes that marked it, NaN if no answer about its text was clear. by_pass:
    the share of all pronouns that each pass marked, NaN for a pass without a clear answer. unsteady: pronouns that some
    passes marked and others did not. unclear: answers that were no list of numbers; they are left out.
    """

    shares: tuple[float, ...]
    by_pass: tuple[float, ...]
    unsteady: int
    unclear: int


def mark(
    endpoint: Endpoint,
    questions: Sequence[Question],
    *,
    passes: int = 1,
    advance: Callable[[int], object] | None = None,
) -> MarkingResult:
    """Ask about each text with a pronoun in each pass; `advance` is called with 1 after each answer.

    Raises:
        PronmetricError: the endpoint does not answer.
    """
    prompt = files("pronmetric.lab.baselines").joinpath("mark_prompt.txt").read_text(encoding="utf-8")
    votes: list[list[bool]] = [[] for each in questions for _ in each.places]
    by_pass, unclear = [], 0
    for number in range(passes):
        marked, seen, first = 0, 0, 0
        for text, places in questions:
            if not places:
                continue
            source = "(not given)" if text.source is None else text.source.text
            filled = prompt.format(context=text.context or "(none)", source=source, text=numbered(text.text, places))
            wrong = chosen(endpoint.reply(filled, number=number, longest=LONGEST), len(places))
            if wrong is None:
                unclear += 1
            else:
                for place in range(len(places)):
                    votes[first + place].append(place in wrong)
                marked, seen = marked + len(wrong), seen + len(places)
            first += len(places)
            if advance is not None:
                advance(1)
        by_pass.append(marked / seen if seen else math.nan)
    shares = tuple(sum(each) / len(each) if each else math.nan for each in votes)
    return MarkingResult(shares, tuple(by_pass), sum(0 < share < 1 for share in shares), unclear)


def numbered(text: str, places: Sequence[tuple[int, int]]) -> str:
    """The text with a number after each place, from 1.

    >>> numbered("He saw it.", [(0, 2), (7, 9)])
    'He [1] saw it [2].'
    """
    parts, done = [], 0
    for number, (_, end) in enumerate(places, 1):
        parts.append(f"{text[done:end]} [{number}]")
        done = end
    return "".join([*parts, text[done:]])


def chosen(answer: str, pronouns: int) -> frozenset[int] | None:
    """The pronouns that an answer names, counted from 0; None if it is no list of their numbers.

    >>> sorted(chosen("[1], 3 and 2.", 3)), chosen("None.", 3), chosen("4", 3), chosen("He is wrong", 3)
    ([0, 1, 2], frozenset(), None, None)
    """
    if _NONE.fullmatch(answer):
        return frozenset()
    if not _NUMBERS.fullmatch(answer):
        return None
    named = {int(number) - 1 for number in re.findall(r"\d+", answer)}
    return frozenset(named) if named <= set(range(pronouns)) else None
