"""Answers to requests: records in, the records that the verbs write out; the work is that of `PronounMetric`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

from pronmetric.alignment.parallel import doubts, pairs_of
from pronmetric.checkpoint.config import unscored_note, untrained_note
from pronmetric.errors import MissingExtra, PronmetricError
from pronmetric.eval.resampling import SEED
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.gender import Genders, genders_of
from pronmetric.pronouns.known_words import doubt
from pronmetric.report import verdict
from pronmetric.report.attended import most_attended, shown_genders
from pronmetric.results import write
from pronmetric.results.scored import pair_of, system_of
from pronmetric.scoring.alternatives import PronounAlternatives
from pronmetric.scoring.attention import PronounAttention
from pronmetric.scoring.comparison import AllPairs, crossed_scores, crossed_texts
from pronmetric.scoring.score import Counts, PronounScore, SegmentScore, tally_segments
from pronmetric.serve.batches import Batches
from pronmetric.serve.interface import CompareRequest, ScoreRequest, SuggestRequest
from pronmetric.signature import Signature
from pronmetric.text.context import CROSSED, NONE, Text
from pronmetric.text.corpus import Row
from pronmetric.text.no_translation import kind_of
from pronmetric.text.records import Record, record_of, text_of_id
from pronmetric.version import __version__

RECORD, REQUEST, FORMS, WEIGHTS = 10_000, 100_000, 300_000, 500_000
"""The most characters of a record with its context, of a request, and of all texts with another form in them; the most
weights of attention.
"""
_SLOT = 12  # other forms of a pronoun, about
_SYSTEMS = "a", "b"
_ALONE, _BOTH = "The translation", ("the first translation", "the second translation")  # in verdicts


class TooMuch(PronmetricError):
    """A request asks for more work than one may."""


class Service:
    """Answers requests by one metric, whose work is done in batches.

    context: the kind of context, "given" or "none". batch_size: as for `PronounMetric.predict`. batches: those that
    also do the work of others; None: its own.
    """

    def __init__(
        self, metric: PronounMetric, *, context: str, batch_size: int | None = None, batches: Batches | None = None
    ) -> None:
        self.metric, self.context, self._batch_size = metric, context, batch_size
        self.batches = Batches() if batches is None else batches
        self._score = partial(metric.stream, batch_size=batch_size)
        self._attention = partial(metric.attention, batch_size=batch_size)

    @cached_property
    def _genders(self) -> Genders | None:
        """The genders of the language; None without, or if their lexicon is not installed."""
        try:
            return genders_of(self.metric.language)
        except MissingExtra:
            return None

    def in_language(self, lang: str) -> Service:
        """The service of the same checkpoint in another language, whose work waits with that of this one."""
        metric = self.metric.in_language(lang)
        return Service(metric, context=self.context, batch_size=self._batch_size, batches=self.batches)

    def health(self) -> dict[str, Any]:
        """What runs, and how many characters wait for it."""
        signature = str(self._signature(Counts(with_source=1)))
        told = {"status": "ok", "model": self.metric.name, "signature": signature, "version": __version__}
        return {**told, "waiting": self.batches.waiting}

    async def score(self, asked: ScoreRequest) -> dict[str, Any]:
        """The scores of records, as `score --jsonl` prints them."""
        (records,), counts = self._read(records=asked.records)
        segments = await self._scores(_texts(records))
        found = zip(records, segments, strict=True)
        scored = ({"id": one.id, **write.segment_entry(segment)} for one, segment in found)
        whole = system_of(_ALONE, tally_segments(segments).score())
        return {**self._answer(scored, counts), "verdict": verdict.of_system(whole), **self._notes(records)}

    async def suggest(self, asked: SuggestRequest) -> dict[str, Any]:
        """Doubtful pronouns with better forms, as `suggest --jsonl` prints them."""
        (records,), counts = self._read(records=asked.records)
        if not self.metric.probability:
            next(self.metric.alternatives([]), None)  # raises the error that says why
        if asked.threshold is None:  # all pronouns are listed
            forms, find = self.metric.inference.forms, self.metric.language.find
            of_texts = ((one.text, sum(p.form in forms for p in find(one.text.text))) for one in records)
            _forms_size(of_texts)
        segments = await self._scores(_texts(records))
        items = [
            (one.text, [p for p in segment.pronouns if asked.threshold is None or p.score < asked.threshold])
            for one, segment in zip(records, segments, strict=True)
        ]
        size = _forms_size(((text, len(doubtful)) for text, doubtful in items))
        found = zip(records, await self.batches.run(self._forms, items, size=size), strict=True)
        listed = ({"id": one.id, **write.suggestions(one.text, each, top=asked.top)} for one, each in found)
        return {**self._answer(listed, counts), **self._notes(records)}

    async def attend(self, asked: ScoreRequest) -> dict[str, Any]:
        """The attention of each pronoun to each word of its context and its text; sources do not affect it."""
        (records,), counts = self._read(records=asked.records)
        texts = _texts(records)
        size = _request_size(texts)  # refused before pronouns are looked for
        split, find = self.metric.language.words, self.metric.language.find
        weights = sum(len(find(text.text)) * (len(split(text.context)) + len(split(text.text))) for text in texts)
        if weights > WEIGHTS:
            raise TooMuch(f"{weights:,} weights of attention, more than {WEIGHTS:,}: send fewer or shorter records")
        found = await self.batches.run(self._attention, texts, size=size)
        return self._answer(map(self._attended, records, found), replace(counts, with_source=0))

    async def compare(self, asked: CompareRequest) -> dict[str, Any]:
        """The comparison of two systems, as `compare --to_json` writes it, each pair in both of its contexts."""
        if len(asked.a) != len(asked.b):
            raise PronmetricError(f"expected as many records in b as in a, got {len(asked.b)} and {len(asked.a)}")
        sides, counts = self._read(a=asked.a, b=asked.b)
        rows = list(zip(*sides, strict=True))
        for number, (one, other) in enumerate(rows, start=1):
            if one.id != other.id:
                ids = f"{text_of_id(one.id)} and {text_of_id(other.id)}"
                raise PronmetricError(f"record {number} has the ids {ids} in a and b: expected the same id")
        by = self.metric.description.decision(asked.by, sourced=counts.with_source > 0)
        pairs = AllPairs(_SYSTEMS, (), tie=asked.tie, by=by)
        crossed = [text for row in rows for text in crossed_texts([one.text for one in row])]
        segments: list[dict[str, Any]] = []
        found = iter(await self._scores(crossed))
        for row, *scored in zip(rows, found, found, found, found, strict=True):  # two texts in two contexts
            scores = {pair: (score,) for pair, score in crossed_scores(scored).items()}
            first, texts = row[0], tuple(one.text.text for one in row)
            source = None if first.text.source is None else first.text.source.text
            line = Row(texts, first.doc, source, (), speaker=first.text.speaker)
            content = write.segment_content(len(segments), line, list(pairs.add(scores, first.doc)))
            segments.append({"id": first.id, **content})
        context = NONE if self.context == NONE else CROSSED
        signature = self._signature(counts, context=context, seed=SEED).plus(by=by, tie=f"{asked.tie:g}")
        (result,) = pairs.results(seed=SEED)
        said = verdict.of_pair(pair_of(result.outcome), _BOTH, by=by)
        return {
            "format": write.FORMAT,
            "segments": segments,
            "pairs": [write.pair_entry(result, by=by)],
            **write.decision_entry(by, asked.tie),
            "signature": str(signature),
            "verdict": said[0].upper() + said[1:],
            **self._notes(*sides),
        }

    def _read(self, **sides: Sequence[Any]) -> tuple[list[list[Record]], Counts]:
        """The records of each side, and counts above 0 if there are sources that the metric uses, and speakers.

        Raises:
            InputError: as in `record_of`, with the name of the side for the file.
            TooMuch: a record is too long.
        """
        given = chain.from_iterable(sides.values())
        used = self.metric.with_source is not False  # by a reader or a table
        sourced = used and any(isinstance(one, dict) and one.get("source") is not None for one in given)
        reads = (sourced or None) if used else False
        limit = self.metric.context_limit
        read: list[list[Record]] = []
        counts = Counts(with_source=int(sourced))
        for name, values in sides.items():
            read.append([])
            for number, value in enumerate(values, start=1):
                record = record_of(value, file=name, line=number, with_source=reads, context_size=limit)
                if self.context == NONE:
                    record = record._replace(text=record.text.without_context())
                if (size := _size(record.text)) > RECORD:
                    raise TooMuch(f"{name}:{number}: {size:,} characters, more than {RECORD:,}; split the text")
                read[-1].append(record)
                counts.with_speaker += record.text.speaker is not None
        return read, counts

    async def _scores(self, texts: Sequence[Text]) -> list[SegmentScore]:
        return await self.batches.run(self._score, texts, size=_request_size(texts))

    def _forms(self, items: Sequence[tuple[Text, Sequence[PronounScore]]]) -> Iterator[tuple[PronounAlternatives, ...]]:
        texts, scored = [text for text, _ in items], [listed for _, listed in items]
        return self.metric.alternatives(texts, scored=scored, batch_size=self._batch_size)

    def _attended(self, record: Record, looks: Sequence[PronounAttention]) -> dict[str, Any]:
        split = self.metric.language.words
        parts = [split(part) for part in record.text[:2]]
        words = [word.text for part in parts for word in part]
        pronouns = []
        for look in looks:
            weights = None if look.weights is None else [round(float(weight), 4) for weight in look.weights]
            listed = [] if weights is None else most_attended(words, weights)
            gender, genders = shown_genders(self._genders, look.pronoun.text, words, listed)
            pronouns.append({**write.pronoun(look.pronoun), "weights": weights, "gender": gender, "genders": genders})
        context, text = ([(word.start, word.end) for word in part] for part in parts)
        return {
            "id": record.id,
            "context": record.text.context,
            "context_words": context,
            "text_words": text,
            "pronouns": pronouns,
        }

    def _answer(self, records: Iterable[dict[str, Any]], counts: Counts) -> dict[str, Any]:
        return {"records": list(records), "signature": str(self._signature(counts))}

    def _notes(self, *sides: Sequence[Record]) -> dict[str, list[str]]:
        """What a user must know of the language, and what looks wrong in the texts.

        That is another language, sources that are not read or cannot be right, and what is no translation.
        """
        language, config, name = self.metric.language, self.metric.config, self.metric.name
        notes = [note for said in (untrained_note, unscored_note) if (note := said(config, name)) is not None]
        notes += [
            f"{said}; they were scored as {language.code}: choose their language, if this server offers it, or start "
            "one with a model of that language, such as `pronmetric serve --model multilingual --lang de`"
            for records in sides
            if (said := doubt((record.text.text for record in records), language)) is not None
        ]
        notes += [said for records in sides for said in doubts(pairs_of(_texts(records)), language)]
        unread = self.metric.unread_sources(record.text for record in chain.from_iterable(sides))
        notes += [] if unread is None else [unread]
        for record in chain.from_iterable(sides):
            sources = () if record.text.source is None else (record.text.source.text,)
            if (why := kind_of(record.text.text, sources)) is not None:
                notes.append(f"record {text_of_id(record.id)} looks like no translation ({why})")
        return {"notes": list(dict.fromkeys(notes))}

    def _signature(self, counts: Counts, *, context: str | None = None, seed: int | None = None) -> Signature:
        """What the scores of an answer depend on; counts: of its records."""
        return self.metric.signature(context=context or self.context, seed=seed, counts=counts)


def _texts(records: Sequence[Record]) -> list[Text]:
    return [record.text for record in records]


def _size(text: Text) -> int:
    """The characters to read of a text."""
    source = () if text.source is None else (text.source.text, *text.source.before)
    return sum(map(len, (text.context, text.text, *source)))


def _forms_size(texts: Iterable[tuple[Text, int]]) -> int:
    """The characters to read of the other forms of so many pronouns of each text.

    Raises:
        TooMuch: a request may have fewer.
    """
    counted = list(texts)
    size = sum(_SLOT * number * _size(text) for text, number in counted)
    if size > FORMS:
        raise TooMuch(
            f"the other forms of {sum(number for _, number in counted)} pronouns make about {size:,} characters to "
            f"read, more than {FORMS:,}: send fewer or shorter records, or a lower threshold"
        )
    return size


def _request_size(texts: Iterable[Text]) -> int:
    """The characters to read of these texts.

    Raises:
        TooMuch: a request may have fewer.
    """
    size = sum(map(_size, dict.fromkeys(texts)))
    if size > REQUEST:
        raise TooMuch(f"{size:,} characters to read, more than {REQUEST:,}: send fewer records at once")
    return size
