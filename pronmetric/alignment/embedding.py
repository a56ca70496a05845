"""Word alignment by word vectors: mutual best links by cosine minus distance from the expected position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.cells import Array, common_subsequence
from pronmetric.alignment.links import to_alignment
from pronmetric.schema import Alignment

Vectors = Callable[[Sequence[Sequence[str]]], Sequence[Array]]
"""Returns an array (words, width) for each list of words."""


class EmbeddingAligner:
    """Aligns by word vectors, without training; slow without a GPU.

    The defaults are ours, measured in `benchmarks/published/aligners.md` ("embedding hybrid").

    Args:
        vectors: returns the vectors of lower-cased words.
        decay: subtracted from the cosine for each word of distance from the expected position.
        reach: the greatest distance that counts.
        threshold: the least cosine minus distance of a link.
        batch_size: pairs encoded at once.
    """

    def __init__(
        self,
        vectors: Vectors,
        *,
        decay: float = 0.03,
        reach: float = 10.0,
        threshold: float = 0.4,
        batch_size: int = 256,
    ) -> None:
        """Set the aligner up."""
        self._vectors = vectors
        self.decay = decay
        self.reach = reach
        self.threshold = threshold
        self.batch_size = batch_size

    def align_all(self, pairs: Iterable[TokenPair]) -> Iterator[Alignment]:
        """Yield the links of each pair, in order; `pairs` is read batch by batch."""
        batch: list[tuple[list[str], list[str]]] = []
        for a, b in pairs:
            batch.append(([word.lower() for word in a], [word.lower() for word in b]))
            if len(batch) == self.batch_size:
                yield from self._batch(batch)
                batch = []
        yield from self._batch(batch)

    def _batch(self, batch: Sequence[tuple[list[str], list[str]]]) -> Iterator[Alignment]:
        vectors = self._vectors([side for pair in batch for side in pair])
        for (a, b), of_a, of_b in zip(batch, vectors[::2], vectors[1::2], strict=True):
            yield self._align(a, b, of_a, of_b) if a and b else Alignment(())

    def _align(self, a: list[str], b: list[str], of_a: Array, of_b: Array) -> Alignment:
        score = _unit(of_a) @ _unit(of_b).T - self.decay * np.minimum(_distance(a, b), self.reach)
        score = np.round(score, 6)
        best_of_row, best_of_col = score.argmax(axis=1), score.argmax(axis=0)
        rows = np.arange(len(a))
        mutual = (best_of_col[best_of_row] == rows) & (score[rows, best_of_row] >= self.threshold)
        return to_alignment(zip(rows[mutual].tolist(), best_of_row[mutual].tolist(), strict=True))


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)


def _distance(a: Sequence[str], b: Sequence[str]) -> Array:
    """The distance of each cell (row of a, column of b) from the position interpolated between shared words."""
    anchors = np.array([(-1, -1), *common_subsequence(a, b), (len(a), len(b))], np.float64)
    rows, cols = np.arange(len(a)), np.arange(len(b))
    col_of_row = np.interp(rows, anchors[:, 0], anchors[:, 1])
    row_of_col = np.interp(cols, anchors[:, 1], anchors[:, 0])
    return (np.abs(cols - col_of_row[:, None]) + np.abs(rows[:, None] - row_of_col)) / 2
