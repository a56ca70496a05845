"""The places that people judged, pronouns and gaps, and all forms of the inventory as they would be written there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pronmetric.lab.human.people_gaps import TextGaps
from pronmetric.pronouns.corrupt import match_case
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedText
from pronmetric.text.context import NONE, join

_ENDS = ".!?\u2026"  # after which a form has a capital


def places(texts: Iterable[JudgedText], context: str, language: Language) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each judged pronoun the text before it and the forms, the one that stands there first.

    The text before it has its context, if `context` is not "none"; a blank between it and the form is in the form.
    """
    for one in texts:
        head = "" if context == NONE else join(one.context)
        for each in one.pronouns:
            before, blank = _before(head, one.text, each.start)
            forms = (match_case(one.text, each.start, each.end, form) for form in language.forms)
            own = one.text[each.start : each.end]
            yield before, tuple(dict.fromkeys(f"{blank}{form}" for form in (own, *forms)))


def gaps(found: Iterable[TextGaps], context: str, language: Language) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each gap the text before it, and the word after it, then the forms that could stand there; as `places`."""
    for one in found:
        head = "" if context == NONE else join(one.text.context)
        for word in one.words:
            before, blank = _before(head, one.text.text, word.start)
            opens = before[-1:] in ("", *_ENDS)
            forms = ("I" if form == "i" else form.capitalize() if opens else form for form in language.forms)
            yield before, tuple(dict.fromkeys(f"{blank}{form}" for form in (word.text, *forms)))


def _before(head: str, text: str, start: int) -> tuple[str, str]:
    """The text before an offset after its context, and the blank in between."""
    before = f"{head} {text[:start]}"
    stripped = before.rstrip()
    return stripped.lstrip(), " " if stripped and stripped != before else ""
