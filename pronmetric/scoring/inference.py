"""From texts to the scores of one checkpoint: windows of texts, batches, devices.

Pronouns are found, each distinct (context, text) with a pronoun is encoded once, rows of similar length share a batch,
and scores are returned in the order of the input.
"""

from __future__ import annotations

import copy
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from hashlib import blake2b
from itertools import islice
from math import fsum
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pronmetric.alignment.counts.table import Counted, CountTable, Item
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import Calibration, Mixing, Mixings, Model
from pronmetric.data.collate import Collator, Encoded, Example, cut_batches, word_of_pieces
from pronmetric.errors import PronmetricError
from pronmetric.eval.calibration import logit
from pronmetric.nn.encoders.huggingface import packed
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import Language
from pronmetric.scoring.gaps import GapReader, MissingPronouns
from pronmetric.scoring.preference import LEAST, prefer, prefer_by_source
from pronmetric.scoring.score import LISTED, MOST, Counts, Evidence, PronounScore, SegmentScore, Unmatched
from pronmetric.scoring.surplus import tell_surplus
from pronmetric.text.context import Source, Text, join
from pronmetric.text.lines import check_segment
from pronmetric.text.no_translation import kind_of
from pronmetric.text.readable import readable
from pronmetric.text.words import Word
from pronmetric.text.words import words as split_words
from pronmetric.text.writing import is_unspaced

PRECISIONS = {"32": torch.float32, "bf16": torch.bfloat16, "16": torch.float16}
BATCH_SIZE = {"cpu": 32, "cuda": 1024, "mps": 1024}
BATCH_PIECES = 32  # pieces per text of `batch_size`
_WINDOW = 2048  # distinct texts with a pronoun that are sorted by length together
_ATTENTION_WINDOW = 256  # texts whose attention is in memory together
_REMEMBERED = 2**17  # distinct texts whose scores are cached
_MARK = np.iinfo(np.int64).min  # the start of what is no word
NOWHERE = Word("", -1, -1)
Result = TypeVar("Result")


class _Known(NamedTuple):
    """The cached scores of a text: of the segment, which is of no use without a pronoun, and of its pronouns."""

    segment: float
    pronouns: array[float]
    preference: float | None
    attended: tuple[int | None, ...] | None
    missing: MissingPronouns | None = None


class PronounAttention(NamedTuple):
    """A pronoun with its score, as in `stream` without a source, and its attention.

    weights: (words,), in [0, 1], sum 1: one for each word of the context, then of the text; 0 for words beyond the
    encoder's maximum length. None if the head has no attention.
    """

    pronoun: PronounScore
    weights: np.ndarray | None

    @property
    def start(self) -> int:
        """The start of the pronoun in the text."""
        return self.pronoun.start

    @property
    def end(self) -> int:
        """Its end."""
        return self.pronoun.end


class _Reading(NamedTuple):
    """What a reader of sources says about a text.

    logits: of its pronouns (pronouns,). words: the source word that each attends to most, and its span in the source.
    missing: None without a gap head.
    """

    logits: np.ndarray
    words: tuple[Word, ...]
    missing: MissingPronouns | None = None


class Inference:
    """The model of a checkpoint on its devices, and how texts are read, encoded and scored by it.

    Args:
        loaded: the checkpoint; its model is moved and converted in place.
        precision: one of `PRECISIONS`; None: that of `default_precision`.
        gpus: as for `devices`.
        source: the table by which missing and surplus pronouns of texts with a source are counted; None: they are not.
        reader: loads the reader by which sources affect scores, when the first text with one comes; None: none.
        no_source: the model does not read sources, if it is one that reads them itself.
    """

    def __init__(
        self,
        loaded: Checkpoint,
        *,
        precision: str | None,
        gpus: int | None,
        source: CountTable | None = None,
        reader: Callable[[], Checkpoint] | None = None,
        no_source: bool = False,
    ) -> None:
        self.source = source
        self._load_reader, self._gpus = reader, gpus
        if precision == "int8":
            raise PronmetricError("precision int8 was dropped in version 1.0.0: give `precision=bf16`")
        if precision not in (None, *PRECISIONS):
            raise PronmetricError(f"expected precision {', '.join(PRECISIONS)}, got {precision!r}")
        names = devices(gpus)
        self.precision = default_precision(names[0]) if precision is None else precision
        self.language: Language = loaded.language
        self.forms = frozenset(loaded.config["pronouns"])
        self.reads_source = not no_source and checkpoint_config.reads_source(loaded.config)
        described = Model.read(loaded.config)
        self._gaps = gap_reader(described, described.missing, own=self.language.forms) if self.reads_source else None
        self._judged = described.judged
        self.collator = loaded.collator
        model: Any = loaded.model.eval().requires_grad_(False)
        dtype = PRECISIONS[self.precision]
        ready: nn.Module | None = None
        if names == ["cpu"]:
            ready = packed.pack(model.encoder, dtype)
        elif isinstance(model.encoder, HuggingFaceEncoder):
            model.encoder.fuse_attention()
        # the head stays in fp32: it costs little, and rounding would affect scores
        model.encoder = model.encoder.to(dtype) if ready is None else ready
        copies = [model, *(copy.deepcopy(model) for _ in names[1:])]
        self.replicas = [replica.to(device) for replica, device in zip(copies, names, strict=True)]

    @cached_property
    def _reader(self) -> _Reader:
        """The reader of sources, on the same devices and in the same precision."""
        assert self._load_reader is not None
        return _Reader(self._load_reader(), precision=self.precision, gpus=self._gpus)

    @property
    def device(self) -> torch.device:
        """The device of the first replica."""
        return next(self.replicas[0].parameters()).device

    @property
    def probability(self) -> bool:
        """Whether pronoun scores are probabilities."""
        return self.replicas[0].probability

    def _batch_size(self, given: int | None) -> int:
        return given or BATCH_SIZE[self.device.type]

    def stream(
        self,
        texts: Iterable[Text],
        *,
        batch_size: int | None = None,
        counts: Counts | None = None,
        advance: Callable[[int], object] | None = None,
        length_batching: bool = True,
        cache: bool = True,
        attended: bool = False,
        every_gap: bool = False,
        variants: bool = False,
    ) -> Iterator[SegmentScore]:
        """See `pronmetric.metric.PronounMetric.stream`.

        variants: of texts that are counted themselves, so that neither what was changed to read them nor their missing
        and surplus pronouns are counted.
        """
        batch_size = self._batch_size(batch_size)
        counts = Counts() if counts is None else counts
        least = 0.0 if every_gap else LISTED
        known: dict[bytes, _Known] = {}
        new: dict[bytes, Example] = {}
        waiting: list[
            tuple[bytes, tuple[Occurrence, ...], Sequence[Word], int, Example | None, Item | None, str | None]
        ] = []

        def score() -> Iterator[SegmentScore]:
            reported = 0

            def report_share(share: float) -> None:
                nonlocal reported
                done = int(share * len(waiting))
                if advance is not None and done > reported:
                    advance(done - reported)
                reported = done

            encoded = self._encode(list(new.values()), batch_size, counts, report_share, length_batching, attended)
            known.update(zip(new, encoded, strict=True))
            report_share(1.0)
            read = self._read_sources([each for *_, each, _, _ in waiting if each is not None], batch_size, counts)
            counted = self._count_unmatched([item for *_, item, _ in waiting if item is not None])
            for key, pronouns, split, size, to_read, item, no_translation in waiting:
                segment = self._segment(pronouns, known.get(key), size)
                if (its := known.get(key)) is not None and its.missing is not None:
                    segment = its.missing.add_to(segment, split, least=least)
                if self._judged is not None:
                    segment = prefer_by_source(segment, self._judged)
                if to_read is not None:
                    segment = self._with_reading(segment, to_read, next(read), least)
                segment = segment if item is None else segment._replace(unmatched=next(counted))
                yield segment if no_translation is None else segment._replace(no_translation=no_translation)
            new.clear()
            waiting.clear()
            for key in list(islice(known, max(0, len(known) - (_REMEMBERED if cache else 0)))):
                del known[key]

        counted_language = None if self.source is None else self.source.language
        for number, (context, text, source, speaker, left_out, _) in enumerate(texts):
            check_segment(text, file="text", line=number + 1)
            words = self.language.words(text)
            pronouns = tuple(p for p in self.language.find(text, words) if p.form in self.forms)
            read_here = source if self.reads_source and source is not None and source.text.strip() else None
            identity = "\0".join((context, text, *_read(read_here))) if cache else str(number)
            key = blake2b(identity.encode(), digest_size=16).digest()
            scored = bool(pronouns) or (read_here is not None and self._gaps is not None)
            if not variants and not (scored and (key in known or key in new)):
                counts.add_reading(text, context)
            if scored and key not in known and key not in new:
                counts.shortened += bool(left_out) and not variants
                new[key] = Example(context, text, [(p.start, p.end) for p in pronouns], read_here)
            to_read = item = None
            if source is not None and self._load_reader is not None and source.text.strip():
                source = source._replace(language=source.language or counted_language)
                example = Example(context, text, tuple((p.start, p.end) for p in pronouns), source)
                to_read = example if self._reader.reads(example) else None
                if not variants:
                    self._reader.count(example, counts)
            if source is not None and self.source is not None and not variants:
                item = Item(source.text, words, pronouns)
            counts.with_source += to_read is not None or (read_here is not None and bool(pronouns))
            counts.with_speaker += speaker is not None
            split = words if self._gaps is not None else ()
            why = None if variants else kind_of(text, () if source is None else (source.text,))
            waiting.append((key, pronouns, split, self.language.writing.count_words(text), to_read, item, why))
            if len(new) == _WINDOW or len(waiting) == 4 * _WINDOW:
                yield from score()
        yield from score()

    def attention(
        self,
        texts: Iterable[Text],
        *,
        batch_size: int | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> Iterator[tuple[PronounAttention, ...]]:
        """See `pronmetric.metric.PronounMetric.attention`."""
        pieces = self._batch_size(batch_size) * BATCH_PIECES
        source = iter(texts)
        while window := [text[:2] for text in islice(source, _ATTENTION_WINDOW)]:
            distinct = list(dict.fromkeys(window))
            looks = dict(zip(distinct, self._looks(distinct, pieces), strict=True))
            if advance is not None:
                advance(len(window))
            yield from (looks[text] for text in window)

    def _looks(self, texts: Sequence[tuple[str, str]], pieces: int) -> Iterator[tuple[PronounAttention, ...]]:
        """The attention of texts, each (context, text)."""
        language = self.language
        found = [[p for p in language.find(text) if p.form in self.forms] for _, text in texts]
        sizes = [len(language.words(context)) + len(language.words(text)) for context, text in texts]
        scores = [np.zeros(len(f), np.float32) for f in found]
        weights = [np.zeros((len(f), size), np.float32) for f, size in zip(found, sizes, strict=True)]
        examples = [Example(*t, [(p.start, p.end) for p in f]) for t, f in zip(texts, found, strict=True)]
        seen = True
        for batch in cut_batches([row for row in self.collator.encode(examples) if len(row.pronouns)], pieces=pieces):
            values, out = _scores_and_attention(self.replicas[0], self.collator, batch)
            seen = out is not None
            for k, row in enumerate(batch):
                scores[row.example][row.pronouns] = values[k, : len(row.pronouns)]
                for pronoun, value in zip(row.pronouns, () if out is None else out[k], strict=False):
                    here = weights[row.example][pronoun, row.first_word : row.first_word + len(value)]
                    here[:] = value[: len(here)]  # the rest is padding
        for spans, values, each in zip(found, scores, weights, strict=True):
            pronouns = (self._pronoun(p, v) for p, v in zip(spans, values.tolist(), strict=True))
            yield tuple(PronounAttention(p, w if seen else None) for p, w in zip(pronouns, each, strict=True))

    def _encode(
        self,
        examples: Sequence[Example],
        batch_size: int,
        counts: Counts,
        report_share: Callable[[float], None],
        by_length: bool,
        attended: bool,
    ) -> list[_Known]:
        """Score examples, each with a pronoun or to find missing ones; `report_share` takes the finished share."""
        rows = self.collator.encode(examples)
        first = _first_rows(rows)
        counts.encoded += len(examples)
        counts.cut += sum(row.windows == 1 and row.cut > 0 for row in first)
        counts.windowed += sum(row.windows > 1 for row in first)
        counts.unread += sum(row.unread > 0 and row.source is None for row in first)
        counts.source_cut += sum(row.unread > 0 and row.source is not None for row in first)
        sizes = np.array([len(example.spans) for example in examples], dtype=np.int64)
        counts.surplus += int((sizes > getattr(self.replicas[0].head, "slots", np.inf)).sum())
        heads = 1 if self.replicas[0].pair_head is None else 2
        raw = np.zeros((heads, len(examples), sizes.max(initial=0)), dtype=np.float32)
        to_score = [row for row in rows if len(row.pronouns) or self._finds_missing(row)]
        of_gaps: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in examples]
        batches = list(cut_batches(to_score, pieces=batch_size * BATCH_PIECES, by_length=by_length))
        pieces, done = sum(len(row.ids) for row in to_score), 0
        looks: list[list[int | None]] = [[None] * len(example.spans) for example in examples]
        computed = self.map(batches, partial(_scores, attention=attended))
        for batch, (out, weights, gaps) in zip(batches, computed, strict=True):
            for k, row in enumerate(batch):
                if gaps is not None and row.gaps is not None and self._finds_missing(row):
                    of_gaps[row.example].append((row.gaps, gaps[k, row.gap_word]))
                raw[:, row.example, row.pronouns] = out[:, k, : len(row.pronouns)]
                if weights is not None and row.source is None:
                    starts = self._word_starts(examples[row.example])
                    for number, pronoun in enumerate(row.pronouns.tolist()):
                        looks[row.example][pronoun] = _most_attended(weights[k, number], row, number, starts)
                done += len(row.ids)
            report_share(done / pieces)
        real = np.arange(raw.shape[2]) < sizes[:, None]
        segments, scores = self._judge(raw[0], real)
        preferences = [None] * len(examples) if heads == 1 else self._prefer(raw[1], real)
        missing = [self._gaps.read(each) if self._gaps is not None and each else None for each in of_gaps]
        return [
            _Known(segment, array("f", line[:size]), preference, tuple(look) if attended else None, its)
            for segment, line, size, preference, look, its in zip(
                segments, scores, sizes, preferences, looks, missing, strict=True
            )
        ]

    def _finds_missing(self, row: Encoded) -> bool:
        """Whether missing pronouns are found in a row: that of a text with its source."""
        return self._gaps is not None and row.source is not None

    def _word_starts(self, example: Example) -> NDArray[np.int64]:
        """Where each word of a context and its text starts, from the start of the text; `_MARK` for marks (words,)."""
        context, text = self.language.words(example.context), self.language.words(example.text)
        starts = [word.start - len(example.context) for word in context] + [word.start for word in text]
        marks = [not any(map(str.isalnum, word.text)) for word in (*context, *text)]
        return np.where(marks, _MARK, np.array(starts, np.int64))

    def _prefer(self, raw: np.ndarray, real: np.ndarray) -> list[float]:
        """Segment preferences by the pair head's own rule, from those of pronouns (texts, pronouns)."""
        head: Any = self.replicas[0].pair_head
        with _inference(torch.device("cpu")):
            return head.segment(torch.from_numpy(raw), torch.from_numpy(real)).tolist()

    def _judge(self, raw: np.ndarray, real: np.ndarray) -> tuple[list[float], list[list[float]]]:
        """Segment scores, aggregated as defined by the head, and pronoun scores, from raw scores (texts, pronouns)."""
        head: Any = self.replicas[0].head
        with _inference(self.device):
            u = torch.from_numpy(raw).to(self.device)
            segments = head.segment(u, torch.from_numpy(real).to(self.device))
            return segments.tolist(), (u.sigmoid() if self.probability else u).tolist()

    def _segment(self, found: Sequence[Occurrence], known: _Known | None, words: int) -> SegmentScore:
        """The score of a text with its pronouns and their positions."""
        if not found or known is None:
            return SegmentScore(None, (), words=words)
        scores = (self._pronoun(p, value) for p, value in zip(found, known.pronouns, strict=True))
        return SegmentScore(known.segment, tuple(scores), known.preference, words, attended=known.attended)

    def _pronoun(self, found: Occurrence, score: float) -> PronounScore:
        return PronounScore(found.text, found.start, found.end, score, score if self.probability else None)

    def _count_unmatched(self, items: Sequence[Item]) -> Iterator[Unmatched]:
        """The missing and surplus pronouns of each item; equal items are compared once."""
        distinct = list(dict.fromkeys(items))
        counted = dict(zip(distinct, self.source.count(distinct), strict=True)) if self.source else {}
        return (_unmatched(item, counted[item]) for item in items)

    def _read_sources(self, examples: Sequence[Example], batch_size: int, counts: Counts) -> Iterator[_Reading]:
        """What the reader says about each example; equal ones are read once."""
        distinct = list(dict.fromkeys(examples))
        read = dict(zip(distinct, self._reader.read(distinct, batch_size, counts), strict=True)) if distinct else {}
        return (read[example] for example in examples)

    def _with_reading(self, segment: SegmentScore, example: Example, reading: _Reading, least: float) -> SegmentScore:
        """A segment's score with what its source says.

        The evidence of a pronoun is the reader's share of its logit. The preference changes by the mean change of the
        logits, times the pair head's factor of a logit and the reader's share of it; then by what was fitted on pairs
        that people judged, if it was. least: probability of a gap that is listed.
        """
        if reading.missing is not None:
            segment = reading.missing.add_to(segment, self.language.words(example.text), least=least)
        return self._reader.tell_surplus(self._mixed(segment, example, reading))

    def _mixed(self, segment: SegmentScore, example: Example, reading: _Reading) -> SegmentScore:
        mixing = self._reader.mixing(example)
        if not mixing.reader:
            return segment
        if not segment.pronouns:
            return self._reader.prefer(segment)
        without_source = [p.score for p in segment.pronouns]
        values = _mix(mixing, without_source, reading.logits)
        changes = logit(values, floor=LEAST) - logit(without_source, floor=LEAST)
        evidence = np.clip(mixing.reader * reading.logits.astype(np.float64), -MOST, MOST).tolist()
        scores = tuple(
            p._replace(score=value, probability=value, evidence=Evidence(log_odds, *word))
            for p, value, log_odds, word in zip(segment.pronouns, values, evidence, reading.words, strict=True)
        )
        head: Any = self.replicas[0].pair_head
        preference = (
            None
            if segment.preference is None
            else segment.preference + self._reader.preference * float(head.a * changes.mean())
        )
        read = segment._replace(score=fsum(values) / len(values), pronouns=scores, preference=preference)
        return self._reader.prefer(read)

    def map(
        self,
        batches: Sequence[Sequence[Encoded]],
        compute: Callable[[PronounScorer, Collator, Sequence[Encoded]], Result],
    ) -> Iterator[Result]:
        """The result for each batch, in order; with several GPUs, each free one takes the next batch."""
        if len(self.replicas) == 1:
            yield from (compute(self.replicas[0], self.collator, batch) for batch in batches)
            return
        free = deque(self.replicas)

        def run(batch: Sequence[Encoded]) -> Result:
            replica = free.popleft()  # never empty: there are as many threads as replicas
            try:
                return compute(replica, self.collator, batch)
            finally:
                free.append(replica)

        with ThreadPoolExecutor(len(self.replicas)) as pool:
            yield from pool.map(run, batches)


class _Reader:
    """A reader of sources on its devices: what the sources of texts say about their pronouns."""

    def __init__(self, loaded: Checkpoint, *, precision: str, gpus: int | None) -> None:
        self._inference = Inference(loaded, precision=precision, gpus=gpus)
        described = Model.read(loaded.config).source
        assert described is not None  # checked by `files.load_reader`
        self._languages = frozenset(described.languages)
        self._trained = Mixings(in_context=described.in_context, alone=described.alone)
        self._others = described.others or self._trained
        self.preference, self._judged = described.preference, described.judged
        self._surplus = described.surplus
        self._gaps = gap_reader(Model.read(loaded.config), described.missing)

    @property
    def finds_missing(self) -> bool:
        """Whether it finds missing pronouns."""
        return self._gaps is not None

    def mixing(self, example: Example) -> Mixing:
        """How its logits join those of the model; a source whose language is not known is one of its training."""
        by = self._others if self._is_other(example) else self._trained
        return by.in_context if example.context else by.alone

    def reads(self, example: Example) -> bool:
        """Whether its source affects what is said of the text."""
        return self.finds_missing or (bool(example.spans) and self.mixing(example).reader > 0)

    def count(self, example: Example, counts: Counts) -> None:
        """Count a text with pronouns by whether its source counts, and whether this depends on an unknown language."""
        if not example.spans:
            return
        counts.source_ignored += not self.mixing(example).reader
        unnamed = example.source is not None and example.source.language is None
        others = self._others.in_context if example.context else self._others.alone
        counts.source_unnamed += unnamed and self.mixing(example).reader > others.reader == 0

    def _is_other(self, example: Example) -> bool:
        """Whether its source is in a language that the reader was not trained on."""
        code = None if example.source is None else example.source.language
        return code is not None and code not in self._languages

    def prefer(self, segment: SegmentScore) -> SegmentScore:
        """A segment that was read with its source, with the preference that was fitted on pairs that people judged."""
        return segment if self._judged is None else prefer(segment, self._judged)

    def tell_surplus(self, segment: SegmentScore) -> SegmentScore:
        """A segment that was read with its source, with its surplus pronouns, if they are told apart."""
        return segment if self._surplus is None or segment.missing is None else tell_surplus(segment, self._surplus)

    def read(self, examples: Sequence[Example], batch_size: int, counts: Counts) -> Iterator[_Reading]:
        """What the sources say about each example, in order."""
        rows = self._inference.collator.encode(examples)
        counts.source_cut += sum(row.unread > 0 for row in _first_rows(rows))
        logits = [np.zeros(len(example.spans), np.float32) for example in examples]
        words = [[NOWHERE] * len(example.spans) for example in examples]
        gaps: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in examples]
        kept = rows if self.finds_missing else [row for row in rows if len(row.pronouns)]
        batches = list(cut_batches(kept, pieces=batch_size * BATCH_PIECES))
        computed = self._inference.map(batches, _read_rows)
        for batch, (scores, weights, missing) in zip(batches, computed, strict=True):
            for number, row in enumerate(batch):
                logits[row.example][row.pronouns] = scores[number, : len(row.pronouns)]
                for k, look in zip(row.pronouns.tolist(), weights[number], strict=False):  # the rest is padding
                    words[row.example][k] = _attended(look, row, examples[row.example])
                if missing is not None and row.gaps is not None:
                    gaps[row.example].append((row.gaps, missing[number, row.gap_word]))
        missing_of = [None if self._gaps is None else self._gaps.read(each) for each in gaps]
        return (_Reading(each, tuple(its), of) for each, its, of in zip(logits, words, missing_of, strict=True))


def gap_reader(model: Model, calibration: Calibration | None, *, own: Sequence[str] | None = None) -> GapReader | None:
    """What reads the model's gap head; None if it has none, or one that is not calibrated; own: as for `GapReader`."""
    if model.gap_head is None or calibration is None:
        return None
    return GapReader(model.gap_head.forms, calibration, own=own)


def _mix(by: Mixing, own: Sequence[float], read: np.ndarray) -> list[float]:
    """The probabilities of pronouns, from those of the model and the logits of the reader."""
    both = by.model * logit(own, floor=LEAST) + by.reader * read.astype(np.float64) + by.bias
    return (1 / (1 + np.exp(-both))).tolist()


def _unmatched(item: Item, counted: Counted) -> Unmatched:
    """The missing and surplus pronouns of an item."""
    surplus = (item.pronouns[k] for k in counted.surplus)
    return Unmatched(counted.missing, tuple(Word(p.text, p.start, p.end) for p in surplus))


def _read(source: Source | None) -> tuple[str, ...]:
    """The texts of a source, previous sentences first; none without one."""
    return () if source is None else (join(source.before), source.text)


def _first_rows(rows: Sequence[Encoded]) -> list[Encoded]:
    """The first row of each example."""
    return [row for i, row in enumerate(rows) if i == 0 or rows[i - 1].example != row.example]


def _attended(weights: np.ndarray, row: Encoded, example: Example) -> Word:
    """The source word whose pieces have the highest weight of a row's words (words,); `NOWHERE` without one.

    In a script without blanks it is one of its pieces.
    """
    assert row.source is not None and example.source is not None
    own = np.flatnonzero(row.source[:, 0] >= 0)
    spans, weights, source = row.source[own], weights[own], readable(example.source.text)
    split = split_words(source.text)
    word = word_of_pieces(split, spans)
    if not (word >= 0).any():
        return NOWHERE
    most = int(np.bincount(word[word >= 0], weights[word >= 0]).argmax())
    start, end = split[most].start, split[most].end
    if is_unspaced(split[most].text):
        start, end = spans[np.where(word == most, weights, -1.0).argmax()].tolist()
    return Word(source.text[start:end], *source.original(start, end))


@contextmanager
def _inference(device: torch.device) -> Iterator[None]:
    """No gradients, and no autocast of a caller: the precision is that of the signature."""
    with torch.inference_mode(), torch.autocast(device.type, enabled=False):
        yield


def _most_attended(weights: np.ndarray, row: Encoded, number: int, starts: NDArray[np.int64]) -> int | None:
    """Where the word starts that the pronoun `number` of a row attends to most; None if there is no other word.

    weights: of the row's words (words,), padded. starts: of the example's words, see `Inference._word_starts`.
    """
    here = starts[row.first_word : row.first_word + len(weights)]
    free = here != _MARK
    free[row.pronoun_word[number]] = False
    return int(here[np.where(free, weights[: len(here)], -1.0).argmax()]) if free.any() else None


def _scores(
    model: PronounScorer, collator: Collator, rows: Sequence[Encoded], *, attention: bool
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Raw scores (heads, batch, pronouns), of the head and, if there is one, of the pair head; attention; gaps.

    attention: give the weights (batch, pronouns, words); None without attention. gaps: the outputs of the gap head
    (batch, words, 1 + forms); None without one.
    """
    device = next(model.parameters()).device
    with _inference(device):
        out: HeadOutput = model(collator.pad(rows).to(device))
        scores = [out.scores] if out.preferences is None else [out.scores, out.preferences]
        weights = out.weights.float().cpu().numpy() if attention and out.weights is not None else None
        gaps = None if out.gaps is None else out.gaps.float().cpu().numpy()
        return torch.stack(scores).float().cpu().numpy(), weights, gaps


def _scores_and_attention(
    model: PronounScorer, collator: Collator, rows: Sequence[Encoded]
) -> tuple[np.ndarray, np.ndarray | None]:
    """Pronoun scores (batch, pronouns) and attention weights (batch, pronouns, words); None without attention."""
    device = next(model.parameters()).device
    with _inference(device):
        out: HeadOutput = model(collator.pad(rows).to(device))
        scores = out.scores.sigmoid() if model.probability else out.scores
        return scores.float().cpu().numpy(), None if out.weights is None else out.weights.float().cpu().numpy()


def _read_rows(
    model: PronounScorer, collator: Collator, rows: Sequence[Encoded]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """A reader's logits (batch, pronouns), attention weights (batch, pronouns, words) and outputs of its gap head.

    The last are (batch, words, 1 + forms); None without a gap head.
    """
    device = next(model.parameters()).device
    with _inference(device):
        out: HeadOutput = model(collator.pad(rows).to(device))
        assert out.weights is not None
        gaps = None if out.gaps is None else out.gaps.cpu().numpy()
        return out.scores.float().cpu().numpy(), out.weights.float().cpu().numpy(), gaps


def devices(gpus: int | None) -> list[str]:
    """The devices to run on; None: one GPU of CUDA if available, else the CPU. Apple's GPU is used only for 1.

    Raises:
        PronmetricError: more GPUs are wanted than there are.
    """
    there = torch.cuda.device_count()
    if gpus == 1 and not there and torch.backends.mps.is_available():
        return ["mps"]
    wanted = min(1, there) if gpus is None else gpus
    if wanted > there:
        raise PronmetricError(f"{wanted} GPUs were requested, but {there} are available; give `gpus={there}`")
    return [f"cuda:{i}" for i in range(wanted)] or ["cpu"]


def default_precision(device: str) -> str:
    """The precision on a device where none is asked for: bf16 on a GPU of CUDA that computes in it, else fp32."""
    if device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False):
        return "bf16"
    return "32"
