"""Readable form of a text: what a reader sees, with a map to the offsets of the original.

Removed: invisible characters, mark-up. Uniform: blanks, apostrophes. Written out: entities, compatibility letters.

- Invisible are the control characters and Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt): soft
  hyphen, zero-width space and joiners, word joiner, byte order mark, bidi marks, variation selectors. Every white space
  counts as a blank. Letters with combining marks are composed (NFC); the stress marks of Cyrillic words are left out.
- Entities are those of HTML, with their semicolon (`&apos;`, `&#39;`), also escaped twice or with blanks inside.
- Letters: full-width, mathematical, circled and squared letters, and ligatures are plain letters (NFKC). Cyrillic and
  Greek look-alikes are Latin letters in a word that is otherwise Latin.
- Apostrophes: between Latin letters an accent, a prime or an opening quote is an apostrophe, and so is U+02BC.
- Mark-up: tags of HTML, XML and XLIFF, comments, the marks of emphasis in Markdown, the marks of sub-words. A tag that
  breaks a line is a blank.

Curly apostrophes and quotes, dashes and full-width punctuation stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from html.entities import html5
from typing import NamedTuple

ENTITIES, APOSTROPHES, LETTERS, MARKUP = "entities", "apostrophes", "letters", "markup"
CHANGES = (ENTITIES, APOSTROPHES, LETTERS, MARKUP)
"""The kinds of changes that are counted; others change nothing that is seen."""

_ROUNDS = 20  # a text is read again while something changes: "&amp;lt;b>" is a tag in the third round
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_LATIN = "A-Za-z\u00c0-\u024f"
_LOOK_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421"
    "\u0422\u0423\u0425\u0406\u0405\u0408\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4"
    "\u03a5\u03a7",
    "aeopcyxisjABEKMHOPCTYXISJoABEZHIKMNOPTYX",
)
_INLINE = frozenset(
    "a abbr b bdi bdo big bpt bx cite code data del dfn em ept ex font g hi i ins it kbd mark mrk ph q s samp small "
    "span strike strong sub sup time tt u ut v var wbr x".split()
)
"""Elements of HTML, TMX, XLIFF and MQM that do not break a line."""
_BLOCK = frozenset(
    "address article aside audio blockquote body br button canvas caption center dd details dialog div dl dt embed "
    "fieldset figcaption figure footer form frame h1 h2 h3 h4 h5 h6 head header hr html iframe img input label legend "
    "li link main map meta nav object ol optgroup option output p para picture pre script section select seg source "
    "style summary table tbody td textarea tfoot th thead title tr track ul video".split()
)

Edit = tuple[int, int, str]
"""A half-open span of a text, and what is read there."""


class Readable(NamedTuple):
    """A readable text; `starts` and `ends`: the original offsets of its characters (None: unchanged).

    changes: the kinds of changes, of `CHANGES`.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None
    changes: frozenset[str] = frozenset()

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The original span of the non-empty span [start, end) of `text`."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def read(self, start: int, end: int) -> tuple[int, int]:
        """The span of `text` with the visible characters of [start, end) of the original text."""
        if self.starts is None or self.ends is None:
            return start, end
        return bisect_right(self.ends, start), bisect_left(self.starts, end)


class _Step(NamedTuple):
    """One kind of change: `trigger` finds a character without which there is nothing to change."""

    kind: str | None
    trigger: re.Pattern[str]
    edits: Callable[[str], Iterable[Edit]]


def _each(pattern: str, read: Callable[[str], str], flags: int = 0) -> Callable[[str], Iterator[Edit]]:
    """The edits that put `read` of each match of `pattern` in its place."""
    compiled = re.compile(pattern, flags)
    return lambda text: ((*match.span(), read(match[0])) for match in compiled.finditer(text))


def _to_latin(word: str) -> str:
    """A word with look-alikes as Latin letters, if at least half of its letters are Latin."""
    return word.translate(_LOOK_ALIKE) if 2 * sum(map(str.isascii, word)) >= len(word) else word


def _character(entity: str) -> str:
    """What an entity stands for, however often its ampersand is escaped; itself if there is none of this name."""
    name = entity.replace(" ", "").rstrip(";").rpartition(";")[2].lstrip("&")
    return unescape(f"&{name};") if name[0] == "#" else html5.get(f"{name};", f"&{name};")


def _composed(letter: str) -> str:
    """A letter with its combining marks composed; the acute accent of a Cyrillic letter only marks the stress."""
    made = unicodedata.normalize("NFC", letter)
    return made.replace("\u0301", "") if "\u0400" <= made[0] <= "\u04ff" else made


_TAG = re.compile(
    r"""<(?P<close>[/?!])?(?P<name>[A-Za-z][\w:.-]*)
    (?P<attributes>(?:\s+[\w:.-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))?){0,40})\s*(?P<empty>[/?])?>
    | <!--(?:(?!-->).)*+-->""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""\s*=\s*(?:"[^"]*"|'[^']*')?""")


def _tags(text: str) -> Iterator[Edit]:
    """Tags and comments; a tag that breaks a line is a blank."""
    matches = list(_TAG.finditer(text))
    closed = {match["name"] for match in matches if match["close"] == "/"}
    for match in matches:
        if match["name"] is None or _is_tag(match, closed):
            yield *match.span(), " " if (match["name"] or "").lower() in _BLOCK else ""


def _is_tag(match: re.Match[str], closed: Container[str]) -> bool:
    """Whether what looks like a tag is one: an element of the lists, or as in XML closed, empty, or with attributes.

    "<Ann Lee>" and "<url>" are none. closed: the names in the text's end tags.
    """
    name = match["name"].lower()
    if name in _BLOCK:
        return True
    attributes = _QUOTED.sub("=", match["attributes"]).split()
    if not all("=" in attribute for attribute in attributes):
        return False
    return bool(name in _INLINE or match["close"] or match["empty"] or attributes or match["name"] in closed)


_MARKS = re.compile(r"(?<!\*)\*{1,3}(?!\*)|(?<!_)_{1,3}(?!_)|(?<!~)~~(?!~)")
_BEGINS_PHRASE = frozenset("\"'\u201c\u2018([*_~$")
_ENDS_PHRASE = frozenset("\"'\u201d\u2019)].,:;!?\u2026%*_~")


def _emphasis(text: str) -> Iterator[Edit]:
    """The paired marks around words or phrases: *, **, _, __, ~~ and the like."""
    opened: dict[str, list[tuple[int, int]]] = {}
    edits: list[Edit] = []
    for match in _MARKS.finditer(text):
        (start, end), mark = match.span(), match[0]
        before, after = text[start - 1 : start], text[end : end + 1]
        if opened.get(mark) and (before.isalnum() or before in _ENDS_PHRASE) and not after.isalnum():
            edits += [(*opened[mark].pop(), ""), (start, end, "")]
        elif (after.isalnum() or after in _BEGINS_PHRASE) and not before.isalnum():
            opened.setdefault(mark, []).append((start, end))
    return iter(sorted(edits))


_SUBWORDS = _each(
    r"\u2581|(?<=\w)@@ (?=\w)|(?<=\w) @[-/]@ (?=\w)",
    lambda mark: " " if mark == "\u2581" else "" if mark == "@@ " else mark[2],
)
_STEPS = (
    _Step(None, re.compile(rf"[{_INVISIBLE}]"), _each(rf"[{_INVISIBLE}]+", lambda _: "")),
    _Step(None, re.compile(r"[^\S ]"), _each(r"[^\S ]", lambda _: " ")),
    _Step(
        None,
        re.compile("[\u0300-\u036f]"),
        _each("[^\\W_][\u0300-\u036f]+", _composed),
    ),
    _Step(
        ENTITIES,
        re.compile("&"),
        _each(
            r"&(?:amp;|#0*38;|#[xX]0*26;)*+(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][\dA-Za-z]{1,31});"
            r"|&(?:amp;|#0*38;|#[xX]0*26;)+|& ?(?:amp|apos|quot|lt|gt|nbsp|\# ?\d\d) ?;",
            _character,
        ),
    ),
    _Step(
        LETTERS,
        re.compile("[\u2102-\u2139\u24b6-\u24e9\ufb00-\ufb06\uff10-\uff5a\U0001d400-\U0001d7ff\U0001f130-\U0001f149]"),
        _each(
            "[\u2102\u210a-\u2113\u2115\u2119-\u211d\u2124\u2128\u212c\u212d\u212f-\u2131\u2133\u2134\u2139\u24b6-\u24e9"
            "\ufb00-\ufb06\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\U0001f130-\U0001f149]",
            lambda letter: unicodedata.normalize("NFKC", letter),
        ),
    ),
    _Step(
        LETTERS,
        re.compile("[\u0391-\u0458]"),
        _each(
            rf"(?<![^\W\d_])(?=[^\W\d_]*[A-Za-z])[A-Za-z{''.join(map(chr, _LOOK_ALIKE))}]+(?![^\W\d_])",
            _to_latin,
        ),
    ),
    _Step(
        APOSTROPHES,
        re.compile("[`\u00b4\u02b9\u02bc\u2018\u201b\u2032\uff07]"),
        _each(
            rf"(?<=[{_LATIN}])[`\u00b4\u02b9\u2018\u201b\u2032](?=[{_LATIN}])"
            rf"|(?<=[{_LATIN}] )[`\u00b4\u2032](?=(?:s|re|ve|ll|d|m)(?![^\W_]))"
            rf"|(?<![^\W\d_{_LATIN}])[\u02bc\uff07](?![^\W\d_{_LATIN}])",
            lambda _: "'",
            re.IGNORECASE,
        ),
    ),
    _Step(MARKUP, re.compile("<"), _tags),
    _Step(MARKUP, re.compile("[*_~]"), _emphasis),
    _Step(MARKUP, re.compile("[\u2581@]"), _SUBWORDS),
)
_PLAIN = re.compile(r"[ -%'-)+-;=-?A-^a-}\u00c0-\u024f\u2013\u2014\u2019\u201c\u201d\u2026]*")  # triggers no step


@lru_cache(maxsize=4)  # tokenizer, finder and encoder ask for the same text one after the other
def readable(text: str) -> Readable:
    r"""The readable form of `text`; that of a readable text is the text itself.

    >>> seen = readable("a we\u00adek\u200b")
    >>> seen.text, seen.original(2, 6), seen.read(2, 7)
    ('a week', (2, 7), (2, 6))
    >>> seen = readable("It&apos;s <i>late</i>")
    >>> seen.text, seen.original(2, 4), sorted(seen.changes)
    ("It's late", (2, 9), ['entities', 'markup'])
    """
    seen = Readable(text)
    if _PLAIN.fullmatch(text):
        return seen
    for _ in range(_ROUNDS):
        before = seen
        for step in _STEPS:
            if step.trigger.search(seen.text):
                seen = _edited(seen, step)
        if seen is before:
            break
    return seen


def _edited(seen: Readable, step: _Step) -> Readable:
    """The text after one step, or `seen` itself where nothing changes."""
    text = seen.text
    edits = [edit for edit in step.edits(text) if text[edit[0] : edit[1]] != edit[2]]
    if not edits:
        return seen
    old_starts = range(len(text)) if seen.starts is None else seen.starts
    old_ends = range(1, len(text) + 1) if seen.ends is None else seen.ends
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for start, end, made in edits:
        parts += [text[at:start], made]
        starts.extend(old_starts[at:start])
        ends.extend(old_ends[at:start])
        starts.extend([old_starts[start]] * len(made))
        ends.extend([old_ends[end - 1]] * len(made))
        at = end
    parts.append(text[at:])
    starts.extend(old_starts[at:])
    ends.extend(old_ends[at:])
    changes = seen.changes if step.kind is None else seen.changes | {step.kind}
    return Readable("".join(parts), starts, ends, changes)
