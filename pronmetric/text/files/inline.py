"""Text between the inline elements of XLIFF and TMX.

The codes of other formats (`<ph>`, `<bpt>`, `<x/>` ...) are no text, but for a placeholder such as `%s` or `{name}`,
which stays, and a line break, which is a blank. `<sub>`, a text within a code, is no part of the sentence around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pronmetric.text.xml import Element

_CODES = frozenset(("bpt", "ept", "it", "ph", "ut", "x", "bx", "ex", "sc", "ec", "cp", "sm", "em"))
_PLACEHOLDER = re.compile(
    r"%(?:\d+\$)?[-+ #0]*\d*(?:\.\d+)?[hl]{0,2}[a-zA-Z@]|%\(\w+\)\w|%\w+%|\$\w+|\$?\{[^{}\\<>]*\}|\{\{[^{}<>]*\}\}"
)
_LINE_BREAKS = frozenset(("lb", "xlf:lb"))


def text_of(element: Element) -> str:
    """The text of an element in one line."""
    return " ".join("".join(_texts(element)).split())


def count_sub_texts(element: Element) -> int:
    """The number of texts within codes."""
    below = (part for part in element.parts if isinstance(part, Element))
    return sum((part.name == "sub" and bool(text_of(part))) + count_sub_texts(part) for part in below)


def _texts(element: Element) -> Iterator[str]:
    for part in element.parts:
        if isinstance(part, str):
            yield part
        elif part.name in _CODES:
            yield _stand_in(part)
        elif part.name != "sub":
            yield from _texts(part)


def _stand_in(code: Element) -> str:
    """What a reader sees in place of a code."""
    if not _LINE_BREAKS.isdisjoint(code.attributes.get(name) for name in ("ctype", "type", "subType")):
        return " "
    content = "".join(part for part in code.parts if isinstance(part, str))
    shown = (code.attributes.get("equiv-text"), code.attributes.get("equiv"), content)
    return next((text.strip() for text in shown if text and _PLACEHOLDER.fullmatch(text.strip())), "")
