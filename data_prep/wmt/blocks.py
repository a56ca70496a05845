"""The segments of a document's text as WMT25 and WMT26 have them.

- Paragraphs, separated by empty lines.
- HTML (WMT26): each `<p>..</p>` is a segment. Tags are removed, `<br>` is a line end.
- JSON of software (WMT26), behind "```json": each string that is no key is a segment.

Single line ends within a segment become spaces. In WMT26 other texts are one segment, as raters saw them.
"""

from __future__ import annotations

import html
import re

from data_prep.wmt.testset import join_lines
from pronmetric.text import strict_json

_HTML = re.compile(r"</?p\b[^<>]*>|<br\b[^<>]*>", re.IGNORECASE)
_END, _BREAK = re.compile(r"</p\s*>", re.IGNORECASE), re.compile(r"<br\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_STRING = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"(?P<key>\s*:)?', re.DOTALL)
_FENCE = "```json"


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a document: separated by empty lines; single line ends become spaces."""
    return [join_lines(part) for part in text.replace("\r\n", "\n").split("\n\n")]


def blocks(text: str) -> list[str]:
    r"""The segments of a document of WMT26; a document without marks is one.

    >>> blocks("<p>She left.<br>It rained &amp; rained.</p><p><b>He</b> stayed.</p>")
    ['She left. It rained & rained.', 'He stayed.']
    >>> blocks('```json\n{"title": "Her file", "own": "Mine"}\n```')
    ['Her file', 'Mine']
    """
    bare = text.strip()
    if bare.startswith(_FENCE) and (strings := [one["text"] for one in _STRING.finditer(bare) if not one["key"]]):
        return [join_lines(_unescaped(string)) for string in strings]
    if not _HTML.search(bare):
        return [join_lines(re.sub(r"\n+", "\n", text.replace("\r\n", "\n")))]
    parts = [join_lines(html.unescape(_TAG.sub("", _BREAK.sub("\n", part)))).strip() for part in _END.split(bare)]
    return parts if parts[-1] or len(parts) == 1 else parts[:-1]


def _unescaped(string: str) -> str:
    """The text of a JSON string; as it stands where a system broke its escapes."""
    try:
        return str(strict_json.parse(f'"{string}"'))
    except ValueError:
        return string


def without_tags(text: str) -> str:
    """A text of the same length, with blanks in place of its tags, so that offsets stay.

    >>> without_tags("<p>She left.</p>")
    '   She left.    '
    """
    return _TAG.sub(lambda tag: " " * len(tag[0]), text) if _HTML.search(text) else text
