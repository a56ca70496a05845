"""Word alignment of line pairs: the agreement EM, IBM-2 in both directions trained to agree.

Relative to its sources: the diagonal prior and the two directions are fast_align's (Dyer et al., NAACL 2013), the
shared counts are alignment by agreement (Liang et al., NAACL 2006). Ours: distance is counted from the position
interpolated between words that both sides share (a longest common subsequence), later from the nearest confident links;
identical words and words with the same first four letters get pseudo-counts. Bitext, where such words are rare, falls
back to the sentence diagonal. The defaults are ours too, none is a paper's: they are those of the agreement EM whose
links of pronouns `benchmarks/published/aligners.md` compares with a gold alignment and with the other aligners.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pronmetric.alignment import table
from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.cells import (
    KEY_BASE,
    Array,
    Cells,
    CodedPair,
    batches,
    distance_from_links,
    make_cells,
    select_best,
    select_mutual,
)
from pronmetric.alignment.links import METHODS, Symmetrize, symmetrize_links, to_alignment
from pronmetric.errors import InputError
from pronmetric.schema import Alignment

_PRIME = 2**61 - 1  # the largest Mersenne prime in an int64: few stems get the same number


class AgreementAligner:
    """The agreement EM: learns from line pairs, aligns these or others; case is ignored.

    Args:
        decay: the prior of a cell is exp(-decay * min(distance, reach)).
        reach: the greatest distance that counts.
        window: words farther than this from their expected position are no candidates, unless identical.
        null: prior of "linked to nothing", which draws words by their frequency; the cells together have prior 1.
        iterations: rounds of EM.
        additive: pseudo-count of any two words.
        identical: pseudo-count of two identical words.
        prefix: pseudo-count of two words with the same first four letters.
        support: word pairs whose first posteriors multiply to less are never counted.
        confident: a link whose product of posteriors is greater is an anchor for its neighbours.
        threshold: the least product of posteriors of a link.
        rounds: passes over the anchors when aligning.
        symmetrize: "mutual" links are the best of their row and of their column by the product; the other methods
            symmetrize the two one-way alignments.

    Raises:
        InputError: an unknown method of symmetrization.
    """

    def __init__(
        self,
        *,
        decay: float = 0.8,
        reach: float = 10.0,
        window: int = 10,
        null: float = 0.05,
        iterations: int = 5,
        additive: float = 0.008,
        identical: float = 1.0,
        prefix: float = 0.3,
        support: float = 1e-4,
        confident: float = 0.3,
        threshold: float = 0.2,
        rounds: int = 3,
        symmetrize: Symmetrize = "mutual",
    ) -> None:
        """Set up a model with an empty vocabulary."""
        if symmetrize not in METHODS:
            raise InputError(f"symmetrize={symmetrize}: expected one of {', '.join(METHODS)}")
        self.decay = decay
        self.reach = reach
        self.window = window
        self.null = null
        self.iterations = iterations
        self.additive = additive
        self.identical = identical
        self.prefix = prefix
        self.support = support
        self.confident = confident
        self.threshold = threshold
        self.rounds = rounds
        self.symmetrize: Symmetrize = symmetrize
        self._set_words(Counter(), Counter())

    def train(self, pairs: Sequence[TokenPair], *, advance: Callable[[int], object] | None = None) -> None:
        """Learn from line pairs, from scratch.

        Args:
            pairs: words of both sides. Training takes about 5 kB of memory for a pair of 25 words a side.
            advance: called with numbers of pairs that sum to `iterations` times their number (`tqdm.update` fits).
        """
        self._set_words(_count_words(a for a, _ in pairs), _count_words(b for _, b in pairs))
        held = []
        for batch in batches(pairs, self.window):
            cells = self._make_cells(batch)
            cells.keep((self._product(cells) > self.support) | (cells.bonus > 0))
            held.append(cells)
        index = _KeyIndex(_unique([_unique([cells.keys()]) for cells in held]))
        for cells in held:
            cells.kind = index.find(cells.keys())
        self._set_counts(index, np.zeros(len(index.keys)))
        for _ in range(self.iterations):
            counts = np.zeros(len(index.keys))
            for cells in held:
                product = self._product(cells)
                cells.distance = self._distance_from_links(cells, product)
                counts += np.bincount(cells.kind, product, len(counts))
                if advance:
                    advance(len(cells.a_starts))
            self._set_counts(index, counts)

    def align(self, a: Sequence[str], b: Sequence[str]) -> Alignment:
        """The links between the words of one pair."""
        return next(self.align_all([(a, b)]))

    def align_all(self, pairs: Iterable[TokenPair]) -> Iterator[Alignment]:
        """Yield the links of each pair, in order; `pairs` is read batch by batch. Equal lines get the diagonal."""
        for batch in batches(pairs, self.window):
            cells = self._make_cells(batch)
            cells.kind = self._index.find(cells.keys())
            cells.keep((cells.kind >= 0) | (cells.bonus > 0))
            for _ in range(self.rounds - 1):
                cells.distance = self._distance_from_links(cells, self._product(cells))
            for (a, b), links in zip(batch, self._links(cells), strict=True):
                yield _diagonal(len(a)) if _are_equal(a, b) else links

    def save(self, path: str | Path) -> None:
        """Write the settings and the trained model to one file; the same content gives the same bytes."""
        table.save(path, self.to_table())

    def to_table(self) -> table.Table:
        """The settings and the trained model."""
        settings = {name: getattr(self, name) for name in _SETTINGS}
        return table.Table(settings, list(self._ids), self._occurrences, self._index.keys, self._counts)

    @classmethod
    def load(cls, path: str | Path, **settings: Any) -> AgreementAligner:
        """The aligner that `save` wrote; `settings` override the stored ones.

        Raises:
            InputError: a missing file, or one that `save` did not write.
        """
        try:
            return cls.of(table.load(path), **settings)
        except TypeError:
            raise table.broken(path) from None

    @classmethod
    def of(cls, stored: table.Table, **settings: Any) -> AgreementAligner:
        """The aligner of a stored model; `settings` override the stored ones."""
        aligner = cls(**{**stored.settings, **settings})
        sides = (Counter(dict(zip(stored.words, side.tolist(), strict=True))) for side in stored.occurrences)
        aligner._set_words(*sides)
        aligner._set_counts(_KeyIndex(stored.keys), stored.counts)
        return aligner

    def _set_words(self, in_a: Counter[str], in_b: Counter[str]) -> None:
        """Take the vocabulary and its frequencies on both sides; one more entry is for all unknown words."""
        words = sorted(in_a | in_b)
        self._ids = {word: number for number, word in enumerate(words)}
        self._stems = _stems(words)
        self._occurrences = np.array([[side[word] for word in words] for side in (in_a, in_b)], np.int64)
        smoothed = np.append(self._occurrences, [[0], [0]], axis=1) + 1
        self._a_null, self._b_null = self.null * smoothed / smoothed.sum(axis=1, keepdims=True)
        self._set_counts(_KeyIndex(np.zeros(0, np.int64)), np.zeros(0))

    def _set_counts(self, index: _KeyIndex, counts: Array) -> None:
        """Take the lexical table: counts of word pairs and, with one more entry for all unknown words, of words."""
        a, b = index.keys // KEY_BASE, index.keys % KEY_BASE
        self._index = index
        self._counts = counts
        self._weight = np.append(counts, 0).astype(np.float32)
        self._a_mass = (1 + np.bincount(a, counts, len(self._ids) + 1)).astype(np.float32)
        self._b_mass = (1 + np.bincount(b, counts, len(self._ids) + 1)).astype(np.float32)

    def _encode(self, pairs: Sequence[TokenPair]) -> tuple[list[CodedPair], Array]:
        """Words as numbers in alphabetical order, unknown words last; the stem of each number, and BOUNDARY's."""
        lowered = [([word.lower() for word in a], [word.lower() for word in b]) for a, b in pairs]
        known = self._ids
        unknown = sorted({word for pair in lowered for side in pair for word in side if word not in known})
        more = {word: number for number, word in enumerate(unknown, start=len(known))}

        def code(side: list[str]) -> list[int]:
            return [known[word] if word in known else more[word] for word in side]

        return [(code(a), code(b)) for a, b in lowered], np.concatenate([self._stems, _stems(unknown), [-1]])

    def _make_cells(self, batch: Sequence[TokenPair]) -> Cells:
        pairs, stems = self._encode(batch)
        return make_cells(pairs, stems, window=self.window, identical=self.identical, prefix=self.prefix)

    def _posteriors(self, cells: Cells) -> tuple[Array, Array]:
        """The probabilities of each cell: of its row given its column, and of its column given its row."""
        unknown = len(self._ids)
        a, b = np.minimum(cells.a, unknown), np.minimum(cells.b, unknown)
        prior = np.exp(np.float32(-self.decay) * np.minimum(cells.distance, np.float32(self.reach)))
        weight = prior * (self._weight[cells.kind] + cells.bonus + np.float32(self.additive))
        forward = weight / self._a_mass[a][cells.row]
        backward = weight / self._b_mass[b][cells.col]
        of_col = np.bincount(cells.col, forward, len(b)) + np.bincount(cells.col, prior, len(b)) * self._b_null[b]
        of_row = np.bincount(cells.row, backward, len(a)) + np.bincount(cells.row, prior, len(a)) * self._a_null[a]
        return forward / of_col.astype(np.float32)[cells.col], backward / of_row.astype(np.float32)[cells.row]

    def _product(self, cells: Cells) -> Array:
        forward, backward = self._posteriors(cells)
        return forward * backward

    def _distance_from_links(self, cells: Cells, product: Array) -> Array:
        sure = np.flatnonzero(product > self.confident)
        sure = sure[np.lexsort((cells.row[sure] + cells.col[sure], np.round(product[sure], 6)))]
        return distance_from_links(cells, sure)

    def _links(self, cells: Cells) -> Iterator[Alignment]:
        forward, backward = self._posteriors(cells)
        if self.symmetrize == "mutual":
            for links in cells.split_by_pair(select_mutual(cells, forward * backward, self.threshold)):
                yield to_alignment(links)
        else:
            one = cells.split_by_pair(select_best(cells.col, forward, cells))
            other = cells.split_by_pair(select_best(cells.row, backward, cells))
            for ways in zip(one, other, strict=True):
                yield symmetrize_links(*ways, self.symmetrize)


_SETTINGS = tuple(inspect.signature(AgreementAligner).parameters)


class _KeyIndex:
    """Finds the index of int64 keys in a list without repeats: a hash table in flat arrays."""

    def __init__(self, keys: Array) -> None:
        self.keys = keys
        bits = len(keys).bit_length() + 2
        self._shift = np.uint64(64 - bits)
        slots = self._slots(keys)
        self._order = np.argsort(slots, kind="stable").astype(np.int32)
        self._sorted = keys[self._order]
        self._starts = np.zeros(2**bits + 1, np.int32)
        np.cumsum(np.bincount(slots, minlength=2**bits), out=self._starts[1:])

    def find(self, keys: Array) -> Array:
        """The index of each key, -1 where it is not in the list."""
        found = np.full(len(keys), -1, np.int32)
        slots = self._slots(keys)
        at, end = self._starts[slots], self._starts[slots + 1]
        left = np.flatnonzero(at < end)
        while len(left):
            hit = self._sorted[at[left]] == keys[left]
            found[left[hit]] = self._order[at[left[hit]]]
            at[left] += 1
            left = left[~hit & (at[left] < end[left])]
        return found

    def _slots(self, keys: Array) -> Array:
        return ((keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> self._shift).astype(np.int64)


def _are_equal(a: Sequence[str], b: Sequence[str]) -> bool:
    return len(a) == len(b) and all(word.lower() == other.lower() for word, other in zip(a, b, strict=True))


def _diagonal(size: int) -> Alignment:
    return Alignment(tuple((index, index) for index in range(size)))


def _count_words(sides: Iterable[Sequence[str]]) -> Counter[str]:
    return Counter(map(str.lower, chain.from_iterable(sides)))


def _stems(words: Iterable[str]) -> Array:
    """A number for the first four letters of each word, the same for the same letters."""
    return np.array([int.from_bytes(w[:4].encode("utf-8", "surrogatepass")) % _PRIME for w in words], np.int64)


def _unique(parts: Sequence[Array]) -> Array:
    """The numbers of all parts in order, each once (`np.unique` hashes, which is slower here)."""
    numbers = np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))
    return numbers[np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)]]
