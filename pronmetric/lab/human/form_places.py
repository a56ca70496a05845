"""The places of the pronouns that people judged, and all forms of the inventory as they would be written there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pronmetric.pronouns.corrupt import match_case
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedText
from pronmetric.text.context import NONE, join


def places(texts: Iterable[JudgedText], context: str, language: Language) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each judged pronoun the text before it and the forms, the one that stands there first.

    The text before it has its context, if `context` is not "none"; a blank between it and the form is in the form.
    """
    for one in texts:
        head = "" if context == NONE else join(one.context)
        for each in one.pronouns:
            before = f"{head} {one.text[: each.start]}"
            stripped = before.rstrip()
            blank = " " if stripped and stripped != before else ""
            forms = (match_case(one.text, each.start, each.end, form) for form in language.forms)
            own = one.text[each.start : each.end]
            yield stripped.lstrip(), tuple(dict.fromkeys(f"{blank}{form}" for form in (own, *forms)))
