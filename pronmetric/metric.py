"""PronounMetric: load a checkpoint, score texts in context, compare systems.

Texts are processed in windows: pronouns are found, each distinct (context, text) with a pronoun is encoded once, rows
of similar length share a batch, and scores are returned in the order of the input.
"""

from __future__ import annotations

import copy
import operator
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from itertools import chain, islice
from math import fsum, inf
from numbers import Real
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from pronmetric import __version__
from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.config import PAIR_HEAD, decision_of, has_pair_head, tie_threshold
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.data import calibration
from pronmetric.data.collate import Collator, Encoded, Example, cut_batches
from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import SEED
from pronmetric.nn import packed, quantized
from pronmetric.nn.encoder import HuggingFaceEncoder
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import Language
from pronmetric.scoring.alternatives import PronounAlternatives, score_alternatives
from pronmetric.scoring.comparison import TIE_THRESHOLD, Comparison, PairwiseComparison, crossed_scores, crossed_texts
from pronmetric.scoring.score import Counts, Prediction, PronounScore, SegmentScore, Unmatched, tally_segments
from pronmetric.signature import Signature
from pronmetric.source import files as source_files
from pronmetric.source.evidence import Item as SourceItem
from pronmetric.source.evidence import Judgement, SourceTable
from pronmetric.text.context import Text, text_of
from pronmetric.text.lines import check_segment
from pronmetric.text.words import Word

INT8 = "int8"
PRECISIONS = {"32": torch.float32, "bf16": torch.bfloat16, "16": torch.float16, INT8: torch.float32}
"""By name, the type of what is not quantised."""
PRECISION = "32"
BATCH_SIZE = {"cpu": 32, "cuda": 1024, "mps": 1024}
_BATCH_PIECES = 32  # pieces per text of `batch_size`
_WINDOW = 2048  # distinct texts with a pronoun that are sorted by length together
_ATTENTION_WINDOW = 256  # texts whose attention is in memory together
_REMEMBERED = 2**17  # distinct texts whose scores are cached


Item = TypeVar("Item")


class _Known(NamedTuple):
    """The cached scores of a text: of the segment and of its pronouns."""

    segment: float
    pronouns: array[float]
    preference: float | None


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


class PronounMetric:
    """Scores the pronouns of texts in their context; see `pronmetric.scoring.score` for what the numbers mean.

    The texts are in the language of the checkpoint (`language`).

    Args:
        loaded: the checkpoint; its model is moved and converted in place.
        place: the checkpoint's name and folder.
        precision: "32" (also None), "bf16", "16" or "int8". In fp32 a score is the same to 1e-5 whatever the batch,
            the other texts and the hardware; in bf16 and fp16 it may vary by some thousandths. "int8" is for the CPU:
            the encoder is quantised here (some seconds), and scores are some thousandths from those in fp32.
        gpus: number of GPUs, 0 for the CPU; None uses one of CUDA if available. Apple's is used only where 1 is given.
        source_lang: language of the sources, or a file of `pronmetric train-source`. Sources of texts then affect
            their scores; None ignores them.

    A copy (`copy.deepcopy`, `pickle`, and so a process pool) loads the checkpoint's files again, with these arguments.
    Scores do not depend on PyTorch's autocast and default type.
    """

    def __init__(
        self,
        loaded: Checkpoint,
        place: locate.Location,
        *,
        precision: str | None = None,
        gpus: int | None = None,
        source_lang: str | None = None,
    ) -> None:
        if source_lang is not None and not loaded.language.ruled:
            raise PronmetricError(
                f"source tables are for English targets, and {place.name} scores {loaded.language.code}: leave out the "
                "source language"
            )
        self.source: SourceTable | None = None if source_lang is None else source_files.of_language(source_lang)
        self.precision = PRECISION if precision is None else precision
        if self.precision not in PRECISIONS:
            raise PronmetricError(f"expected precision {', '.join(PRECISIONS)}, got {precision!r}")
        if self.precision == INT8 and gpus:
            raise PronmetricError("precision int8 is for the CPU: give --gpus 0, or --precision 16")
        self._gpus, self._source_lang = gpus, source_lang
        devices = _devices(0 if self.precision == INT8 else gpus)
        self.name, self.folder = place
        self.hash, self.settings = loaded.hash, loaded.settings
        self.config: Mapping[str, Any] = loaded.config
        self.language: Language = loaded.language
        self._forms = frozenset(loaded.config["pronouns"])
        self._collator = loaded.collator
        model: Any = loaded.model.eval().requires_grad_(False)
        dtype = PRECISIONS[self.precision]
        ready: nn.Module | None = None
        if self.precision == INT8:
            ready = quantized.quantize(model.encoder, calibration.rows(self._collator))
        elif devices == ["cpu"]:
            ready = packed.pack(model.encoder, dtype)
        elif isinstance(model.encoder, HuggingFaceEncoder):
            model.encoder.fuse_attention()
        # the head stays in fp32: it costs little, and rounding would affect scores
        model.encoder = model.encoder.to(dtype) if ready is None else ready
        copies = [model, *(copy.deepcopy(model) for _ in devices[1:])]
        self._replicas = [replica.to(device) for replica, device in zip(copies, devices, strict=True)]
        if self.source is not None and not self.probability:
            raise PronmetricError(
                f"the head {self.config['head']['kind']!r} of {self.name} gives no probabilities, so sources cannot "
                "count: leave out the source language, or give a checkpoint with head 'logit'"
            )

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path | None = None,
        *,
        precision: str | None = None,
        gpus: int | None = None,
        allow_network: bool = False,
        storage: str | Path | None = None,
        source_lang: str | None = None,
    ) -> PronounMetric:
        """Load the default checkpoint, or one from a folder or the Hugging Face hub; no pickle files are read.

        `storage`: the folder for checkpoints from the hub; None is the hub's default cache. The other arguments are
        those of the class.

        Raises:
            PronmetricError: there is no such checkpoint; a hub name without `allow_network`; too few GPUs; no source
                table for `source_lang`.
        """
        place = locate.locate(model, allow_network=allow_network, storage=storage)
        return cls(
            files.load(place.folder, trainable=False), place, precision=precision, gpus=gpus, source_lang=source_lang
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """How a copy is made: by loading the checkpoint again."""
        path = None if self._source_lang is None else Path(self._source_lang)
        source = str(path.resolve()) if path is not None and path.is_file() else self._source_lang
        arguments = {"precision": self.precision, "gpus": self._gpus, "source_lang": source}
        return _load_again, (type(self), self.name, str(self.folder.resolve()), self._identity, arguments)

    @property
    def _identity(self) -> tuple[str, ...]:
        """The hashes of what is read from files."""
        return (self.hash, self.settings, *(() if self.source is None else (self.source.hash,)))

    def save_pretrained(self, folder: str | Path) -> None:
        """Copy the checkpoint's files to `folder`, byte for byte; `from_pretrained(folder)` gives the same scores.

        Other files of its folder are not copied.
        """
        if Path(folder).resolve() != self.folder.resolve():
            files.copy(self.folder, Path(folder))

    @property
    def _device(self) -> torch.device:
        return next(self._replicas[0].parameters()).device

    @property
    def probability(self) -> bool:
        """Whether pronoun scores are probabilities; the paper's heads give unbounded scores."""
        return self._replicas[0].probability

    @property
    def context_size(self) -> int:
        """The number of context sentences in training."""
        return int(self.config["context_size"])

    def signature(
        self, *, context: str = "given", context_size: int | None = None, seed: int | None = None
    ) -> Signature:
        """The signature: everything that scores depend on.

        context: the kind of context. context_size: number of context sentences, if the input did not contain the
        contexts. seed: of what is drawn, such as the swaps of a test; None if nothing is.
        """
        head = self.config["head"]["kind"]
        return Signature.of(
            model=self.name,
            weights=self.hash,
            settings=self.settings,
            head=head if self.probability else f"{head}-unbounded",
            **({"pair_head": self.config[PAIR_HEAD]["heads"]} if has_pair_head(self.config) else {}),
            context=context,
            **({} if context_size is None or context == "none" else {"context_size": context_size}),
            **({} if self.language.to_record() is None else {"language": self.language.code}),
            pronouns=len(self.config["pronouns"]),
            segment=self.config["segment"],
            word=self.config["word_state"],
            precision=self.precision,
            **({} if self.source is None else {"source": f"{self.source.language}-{self.source.hash}"}),
            **({} if self.source is None or not has_pair_head(self.config) else {"preference": "without_source"}),
            version=__version__,
            **({} if seed is None else {"seed": seed}),
        )

    def predict(
        self,
        records: Iterable[Mapping[str, Any]],
        *,
        batch_size: int | None = None,
        docs: Sequence[Hashable] | None = None,
        progress: bool = False,
    ) -> Prediction:
        """Score records `{"text": str, "context": [previous sentences]}`, the output of one system.

        Args:
            records: texts; `context` is optional. If the metric has a source language, `source` (str) is required
                and `source_context` (previous source sentences) optional; other fields do not affect scores.
            batch_size: a batch holds 32 pieces per unit, so more short texts or fewer long ones. None: 32, on a GPU
                1024.
            docs: each record's document (None if unknown), over which the system score has its interval; by default
                records.
            progress: show a bar on stderr.

        Raises:
            InputError: a record without a text, or a value that is not text.
            PronmetricError: `batch_size` or `docs` are not as described.
        """
        texts = self._texts(records)
        batch_size, docs = _checked_batch_size(batch_size), _checked_docs(docs, len(texts))
        counts = Counts()
        with tqdm(total=len(texts), unit=" texts", disable=not progress) as bar:
            segments = tuple(self.stream(texts, batch_size=batch_size, counts=counts, advance=bar.update))
        system = tally_segments(segments, docs).score()
        return Prediction(segments, system, counts, self.signature())

    def compare(
        self,
        a: Iterable[Mapping[str, Any]],
        b: Iterable[Mapping[str, Any]],
        *,
        context: str = "crossed",
        by: str | None = None,
        tie: float | Literal["auto"] = TIE_THRESHOLD,
        batch_size: int | None = None,
        docs: Sequence[Hashable] | None = None,
        seed: int = SEED,
        progress: bool = False,
    ) -> Comparison:
        """Compare the pronouns of two systems: a decision for each segment, and the difference with its significance.

        Swapping `a` and `b` only changes signs.

        Args:
            a: records of the first system, as for `predict`.
            b: as many records of the second.
            context: "crossed" scores each pair in the context of `a` and in that of `b` and averages (both are the same
                with a common context, such as the reference's). "respective" scores each text in its own context.
            by: what decides, "score", "errors" or "preference"; None is what the checkpoint's config names, which was
                chosen on development data, else "score".
            tie: tie threshold, from 0: segments whose scores differ by no more are ties; "auto" is the checkpoint's,
                which ties the same share of its development pairs as the share of ties in the published study.
            batch_size: as for `predict`.
            docs: each segment's document, the unit of intervals and tests; by default segments.
            seed: of the randomisation test.
            progress: show a bar on stderr.

        Raises:
            InputError: a record without a text, or a value that is not text.
            PronmetricError: an argument is not as described, or `a` and `b` have different numbers of records.
        """
        if context not in ("crossed", "respective"):
            raise PronmetricError(f'expected context "crossed" or "respective", got {context!r}')
        left, right = self._texts(a), self._texts(b)
        if len(left) != len(right):
            raise PronmetricError(f"expected as many records of b as of a, got {len(left)} and {len(right)}")
        batch_size, docs = _checked_batch_size(batch_size), _checked_docs(docs, len(left))
        seed = _whole(seed, least=0, what="seed")
        units: Sequence[Hashable] = [None] * len(left) if docs is None else docs
        by = decision_of(self.config, by, name=self.name)
        threshold = tie_threshold(self.config, name=self.name, by=by) if tie == "auto" else _checked_tie(tie)
        compared, counts = PairwiseComparison(tie=threshold, by=by), Counts()
        pairs = list(zip(left, right, strict=True))
        if context == "respective":
            size, given = 2, chain.from_iterable(pairs)
        else:
            size = 4
            given = chain.from_iterable(
                crossed_texts((x.text, y.text), (x.context, y.context), (x.source, y.source)) for x, y in pairs
            )
        with tqdm(total=size * len(left), unit=" texts", disable=not progress) as bar:
            scored = chunks(self.stream(given, batch_size=batch_size, counts=counts, advance=bar.update), size)
            sides = (s if size == 2 else tuple(crossed_scores(s).values()) for s in scored)
            decisions = tuple(compared.add(x, y, doc) for (x, y), doc in zip(sides, units, strict=True))
        signature = self.signature(context=context, seed=seed).plus(by=by, tie=f"{threshold:g}")
        return Comparison(decisions, compared.outcome(seed=seed), counts, signature)

    def _texts(self, records: Iterable[Mapping[str, Any]]) -> list[Text]:
        counts = self.source is not None
        return [
            text_of(record, file="record", line=number, with_source=counts)
            for number, record in enumerate(records, start=1)
        ]

    def stream(
        self,
        texts: Iterable[Text],
        *,
        batch_size: int | None = None,
        counts: Counts | None = None,
        advance: Callable[[int], object] | None = None,
        length_batching: bool = True,
        cache: bool = True,
    ) -> Iterator[SegmentScore]:
        """Scores of `texts`, in order, in bounded memory; each distinct text is encoded once.

        Scores are returned after every few thousand texts.

        Args:
            texts: the texts, with their contexts.
            batch_size: as for `predict`.
            counts: updated.
            advance: called after each batch with the number of texts finished since the last call, estimated from the
                pieces encoded; the total is the number of texts.
            length_batching: batches hold texts of similar length; if False, consecutive texts.
            cache: repeated texts are not encoded again.

        Raises:
            InputError: a text above the limit of characters, with its number from 1.
        """
        batch_size = _checked_batch_size(batch_size) or BATCH_SIZE[self._device.type]
        counts = Counts() if counts is None else counts
        known: dict[bytes, _Known] = {}
        new: dict[bytes, Example] = {}
        waiting: list[tuple[bytes, tuple[Occurrence, ...], int, SourceItem | None]] = []

        def score() -> Iterator[SegmentScore]:
            reported = 0

            def tell(share: float) -> None:
                nonlocal reported
                done = int(share * len(waiting))
                if advance is not None and done > reported:
                    advance(done - reported)
                reported = done

            encoded = self._encode(list(new.values()), batch_size, counts, tell, length_batching)
            known.update(zip(new, encoded, strict=True))
            tell(1.0)
            judged = self._judge_source([item for *_, item in waiting if item is not None])
            for key, found, size, item in waiting:
                segment = self._segment(found, known[key], size) if found else SegmentScore(None, (), words=size)
                yield segment if item is None else self._with_source(segment, next(judged))
            new.clear()
            waiting.clear()
            for key in list(islice(known, max(0, len(known) - (_REMEMBERED if cache else 0)))):
                del known[key]

        for number, (context, text, source) in enumerate(texts):
            check_segment(text, file="text", line=number + 1)
            words = self.language.words(text)
            found = tuple(p for p in self.language.find(text, words) if p.form in self._forms)
            identity = f"{context}\0{text}" if cache else str(number)
            key = blake2b(identity.encode(), digest_size=16).digest()
            if not (found and (key in known or key in new)):
                counts.add_reading(text, context)
            if found and key not in known and key not in new:
                new[key] = Example(context, text, [(p.start, p.end) for p in found])
            item = SourceItem(source, words, found) if self.source is not None and source is not None else None
            waiting.append((key, found, self.language.writing.count_words(text), item))
            if len(new) == _WINDOW or len(waiting) == 4 * _WINDOW:
                yield from score()
        yield from score()

    def alternatives(
        self,
        texts: Iterable[Text],
        *,
        below: float | None = None,
        scored: Iterable[Sequence[PronounScore]] | None = None,
        batch_size: int | None = None,
        counts: Counts | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> Iterator[tuple[PronounAlternatives, ...]]:
        """For each of `texts`, in order, its pronouns with the probabilities of alternative forms.

        See `pronmetric.scoring.alternatives`: one pronoun is replaced at a time, and the source is not read.
        Only pronouns with a probability below `below` are listed; `scored`: the pronouns of each text with their
        scores (as `attention` gives them), so that the texts are not encoded again; `advance` is called with the number
        of texts finished since the last call; other arguments as for `stream`.

        Raises:
            PronmetricError: the checkpoint's head gives no probabilities.
        """
        if not self.probability:
            kind = self.config["head"]["kind"]
            raise PronmetricError(
                f"alternatives need probabilities; the head {kind!r} of {self.name} gives unbounded scores: "
                "give a checkpoint with head 'logit'"
            )
        return score_alternatives(
            texts,
            partial(self.stream, batch_size=batch_size, counts=counts),
            language=self.language,
            below=below,
            scored=scored,
            advance=advance,
        )

    def attention(
        self,
        texts: Iterable[Text],
        *,
        batch_size: int | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> Iterator[tuple[PronounAttention, ...]]:
        """For each of `texts`, in order, its pronouns with their attention (as in the paper's Figures 5 and 6).

        This is the attention of the head, over contextual word states. `advance` is called with the number of texts
        finished since the last call.
        """
        pieces = (_checked_batch_size(batch_size) or BATCH_SIZE[self._device.type]) * _BATCH_PIECES
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
        found = [[p for p in language.find(text) if p.form in self._forms] for _, text in texts]
        sizes = [len(language.words(context)) + len(language.words(text)) for context, text in texts]
        scores = [np.zeros(len(f), np.float32) for f in found]
        weights = [np.zeros((len(f), size), np.float32) for f, size in zip(found, sizes, strict=True)]
        examples = [Example(*t, [(p.start, p.end) for p in f]) for t, f in zip(texts, found, strict=True)]
        seen = True
        for batch in cut_batches([row for row in self._collator.encode(examples) if len(row.pronouns)], pieces=pieces):
            raw, out = _scores_and_attention(self._replicas[0], self._collator, batch)
            seen = out is not None
            for k, row in enumerate(batch):
                scores[row.example][row.pronouns] = raw[k, : len(row.pronouns)]
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
        tell: Callable[[float], None],
        by_length: bool,
    ) -> list[_Known]:
        """Score examples, each with at least one pronoun; `tell` is called with the finished share."""
        rows = self._collator.encode(examples)
        first = [row for i, row in enumerate(rows) if i == 0 or rows[i - 1].example != row.example]
        counts.encoded += len(examples)
        counts.cut += sum(row.windows == 1 and row.cut > 0 for row in first)
        counts.windowed += sum(row.windows > 1 for row in first)
        counts.unread += sum(row.unread > 0 for row in first)
        sizes = np.array([len(example.spans) for example in examples], dtype=np.int64)
        counts.surplus += int((sizes > getattr(self._replicas[0].head, "slots", np.inf)).sum())
        heads = 1 if self._replicas[0].pair_head is None else 2
        raw = np.zeros((heads, len(examples), sizes.max(initial=0)), dtype=np.float32)
        kept = [row for row in rows if len(row.pronouns)]
        batches = list(cut_batches(kept, pieces=batch_size * _BATCH_PIECES, by_length=by_length))
        pieces, done = sum(len(row.ids) for row in kept), 0
        for batch, out in zip(batches, self._forward(batches), strict=True):
            for k, row in enumerate(batch):
                raw[:, row.example, row.pronouns] = out[:, k, : len(row.pronouns)]
                done += len(row.ids)
            tell(done / pieces)
        real = np.arange(raw.shape[2]) < sizes[:, None]
        segments, scores = self._judge(raw[0], real)
        preferences = [None] * len(examples) if heads == 1 else self._prefer(raw[1], real)
        return [
            _Known(segment, array("f", line[:size]), preference)
            for segment, line, size, preference in zip(segments, scores, sizes, preferences, strict=True)
        ]

    def _prefer(self, raw: np.ndarray, real: np.ndarray) -> list[float]:
        """Segment preferences by the pair head's own rule, from those of pronouns (texts, pronouns)."""
        head: Any = self._replicas[0].pair_head
        with _inference(torch.device("cpu")):
            return head.segment(torch.from_numpy(raw), torch.from_numpy(real)).tolist()

    def _judge(self, raw: np.ndarray, real: np.ndarray) -> tuple[list[float], list[list[float]]]:
        """Segment scores, aggregated as defined by the head, and pronoun scores, from raw scores (texts, pronouns)."""
        head: Any = self._replicas[0].head
        with _inference(self._device):
            u = torch.from_numpy(raw).to(self._device)
            segments = head.segment(u, torch.from_numpy(real).to(self._device))
            return segments.tolist(), (u.sigmoid() if self.probability else u).tolist()

    def _segment(self, found: Sequence[Occurrence], known: _Known, words: int) -> SegmentScore:
        """The score of a text with its pronouns and their positions."""
        scores = (self._pronoun(p, value) for p, value in zip(found, known.pronouns, strict=True))
        return SegmentScore(known.segment, tuple(scores), known.preference, words)

    def _pronoun(self, found: Occurrence, score: float) -> PronounScore:
        return PronounScore(found.text, found.start, found.end, score, score if self.probability else None)

    def _judge_source(self, items: Sequence[SourceItem]) -> Iterator[Judgement]:
        """What the source says about each item; equal items are judged once."""
        assert self.source is not None or not items
        distinct = list(dict.fromkeys(items))
        judged = dict(zip(distinct, self.source.judge(distinct), strict=True)) if self.source else {}
        return (judged[item] for item in items)

    def _with_source(self, segment: SegmentScore, judged: Judgement) -> SegmentScore:
        """A segment's score with what the source says about it; the preference does not use it."""
        assert self.source is not None
        own = segment.pronouns
        without = Unmatched(judged.missing, tuple(Word(*own[k][:3]) for k in judged.surplus))
        if not own:
            return segment._replace(unmatched=without)
        log_odds = [each.log_odds for each in judged.evidence]
        values = self.source.combination.probabilities([p.score for p in own], log_odds)
        scores = (
            p._replace(score=value, probability=value, evidence=each)
            for p, value, each in zip(own, values, judged.evidence, strict=True)
        )
        return segment._replace(score=fsum(values) / len(values), pronouns=tuple(scores), unmatched=without)

    def _forward(self, batches: Sequence[Sequence[Encoded]]) -> Iterator[np.ndarray]:
        """Raw scores (heads, batch, pronouns) of each batch; with several GPUs, each free one takes the next batch."""
        if len(self._replicas) == 1:
            yield from (_scores(self._replicas[0], self._collator, batch) for batch in batches)
            return
        free = deque(self._replicas)

        def run(batch: Sequence[Encoded]) -> np.ndarray:
            replica = free.popleft()  # never empty: there are as many threads as replicas
            try:
                return _scores(replica, self._collator, batch)
            finally:
                free.append(replica)

        with ThreadPoolExecutor(len(self._replicas)) as pool:
            yield from pool.map(run, batches)


@contextmanager
def _inference(device: torch.device) -> Iterator[None]:
    """No gradients, and no autocast of a caller: the precision is that of the signature."""
    with torch.inference_mode(), torch.autocast(device.type, enabled=False):
        yield


def _scores(model: PronounScorer, collator: Collator, rows: Sequence[Encoded]) -> np.ndarray:
    """Raw scores (heads, batch, pronouns): of the head and, if there is one, of the pair head."""
    device = next(model.parameters()).device
    with _inference(device):
        out: HeadOutput = model(collator.pad(rows).to(device))
        scores = [out.scores] if out.preferences is None else [out.scores, out.preferences]
        return torch.stack(scores).float().cpu().numpy()


def _scores_and_attention(
    model: PronounScorer, collator: Collator, rows: Sequence[Encoded]
) -> tuple[np.ndarray, np.ndarray | None]:
    """Pronoun scores (batch, pronouns) and attention weights (batch, pronouns, words); None without attention."""
    device = next(model.parameters()).device
    with _inference(device):
        out: HeadOutput = model(collator.pad(rows).to(device))
        scores = out.scores.sigmoid() if model.probability else out.scores
        return scores.float().cpu().numpy(), None if out.weights is None else out.weights.float().cpu().numpy()


def _load_again(
    cls: type[PronounMetric], name: str, folder: str, identity: tuple[str, ...], arguments: Mapping[str, Any]
) -> PronounMetric:
    """A copy of a metric: its checkpoint at its place or, on another machine, by its name.

    Raises:
        PronmetricError: the checkpoint is missing, or another one is there now.
    """
    place = locate.Location(name, Path(folder)) if Path(folder).is_dir() else locate.locate(name)
    made = cls(files.load(place.folder, trainable=False), place, **arguments)
    if made._identity != identity:
        raise PronmetricError(
            f"a copy of a metric loads its checkpoint again, but {place.folder} has changed: expected "
            f"{' '.join(identity)}, got {' '.join(made._identity)}; load the metric again"
        )
    return made


def _whole(value: object, *, least: int, what: str) -> int:
    """The value as a whole number from `least`."""
    try:
        found = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        found = None
    if found is None or found < least:
        raise PronmetricError(f"expected a whole number from {least} as {what}, got {value!r}")
    return found


def _checked_batch_size(batch_size: object) -> int | None:
    return None if batch_size is None else _whole(batch_size, least=1, what="batch_size")


def _checked_docs(docs: object, number: int) -> list[Hashable] | None:
    """The documents of so many records; None if they are not known."""
    if docs is None:
        return None
    if isinstance(docs, str | bytes | set | frozenset | Mapping) or not isinstance(docs, Iterable):
        raise PronmetricError(f"expected docs to be a list with the document of each record, got {_type(docs)}")
    found = list(docs)
    if len(found) != number:
        raise PronmetricError(f"expected one document for each record in docs, got {len(found)} for {number} records")
    for place, doc in enumerate(found):
        if not isinstance(doc, Hashable) or doc != doc:  # NaN is not equal to itself
            what = _type(doc) if not isinstance(doc, Hashable) else "NaN"
            raise PronmetricError(
                f"expected a name or number, or None for an unknown document, in docs[{place}], got {what}"
            )
    return found


def _checked_tie(tie: object) -> float:
    if not isinstance(tie, Real) or isinstance(tie, bool) or not 0 <= float(tie) < inf:
        raise PronmetricError(f'expected "auto" or a finite number from 0 as tie, got {tie!r}')
    return float(tie)


def _type(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def chunks(items: Iterable[Item], size: int) -> Iterator[tuple[Item, ...]]:
    """Consecutive items in tuples of `size`; there must be a multiple of it."""
    source = iter(items)
    while chunk := tuple(islice(source, size)):
        if len(chunk) < size:
            raise ValueError(f"expected a multiple of {size} items, {len(chunk)} are left over")
        yield chunk


def _devices(gpus: int | None) -> list[str]:
    """The devices to run on; None: one GPU of CUDA if available, else the CPU. Apple's GPU is used only for 1.

    Raises:
        PronmetricError: more GPUs are wanted than there are.
    """
    there = torch.cuda.device_count()
    if gpus == 1 and not there and torch.backends.mps.is_available():
        return ["mps"]
    wanted = min(1, there) if gpus is None else gpus
    if wanted > there:
        raise PronmetricError(f"{wanted} GPUs were requested, but {there} are available; give --gpus {there}")
    return [f"cuda:{i}" for i in range(wanted)] or ["cpu"]
