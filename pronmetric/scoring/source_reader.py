"""A reader of sources on its devices: what the sources of texts say about their pronouns, and scores with that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import Mixing, Mixings, Model
from pronmetric.data.collate import Collator, Encoded, Example, cut_batches, first_rows, word_of_pieces
from pronmetric.eval.calibration import logit
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.scoring.gaps import MissingPronouns, gap_reader
from pronmetric.scoring.preference import LEAST, prefer
from pronmetric.scoring.replicas import BATCH_PIECES, Replicas, inference_mode
from pronmetric.scoring.score import MOST, Counts, Evidence, SegmentScore
from pronmetric.scoring.surplus import tell_surplus
from pronmetric.text.readable import readable
from pronmetric.text.words import Word
from pronmetric.text.words import words as split_words
from pronmetric.text.writing import is_unspaced

NOWHERE = Word("", -1, -1)


class Reading(NamedTuple):
    """What a reader of sources says about a text.

    logits: of its pronouns (pronouns,). words: the source word that each attends to most, and its span in the source.
    missing: None without a gap head.
    """

    logits: np.ndarray
    words: tuple[Word, ...]
    missing: MissingPronouns | None = None


class SourceReader:
    """A reader of sources on its devices: what the sources of texts say about their pronouns."""

    def __init__(self, loaded: Checkpoint, *, precision: str, gpus: int | None) -> None:
        self._replicas = Replicas(loaded, precision=precision, gpus=gpus)
        described = Model.read(loaded.config).source
        assert described is not None  # checked by `files.load_reader`
        self._languages = frozenset(described.languages)
        self._trained = Mixings(in_context=described.in_context, alone=described.alone)
        self._others = described.others or self._trained
        self._preference, self._judged = described.preference, described.judged
        self._surplus = described.surplus
        self._gaps = gap_reader(Model.read(loaded.config), described.missing)

    @property
    def _finds_missing(self) -> bool:
        """Whether it finds missing pronouns."""
        return self._gaps is not None

    def _mixing(self, example: Example) -> Mixing:
        """How its logits join those of the model; a source whose language is not known is one of its training."""
        by = self._others if self._is_other(example) else self._trained
        return by.in_context if example.context else by.alone

    def reads(self, example: Example) -> bool:
        """Whether its source affects what is said of the text."""
        return self._finds_missing or (bool(example.spans) and self._mixing(example).reader > 0)

    def count(self, example: Example, counts: Counts) -> None:
        """Count a text with pronouns by whether its source counts, and whether this depends on an unknown language."""
        if not example.spans:
            return
        counts.source_ignored += not self._mixing(example).reader
        unnamed = example.source is not None and example.source.language is None
        others = self._others.in_context if example.context else self._others.alone
        counts.source_unnamed += unnamed and self._mixing(example).reader > others.reader == 0

    def _is_other(self, example: Example) -> bool:
        """Whether its source is in a language that the reader was not trained on."""
        code = None if example.source is None else example.source.language
        return code is not None and code not in self._languages

    def _prefer(self, segment: SegmentScore) -> SegmentScore:
        """A segment that was read with its source, with the preference that was fitted on pairs that people judged."""
        return segment if self._judged is None else prefer(segment, self._judged)

    def _tell_surplus(self, segment: SegmentScore) -> SegmentScore:
        """A segment that was read with its source, with its surplus pronouns, if they are told apart."""
        return segment if self._surplus is None or segment.missing is None else tell_surplus(segment, self._surplus)

    def read(self, examples: Sequence[Example], batch_size: int, counts: Counts) -> Iterator[Reading]:
        """What the sources say about each example, in order."""
        rows = self._replicas.collator.encode(examples)
        counts.source_cut += sum(row.unread > 0 for row in first_rows(rows))
        logits = [np.zeros(len(example.spans), np.float32) for example in examples]
        words = [[NOWHERE] * len(example.spans) for example in examples]
        gaps: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in examples]
        kept = rows if self._finds_missing else [row for row in rows if len(row.pronouns)]
        batches = list(cut_batches(kept, pieces=batch_size * BATCH_PIECES))
        computed = self._replicas.map(batches, _read_rows)
        for batch, (scores, weights, missing) in zip(batches, computed, strict=True):
            for number, row in enumerate(batch):
                logits[row.example][row.pronouns] = scores[number, : len(row.pronouns)]
                for k, look in zip(row.pronouns.tolist(), weights[number], strict=False):  # the rest is padding
                    words[row.example][k] = _attended(look, row, examples[row.example])
                if missing is not None and row.gaps is not None:
                    gaps[row.example].append((row.gaps, missing[number, row.gap_word]))
        missing_of = [None if self._gaps is None else self._gaps.read(each) for each in gaps]
        return (Reading(each, tuple(its), of) for each, its, of in zip(logits, words, missing_of, strict=True))

    def add_to(
        self,
        segment: SegmentScore,
        example: Example,
        reading: Reading,
        *,
        words: Sequence[Word],
        least: float,
        head: Any,
    ) -> SegmentScore:
        """A segment's score with what its source says.

        The evidence of a pronoun is the reader's share of its logit. The preference changes by the mean change of the
        logits, times the pair head's factor of a logit and the reader's share of it; then by what was fitted on pairs
        that people judged, if it was.

        Args:
            segment: the score of the model alone.
            example: the text with its source.
            reading: what the reader says about it.
            words: of the text.
            least: probability of a gap that is listed.
            head: the pair head, if there is one.
        """
        if reading.missing is not None:
            segment = reading.missing.add_to(segment, words, least=least)
        return self._tell_surplus(self._mixed(segment, example, reading, head))

    def _mixed(self, segment: SegmentScore, example: Example, reading: Reading, head: Any) -> SegmentScore:
        mixing = self._mixing(example)
        if not mixing.reader:
            return segment
        if not segment.pronouns:
            return self._prefer(segment)
        without_source = [p.score for p in segment.pronouns]
        values = _mix(mixing, without_source, reading.logits)
        changes = logit(values, floor=LEAST) - logit(without_source, floor=LEAST)
        evidence = np.clip(mixing.reader * reading.logits.astype(np.float64), -MOST, MOST).tolist()
        scores = tuple(
            p._replace(score=value, probability=value, evidence=Evidence(log_odds, *word))
            for p, value, log_odds, word in zip(segment.pronouns, values, evidence, reading.words, strict=True)
        )
        preference = (
            None
            if segment.preference is None
            else segment.preference + self._preference * float(head.a * changes.mean())
        )
        read = segment._replace(score=fsum(values) / len(values), pronouns=scores, preference=preference)
        return self._prefer(read)


def _mix(by: Mixing, own: Sequence[float], read: np.ndarray) -> list[float]:
    """The probabilities of pronouns, from those of the model and the logits of the reader."""
    both = by.model * logit(own, floor=LEAST) + by.reader * read.astype(np.float64) + by.bias
    return (1 / (1 + np.exp(-both))).tolist()


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


def _read_rows(
    model: PronounScorer, collator: Collator, rows: Sequence[Encoded]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """A reader's logits (batch, pronouns), attention weights (batch, pronouns, words) and outputs of its gap head.

    The last are (batch, words, 1 + forms); None without a gap head.
    """
    device = next(model.parameters()).device
    with inference_mode(device):
        out: HeadOutput = model(collator.pad(rows).to(device))
        assert out.weights is not None
        gaps = None if out.gaps is None else out.gaps.cpu().numpy()
        return out.scores.float().cpu().numpy(), out.weights.float().cpu().numpy(), gaps
