"""Texts to score: a record's fields checked, the context joined, the previous sentences of a document."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pronmetric.errors import InputError
from pronmetric.text.lines import check_segment

CONTEXT_SIZE = 2
SOURCE_CONTEXT = 5  # number of previous source sentences that are used
# The kinds of context of a text.
COMMON, RESPECTIVE, NONE, CROSSED, GIVEN = "common", "respective", "none", "crossed", "given"


class Source(NamedTuple):
    """The source of a text, and the source's previous sentences, oldest first."""

    text: str
    before: tuple[str, ...] = ()


class Text(NamedTuple):
    """A text whose pronouns are scored, the plain text before it, and maybe its source."""

    context: str
    text: str
    source: Source | None = None


def join(sentences: Iterable[str]) -> str:
    """Sentences as one text: trimmed, joined by single spaces, without empty ones.

    >>> join(["A. B."]) == join(["A.", "", " B. "])
    True
    """
    return " ".join(stripped for sentence in sentences if (stripped := sentence.strip()))


def text_of(record: object, *, file: str | None = None, line: int | None = None, with_source: bool = False) -> Text:
    """The text of a record `{"text": str, "context": [str, ...]}`; other fields never change its score.

    `context` may be missing, null or empty: the text then has no context. `with_source`: the record must have "source"
    too; "source_context", a list like "context", is optional.

    Raises:
        InputError: with `file` and `line`, where the record is no mapping, a key is missing, a value has
            another type, or a string has a NUL or a lone surrogate, or is above its limit.
    """
    record = object_of(record, 'an object {"text": ..., "context": [...]}', file=file, line=line)
    text = string_of(record, "text", file=file, line=line)
    context = join(sentences_of(record, "context", file=file, line=line))
    if not with_source:
        return Text(context, text)
    if "source" not in record:
        raise InputError('the key "source" is missing; it is required with a source language', file=file, line=line)
    before = tuple(sentences_of(record, "source_context", file=file, line=line))[-SOURCE_CONTEXT:]
    return Text(context, text, Source(string_of(record, "source", file=file, line=line), before))


def object_of(value: object, expected: str, *, file: str | None = None, line: int | None = None) -> Mapping[str, Any]:
    """The value, a mapping.

    Raises:
        InputError: it is none; `expected` describes it.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"expected {expected}, got {_kind(value)}", file=file, line=line)
    return value


def string_of(record: Mapping[str, Any], name: str, *, file: str | None = None, line: int | None = None) -> str:
    """The string in a field of a record.

    Raises:
        InputError: as `text_of`.
    """
    if name not in record:
        message = f'the key "{name}" is missing; the record has {sorted(map(str, record))}'
        raise InputError(message, file=file, line=line)
    value = record[name]
    if not isinstance(value, str):
        raise InputError(f'"{name}" must be a string, got {_kind(value)}', file=file, line=line)
    refuse_unprintable(value, name, file=file, line=line)
    check_segment(value, file=file, line=line)
    return value


def sentences_of(
    record: Mapping[str, Any], name: str, *, file: str | None = None, line: int | None = None
) -> Sequence[str]:
    """The list of strings in a field of a record; empty if the field is missing or null.

    Raises:
        InputError: as `text_of`.
    """
    value = record.get(name)
    value = [] if value is None else value
    if not isinstance(value, list | tuple) or not all(isinstance(sentence, str) for sentence in value):
        got = _kind(value) if isinstance(value, str) or not isinstance(value, list | tuple) else "other items"
        raise InputError(f'"{name}" must be a list of strings, oldest first, got {got}', file=file, line=line)
    for sentence in value:
        refuse_unprintable(sentence, name, file=file, line=line)
        check_segment(sentence, file=file, line=line)
    return value


def refuse_unprintable(value: str, name: str, *, file: str | None = None, line: int | None = None) -> None:
    """Raise InputError if `value` has a NUL or a lone surrogate (JSON can encode both)."""
    if "\0" in value:
        raise InputError(f'"{name}" holds a NUL character; remove it', file=file, line=line)
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f'"{name}" has a lone surrogate; write complete characters', file=file, line=line)


class SourceHistory:
    """The last source sentences of a document, line by line; a change of document forgets them."""

    def __init__(self) -> None:
        self._before: deque[str] = deque(maxlen=SOURCE_CONTEXT)
        self._doc: Hashable = None

    def source(self, line: str, doc: Hashable = None) -> Source:
        """`line` with the source sentences before it in its document; then it is remembered."""
        if doc != self._doc:
            self._before.clear()
            self._doc = doc
        found = Source(line, tuple(self._before))
        self._before.append(line)
        return found


class History:
    """The last sentences of a document, line by line; a new document clears them."""

    def __init__(self, *, size: int = CONTEXT_SIZE) -> None:
        self._before: deque[str] = deque(maxlen=size)
        self._doc: Hashable = None

    def context(self, line: str, doc: Hashable = None) -> str:
        """The previous sentences of `line` in its document, joined; then `line` is remembered."""
        if doc != self._doc:
            self._before.clear()
            self._doc = doc
        found = join(self._before)
        self._before.append(line)
        return found


def previous(
    lines: Iterable[str], docs: Iterable[Hashable] | None = None, *, size: int = CONTEXT_SIZE
) -> Iterator[str]:
    """For each line, the `size` lines before it as one text, only within its document.

    `docs` has the document of each line; without it all lines are one document.

    >>> list(previous(["A.", "B.", "C.", "D."], ["x", "x", "x", "y"]))
    ['', 'A.', 'A. B.', '']
    """
    history = History(size=size)
    if docs is None:
        return (history.context(line) for line in lines)
    return (history.context(line, doc) for line, doc in zip(lines, docs, strict=True))


def in_context(
    lines: Sequence[str],
    *,
    reference: Sequence[str] | None = None,
    docs: Sequence[Hashable] | None = None,
    size: int = CONTEXT_SIZE,
) -> list[dict[str, Any]]:
    """Records of a system's lines for `PronounMetric.predict`, each in the previous lines of its document.

    Args:
        lines: the system's output, one segment a line.
        reference: lines that give the context (common context); without them the system's own (respective).
        docs: the document of each line; without it all lines are one document.
        size: previous lines of a context; a checkpoint has that of its training (`PronounMetric.context_size`).
    """
    source = lines if reference is None else reference
    return [
        {"text": text, "context": [context]}
        for text, context in zip(lines, previous(source, docs, size=size), strict=True)
    ]


def _kind(value: object) -> str:
    names = {str: "a string", bool: "true or false", type(None): "null", list: "a list", dict: "an object"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
