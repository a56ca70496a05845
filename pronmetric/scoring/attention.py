"""The attention of the head: where each pronoun of a text looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from pronmetric.data.collate import Collator, Encoded, Example, cut_batches
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.scoring.inference import Inference
from pronmetric.scoring.replicas import BATCH_PIECES, inference_mode
from pronmetric.scoring.score import PronounScore
from pronmetric.text.context import Text

_ATTENTION_WINDOW = 256  # texts whose attention is in memory together


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


def attention(
    inference: Inference,
    texts: Iterable[Text],
    *,
    batch_size: int | None = None,
    advance: Callable[[int], object] | None = None,
) -> Iterator[tuple[PronounAttention, ...]]:
    """See `pronmetric.metric.PronounMetric.attention`."""
    pieces = inference.replicas.batch_size(batch_size) * BATCH_PIECES
    source = iter(texts)
    while window := [text[:2] for text in islice(source, _ATTENTION_WINDOW)]:
        distinct = list(dict.fromkeys(window))
        looks = dict(zip(distinct, _looks(inference, distinct, pieces), strict=True))
        if advance is not None:
            advance(len(window))
        yield from (looks[text] for text in window)


def _looks(
    inference: Inference, texts: Sequence[tuple[str, str]], pieces: int
) -> Iterator[tuple[PronounAttention, ...]]:
    """The attention of texts, each (context, text)."""
    language = inference.language
    found = [[p for p in language.find(text) if p.form in inference.forms] for _, text in texts]
    sizes = [len(language.words(context)) + len(language.words(text)) for context, text in texts]
    scores = [np.zeros(len(f), np.float32) for f in found]
    weights = [np.zeros((len(f), size), np.float32) for f, size in zip(found, sizes, strict=True)]
    examples = [Example(*t, [(p.start, p.end) for p in f]) for t, f in zip(texts, found, strict=True)]
    seen = True
    for batch in cut_batches([row for row in inference.collator.encode(examples) if len(row.pronouns)], pieces=pieces):
        values, out = _scores_and_attention(inference.replicas[0], inference.collator, batch)
        seen = out is not None
        for k, row in enumerate(batch):
            scores[row.example][row.pronouns] = values[k, : len(row.pronouns)]
            for pronoun, value in zip(row.pronouns, () if out is None else out[k], strict=False):
                here = weights[row.example][pronoun, row.first_word : row.first_word + len(value)]
                here[:] = value[: len(here)]  # the rest is padding
    for spans, values, each in zip(found, scores, weights, strict=True):
        pronouns = (inference.pronoun(p, v) for p, v in zip(spans, values.tolist(), strict=True))
        yield tuple(PronounAttention(p, w if seen else None) for p, w in zip(pronouns, each, strict=True))


def _scores_and_attention(
    model: PronounScorer, collator: Collator, rows: Sequence[Encoded]
) -> tuple[np.ndarray, np.ndarray | None]:
    """Pronoun scores (batch, pronouns) and attention weights (batch, pronouns, words); None without attention."""
    device = next(model.parameters()).device
    with inference_mode(device):
        out: HeadOutput = model(collator.pad(rows).to(device))
        scores = out.scores.sigmoid() if model.probability else out.scores
        return scores.float().cpu().numpy(), None if out.weights is None else out.weights.float().cpu().numpy()
