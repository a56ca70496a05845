"""Texts to score: of a record, the context joined, the previous sentences of a document."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError
from pronmetric.text.columns import values_of
from pronmetric.text.entry import Entry
from pronmetric.text.files.columns import TEXTS, first_of

CONTEXT_SIZE = 2
"""Previous sentences of a context, where no checkpoint and no setting says how many."""
UNNAMED_CONTEXT_SIZE = 2
"""Those of files that were written before they named the number."""
SOURCE_CONTEXT = 5  # number of previous source sentences that are used
_NO_WORDS = re.compile(r"<[^<>]*>|&#?\w+;")  # tags, marks such as <range>, entities
_BREAKS = {"\t": "a tab", "\n": "a line break", "\r": "a line break"}
UNREAD_SOURCES = "texts have a source, which does not affect scores: the model reads no sources"
# The kinds of context of a text.
COMMON, RESPECTIVE, NONE, CROSSED, GIVEN = "common", "respective", "none", "crossed", "given"


class Source(NamedTuple):
    """The source of a text, the source's previous sentences, oldest first, and its language's code, if it is known."""

    text: str
    before: tuple[str, ...] = ()
    language: str | None = None


class Text(NamedTuple):
    """A text whose pronouns are scored, the plain text before it, and maybe its source.

    speaker: who says it, "" if that is unknown; the context then has the names of its speakers, this one's at its end
    (`introduce`). None: speakers are not given. left_out: sentences of its given context before those in `context`,
    more than the model was trained on. unread: whether a source is given with it that is not read.
    """

    context: str
    text: str
    source: Source | None = None
    speaker: str | None = None
    left_out: int = 0
    unread: bool = False

    def without_context(self) -> Text:
        """The text alone, without what names speakers."""
        return self._replace(context="", speaker=None, left_out=0)


def is_sentence(line: str) -> bool:
    """Whether a line takes a place in a context: it has a letter that stands in no tag or entity.

    >>> [is_sentence(line) for line in ("She left.", "<b>She</b>", "", "<range>", "12", "00:01 --> 00:02")]
    [True, True, False, False, False, False]
    """
    if line[:1].isalpha():
        return True
    words = _NO_WORDS.sub("", line) if "<" in line or "&" in line else line
    return any(map(str.isalpha, words))


def join(sentences: Iterable[str]) -> str:
    """Sentences as one text: trimmed, joined by single spaces, without empty ones.

    >>> join(["A. B."]) == join(["A.", "", " B. "])
    True
    """
    return " ".join(stripped for sentence in sentences if (stripped := sentence.strip()))


def attribute(line: str, speaker: str | None) -> str:
    """A line of a context after the name of its speaker, if that is known.

    >>> attribute("I left.", "Ann"), attribute("I left.", ""), attribute("", "Ann")
    ('Ann: I left.', 'I left.', '')
    """
    return f"{speaker}: {line}" if speaker and line.strip() else line


def introduce(context: str, speaker: str | None) -> str:
    """A context that ends with the name of who speaks next, if that is known.

    So a model reads the name before the text, and the text stays as it is: no pronoun in a name is scored.

    >>> introduce("Ann: Did you call?", "Bob"), introduce("", "Bob")
    ('Ann: Did you call? Bob:', 'Bob:')
    """
    return join((context, f"{speaker}:")) if speaker else context


def nearest(lines: Iterable[str], size: int) -> tuple[str, ...]:
    """The `size` sentences before a text, oldest first, of the lines before it from the nearest to the first one.

    Lines that are no sentences take no place.

    >>> nearest(["D.", "", "C.", "B."], 2), nearest([], 2)
    (('C.', 'D.'), ())
    """
    return tuple(islice(filter(is_sentence, lines), size))[::-1]


def spoken(lines: Iterable[tuple[str, str | None]], speaker: str | None, *, size: int) -> tuple[str, ...]:
    """The `size` sentences before a text as `nearest` finds them, each with its speaker; `speaker` is that of the text.

    The name of who speaks next ends the last sentence, or is the only one.

    >>> spoken([("Yes.", ""), ("Did you call?", "Ann")], "Ann", size=2), spoken([], "Bob", size=2)
    (('Ann: Did you call?', 'Yes. Ann:'), ('Bob:',))
    """
    *sentences, last = nearest((attribute(line, who) for line, who in lines if is_sentence(line)), size) or ("",)
    last = introduce(last, speaker)
    return (*sentences, last) if last else ()


def check_speaker(name: str, *, file: str | Path | None = None, line: int | None = None) -> str:
    """The name of a speaker, trimmed.

    Raises:
        InputError: it has a line break or a tab.
    """
    if bad := next((shown for mark, shown in _BREAKS.items() if mark in name), None):
        cure = "write the name of a speaker alone and on one line"
        raise InputError(f"{bad} in a speaker's name; {cure}", file=file, line=line)
    return name.strip()


def text_of(
    record: object,
    *,
    file: str | Path | None = None,
    line: int | None = None,
    with_source: bool | None = False,
    context_size: int | None = None,
) -> Text:
    """The text of a record `{"text": str, "context": [str, ...]}`; fields not named here never change its score.

    `context` may be missing, null or empty: the text then has no context. "speaker", who says the text, and
    "context_speakers", a list with the speaker of each sentence of "context", are optional; null and "" are unknown
    speakers. `with_source`: the record must have "source" too; "source_context", a list like "context", is optional.
    None: it may have one, which may be null. False: one that it has is not read (`Text.unread`). context_size: so many
    sentences of the context are used, the last ones; None: all.

    Raises:
        InputError: with `file` and `line`, where the record is no mapping, a key is missing, a value has
            another type, or a string has a NUL or a lone surrogate, or is above its limit.
    """
    entry = Entry(record, file=file, line=line, expected='an object {"text": ..., "context": [...]}')
    if "text" not in entry.record and (other := first_of(map(str, entry.record), TEXTS)) is not None:
        entry.fail(f'the text is under "{other}", not "text": rename it, or score the file as one of texts')
    text = entry.text("text")
    context, speaker, left_out = _spoken(entry, context_size)
    if with_source:
        if "source" not in entry.record:
            entry.fail('the key "source" is missing; it is required with a source language')
        entry.text("source")  # not null
    source = None if with_source is False else source_of(entry)
    unread = with_source is False and any(entry.get(key) for key in ("source", "source_context"))
    return Text(context, text, source, speaker, left_out, unread)


def _spoken(entry: Entry, size: int | None) -> tuple[str, str | None, int]:
    """Of a record: its context, the last `size` sentences, with names; its speaker; how many sentences are left out."""
    sentences, speaker = entry.sentences("context"), entry.name_of("speaker")
    places = [place for place, sentence in enumerate(sentences) if is_sentence(sentence)]
    used = places if size is None else places[max(0, len(places) - size) :]
    left_out = len(places) - len(used)
    speakers = entry.names("context_speakers")
    if speaker is None and not speakers:
        return join(sentences[place] for place in used), None, left_out
    if speakers and len(speakers) != len(sentences):
        entry.fail(
            f'expected as many "context_speakers" as sentences of "context", {len(sentences)}, got {len(speakers)}; '
            "write null for an unknown speaker"
        )
    names = [check_speaker(name, file=entry.file, line=entry.line) for name in (*speakers, speaker or "")]
    of_context = names[:-1] or [""] * len(sentences)
    context = join(attribute(sentences[place], of_context[place]) for place in used)
    return introduce(context, names[-1]), names[-1], left_out


def source_of(entry: Entry) -> Source | None:
    """The source of a record, None if it has none; errors as `text_of`.

    One whose previous sentences are given without it is empty, which is noted where sources are checked.
    """
    before = entry.sentences("source_context")
    if entry.get("source") is None and not before:
        return None
    text = "" if entry.get("source") is None else entry.text("source")
    return Source(text, tuple(filter(is_sentence, before))[-SOURCE_CONTEXT:])


def source_record(source: Source | None) -> dict[str, Any]:
    """The keys of a record that has this source; none without one."""
    return {} if source is None else {"source": source.text, "source_context": list(source.before)}


class SourceHistory:
    """The last source sentences of a document, line by line; a change of document forgets them."""

    def __init__(self, language: str | None = None) -> None:
        self._before: deque[str] = deque(maxlen=SOURCE_CONTEXT)
        self._language = language
        self._doc: Hashable = None

    def source(self, line: str, doc: Hashable = None) -> Source:
        """`line` with the source sentences before it in its document; then it is remembered."""
        if doc != self._doc:
            self._before.clear()
            self._doc = doc
        found = Source(line, tuple(self._before), self._language)
        if is_sentence(line):
            self._before.append(line)
        return found


class History:
    """The last sentences of a document, line by line; a new document clears them."""

    def __init__(self, *, size: int = CONTEXT_SIZE) -> None:
        self._before: deque[str] = deque(maxlen=size)
        self._doc: Hashable = None

    def context(self, line: str, doc: Hashable = None, speaker: str | None = None) -> str:
        """The previous sentences of `line` in its document, joined; then `line` is remembered.

        With the names of speakers as in `Text`; `speaker` is that of `line`.
        """
        return introduce(join(self.before(line, doc, speaker)), speaker)

    def before(self, line: str, doc: Hashable = None, speaker: str | None = None) -> list[str]:
        """The previous sentences one by one, without the name of who says `line`; see `context`."""
        if doc != self._doc:
            self._before.clear()
            self._doc = doc
        found = list(self._before)
        if is_sentence(line):
            self._before.append(attribute(line, speaker))
        return found


def sources_of(lines: Iterable[str], docs: Sequence[Hashable] | None = None) -> list[Source]:
    """Each line of the source with the source lines before it in its document; see `previous`."""
    history = SourceHistory()
    return [history.source(line, None if docs is None else docs[place]) for place, line in enumerate(lines)]


def previous(
    lines: Iterable[str],
    docs: Iterable[Hashable] | None = None,
    *,
    size: int = CONTEXT_SIZE,
    speakers: Iterable[str] | None = None,
) -> Iterator[str]:
    """For each line, the `size` sentences before it as one text, only within its document.

    Lines that are no sentences (`is_sentence`), such as blank ones, take no place.

    `docs` has the document of each line; without it all lines are one document. `speakers`: those of the lines; see
    `Text`.

    >>> list(previous(["A.", "B.", "C.", "D."], ["x", "x", "x", "y"]))
    ['', 'A.', 'A. B.', '']
    """
    given = {name: column for name, column in (("doc", docs), ("speaker", speakers)) if column is not None}
    history = History(size=size)
    for line, *values in zip(lines, *given.values(), strict=True):
        yield history.context(line, **dict(zip(given, values, strict=True)))


def in_context(
    lines: Iterable[str],
    *,
    reference: Iterable[str] | None = None,
    docs: Iterable[Hashable] | None = None,
    size: int = CONTEXT_SIZE,
) -> list[dict[str, Any]]:
    """Records of a system's lines for `PronounMetric.predict`, each in the previous sentences of its document.

    Args:
        lines: the system's output, one segment a line: a list, a Series, an array or a column of a data set, as are
            the others.
        reference: lines that give the context (common context); without them the system's own (respective).
        docs: the document of each line; without it all lines are one document.
        size: previous sentences of a context; a checkpoint has that of its training (`PronounMetric.context_size`).
    """
    lines, history = values_of(lines, name="lines"), History(size=size)
    given = lines if reference is None else values_of(reference, name="reference")
    by_line: Sequence[Hashable] = [None] * len(lines) if docs is None else values_of(docs, name="docs")
    return [
        {"text": text, "context": history.before(line, doc)}
        for text, line, doc in zip(lines, given, by_line, strict=True)
    ]
