"""Reader of the JSON that `score` and `compare` write (--to_json): checked, and brought into one form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NoReturn, TypeVar

from pronmetric.errors import InputError
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.pronouns import languages, tables
from pronmetric.pronouns.languages import Language
from pronmetric.results.records import (
    RATES,
    UNITS,
    Output,
    Pair,
    Pronoun,
    Result,
    Segment,
    System,
    Verdict,
    judge,
    pair_notes,
)
from pronmetric.results.write import FORMAT
from pronmetric.scoring.comparison import TIE, TIE_THRESHOLD, A, B
from pronmetric.signature import Signature
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, CONTEXT_SIZE, NONE, History

Value = TypeVar("Value")

_HOW = "expected what `pronmetric score` or `compare` wrote with --to_json"
_LARGE = 1e300
_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS = {str: "a string", int: "a whole number", float: "a number", list: "a list", dict: "an object"}


def read(path: str) -> Result:
    """The result in a file.

    Raises:
        InputError: no such file, broken JSON, or JSON that is not from `score` or `compare`.
    """
    return _Reader(path).result(strict_json.read(path, _HOW, bytes_of_names=True))


def language_code(signature: str) -> str:
    """The target language in the signature of a result; English has no field there.

    >>> language_code("model:default|language:de"), language_code("model:default")
    ('de', 'en')
    """
    try:
        return Signature.parse(signature)["language"]
    except (ValueError, KeyError):
        return languages.ENGLISH.code


def _source_language(signature: str) -> str | None:
    """The language of the sources in the signature of a result, where they count for the scores; else None."""
    try:
        return dict(Signature.parse(signature).fields).get("source", "").partition("-")[0] or None
    except ValueError:
        return None


def _shipped(code: str) -> Language | None:
    """The language, if the package has its table."""
    return languages.language(code) if code in (languages.ENGLISH.code, *tables.codes()) else None


class _Contexts:
    """The contexts of the outputs of a comparison, whose file does not hold them, segment by segment."""

    def __init__(self, kind: str, size: int, systems: int) -> None:
        self._kind = kind
        self._own = [History(size=size) for _ in range(systems)]
        self._reference = History(size=size)

    def of(self, texts: Sequence[str], reference: str | None, doc: str | None) -> list[str]:
        """The context of each text of the next segment; those of "crossed" are the texts' own."""
        common = self._reference.context(reference or "", doc)
        own = [history.context(text, doc) for history, text in zip(self._own, texts, strict=True)]
        return {COMMON: [common] * len(texts), NONE: [""] * len(texts)}.get(self._kind, own)


class _Reader:
    """Converts parsed JSON; errors name the file and the place in it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._bounded = True
        self._language: Language | None = languages.ENGLISH

    def result(self, value: Any) -> Result:
        top = self._check_type(value, dict, "the file")
        version = top.get("format", 1)
        if version not in (1, FORMAT) or isinstance(version, bool):
            self._refuse(f'"format" is {_quote(version)}, expected 1 or {FORMAT}: read it with a newer pronmetric')
        items = self._list(top, "segments", "the file")
        signature = self._get(top, "signature", str, "the file")
        self._language = _shipped(language_code(signature))
        if not items:
            self._refuse('"segments" is empty: there is nothing to report')
        by = top.get("by", SCORE)
        if by not in DECISIONS:
            self._refuse(f'"by" must be one of {", ".join(DECISIONS)}, got {_quote(by)}; {_HOW}')
        if "pairs" in top:
            systems, pairs = self._read_systems_and_pairs(top)
            tie = self._number(top, "tie", "the file")
            contexts = self._contexts(signature, len(systems))
            segments = (self._read_old_comparison if version == 1 else self._read_comparison)(items, systems, contexts)
        elif "systems" in top:
            tie = self._number(top, "tie", "the file") if "tie" in top else TIE_THRESHOLD
            systems = tuple(
                self._system(s, f'"systems", entry {i}') for i, s in enumerate(self._list(top, "systems", "the file"))
            )
            pairs, segments = (), self._read_scores(items, systems, by=by, tie=tie)
        else:
            self._refuse(f'has neither "systems" nor "pairs"; {_HOW}')
        notes = (
            ["the pronoun scores of this model are unbounded; they are not probabilities"] if not self._bounded else []
        )
        if "|context:crossed|" in signature:
            notes.append(
                "scores are means over the contexts of both systems of a pair"
                + "; with more than two systems, those of the pair with the first system (for the first: the second)"
                * (len(systems) > 2)
                + "; attention and alternative pronouns are computed with the system's own context"
            )
        if "|references:" in signature and any("by_reference" in item or "references" in item for item in items):
            notes.append(
                "scores are means over the contexts of several references; the first reference is shown, and attention "
                "and alternatives are computed in its context"
            )
        notes += pair_notes(pairs)
        return Result(
            systems=systems,
            pairs=pairs,
            segments=segments,
            signature=signature,
            tie=tie,
            probability=self._bounded,
            by=by,
            notes=tuple(notes),
            source_language=self._optional(("the file", top), "source_language") or _source_language(signature),
        )

    def _read_scores(
        self, items: Sequence[Any], systems: Sequence[System], *, by: str, tie: float
    ) -> tuple[Segment, ...]:
        """The segments of `score`: one entry for each segment and system; the verdicts are those of `compare`."""
        rows = []
        for number, row in enumerate(self._rows(items, len(systems), "systems")):
            outputs = []
            for (where, entry), system in zip(row, systems, strict=True):
                if "text" not in entry:
                    self._refuse(f"{where}: has no text (written by score --jsonl); score with -t or -d")
                self._expect(entry, {"system": system.name, "segment": number}, where)
                context = self._get(entry, "context", str, where)
                outputs.append(self._output(entry, self._get(entry, "text", str, where), context, where))
            rows.append(self._segment(number, row[0], tuple(outputs), judge(outputs, by=by, tie=tie)))
        return tuple(rows)

    def _read_systems_and_pairs(self, top: Mapping[str, Any]) -> tuple[tuple[System, ...], tuple[Pair, ...]]:
        """The systems and pairs of `compare`; a pair holds both of its systems."""
        given = self._list(top, "pairs", "the file")
        count = next((n for n in range(2, len(given) + 2) if n * (n - 1) // 2 == len(given)), 0)
        if not count:
            self._refuse(f'"pairs" has {len(given)} entries, which is not the number of pairs of any number of systems')
        places = list(combinations(range(count), 2))
        entries = [self._check_type(pair, dict, f'"pairs", entry {i}') for i, pair in enumerate(given)]
        sides = {
            place: tuple(self._system(entry.get(side), f'"pairs", entry {i}, "{side}"') for side in "ab")
            for i, (place, entry) in enumerate(zip(places, entries, strict=True))
        }
        systems = (sides[0, 1][0], *(sides[0, x][1] for x in range(1, count)))
        pairs = tuple(
            self._pair(entry, *place, f'"pairs", entry {i}')
            for i, (place, entry) in enumerate(zip(places, entries, strict=True))
        )
        return systems, pairs

    def _read_comparison(
        self, items: Sequence[Any], systems: Sequence[System], contexts: _Contexts
    ) -> tuple[Segment, ...]:
        """The segments of `compare`: an entry for each, with its outputs and its verdicts."""
        pairs = len(systems) * (len(systems) - 1) // 2
        segments = []
        for number, item in enumerate(items):
            entry = self._check_type(item, dict, where := f'"segments", entry {number}')
            self._expect(entry, {"segment": number}, where)
            listed, judged = self._list(entry, "outputs", where), self._list(entry, "pairs", where)
            if (len(listed), len(judged)) != (len(systems), pairs):
                found = f"{len(listed)} outputs and {len(judged)} pairs"
                self._refuse(f"{where}: expected {len(systems)} outputs and {pairs} pairs, got {found}")
            places = [f"{where}, output {k}" for k in range(len(listed))]
            texts = [
                self._get(self._check_type(output, dict, place), "text", str, place)
                for output, place in zip(listed, places, strict=True)
            ]
            own = contexts.of(texts, self._optional((where, entry), "reference"), self._optional((where, entry), "doc"))
            outputs = tuple(map(self._output, listed, texts, own, places))
            verdicts = tuple(self._verdict(pair, where, k) for k, pair in enumerate(judged))
            segments.append(self._segment(number, (where, entry), outputs, verdicts))
        return tuple(segments)

    def _read_old_comparison(
        self, items: Sequence[Any], systems: Sequence[System], contexts: _Contexts
    ) -> tuple[Segment, ...]:
        """The segments of `compare` in format 1: an entry for each segment and pair of systems."""
        places = list(combinations(range(len(systems)), 2))
        segments = []
        for number, row in enumerate(self._rows(items, len(places), "pairs")):
            for (where, entry), (a, b) in zip(row, places, strict=True):
                self._expect(entry, {"a": systems[a].name, "b": systems[b].name, "segment": number}, where)
            held = [(*row[max(x - 1, 0)], "b" if x else "a") for x in range(len(systems))]
            texts = [self._get(entry, f"{side}_text", str, where) for where, entry, side in held]
            own = contexts.of(texts, self._optional(row[0], "reference"), self._optional(row[0], "doc"))
            outputs = tuple(
                self._output(self._get(entry, f"{side}_scored", dict, where), text, context, where)
                for (where, entry, side), text, context in zip(held, texts, own, strict=True)
            )
            verdicts = tuple(self._verdict(entry, where, None) for where, entry in row)
            segments.append(self._segment(number, row[0], outputs, verdicts))
        return tuple(segments)

    def _verdict(self, value: Any, where: str, pair: int | None) -> Verdict:
        """A verdict; pair: its place among those of the segment, None if the entry is of one pair."""
        where = where if pair is None else f"{where}, pair {pair}"
        entry = self._check_type(value, dict, where)
        better, difference = entry.get("better"), self._maybe(entry, "difference", where)
        if better not in (A, B, TIE, None) or (better is None) != (difference is None):
            self._refuse(f'{where}: "better" must be "a", "b" or "tie", with a difference, or null without one')
        return Verdict(better, difference)

    def _contexts(self, signature: str, systems: int) -> _Contexts:
        try:
            fields = dict(Signature.parse(signature).fields)
            return _Contexts(fields["context"], int(fields.get("context_size", CONTEXT_SIZE)), systems)
        except (ValueError, KeyError, OverflowError):
            self._refuse(f'"signature" names no context; {_HOW}')

    def _rows(self, items: Sequence[Any], size: int, of: str) -> Iterator[list[tuple[str, Mapping[str, Any]]]]:
        """Entries of "segments", grouped by segment, each with its place in the file."""
        if not size or len(items) % size:
            self._refuse(f'"segments" has {len(items)} entries, no multiple of the {size} {of}')
        rows: list[tuple[str, Mapping[str, Any]]] = [
            (where := f'"segments", entry {i}', self._check_type(item, dict, where)) for i, item in enumerate(items)
        ]
        for start, end in pairwise(range(0, len(rows) + 1, size)):
            yield rows[start:end]

    def _segment(
        self,
        number: int,
        entry: tuple[str, Mapping[str, Any]],
        outputs: tuple[Output, ...],
        verdicts: tuple[Verdict, ...],
    ) -> Segment:
        doc, source, reference = (self._optional(entry, key) for key in ("doc", "source", "reference"))
        return Segment(number, doc, source, reference, outputs, verdicts)

    def _output(self, scored: Mapping[str, Any], text: str, context: str, where: str) -> Output:
        score = self._maybe(scored, "score", where)
        found = self._list(scored, "pronouns", where)
        pronouns = tuple(self._pronoun(p, text, f"{where}, pronoun {i}") for i, p in enumerate(found))
        starts = {word.start for word in self._language.words(text)} if pronouns and self._language else set()
        if self._language and (stray := [p.text for p in pronouns if p.start not in starts]):
            self._refuse(f"{where}: the pronoun {stray[0]!r} begins inside a word; score the text again")
        if (score is None) != (not pronouns):
            self._refuse(f"{where}: expected a score if and only if there are pronouns")
        errors, preference = (self._maybe(scored, key, where) for key in ("errors", "preference"))
        return Output(text, context, score, pronouns, errors, preference)

    def _pronoun(self, value: Any, text: str, where: str) -> Pronoun:
        entry = self._check_type(value, dict, where)
        self._bounded &= "probability" in entry
        score = self._number(entry, "probability" if "probability" in entry else "score", where)
        if "probability" in entry and not 0 <= score <= 1:
            self._refuse(f'{where}: "probability" must lie in [0, 1], got {score:g}')
        start, end = self._get(entry, "start", int, where), self._get(entry, "end", int, where)
        written = self._get(entry, "text", str, where)
        if not 0 <= start < end <= len(text) or text[start:end] != written:
            self._refuse(f"{where}: {written!r} is not at {start} to {end} of its text")
        return Pronoun(written, start, end, score, self._evidence(entry, where))

    def _evidence(self, entry: Mapping[str, Any], where: str) -> tuple[float, str] | None:
        if "source" not in entry:
            return None
        found = self._get(entry, "source", dict, where)
        return self._number(found, "log_odds", where), self._get(found, "word", str, where)

    def _system(self, value: Any, where: str) -> System:
        entry = self._check_type(value, dict, where)
        keys = ("pronouns", "segments", "segments_with_pronoun")
        pronouns, segments, with_pronoun = (self._get(entry, key, int, where) for key in keys)
        score = self._maybe(entry, "score", where)
        also = {}
        for older, its in self._check_type(entry.get("also", {}), dict, f'{where}: "also"').items():
            place = f'{where}, "also", "{older}"'
            also[older] = self._maybe(self._check_type(its, dict, place), "score", place)
        name = self._get(entry, "system", str, where)
        rates = {key: self._rate(entry[key], f'{where}, "{key}"') for key in RATES if key in entry}
        counts = pronouns, segments, with_pronoun
        return System(name, score, self._interval(entry, where), *counts, also, rates, *self._resampled(entry, where))

    def _resampled(self, entry: Mapping[str, Any], where: str) -> tuple[int | None, str]:
        """How many units were resampled, None if not given, and which."""
        units = self._get(entry, "units", int, where) if "units" in entry else None
        return units, self._get(entry, "resampled", str, where) if "resampled" in entry else UNITS

    def _rate(self, value: Any, where: str) -> tuple[float, tuple[float, float] | None] | None:
        if value is None:
            return None
        entry = self._check_type(value, dict, where)
        return self._number(entry, "value", where), self._interval(entry, where)

    def _pair(self, entry: Mapping[str, Any], a: int, b: int, where: str) -> Pair:
        difference, randomisation, of_t = (
            self._maybe(entry, key, where) for key in ("difference", "p_randomisation_holm", "p_t_holm")
        )
        wins, ties, losses = (self._get(entry, key, int, where) for key in ("wins", "ties", "losses"))
        units, resampled = self._resampled(entry, where)
        scores = [self._maybe(self._get(entry, side, dict, where), "score", where) for side in "ab"]
        tests = self._interval(entry, where), randomisation, of_t
        of_scores = None if scores[0] is None or scores[1] is None else scores[0] - scores[1]
        return Pair(a, b, difference, *tests, wins, ties, losses, units, of_scores, resampled)

    def _interval(self, entry: Mapping[str, Any], where: str) -> tuple[float, float] | None:
        ends = entry.get("interval")
        if ends is None:
            return None
        if not isinstance(ends, list) or len(ends) != 2 or not all(map(_finite, ends)) or ends[0] > ends[1]:
            self._refuse(f'{where}: "interval" must be null or two numbers in order, got {json.dumps(ends)}')
        return float(ends[0]), float(ends[1])

    def _expect(self, entry: Mapping[str, Any], values: Mapping[str, object], where: str) -> None:
        for key, value in values.items():
            got = entry.get(key)
            if (_whole(got) if isinstance(got, str) else got) != value:
                self._refuse(f'{where}: expected "{key}" {_quote(value)}, got {_quote(got)}')

    def _optional(self, entry: tuple[str, Mapping[str, Any]], key: str) -> str | None:
        where, content = entry
        return None if content.get(key) is None else self._get(content, key, str, where)

    def _maybe(self, entry: Mapping[str, Any], key: str, where: str) -> float | None:
        return None if entry.get(key) is None else self._number(entry, key, where)

    def _number(self, entry: Mapping[str, Any], key: str, where: str) -> float:
        value = entry.get(key)
        if not _finite(value):
            self._refuse(f'{where}: "{key}" must be a number, got {_quote(value)}')
        return float(value)  # type: ignore[arg-type]

    def _list(self, entry: Mapping[str, Any], key: str, where: str) -> list[Any]:
        return self._get(entry, key, list, where)

    def _get(self, entry: Mapping[str, Any], key: str, kind: type[Value], where: str) -> Value:
        if key not in entry:
            self._refuse(f'{where}: the key "{key}" is missing; {_HOW}')
        return self._check_type(entry[key], kind, f'{where}: "{key}"')

    def _check_type(self, value: Any, kind: type[Value], where: str) -> Value:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self._refuse(f"{where} must be {_KINDS[kind]}, got {_quote(value)}; {_HOW}")
        return _whole(value) if isinstance(value, str) else value  # type: ignore[return-value]

    def _refuse(self, message: str) -> NoReturn:
        raise InputError(message, file=self._path)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGE


def _whole(text: str) -> str:
    """The text with invalid bytes of file names and lone surrogates replaced by question marks."""
    return _SURROGATE.sub("\ufffd", text)


def _quote(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."
