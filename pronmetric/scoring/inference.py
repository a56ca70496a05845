"""From texts to the scores of one checkpoint: windows of texts, batches, devices.

Pronouns are found, each distinct (context, text) with a pronoun is encoded once, rows of similar length share a batch,
and scores are returned in the order of the input.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from pronmetric.alignment.counts.table import Counted, CountTable, Item
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import Model
from pronmetric.data.collate import Collator, Encoded, Example, cut_batches, first_rows
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import Language
from pronmetric.scoring.gaps import MissingPronouns, gap_reader
from pronmetric.scoring.preference import prefer_by_source
from pronmetric.scoring.replicas import BATCH_PIECES, Replicas, inference_mode
from pronmetric.scoring.score import LISTED, Counts, PronounScore, SegmentScore, Unmatched
from pronmetric.scoring.source_reader import Reading, SourceReader
from pronmetric.scoring.surplus import tell_surplus
from pronmetric.text.context import Source, Text, join
from pronmetric.text.lines import check_segment
from pronmetric.text.no_translation import kind_of
from pronmetric.text.words import Word

_WINDOW = 2048  # distinct texts with a pronoun that are sorted by length together
_REMEMBERED = 2**17  # distinct texts whose scores are cached
_MARK = np.iinfo(np.int64).min  # the start of what is no word


class _Known(NamedTuple):
    """The cached scores of a text: of the segment, which is of no use without a pronoun, and of its pronouns."""

    segment: float
    pronouns: array[float]
    preference: float | None
    attended: tuple[int | None, ...] | None
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
        self.replicas = Replicas(loaded, precision=precision, gpus=gpus)
        self._load_reader, self._gpus = reader, gpus
        self.language: Language = loaded.language
        self.forms = frozenset(loaded.config["pronouns"])
        self.reads_source = not no_source and checkpoint_config.reads_source(loaded.config)
        described = Model.read(loaded.config)
        own = () if described.untrained else self.language.forms
        self._gaps = gap_reader(described, described.missing, own=own) if self.reads_source else None
        self._judged, self._surplus = described.judged, described.surplus

    @cached_property
    def _reader(self) -> SourceReader:
        """The reader of sources, on the same devices and in the same precision."""
        assert self._load_reader is not None
        return SourceReader(self._load_reader(), precision=self.precision, gpus=self._gpus)

    @property
    def precision(self) -> str:
        """The precision of the encoder, of `replicas.PRECISIONS`."""
        return self.replicas.precision

    @property
    def device(self) -> torch.device:
        """The device of the first replica."""
        return self.replicas.device

    @property
    def collator(self) -> Collator:
        """What makes batches of texts for the model."""
        return self.replicas.collator

    @property
    def probability(self) -> bool:
        """Whether pronoun scores are probabilities."""
        return self.replicas[0].probability

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
        batch_size = self.replicas.batch_size(batch_size)
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
                    segment = segment if self._surplus is None else tell_surplus(segment, self._surplus)
                if self._judged is not None:
                    segment = prefer_by_source(segment, self._judged)
                if to_read is not None:
                    words = self.language.words(to_read.text)
                    segment = self._reader.add_to(
                        segment, to_read, next(read), words=words, least=least, head=self.replicas[0].pair_head
                    )
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
        first = first_rows(rows)
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
        computed = self.replicas.map(batches, partial(_scores, attention=attended))
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
        with inference_mode(torch.device("cpu")):
            return head.segment(torch.from_numpy(raw), torch.from_numpy(real)).tolist()

    def _judge(self, raw: np.ndarray, real: np.ndarray) -> tuple[list[float], list[list[float]]]:
        """Segment scores, aggregated as defined by the head, and pronoun scores, from raw scores (texts, pronouns)."""
        head: Any = self.replicas[0].head
        with inference_mode(self.device):
            u = torch.from_numpy(raw).to(self.device)
            segments = head.segment(u, torch.from_numpy(real).to(self.device))
            return segments.tolist(), (u.sigmoid() if self.probability else u).tolist()

    def _segment(self, found: Sequence[Occurrence], known: _Known | None, words: int) -> SegmentScore:
        """The score of a text with its pronouns and their positions."""
        if not found or known is None:
            return SegmentScore(None, (), words=words)
        scores = (self.pronoun(p, value) for p, value in zip(found, known.pronouns, strict=True))
        return SegmentScore(known.segment, tuple(scores), known.preference, words, attended=known.attended)

    def pronoun(self, found: Occurrence, score: float) -> PronounScore:
        """The score of a pronoun."""
        return PronounScore(found.text, found.start, found.end, score, score if self.probability else None)

    def _count_unmatched(self, items: Sequence[Item]) -> Iterator[Unmatched]:
        """The missing and surplus pronouns of each item; equal items are compared once."""
        distinct = list(dict.fromkeys(items))
        counted = dict(zip(distinct, self.source.count(distinct), strict=True)) if self.source else {}
        return (_unmatched(item, counted[item]) for item in items)

    def _read_sources(self, examples: Sequence[Example], batch_size: int, counts: Counts) -> Iterator[Reading]:
        """What the reader says about each example; equal ones are read once."""
        distinct = list(dict.fromkeys(examples))
        read = dict(zip(distinct, self._reader.read(distinct, batch_size, counts), strict=True)) if distinct else {}
        return (read[example] for example in examples)


def _unmatched(item: Item, counted: Counted) -> Unmatched:
    """The missing and surplus pronouns of an item."""
    surplus = (item.pronouns[k] for k in counted.surplus)
    return Unmatched(counted.missing, tuple(Word(p.text, p.start, p.end) for p in surplus))


def _read(source: Source | None) -> tuple[str, ...]:
    """The texts of a source, previous sentences first; none without one."""
    return () if source is None else (join(source.before), source.text)


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
    with inference_mode(device):
        out: HeadOutput = model(collator.pad(rows).to(device))
        scores = [out.scores] if out.preferences is None else [out.scores, out.preferences]
        weights = out.weights.float().cpu().numpy() if attention and out.weights is not None else None
        gaps = None if out.gaps is None else out.gaps.float().cpu().numpy()
        return torch.stack(scores).float().cpu().numpy(), weights, gaps
