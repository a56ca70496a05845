"""What passages a run trains on: shares of the pieces by source, weights by pronoun, repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.text.writing import Writing
from pronmetric.training.batching import Plan


class Passages(NamedTuple):
    """What planning needs of each passage, without its text: 14 bytes each.

    lengths: estimated pieces (passages,). source: index of `sources` (passages,). weights: the highest weight of its
    forms (passages,), 0 where it has no pronoun.
    """

    lengths: np.ndarray
    source: np.ndarray
    weights: np.ndarray
    sources: tuple[str, ...]

    @classmethod
    def of(cls, rows: Any, form_weight: Mapping[str, float], writing: Writing) -> Self:
        """Those of a memory-mapped split of texts in some kind of writing."""
        numbers: dict[str, int] = {}
        lengths = np.zeros(len(rows), dtype=np.int32)
        source = np.zeros(len(rows), dtype=np.int16)
        weights = np.zeros(len(rows), dtype=np.float64)
        at = 0
        for part in arrow.read_columns(rows, "text", "source", "forms"):
            end = at + len(part["text"])
            lengths[at:end] = [int(writing.pieces(text)) + 3 for text in part["text"]]
            source[at:end] = [numbers.setdefault(name, len(numbers)) for name in part["source"]]
            weights[at:end] = [max((form_weight.get(f, 1.0) for f in forms), default=0.0) for forms in part["forms"]]
            at = end
        return cls(lengths, source, weights, tuple(numbers))

    def select(self, rows: np.ndarray) -> Passages:
        """Some of them."""
        return Passages(self.lengths[rows], self.source[rows], self.weights[rows], self.sources)

    def pieces(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Pieces by source, of passages drawn by `weights` (sources,)."""
        lengths = self.lengths if weights is None else self.lengths * weights
        return np.bincount(self.source, lengths, minlength=len(self.sources))

    def mixed(self, share: Mapping[str, float]) -> np.ndarray:
        """How often each passage is drawn, so that each source named has its share of the pieces (passages,).

        The other sources have the rest, in proportion to their pieces; where there is no other, the shares are scaled
        to sum to 1. Within a source the passages are drawn by their weights.

        Raises:
            InputError: there are other sources and no rest.
        """
        known = {name: part for name, part in share.items() if name in self.sources}
        others = [name for name in self.sources if name not in known]
        rest = 1.0 - sum(known.values())
        if not known:
            return self.weights
        if others and rest <= 1e-9:
            raise InputError(
                f"objective.source_share: the shares sum to 1 and leave nothing for {', '.join(sorted(others))}: give "
                "smaller shares, or one for each"
            )
        weighted = self.pieces(self.weights)
        left = sum(weighted[self.sources.index(name)] for name in others)
        total = sum(known.values()) if not others else 1.0
        rate = [
            known[name] / total / max(1.0, pieces) if name in known else rest / left
            for name, pieces in zip(self.sources, weighted, strict=True)
        ]
        rates: np.ndarray = self.weights * np.array(rate)[self.source]
        return rates

    def limits(self, turns: Mapping[str, int]) -> np.ndarray | None:
        """How often each passage may be drawn in a run (passages,); None for no limit."""
        if not turns:
            return None
        most = [turns.get(name, np.iinfo(np.int32).max) for name in self.sources]
        return np.array(most, dtype=np.int32)[self.source]

    def drawn(self, plan: Plan) -> dict[str, dict[str, float]]:
        """What a plan draws of each source: pieces, their share of those of all passages, passages seen, most turns."""
        times = plan.draws("passages", len(self.lengths))
        pieces = self.pieces(times)
        return {
            name: {
                "pieces": int(pieces[number]),
                "share": round(float(pieces[number] / max(1.0, pieces.sum())), 4),
                "passages": int((times[self.source == number] > 0).sum()),
                "turns": int(times[self.source == number].max(initial=0)),
            }
            for number, name in sorted(enumerate(self.sources), key=lambda each: each[1])
        }
