"""The batches of a run: its passages by source and weight, and a plan of steps with rows of similar length.

The plan is a pure function of seed and epoch, so that a run resumes at any step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.text.writing import Writing

CHUNK = 64  # steps whose rows are sorted by length together
KINDS = ("passages", "pairs")


class Step(NamedTuple):
    """The rows of a step.

    kind: "passages" or "pairs". rows: indices into that kind's data. turns: how often each was drawn earlier.
    """

    kind: str
    rows: tuple[int, ...]
    turns: tuple[int, ...]


class Plan(Sequence[Step]):
    """Steps, kept as arrays: 8 bytes a draw; a slice shares them.

    Args:
        kinds: of each step, an index of `KINDS` (steps,).
        sizes: draws of each step (steps,).
        draws: row and turn of each draw, step after step (draws, 2).
    """

    def __init__(self, kinds: np.ndarray, sizes: np.ndarray, draws: np.ndarray) -> None:
        self._kinds = kinds.astype(np.int8)
        self._ends = np.cumsum(sizes, dtype=np.int64)
        self._draws = draws.astype(np.int32)
        self._chosen = range(len(kinds))

    @classmethod
    def join(cls, plans: Iterable[Plan]) -> Self:
        """The steps of several plans, one after the other."""
        parts = [plan._taken(plan._chosen) for plan in plans]
        empty = (np.zeros(0, np.int8), np.zeros(0, np.int64), np.zeros((0, 2), np.int32))
        return cls(*(np.concatenate(each) for each in zip(empty, *parts, strict=True)))

    def shuffled(self, rng: np.random.Generator) -> Plan:
        """The steps in another order."""
        return Plan(*self._taken(rng.permutation(self._chosen)))

    def moved(self, **by: int) -> Plan:
        """The same steps with the row numbers of each kind increased: `moved(passages=10, pairs=20)`."""
        kinds, sizes, draws = self._taken(self._chosen)
        increase = np.array([by[kind] for kind in KINDS])[np.repeat(kinds, sizes)]
        return Plan(kinds, sizes, draws + np.stack([increase, np.zeros_like(increase)], axis=1))

    def draws(self, kind: str, rows: int) -> np.ndarray:
        """How often each of `rows` rows of a kind is drawn (rows,)."""
        kinds, sizes, draws = self._taken(self._chosen)
        return np.bincount(draws[np.repeat(kinds == KINDS.index(kind), sizes), 0], minlength=rows)

    def _taken(self, steps: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kinds, sizes and draws of these steps, in this order."""
        chosen = np.asarray(steps, dtype=np.int64)
        sizes = np.diff(self._ends, prepend=0)[chosen]
        first = np.repeat(self._ends[chosen] - np.cumsum(sizes), sizes)
        return self._kinds[chosen], sizes, self._draws[first + np.arange(len(first))]

    def __len__(self) -> int:
        """The number of steps."""
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Plan: ...
    def __getitem__(self, index: int | slice) -> Step | Plan:
        """A step, or a plan of some of the steps."""
        if isinstance(index, slice):
            part = Plan.__new__(Plan)
            part._kinds, part._ends, part._draws = self._kinds, self._ends, self._draws
            part._chosen = self._chosen[index]
            return part
        at = self._chosen[index]
        draws = self._draws[(self._ends[at - 1] if at else 0) : self._ends[at]]
        return _step(KINDS[self._kinds[at]], draws)


def plan_epoch(
    *,
    passages: ArrayLike,
    pairs: ArrayLike,
    pair_share: float,
    pieces: int,
    max_pieces: int,
    seed: int,
    epoch: int,
    passage_weights: ArrayLike | None = None,
    pair_weights: ArrayLike | None = None,
    passage_turns: ArrayLike | None = None,
    batch: int | None = None,
    parts: int = 1,
) -> Plan:
    """The steps of one epoch: every passage once, and pairs that make up `pair_share` of the pieces.

    With weights, rows are drawn in proportion to their weights, and the pieces of an epoch stay the same; the numbers
    of draws of two rows with equal weights differ by at most one at the end of every epoch.

    Args:
        passages: estimated pieces of each passage.
        pairs: estimated pieces of each pair (both rows).
        pair_share: share of pairs in the pieces of an epoch, in [0, 1]; 1: only pairs, each once.
        pieces: pieces of a step, padding included.
        max_pieces: the greatest length of a row.
        seed: of the run.
        epoch: counted from 0.
        passage_weights: above 0, one for each passage; by default all are 1.
        pair_weights: the same for the pairs.
        passage_turns: maximum number of draws of each passage in all epochs; None: no limit.
        batch: pairs per step, whatever their length; None: as many as fit into `pieces`.
        parts: number of parts that the epoch is planned in, one after the other; each is as even as the epoch.
    """
    lengths = np.minimum(np.asarray(passages, dtype=np.int64), max_pieces)
    pair_lengths = np.minimum(np.asarray(pairs, dtype=np.int64), 2 * max_pieces)
    numbers = range(epoch * parts, (epoch + 1) * parts)
    drawn: list[tuple[str, list[np.ndarray], np.ndarray, int | None]] = []
    if len(lengths) and pair_share < 1:
        rates = _rates(lengths, passage_weights, lengths.sum() / parts)
        drawn.append(("passages", _draw(rates, seed, numbers, most=passage_turns), lengths, None))
    if len(pair_lengths) and pair_share > 0:
        wanted = lengths.sum() * pair_share / (1 - pair_share) if pair_share < 1 else pair_lengths.sum()
        rates = _rates(pair_lengths, pair_weights, wanted / parts)
        drawn.append(("pairs", _draw(rates, seed, numbers), pair_lengths, batch))
    plans = []
    for part, number in enumerate(numbers):
        rng = np.random.default_rng([seed, number])
        steps = [_steps(kind, rng.permutation(draws[part]), known, pieces, of) for kind, draws, known, of in drawn]
        plans.append(Plan.join(steps).shuffled(rng))
    return Plan.join(plans)


def _rates(lengths: np.ndarray, weights: ArrayLike | None, pieces: float) -> np.ndarray:
    """Draws per epoch of each row, proportional to its weight, for about `pieces` pieces in total."""
    shares = np.ones(len(lengths)) if weights is None else np.asarray(weights, dtype=float)
    return shares * (pieces / max(1.0, float((shares * lengths).sum())))


def _draw(rates: np.ndarray, seed: int, parts: range, *, most: ArrayLike | None = None) -> list[np.ndarray]:
    """Row and turn (draws, 2) of each of some parts, ordered by row.

    Each row is drawn evenly over all parts, at most `most` times: in part t as often as floor(rate * t + start) grows.
    The time is that of the draws, not of rows times parts.
    """
    start = np.random.default_rng([seed, 7919]).random(len(rates)) + 1e-9  # a rate of 1 means exactly once
    before, after = (np.floor(rates * part + start).astype(np.int64) for part in (parts.start, parts.stop))
    if most is not None:
        before, after = np.minimum(before, most), np.minimum(after, most)
    counts = after - before
    rows = np.repeat(np.arange(len(rates)), counts)
    turns = np.arange(len(rows)) + np.repeat(before - (np.cumsum(counts) - counts), counts)
    part = _part_of(turns, rates[rows], start[rows])
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.array(parts[1:], dtype=np.int64))
    return np.split(np.stack([rows, turns], axis=1)[order], ends)


def _part_of(turns: np.ndarray, rates: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The part of each draw: the last one at whose begin the row was drawn at most `turns` times (draws,)."""
    part = np.floor((turns + 1 - start) / rates).astype(np.int64)
    while (late := np.floor(rates * part + start) > turns).any():  # by the same rounding as the counts
        part -= late
    while (early := np.floor(rates * (part + 1) + start) <= turns).any():
        part += early
    return part


def _steps(kind: str, draws: np.ndarray, lengths: np.ndarray, pieces: int, batch: int | None = None) -> Plan:
    """Split `draws` into steps of about `pieces` padded pieces, or of `batch` rows, with rows of similar length."""
    rows = pieces / max(1.0, float(lengths[draws[:, 0]].mean() if len(draws) else 0)) if batch is None else batch
    chunk = max(1, int(CHUNK * rows))
    sizes: list[int] = []
    parts = [draws[:0]]
    for begin in range(0, len(draws), chunk):
        part = draws[begin : begin + chunk]
        part = part[np.argsort(lengths[part[:, 0]], kind="stable")]
        parts.append(part)
        first, longest = 0, 0
        for at, length in enumerate(lengths[part[:, 0]].tolist()):
            longest = max(longest, length)
            full = longest * (at - first + 1) > pieces if batch is None else at - first == batch
            if at > first and full:
                sizes.append(at - first)
                first, longest = at, length
        sizes.append(len(part) - first)
    return Plan(np.full(len(sizes), KINDS.index(kind)), np.array(sizes, dtype=np.int64), np.concatenate(parts))


def _step(kind: str, draws: np.ndarray) -> Step:
    return Step(kind, tuple(draws[:, 0].tolist()), tuple(draws[:, 1].tolist()))


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

    def and_source(self, name: str, lengths: np.ndarray, weights: np.ndarray) -> Passages:
        """These, and after them those of a further source."""
        parts = zip((self.lengths, self.weights), (lengths, weights), strict=True)
        both = [np.concatenate(each) for each in parts]
        source = np.concatenate([self.source, np.full(len(lengths), len(self.sources), dtype=np.int16)])
        return Passages(both[0], source, both[1], (*self.sources, name))

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
