r"""Sentences of subtitles: cues without their mark-up, joined where a sentence goes on in the next one.

No text: tags (`<i>`, `<font>`, `<c.yellow>`, times), `<rt>` glosses, `{\an8}` and the like; `\N` and `<br>` break a
line. A speaker is told by `<v Anna>`, or by `ANNA:` or `[ANNA]` in capitals at the start of a line; a dash or `>>`
there is another, unknown one.

A unit is a sentence. It goes on in the next line of a cue, and in the next cue, unless another one speaks, a sound in
brackets or a song comes between, or a mark ends it. Without a mark it ends before a pause of more than 3 seconds,
except where a small letter follows, and after 6 cues. In a file without full stops a capital in a new cue begins a
sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.files.unit import FileTexts, Unit
from pronmetric.text.sentences import starts
from pronmetric.text.writing import ANY, UNSPACED_LETTERS

PAUSE = 3.0  # seconds
MOST_CUES = 6
"""Of a sentence; more: cues without a full stop join into texts that no context holds."""
_TIME = r"(?:(\d+):)?([0-5]?\d):([0-5]?\d)[,.](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?=\s|$).*")
_MEANT_AS_TIMES = re.compile(r"^\s*-->|\d\s*-->|-->\s*\d|^\s*(?:\d{1,2}:)?\d\d:\d\d[,.]\d{3}(?!\d)")

_BREAK = re.compile(r"\\[Nn]|<br\s*/?>", re.IGNORECASE)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+(?P<name>[^<>]+)>|</v>", re.IGNORECASE)
_MARKUP = re.compile(
    r"<rt\b[^<>]*>[^<>]*</rt>|</?[A-Za-z][^<>]*>|<[\d:.]+>|\{\\[^{}]*\}|\{[A-Za-z]:[^{}]*\}", re.IGNORECASE
)
_DASH = re.compile(r"\s*(?:[-\u2010\u2013\u2014]+\s*(?=[^\s\d])|>>+\s*)")
_NAME = r"[^\W\d_a-z][^\Wa-z_]*(?:[ .'\u2019-]+[^\Wa-z_]+){0,3}\.?"
_SPEAKER = re.compile(
    rf"\s*(?:(?P<plain>{_NAME})(?:\s*\([^()]*\))?:(?=\s)|\[(?P<square>{_NAME})\]:?\s(?=\s*\S)|\((?P<round>{_NAME})\):?\s(?=\s*\S))"
)
_NEXT_TURN = re.compile(r"(?<=[.!?\u2026])\s+(?=[-\u2010\u2013\u2014]\s?[^\W\d_])")
_SOUND = re.compile(r"[\[(\u266a\u266b#].*[\])\u266a\u266b#]|\*[^*]+\*")
_FULL_STOP = re.compile(r"(?:(?<!\.)\.|\u3002)[\"'\u201d\u2019\u00bb)\]\u300d\u300f]*$")
_TAIL = 40  # characters that tell whether a sentence ends between two parts
_FEW_CUES, _FEW_STOPS = 3, 0.05  # fewer cues tell nothing; the share of cues with a full stop, small as most lack one
_UNSPACED = re.compile(f"[{UNSPACED_LETTERS}\u3000-\u303f\uff01-\uff1f]")


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue.

    name: its number or identifier. start, end: in seconds. line: the line in the file of the first of `lines`.
    """

    name: str
    start: float
    end: float
    line: int
    lines: tuple[str, ...]

    @property
    def place(self) -> str:
        """The cue's name and start, to the second."""
        minutes, seconds = divmod(int(self.start), 60)
        return f"cue {self.name}, {minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


@dataclass(frozen=True, slots=True)
class _Part:
    """What one speaks in a line of a cue. dash: whether a mark says that another one begins to speak."""

    text: str
    line: int
    cue: Cue
    speaker: str | None
    dash: bool


@dataclass(slots=True)
class _Turn:
    """Parts whose sentences are joined, and the offset of each in their text."""

    text: str
    parts: list[_Part]
    offsets: list[int] = field(default_factory=lambda: [0])
    cues: int = 1

    def add(self, part: _Part) -> None:
        """Append a part, after a blank unless the script has none."""
        self.text += _blank(self.text, part.text)
        self.cues += part.cue is not self.parts[-1].cue
        self.offsets.append(len(self.text))
        self.parts.append(part)
        self.text += part.text


def times(line: str, example: str, *, file: Path, number: int) -> tuple[float, float] | None:
    """Start and end in seconds, if a line has the times of a cue.

    Raises:
        InputError: the line looks like one, but its times are broken; `example` is what was expected.
    """
    if match := _TIMES.fullmatch(line):
        return _seconds(*match.groups()[:4]), _seconds(*match.groups()[4:])
    if _MEANT_AS_TIMES.search(line):
        raise InputError(f'broken times "{line.strip()[:60]}"; expected "{example}"', file=file, line=number)
    return None


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction) / 10 ** len(fraction)


def texts(cues: Sequence[Cue], form: str) -> FileTexts:
    """The sentences of the cues of a file; cues without text are left out and counted."""
    parts = [part for cue in cues for part in _parts(cue)]
    empty = len(cues) - len({id(part.cue) for part in parts})
    units = tuple(unit for turn in _turns(parts) for unit in _units(turn))
    return FileTexts(form, units, in_order=True, left_out={"cues without text": empty} if empty else {})


def plain(row: str) -> str:
    """A line without mark-up."""
    return unescape(_MARKUP.sub("", row)).replace("\\h", " ")


def _parts(cue: Cue) -> Iterator[_Part]:
    """What is spoken in a cue, line by line; who speaks holds until another one does."""
    speaker: str | None = None
    for number, line in enumerate(cue.lines, start=cue.line):
        for row in _BREAK.split(line):
            for voice, raw in _voices(row):
                speaker = speaker if voice is None else voice or None
                spoken = plain(raw)
                for said in _NEXT_TURN.split(spoken) if _DASH.match(spoken) else [spoken]:
                    dash, name, text = _labels(said)
                    speaker = name or (None if dash and voice is None else speaker)
                    if text:
                        yield _Part(text, number, cue, speaker, dash)


def _voices(row: str) -> Iterator[tuple[str | None, str]]:
    """A line cut at its voice tags; each piece with the name in the tag before it, "" after an end, None before all."""
    voice, begin = None, 0
    for match in _VOICE.finditer(row):
        yield voice, row[begin : match.start()]
        voice, begin = " ".join(unescape(match["name"] or "").split()), match.end()
    yield voice, row[begin:]


def _labels(said: str) -> tuple[bool, str | None, str]:
    """Whether a line begins with a dash, the name of its speaker, and what is left."""
    dash = _DASH.match(said)
    rest = said[dash.end() :] if dash else said
    named = _SPEAKER.match(rest)
    name = " ".join((named["plain"] or named["square"] or named["round"]).split()) if named else ""
    if named is None or not name.isupper():
        return dash is not None, None, " ".join(rest.split())
    return dash is not None, name, " ".join(rest[named.end() :].split())


def _turns(parts: Sequence[_Part]) -> Iterator[_Turn]:
    """The parts, joined where a sentence may go on from one into the next."""
    stopped = _has_full_stops(parts)
    turn: _Turn | None = None
    for part in parts:
        if turn is not None and _goes_on(turn, part, stopped):
            turn.add(part)
            continue
        if turn is not None:
            yield turn
        turn = _Turn(part.text, [part])
    if turn is not None:
        yield turn


def _has_full_stops(parts: Sequence[_Part]) -> bool:
    """Whether sentences end with full stops in this file; True where there are too few cues to tell."""
    ends = list({id(part.cue): part.text for part in parts}.values())
    return len(ends) < _FEW_CUES or sum(map(bool, map(_FULL_STOP.search, ends))) >= _FEW_STOPS * len(ends)


def _goes_on(turn: _Turn, part: _Part, stopped: bool) -> bool:
    """Whether the last sentence of a turn goes on in `part`."""
    first, last = turn.parts[0], turn.parts[-1]
    if part.speaker not in (None, first.speaker) or _SOUND.fullmatch(last.text) or _SOUND.fullmatch(part.text):
        return False
    before = turn.text[-_TAIL:] + _blank(turn.text, part.text)
    if len(before) in starts(before + part.text[:_TAIL], ANY):
        return False
    lower = next((letter for letter in part.text if letter.isalpha()), "").islower()
    if part.dash:
        return lower and part.cue is not last.cue
    if part.cue is last.cue:
        return True
    if turn.cues >= MOST_CUES:
        return False
    return lower or (stopped and part.cue.start - last.cue.end <= PAUSE)


def _blank(before: str, after: str) -> str:
    return "" if _UNSPACED.match(before[-1]) and _UNSPACED.match(after) else " "


def _units(turn: _Turn) -> Iterable[Unit]:
    """The sentences of a turn, each at the place of its first word."""
    for start, end in pairwise([0, *starts(turn.text, ANY), len(turn.text)]):
        part = turn.parts[bisect_right(turn.offsets, start) - 1]
        yield Unit(turn.text[start:end].strip(), part.line, part.cue.place, speaker=turn.parts[0].speaker)
