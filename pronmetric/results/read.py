"""Reader of the JSON that `score` and `compare` write (--to_json): checked, and brought into one form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from pronmetric.checkpoint.people import PEOPLE, People, people_from
from pronmetric.errors import PronmetricError
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
from pronmetric.scoring.score import Gap
from pronmetric.signature import Signature
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, NONE, UNNAMED_CONTEXT_SIZE, History
from pronmetric.text.entry import Entry, shown

_HOW = "expected what `pronmetric score --to_json` or `compare --to_json` wrote"
_LARGEST = 1e299  # a million of them, in percent, still sum to a finite double
_SURROGATE = re.compile("[\ud800-\udfff]")


def read(path: str) -> Result:
    """The result in a file.

    Raises:
        InputError: no such file, broken JSON, or JSON that is not from `score` or `compare`.
    """
    value = strict_json.read(path, _HOW, bytes_of_names=True)
    return _Reader().result(Entry(value, file=path, cure=_HOW))


def language_code(signature: str) -> str:
    """The target language in the signature of a result; English has no field there.

    >>> language_code("model:default|language:de"), language_code("model:default")
    ('de', 'en')
    """
    try:
        return Signature.parse(signature)["language"]
    except (ValueError, KeyError):
        return languages.ENGLISH.code


def model_name(signature: str) -> str | None:
    """The name of the model in the signature of a result; None if it is no signature.

    >>> model_name("model:small|weights:8be43eb6")
    'small'
    """
    try:
        return Signature.parse(signature)["model"]
    except (ValueError, KeyError):
        return None


def _source_language(signature: str) -> str | None:
    """The language of the sources in the signature of a result, where they count for the scores; else None."""
    try:
        code = dict(Signature.parse(signature).fields).get("source", "").partition("-")[0]
    except ValueError:
        return None
    return code if re.fullmatch("[a-z]{2,3}", code) else None  # models that read sources name no language


def _shipped(code: str) -> Language | None:
    """The language, if the package has its table."""
    return languages.language(code) if code in (languages.ENGLISH.code, *tables.codes()) else None


class _Contexts:
    """The contexts of the outputs of a comparison, whose file does not hold them, segment by segment."""

    def __init__(self, kind: str, size: int, systems: int) -> None:
        self._kind = kind
        self._own = [History(size=size) for _ in range(systems)]
        self._reference = History(size=size)

    def of(self, texts: Sequence[str], entry: Entry) -> list[str]:
        """The context of each text of the next segment; those of "crossed" are the texts' own."""
        reference, doc, speaker = (_string_or_null(entry, key) for key in ("reference", "doc", "speaker"))
        common = self._reference.context(reference or "", doc, speaker)
        own = [history.context(text, doc, speaker) for history, text in zip(self._own, texts, strict=True)]
        return {COMMON: [common] * len(texts), NONE: [""] * len(texts)}.get(self._kind, own)


class _Reader:
    """Converts parsed JSON; errors name the file and the place in it."""

    def __init__(self) -> None:
        self._bounded = True
        self._language: Language | None = languages.ENGLISH

    def result(self, top: Entry) -> Result:
        version = top.record.get("format", 1)
        if version not in (1, FORMAT) or isinstance(version, bool):
            top.fail(f'"format" is {shown(version)}, expected 1 or {FORMAT}: read it with a newer pronmetric')
        items = top.entries("segments")
        signature = _string(top, "signature")
        self._language = _shipped(language_code(signature))
        if not items:
            top.fail('"segments" is empty: there is nothing to report')
        by = top.record.get("by", SCORE)
        if by not in DECISIONS:
            top.fail(f'"by" must be one of {", ".join(DECISIONS)}, got {shown(by)}; {_HOW}')
        if "pairs" in top.record:
            systems, pairs = self._read_systems_and_pairs(top)
            tie = _number(top, "tie")
            contexts = _contexts(top, signature, len(systems))
            if version == 1:
                segments = self._read_old_comparison(top, items, systems, contexts)
            else:
                segments = self._read_comparison(items, systems, contexts)
        elif "systems" in top.record:
            tie = _number(top, "tie") if "tie" in top.record else TIE_THRESHOLD
            systems = tuple(map(_system, top.entries("systems")))
            pairs, segments = (), self._read_scores(top, items, systems, by=by, tie=tie)
        else:
            top.fail(f'has neither "systems" nor "pairs"; {_HOW}')
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
        if "|references:" in signature and any(
            "by_reference" in item.record or "references" in item.record for item in items
        ):
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
            source_language=_string_or_null(top, "source_language") or _source_language(signature),
            people=_people(top),
        )

    def _read_scores(
        self, top: Entry, items: Sequence[Entry], systems: Sequence[System], *, by: str, tie: float
    ) -> tuple[Segment, ...]:
        """The segments of `score`: one entry for each segment and system; the verdicts are those of `compare`."""
        rows = []
        for number, row in enumerate(_rows(top, items, len(systems), "systems")):
            outputs = []
            for entry, system in zip(row, systems, strict=True):
                if "text" not in entry.record:
                    entry.fail("has no text (`pronmetric score --jsonl` wrote it): score a file or a test set")
                _expect(entry, {"system": system.name, "segment": number})
                outputs.append(self._output(entry, _string(entry, "text"), _string(entry, "context")))
            rows.append(_segment(number, row[0], tuple(outputs), judge(outputs, by=by, tie=tie)))
        return tuple(rows)

    def _read_systems_and_pairs(self, top: Entry) -> tuple[tuple[System, ...], tuple[Pair, ...]]:
        """The systems and pairs of `compare`; a pair holds both of its systems."""
        entries = top.entries("pairs")
        count = next((n for n in range(2, len(entries) + 2) if n * (n - 1) // 2 == len(entries)), 0)
        if not count:
            top.fail(f'"pairs" has {len(entries)} entries, which is not the number of pairs of any number of systems')
        places = list(combinations(range(count), 2))
        sides = {
            place: tuple(_system(entry.entry(side)) for side in "ab")
            for place, entry in zip(places, entries, strict=True)
        }
        systems = (sides[0, 1][0], *(sides[0, x][1] for x in range(1, count)))
        return systems, tuple(_pair(entry, *place) for place, entry in zip(places, entries, strict=True))

    def _read_comparison(
        self, items: Sequence[Entry], systems: Sequence[System], contexts: _Contexts
    ) -> tuple[Segment, ...]:
        """The segments of `compare`: an entry for each, with its outputs and its verdicts."""
        pairs = len(systems) * (len(systems) - 1) // 2
        segments = []
        for number, entry in enumerate(items):
            _expect(entry, {"segment": number})
            listed, judged = entry.entries("outputs"), entry.entries("pairs")
            if (len(listed), len(judged)) != (len(systems), pairs):
                got = f"{len(listed)} outputs and {len(judged)} pairs"
                entry.fail(f"expected {len(systems)} outputs and {pairs} pairs, got {got}")
            texts = [_string(output, "text") for output in listed]
            own = contexts.of(texts, entry)
            outputs = tuple(map(self._output, listed, texts, own))
            segments.append(_segment(number, entry, outputs, tuple(map(_verdict, judged))))
        return tuple(segments)

    def _read_old_comparison(
        self, top: Entry, items: Sequence[Entry], systems: Sequence[System], contexts: _Contexts
    ) -> tuple[Segment, ...]:
        """The segments of `compare` in format 1: an entry for each segment and pair of systems."""
        places = list(combinations(range(len(systems)), 2))
        segments = []
        for number, row in enumerate(_rows(top, items, len(places), "pairs")):
            for entry, (a, b) in zip(row, places, strict=True):
                _expect(entry, {"a": systems[a].name, "b": systems[b].name, "segment": number})
            held = [(row[max(x - 1, 0)], "b" if x else "a") for x in range(len(systems))]
            texts = [_string(entry, f"{side}_text") for entry, side in held]
            own = contexts.of(texts, row[0])
            outputs = tuple(
                self._output(entry.entry(f"{side}_scored"), text, context)
                for (entry, side), text, context in zip(held, texts, own, strict=True)
            )
            segments.append(_segment(number, row[0], outputs, tuple(map(_verdict, row))))
        return tuple(segments)

    def _output(self, scored: Entry, text: str, context: str) -> Output:
        score = _number_or_null(scored, "score")
        pronouns = tuple(self._pronoun(entry, text) for entry in scored.entries("pronouns"))
        starts = {word.start for word in self._language.words(text)} if pronouns and self._language else set()
        if self._language and (stray := [p.text for p in pronouns if p.start not in starts]):
            scored.fail(f"the pronoun {stray[0]!r} begins inside a word; score the text again")
        if (score is None) != (not pronouns):
            scored.fail("expected a score if and only if there are pronouns")
        errors, preference, missing, surplus = (
            _number_or_null(scored, key) for key in ("errors", "preference", "expected_missing", "expected_surplus")
        )
        gaps = tuple(self._gap(entry, text) for entry in scored.entries("gaps")) if "gaps" in scored.record else ()
        return Output(text, context, score, pronouns, errors, preference, missing, gaps, surplus, _place(scored))

    def _gap(self, entry: Entry, text: str) -> Gap:
        start, form, probability = entry.whole("start"), _string(entry, "form"), _number(entry, "probability")
        starts = {word.start for word in self._language.words(text)} if self._language else {start}
        if not 0 <= start < len(text) or start not in starts:
            entry.fail(f'"start" must be that of a word of the text, got {start}')
        if not 0 <= probability <= 1:
            entry.fail(f'"probability" must lie in [0, 1], got {probability:g}')
        return Gap(start, form, probability)

    def _pronoun(self, entry: Entry, text: str) -> Pronoun:
        bounded = "probability" in entry.record
        self._bounded &= bounded
        score = _number(entry, "probability" if bounded else "score")
        if bounded and not 0 <= score <= 1:
            entry.fail(f'"probability" must lie in [0, 1], got {score:g}')
        start, end, written = entry.whole("start"), entry.whole("end"), _string(entry, "text")
        if not 0 <= start < end <= len(text) or text[start:end] != written:
            entry.fail(f"{written!r} is not at {start} to {end} of its text")
        surplus = _number(entry, "surplus") if "surplus" in entry.record else None
        if surplus is not None and not 0 <= surplus <= 1:
            entry.fail(f'"surplus" must lie in [0, 1], got {surplus:g}')
        return Pronoun(written, start, end, score, _evidence(entry), surplus)


def _people(top: Entry) -> People | None:
    if top.get(PEOPLE) is None:
        return None
    try:
        return people_from(top.get(PEOPLE))
    except PronmetricError as error:
        top.fail(str(error))


def _verdict(entry: Entry) -> Verdict:
    better, difference = entry.get("better"), _number_or_null(entry, "difference")
    if better not in (A, B, TIE, None) or (better is None) != (difference is None):
        entry.fail('"better" must be "a", "b" or "tie", with a difference, or null without one')
    return Verdict(better, difference)


def _contexts(top: Entry, signature: str, systems: int) -> _Contexts:
    try:
        fields = dict(Signature.parse(signature).fields)
        return _Contexts(fields["context"], int(fields.get("context_size", UNNAMED_CONTEXT_SIZE)), systems)
    except (ValueError, KeyError, OverflowError):
        top.fail(f'"signature" names no context; {_HOW}')


def _rows(top: Entry, items: Sequence[Entry], size: int, of: str) -> Iterator[Sequence[Entry]]:
    """The entries of "segments", grouped by segment."""
    if not size or len(items) % size:
        top.fail(f'"segments" has {len(items)} entries, no multiple of the {size} {of}')
    for start, end in pairwise(range(0, len(items) + 1, size)):
        yield items[start:end]


def _segment(number: int, entry: Entry, outputs: tuple[Output, ...], verdicts: tuple[Verdict, ...]) -> Segment:
    doc, source, reference = (_string_or_null(entry, key) for key in ("doc", "source", "reference"))
    return Segment(number, doc, source, reference, outputs, verdicts)


def _place(entry: Entry) -> str | None:
    """Where a text stands in its file, such as "cue 3, 00:00:05, line 12"; None where the file does not say it."""
    if entry.get("place") is None:
        return None
    where, line = _string(entry, "place"), f"line {entry.whole('line', least=1)}"
    return where if line in re.split(", ", where) else f"{where}, {line}"


def _evidence(entry: Entry) -> tuple[float, str, int] | None:
    if "source" not in entry.record:
        return None
    source = entry.entry("source")
    return _number(source, "log_odds"), _string(source, "word"), source.whole("start")


def _system(entry: Entry) -> System:
    pronouns, segments, with_pronoun = map(entry.whole, ("pronouns", "segments", "segments_with_pronoun"))
    score = _number_or_null(entry, "score")
    older = entry.entry("also") if "also" in entry.record else None
    also = {} if older is None else {name: _number_or_null(older.entry(name), "score") for name in older.record}
    name = _string(entry, "system")
    rates = {key: _rate(entry, key) for key in RATES if key in entry.record}
    counts = pronouns, segments, with_pronoun
    return System(name, score, _interval(entry), *counts, also, rates, *_resampled(entry))


def _resampled(entry: Entry) -> tuple[int | None, str]:
    """How many units the intervals are over, None if not given, and which."""
    units = entry.whole("units") if "units" in entry.record else None
    return units, _string(entry, "resampled") if "resampled" in entry.record else UNITS


def _rate(entry: Entry, key: str) -> tuple[float, tuple[float, float] | None] | None:
    if entry.get(key) is None:
        return None
    rate = entry.entry(key)
    return _number(rate, "value"), _interval(rate)


def _pair(entry: Entry, a: int, b: int) -> Pair:
    difference, randomisation, of_t = (
        _number_or_null(entry, key) for key in ("difference", "p_randomisation_holm", "p_t_holm")
    )
    wins, ties, losses = map(entry.whole, ("wins", "ties", "losses"))
    units, resampled = _resampled(entry)
    scores = [_number_or_null(entry.entry(side), "score") for side in "ab"]
    tests = _interval(entry), randomisation, of_t
    of_scores = None if scores[0] is None or scores[1] is None else scores[0] - scores[1]
    return Pair(a, b, difference, *tests, wins, ties, losses, units, of_scores, resampled)


def _interval(entry: Entry) -> tuple[float, float] | None:
    ends = entry.get("interval")
    if ends is None:
        return None
    if not isinstance(ends, list) or len(ends) != 2 or not all(map(_finite, ends)) or ends[0] > ends[1]:
        entry.fail(f'"interval" must be null or two numbers in order, got {shown(ends)}')
    return float(ends[0]), float(ends[1])


def _expect(entry: Entry, values: Mapping[str, object]) -> None:
    for key, value in values.items():
        got = entry.get(key)
        if (_complete(got) if isinstance(got, str) else got) != value:
            entry.fail(f'expected "{key}" {shown(value)}, got {shown(got)}')


def _number(entry: Entry, key: str) -> float:
    return entry.number(key, most=_LARGEST)


def _number_or_null(entry: Entry, key: str) -> float | None:
    return None if entry.get(key) is None else _number(entry, key)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _string(entry: Entry, key: str) -> str:
    return _complete(entry.string(key))


def _string_or_null(entry: Entry, key: str) -> str | None:
    return None if entry.get(key) is None else _string(entry, key)


def _complete(text: str) -> str:
    """The text with invalid bytes of file names and lone surrogates replaced by question marks."""
    return _SURROGATE.sub("\ufffd", text)
