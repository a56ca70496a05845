"""MQM error annotations (Marot TSV): the errors on pronouns, and the context of what they are in.

A file has a header and one line for each error that a rater marked in a system's translation of a segment: system, doc,
seg_id (from WMT23 on docSegId), rater, source, target, category, severity; the span is marked in the target (or source)
as `<v>..</v>`. A text without errors has one line of category and severity "No-error". Freitag et al. 2021, "Experts,
Errors, and Context"; the columns are described in github.com/google-research/google-research/tree/master/marot.

The published files also hold rows that are no annotation of the translation, `LEFT_OUT`: attention checks of raters,
metadata, and annotations of another text, because some raters corrected the target (WMT20). They are left out and
counted by kind; if a row of a rater's annotation of a text cannot be used, none of its rows is.

A pronoun error is an error whose span overlaps a pronoun in use, is at most `longest` words long (in a long span the
pronoun is usually not the error), and whose category is none of `OTHER_CATEGORIES`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.human.wmt_scores import is_human
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.text.context import CONTEXT_SIZE, SOURCE_CONTEXT, History, Source
from pronmetric.text.lines import read_lines

COLUMNS = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")
SEGMENT_COLUMNS = ("seg_id", "docSegId")
WEIGHTS = {"no-error": 0.0, "neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 10.0}
NO_ERROR, OMISSION = "no-error", "omission"
OTHER_CATEGORIES = (
    NO_ERROR,
    "fluency/punctuation",
    "fluency/spelling",
    "punctuation",
    "spelling",
    "locale convention",
    "source",
)
ATTENTION_CHECK = "HOTW-test"
FIELDS, CHECKS, RATER, AUTOMATIC, SEGMENT, SEVERITY, MARKS, TEXT, REST = LEFT_OUT = (
    "fields",
    "attention_checks",
    "no_rater",
    "automatic_raters",
    "no_segment",
    "unknown_severity",
    "unpaired_marks",
    "other_text",
    "incomplete",
)
"""Kinds of rows that are left out; `DESCRIPTIONS` has them in words."""
DESCRIPTIONS = {
    FIELDS: "rows with another number of fields than the header",
    CHECKS: f"attention checks ({ATTENTION_CHECK})",
    RATER: "rows without a rater",
    AUTOMATIC: "rows of automatic raters (AutoMQM)",
    SEGMENT: "rows without a segment number",
    SEVERITY: "rows with an unknown severity",
    MARKS: "rows with unpaired marks of a span",
    TEXT: "rows with another text of the translation than most raters have",
    REST: "other rows of annotations that have such a row",
}
REFERENCE = "ref"
LONGEST = 4
"""Words of a span that says something of a pronoun. More: longer spans, in which the error may be another word."""
_MARK = re.compile(r"(?:<|&(?:amp;)*(?:lt|#60|#x3c);)(?P<end>/?)v(?:>|&(?:amp;)*(?:gt|#62|#x3e);)", re.IGNORECASE)
ESCAPED, READ_ESCAPED = "escaped_marks", "rows with escaped marks (&lt;v&gt;), read as marks"
"""The kind of rows whose marks an HTML tool escaped, and what is said of them."""
_NUMBER = re.compile("[0-9]{1,9}")


class Insertion(NamedTuple):
    """Words that a rater put into the translation: the offset, and the text."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Error:
    """One error; `spans` are offsets in the target without marks, empty if the error is marked in the source.

    inserted: what the rater put into the text for it; only of texts that raters changed, see `read`.
    """

    category: str
    severity: str
    spans: tuple[tuple[int, int], ...]
    inserted: tuple[Insertion, ...] = ()

    @property
    def weight(self) -> float:
        """The weight of its severity: minor 1, major 5, critical 10."""
        return WEIGHTS[self.severity.lower()]


@dataclass(frozen=True)
class Judgement:
    """One rater's annotation of one translation, in `language`; `errors` is empty for a translation without errors."""

    system: str
    doc: str
    seg: int
    rater: str
    text: str
    errors: tuple[Error, ...]
    source: str = ""
    language: Language = ENGLISH

    @cached_property
    def pronouns(self) -> tuple[Occurrence, ...]:
        """The pronouns in use."""
        return self.language.find(self.text)

    def pronoun_errors(self, *, longest: int = LONGEST) -> tuple[tuple[Error, tuple[Occurrence, ...]], ...]:
        """The pronoun errors, each with the pronouns that it overlaps."""
        touching, writing = [], self.language.writing
        most = writing.tokens(longest)
        for error in self.errors:
            if error.weight and not error.category.lower().replace("_", " ").startswith(OTHER_CATEGORIES):
                spans = [(a, b) for a, b in error.spans if writing.count_words(self.text[a:b]) <= most]
                touched = tuple(o for o in self.pronouns if any(o.start < b and a < o.end for a, b in spans))
                if touched:
                    touching.append((error, touched))
        return tuple(touching)

    def penalty(self, *, longest: int = LONGEST) -> float:
        """The sum of the pronoun errors' weights; lower is better."""
        return sum(error.weight for error, _ in self.pronoun_errors(longest=longest))


class _Unusable(InputError):
    """A row that is no annotation of the translation, with its kind, one of `LEFT_OUT`."""

    def __init__(self, kind: str, message: str, *, file: str | Path, line: int) -> None:
        super().__init__(message, file=file, line=line)
        self.kind = kind


class _Row(NamedTuple):
    """One row: an error, or none, of a rater in a translation; `place` is the system, the document and the segment."""

    line: int
    place: tuple[str, str, int]
    rater: str
    text: str
    error: Error | None
    source: str


Carry = Callable[[Error, str, str], Error | None]
"""An error, the text in which it was marked, the system's text -> the error in the system's text, if it is there."""


def read(
    path: str | Path,
    *,
    strict: bool = False,
    tally: Counter[str] | None = None,
    carry: Carry | None = None,
    language: Language = ENGLISH,
) -> list[Judgement]:
    """The annotations of each translation by each rater, in the order of the file; language: of the translations.

    Rows that are no annotation of the translation are left out and counted in `tally` under `LEFT_OUT`. Where raters
    have different texts of a translation, that of most raters counts (of equally many, the shortest); a difference in
    spaces alone, which marked insertions cause, is none. Quotes of CSV around a text are removed. Escaped marks
    (`&lt;v&gt;`) are marks, and their rows are counted under `ESCAPED`. With `carry` an error that a rater marked in a
    text of their own is carried over to the translation; only the row of an error that is not there is left out.

    Raises:
        InputError: a missing column, a file without annotations; with `strict` each row that would be left out, with
            file and line.
    """
    count: Counter[str] = Counter() if tally is None else tally
    first, *rest = read_lines(path) or [""]
    at = _columns(first.split("\t"), path)
    rows: list[_Row] = []
    spoilt: set[tuple[tuple[str, str, int], str]] = set()  # annotations with a row that cannot be used
    for number, line in enumerate(rest, start=2):
        if line.strip():
            try:
                rows.append(_row(line, at, path, number))
                if any(mark.group()[0] == "&" for mark in _MARK.finditer(line)):
                    count[ESCAPED] += 1
            except _Unusable as error:
                if strict:
                    raise
                count[error.kind] += 1
                if error.kind not in (CHECKS, RATER, AUTOMATIC) and (known := _annotation(line, at)):
                    spoilt.add(known)
    texts = _texts(rows)
    if carry is not None:
        rows = list(_carried(rows, texts, carry, count))
    for row in rows:
        if _letters(row.text) != _letters(texts[row.place]):
            if strict:
                system, doc, seg = row.place
                what = f"the translation of {doc} {seg} by {system} differs from that of most raters"
                message = f"{what}; expected one translation of a segment for each system"
                raise InputError(message, file=path, line=row.line)
            count[TEXT] += 1
            spoilt.add((row.place, row.rater))
    errors_of: dict[tuple[tuple[str, str, int], str], list[Error]] = {}
    for row in rows:
        text = texts[row.place]
        if (row.place, row.rater) in spoilt:
            count[REST] += _letters(row.text) == _letters(text)
            continue
        errors = errors_of.setdefault((row.place, row.rater), [])
        if row.error is not None:
            spans = tuple(_moved(span, row.text, text) for span in row.error.spans)
            errors.append(replace(row.error, spans=spans))
    if not errors_of:
        told = ", ".join(f"{count[kind]} {DESCRIPTIONS[kind]}" for kind in LEFT_OUT if count[kind])
        message = "no annotations: expected a header, and a line for each error"
        raise InputError(message + (f"; left out: {told}; `strict=True` names the first" if told else ""), file=path)
    sources_of: dict[tuple[str, str, int], Counter[str]] = defaultdict(Counter)
    for row in rows:
        sources_of[row.place][row.source] += 1
    source = {place: _usual(own) for place, own in sources_of.items()}
    return [
        Judgement(*place, rater, texts[place], tuple(errors), source[place], language)
        for (place, rater), errors in errors_of.items()
    ]


def _carried(
    rows: Iterable[_Row], texts: Mapping[tuple[str, str, int], str], carry: Carry, count: Counter[str]
) -> Iterator[_Row]:
    """The rows in the texts of the translations."""
    for row in rows:
        text = texts[row.place]
        if row.error is None or _letters(row.text) == _letters(text):
            yield row if row.error is not None else row._replace(text=text)
        elif (error := carry(row.error, row.text, text)) is not None:
            yield row._replace(text=text, error=error)
        else:
            count[TEXT] += 1


class _Columns(NamedTuple):
    """The number of columns of a file, and the place of each that is read."""

    number: int
    system: int
    doc: int
    segment: int
    rater: int
    source: int
    target: int
    category: int
    severity: int


def _columns(header: list[str], path: str | Path) -> _Columns:
    header = [name.strip() for name in header]
    segment = next((name for name in SEGMENT_COLUMNS if name in header), SEGMENT_COLUMNS[0])
    names = [segment if name == SEGMENT_COLUMNS[0] else name for name in COLUMNS]
    if missing := [name for name in names if name not in header]:
        raise InputError(
            f"the column {missing[0]!r} is missing: expected a header of tabs with {', '.join(COLUMNS)}, or docSegId "
            "for seg_id",
            file=path,
            line=1,
        )
    at = dict(zip(COLUMNS, map(header.index, names), strict=True))
    return _Columns(
        len(header),
        *(at[name] for name in ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")),
    )


def _row(line: str, at: _Columns, path: str | Path, number: int) -> _Row:
    """One row; `_Unusable` if it is no annotation of the translation."""

    def unusable(kind: str, message: str) -> _Unusable:
        return _Unusable(kind, message, file=path, line=number)

    fields = [field.strip() for field in line.split("\t")]
    while len(fields) > at.number and not fields[-1]:
        fields.pop()
    if len(fields) != at.number:
        raise unusable(FIELDS, f"{len(fields)} fields, but the header has {at.number}")
    rater, category, severity = fields[at.rater], fields[at.category], fields[at.severity]
    level = severity.lower().replace("_", "-")
    if level == ATTENTION_CHECK.lower():
        raise unusable(CHECKS, f"an attention check ({severity}), no annotation of the translation")
    if not rater:
        raise unusable(RATER, "no rater: expected the rater of each error")
    if rater.lower().startswith("automqm"):
        raise unusable(AUTOMATIC, f"the automatic rater {rater}: expected annotations by people")
    if not _NUMBER.fullmatch(fields[at.segment]):
        message = f'"seg_id" must be a whole number, got {fields[at.segment][:40]!r}'
        raise unusable(SEGMENT, message)
    if not level and category.lower().replace("_", "-") in ("", NO_ERROR):
        level = NO_ERROR
    if level not in WEIGHTS:
        known = ", ".join(WEIGHTS)
        raise unusable(SEVERITY, f"unknown severity {severity[:40]!r}; expected one of {known}")
    try:
        text, spans = _plain(_unquoted(fields[at.target]))
    except ValueError as error:
        raise unusable(MARKS, str(error)) from None
    place = fields[at.system], fields[at.doc], int(fields[at.segment])
    found = None if level == NO_ERROR else Error(category, severity, spans)
    return _Row(number, place, rater, text, found, _MARK.sub("", _unquoted(fields[at.source])))


def _annotation(line: str, at: _Columns) -> tuple[tuple[str, str, int], str] | None:
    """The place and the rater that a row names, even if it cannot be used; None if it has no such fields."""
    fields = [field.strip() for field in line.split("\t")]
    if max(at.system, at.doc, at.segment, at.rater) >= len(fields) or not _NUMBER.fullmatch(fields[at.segment]):
        return None
    return (fields[at.system], fields[at.doc], int(fields[at.segment])), fields[at.rater]


def _texts(rows: Iterable[_Row]) -> dict[tuple[str, str, int], str]:
    """The text of each translation: that of most raters, of equally many the shortest; spaces do not count."""
    raters: dict[tuple[str, str, int], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    written: dict[tuple[tuple[str, str, int], str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        letters = _letters(row.text)
        raters[row.place][letters].add(row.rater)
        written[row.place, letters][row.text] += 1
    chosen = {place: _usual({each: len(who) for each, who in own.items()}) for place, own in raters.items()}
    return {place: _usual(written[place, letters]) for place, letters in chosen.items()}


def _usual(counts: Mapping[str, int]) -> str:
    """The most frequent text, of equally frequent ones the shortest, whatever their order."""
    return min(counts, key=lambda text: (-counts[text], len(text), text))


def is_reference(system: str) -> bool:
    """Whether a system's name is one that these files use for human translations ("refA", "ref-A.en", "Human-B.0")."""
    return system.startswith(REFERENCE) or is_human(system)


def _letters(text: str) -> str:
    """A text without its spaces."""
    return "".join(text.split())


def _moved(span: tuple[int, int], text: str, other: str) -> tuple[int, int]:
    """The span, from its first to its last character that is no space, in `other`: the same text but for spaces."""
    if text == other:
        return span
    start, end = (len(_letters(text[:place])) for place in span)
    places = [place for place, character in enumerate(other) if not character.isspace()]
    if start == end:
        place = places[start - 1] + 1 if start else 0
        return place, place
    return places[start], places[end - 1] + 1


def _unquoted(target: str) -> str:
    """A field without the quotes of CSV: outer quotes, and inner ones that are all doubled."""
    inner = target[1:-1]
    if len(target) > 3 and target[0] == target[-1] == '"' and '""' in inner and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return target


def counts(judgements: Sequence[Judgement], *, longest: int = LONGEST) -> dict[str, int]:
    """The numbers of texts, raters, errors, and pronoun errors of at most `longest` words."""
    return {
        "texts": len({(one.system, one.doc, one.seg) for one in judgements}),
        "raters": len({one.rater for one in judgements}),
        "errors": sum(len(one.errors) for one in judgements),
        "pronoun_errors": sum(len(one.pronoun_errors(longest=longest)) for one in judgements),
    }


def contexts(
    judgements: Iterable[Judgement], *, reference: str | None = REFERENCE
) -> dict[tuple[str, int], tuple[str, ...]]:
    """The context of each segment (doc, number): up to two sentences before it in the text of the system `reference`.

    Segments that are no sentences, and those that the file lacks, take no place. None gives no context.

    Raises:
        PronmetricError: the file has no such system.
    """
    judgements = list(judgements)
    systems = sorted({one.system for one in judgements})
    if reference is not None and reference not in systems:
        raise PronmetricError(
            f"no system {reference!r} for the context; there are {', '.join(systems)}; give one of them or none with "
            "`reference=`"
        )
    text = {(one.doc, one.seg): one.text for one in judgements if one.system == reference}
    return before(text, ((one.doc, one.seg) for one in judgements), size=CONTEXT_SIZE)


def before(
    text: Mapping[tuple[str, int], str], places: Iterable[tuple[str, int]], *, size: int
) -> dict[tuple[str, int], tuple[str, ...]]:
    """For each segment (doc, number) the `size` sentences before it in its document."""
    history = History(size=size)
    return {place: tuple(history.before(text.get(place, ""), place[0])) for place in sorted(set(places))}


def sources(judgements: Iterable[Judgement]) -> dict[tuple[str, int], Source]:
    """The source of each segment (doc, number) that has one, with the sources before it, chosen as in `contexts`."""
    written: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for one in judgements:
        if one.source:
            written[one.doc, one.seg][one.source] += 1
    text = {place: _usual(own) for place, own in written.items()}
    context = before(text, text, size=SOURCE_CONTEXT)
    return {place: Source(source, context[place]) for place, source in text.items()}


def _plain(target: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text without its marks, and the marked spans; an open span runs to the end.

    Raises:
        ValueError: unpaired marks.
    """
    text, spans, last = "", [], 0
    start: int | None = None
    for mark in _MARK.finditer(target):
        text += target[last : mark.start()]
        last = mark.end()
        if (not mark["end"]) != (start is None):
            raise ValueError(f"unpaired {mark.group()} in the target; expected <v>..</v>")
        if start is None:
            start = len(text)
        else:
            spans.append((start, len(text)))
            start = None
    text += target[last:]
    if start is not None:
        spans.append((start, len(text)))
    return text, tuple(spans)
