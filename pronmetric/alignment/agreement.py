"""Word alignment of line pairs: the agreement EM, IBM-2 in both directions made to agree.

Relative to its sources: the diagonal prior and the two directions are fast_align's (Dyer et al., NAACL 2013), the
shared counts are alignment by agreement (Liang et al., NAACL 2006). Ours: distance is counted from the position
interpolated between words that both sides share (a longest common subsequence), later from the nearest confident links;
identical words and words with the same first four letters get pseudo-counts. Bitext, where such words are rare, falls
back to the sentence diagonal.

The pairs of a batch lie end to end on one axis of rows (words of a) and one of columns (words of b), with a boundary
before, between and after them. A batch is a flat list of cells (row, column), never a matrix.
"""

from __future__ import annotations

import inspect
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pronmetric.alignment.links import METHODS, Link, Symmetrize, alignment, joined
from pronmetric.errors import InputError
from pronmetric.output.targets import AtomicFile
from pronmetric.schema import Alignment

TokenPair = tuple[Sequence[str], Sequence[str]]
CodedPair = tuple[list[int], list[int]]
Array = npt.NDArray[Any]

BATCH_CELLS = 150_000  # cells handled at once: what a processor's cache holds
LONGEST_LCS = 4 * 10**8  # words times words; a longer pair takes the diagonal (one bit each: 50 MB)
MOST_REPEATS = 64  # identical words beyond the window are cells, unless there are more of them than this in a pair
BOUNDARY = -1
KEY_BASE = 2**31
FORMAT = 1


class Aligner(Protocol):
    """What every back end can do."""

    def align_all(self, pairs: Iterable[TokenPair]) -> Iterator[Alignment]:
        """Yield one alignment for each pair, in order."""
        ...


@dataclass(slots=True)
class _Cells:
    """The candidate links of a batch of pairs.

    a, b: word ids on the two axes, BOUNDARY between pairs. a_starts, b_starts: where each pair begins. row, col: a
    cell's place. distance: from its expected place. bonus: pseudo-counts of its spelling. kind: its entry in the
    lexical table, -1 for none.
    """

    a: Array
    b: Array
    a_starts: Array
    b_starts: Array
    row: Array
    col: Array
    distance: Array
    bonus: Array
    kind: Array

    def keep(self, which: Array) -> None:
        """Forget all other cells."""
        for name in ("row", "col", "distance", "bonus", "kind"):
            setattr(self, name, getattr(self, name)[which])


class AgreementAligner:
    """The agreement EM: learns from line pairs, aligns these or others; case is ignored.

    Args:
        decay: the prior of a cell is exp(-decay * min(distance, reach)).
        reach: the greatest distance that counts.
        window: words farther than this from their expected place are no candidates, unless identical.
        null: prior of "linked to nothing", which draws words by how frequent they are; that of all cells together is 1.
        iterations: rounds of EM.
        additive: pseudo-count of any two words.
        identical: pseudo-count of two identical words.
        prefix: pseudo-count of two words with the same first four letters.
        support: two words whose first posteriors multiply to less are never counted.
        confident: a link whose product is greater is an anchor for its neighbours.
        threshold: the least product of a link.
        rounds: how often anchors are renewed when aligning.
        symmetrize: "mutual" links are the best of their row and of their column by the product; the other methods join
            the two one-way alignments.
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
        """Set the model up; it knows no word before `train`."""
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
        self._learn_words(Counter(), Counter())

    def train(self, pairs: Sequence[TokenPair], *, progress: Callable[[int], object] | None = None) -> None:
        """Learn from line pairs; what was learned before is forgotten.

        Args:
            pairs: words of both sides. About 5 kB are taken for a pair of 25 words a side while this runs.
            progress: is told numbers of pairs that add up to `iterations` times their number (`tqdm.update` fits).
        """
        self._learn_words(_counted(a for a, _ in pairs), _counted(b for _, b in pairs))
        batches = []
        for batch in _batches(pairs, self.window):
            cells = self._cells(batch)
            cells.keep((self._product(cells) > self.support) | (cells.bonus > 0))
            batches.append(cells)
        lexicon = _Lexicon(_distinct([_distinct([_keys(cells)]) for cells in batches]))
        for cells in batches:
            cells.kind = lexicon.find(_keys(cells))
        self._learn_counts(lexicon, np.zeros(len(lexicon.keys)))
        for _ in range(self.iterations):
            counts = np.zeros(len(lexicon.keys))
            for cells in batches:
                product = self._product(cells)
                cells.distance = self._distance_from_links(cells, product)
                counts += np.bincount(cells.kind, product, len(counts))
                if progress:
                    progress(len(cells.a_starts))
            self._learn_counts(lexicon, counts)

    def align(self, a: Sequence[str], b: Sequence[str]) -> Alignment:
        """The links between the words of one pair."""
        return next(self.align_all([(a, b)]))

    def align_all(self, pairs: Iterable[TokenPair]) -> Iterator[Alignment]:
        """Yield the links of each pair, in order; `pairs` is read batch by batch. Equal lines get the diagonal."""
        for batch in _batches(pairs, self.window):
            cells = self._cells(batch)
            cells.kind = self._lexicon.find(_keys(cells))
            cells.keep((cells.kind >= 0) | (cells.bonus > 0))
            for _ in range(self.rounds - 1):
                cells.distance = self._distance_from_links(cells, self._product(cells))
            for (a, b), links in zip(batch, self._links(cells), strict=True):
                yield _diagonal(len(a)) if _same(a, b) else links

    def save(self, path: str | Path) -> None:
        """Write the settings and all that was learned to one file; the same content gives the same bytes."""
        settings = {name: getattr(self, name) for name in _SETTINGS}
        with AtomicFile(path) as file:
            np.savez_compressed(
                file.buffer,
                settings=_json_bytes({"format": FORMAT, **settings}),
                words=_json_bytes(list(self._ids)),
                occurrences=self._occurrences,
                keys=self._lexicon.keys,
                counts=self._counts,
            )

    @classmethod
    def load(cls, path: str | Path, **settings: Any) -> AgreementAligner:
        """The aligner that `save` wrote; `settings` take the place of stored ones.

        Raises:
            InputError: a missing file, or one that `save` did not write.
        """
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
                of_file = json.loads(stored["settings"].tobytes())
                words = json.loads(stored["words"].tobytes())
                occurrences, keys, counts = stored["occurrences"], stored["keys"], stored["counts"]
            if of_file.pop("format") != FORMAT or not _is_table(words, occurrences, keys, counts):
                raise ValueError
            aligner = cls(**{**of_file, **settings})
        except FileNotFoundError:
            raise InputError("no such file", file=path) from None
        except _BROKEN:
            message = f"is no table that `pronmetric align --save-table` wrote (format {FORMAT})"
            raise InputError(message, file=path) from None
        aligner._learn_words(*(Counter(dict(zip(words, side.tolist(), strict=True))) for side in occurrences))
        aligner._learn_counts(_Lexicon(keys), counts)
        return aligner

    def _learn_words(self, in_a: Counter[str], in_b: Counter[str]) -> None:
        """The words of both sides and how often each stands there; one more stands for all unknown words."""
        words = sorted(in_a | in_b)
        self._ids = {word: number for number, word in enumerate(words)}
        self._stems = _stems(words)
        self._occurrences = np.array([[side[word] for word in words] for side in (in_a, in_b)], np.int64)
        smoothed = np.append(self._occurrences, [[0], [0]], axis=1) + 1
        self._a_null, self._b_null = self.null * smoothed / smoothed.sum(axis=1, keepdims=True)
        self._learn_counts(_Lexicon(np.zeros(0, np.int64)), np.zeros(0))

    def _learn_counts(self, lexicon: _Lexicon, counts: Array) -> None:
        """The lexical table: counts of word pairs and, with one more entry for all unknown words, of words."""
        a, b = lexicon.keys // KEY_BASE, lexicon.keys % KEY_BASE
        self._lexicon = lexicon
        self._counts = counts
        self._weight = np.append(counts, 0).astype(np.float32)
        self._a_mass = (1 + np.bincount(a, counts, len(self._ids) + 1)).astype(np.float32)
        self._b_mass = (1 + np.bincount(b, counts, len(self._ids) + 1)).astype(np.float32)

    def _coded(self, pairs: Sequence[TokenPair]) -> tuple[list[CodedPair], Array]:
        """Words as numbers in alphabetic order, unknown words last; the stem of each number, and BOUNDARY's."""
        lowered = [([word.lower() for word in a], [word.lower() for word in b]) for a, b in pairs]
        known = self._ids
        unknown = sorted({word for pair in lowered for side in pair for word in side if word not in known})
        more = {word: number for number, word in enumerate(unknown, start=len(known))}

        def code(side: list[str]) -> list[int]:
            return [known[word] if word in known else more[word] for word in side]

        return [(code(a), code(b)) for a, b in lowered], np.concatenate([self._stems, _stems(unknown), [-1]])

    def _cells(self, batch: Sequence[TokenPair]) -> _Cells:
        """The cells of a batch: those in the window around the shared words, and identical words beyond it."""
        pairs, stems = self._coded(batch)
        a, a_starts, a_sizes = _axis([pair[0] for pair in pairs])
        b, b_starts, b_sizes = _axis([pair[1] for pair in pairs])
        anchors: list[Link] = [(0, 0)]
        places = zip(a_starts.tolist(), b_starts.tolist(), pairs, strict=True)
        for row, col, (left, right) in places:
            if len(left) * len(right) <= LONGEST_LCS:
                anchors += [(row + i, col + j) for i, j in common_subsequence(left, right)]
            anchors.append((row + len(left), col + len(right)))
        on_a, on_b = np.array(anchors, np.float64).T
        expected_col = np.interp(np.arange(len(a)), on_a, on_b)
        expected_row = np.interp(np.arange(len(b)), on_b, on_a)

        pair_of_a = np.repeat(np.arange(len(pairs)), a_sizes)
        pair_of_b = np.repeat(np.arange(len(pairs)), b_sizes)
        rows, cols = np.flatnonzero(a != BOUNDARY), np.flatnonzero(b != BOUNDARY)
        lowest, highest = b_starts[pair_of_a], (b_starts + b_sizes)[pair_of_a]
        first = np.maximum(np.ceil(expected_col[rows] - self.window).astype(np.int64), lowest)
        end = np.minimum(np.floor(expected_col[rows] + self.window).astype(np.int64) + 1, highest)
        which, near_col = _ranges(first, end)
        near_row = rows[which]
        near = np.abs(near_row - expected_row[near_col]) <= self.window
        near_row, near_col = near_row[near], near_col[near]
        which, other = _identical(pair_of_a * KEY_BASE + a[rows], pair_of_b * KEY_BASE + b[cols])
        far_row, far_col = rows[which], cols[other]
        far = np.abs(far_col - expected_col[far_row]) > self.window
        far |= np.abs(far_row - expected_row[far_col]) > self.window
        row, col = np.concatenate([near_row, far_row[far]]), np.concatenate([near_col, far_col[far]])

        distance = (np.abs(col - expected_col[row]) + np.abs(row - expected_row[col])) / 2
        alike = stems[a][row] == stems[b][col]
        bonus = np.where(a[row] == b[col], self.identical, np.where(alike, self.prefix, 0))
        return _Cells(
            a=a,
            b=b,
            a_starts=a_starts,
            b_starts=b_starts,
            row=row.astype(np.int32),
            col=col.astype(np.int32),
            distance=distance.astype(np.float32),
            bonus=bonus.astype(np.float32),
            kind=np.full(len(row), -1, np.int32),
        )

    def _posteriors(self, cells: _Cells) -> tuple[Array, Array]:
        """Of each cell: how surely its column comes from its row, and its row from its column."""
        unknown = len(self._ids)
        a, b = np.minimum(cells.a, unknown), np.minimum(cells.b, unknown)
        prior = np.exp(np.float32(-self.decay) * np.minimum(cells.distance, np.float32(self.reach)))
        weight = prior * (self._weight[cells.kind] + cells.bonus + np.float32(self.additive))
        forward = weight / self._a_mass[a][cells.row]
        backward = weight / self._b_mass[b][cells.col]
        of_col = np.bincount(cells.col, forward, len(b)) + np.bincount(cells.col, prior, len(b)) * self._b_null[b]
        of_row = np.bincount(cells.row, backward, len(a)) + np.bincount(cells.row, prior, len(a)) * self._a_null[a]
        return forward / of_col.astype(np.float32)[cells.col], backward / of_row.astype(np.float32)[cells.row]

    def _product(self, cells: _Cells) -> Array:
        forward, backward = self._posteriors(cells)
        return forward * backward

    def _distance_from_links(self, cells: _Cells, product: Array) -> Array:
        """The distance of each cell from the diagonals through the nearest confident links before and after it."""
        sure = np.flatnonzero(product > self.confident)
        sure = sure[np.lexsort((cells.row[sure] + cells.col[sure], np.round(product[sure], 6)))]
        a_edges, b_edges = np.flatnonzero(cells.a == BOUNDARY), np.flatnonzero(cells.b == BOUNDARY)
        on_rows = _offsets(len(cells.a), np.append(a_edges, cells.row[sure]), np.append(b_edges, cells.col[sure]))
        on_cols = _offsets(len(cells.b), np.append(b_edges, cells.col[sure]), np.append(a_edges, cells.row[sure]))
        shift = cells.col - cells.row
        by_row = np.minimum(*(np.abs(shift - offset[cells.row]) for offset in on_rows))
        by_col = np.minimum(*(np.abs(shift + offset[cells.col]) for offset in on_cols))
        return np.minimum(by_row, by_col).astype(np.float32)

    def _links(self, cells: _Cells) -> Iterator[Alignment]:
        forward, backward = self._posteriors(cells)
        if self.symmetrize == "mutual":
            for links in _by_pair(cells, _mutual(cells, forward * backward, self.threshold)):
                yield alignment(links)
        else:
            one = _by_pair(cells, _best(cells.col, forward, cells))
            other = _by_pair(cells, _best(cells.row, backward, cells))
            for ways in zip(one, other, strict=True):
                yield joined(*ways, self.symmetrize)


_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    ArithmeticError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)
_SETTINGS = tuple(inspect.signature(AgreementAligner).parameters)


class _Lexicon:
    """Finds the place of int64 keys in a list without repeats: a hash table in flat arrays."""

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
        """The place of each key, -1 where it is not in the list."""
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


def common_subsequence(a: Sequence[Any], b: Sequence[Any]) -> list[Link]:
    """The places of a longest common subsequence; swapping the sides swaps the places and changes nothing else.

    Bit-parallel (Hyyro 2004): one row of the table is one integer, in which a zero marks a step up.

    >>> common_subsequence([7, 8, 9], [8, 5, 9])
    [(1, 0), (2, 2)]
    """
    if (len(a), a) > (len(b), b):
        return [(i, j) for j, i in common_subsequence(b, a)]
    same = 0
    while same < len(a) and a[same] == b[same]:
        same += 1
    bits: dict[Any, int] = {}
    for j in range(same, len(b)):
        bits[b[j]] = bits.get(b[j], 0) | 1 << (j - same)
    full = (1 << (len(b) - same)) - 1
    row = full
    rows = [row]
    for word in a[same:]:
        step = row & bits.get(word, 0)
        row = ((row + step) | (row - step)) & full
        rows.append(row)
    links = []
    i, j = len(a) - same, len(b) - same
    while i and j:
        if rows[i] >> (j - 1) & 1:
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            links.append((same + i, same + j))
    return [(k, k) for k in range(same)] + links[::-1]


def _batches(pairs: Iterable[TokenPair], window: int) -> Iterator[list[TokenPair]]:
    """The pairs in batches of about BATCH_CELLS cells."""
    batch: list[TokenPair] = []
    cells = 0
    for pair in pairs:
        batch.append(pair)
        cells += 1 + len(pair[0]) * min(len(pair[1]), 2 * window + 1)
        if cells >= BATCH_CELLS:
            yield batch
            batch, cells = [], 0
    if batch:
        yield batch


def _same(a: Sequence[str], b: Sequence[str]) -> bool:
    return len(a) == len(b) and all(word.lower() == other.lower() for word, other in zip(a, b, strict=True))


def _diagonal(size: int) -> Alignment:
    return Alignment(tuple((place, place) for place in range(size)))


def _axis(sides: Sequence[Sequence[int]]) -> tuple[Array, Array, Array]:
    """Sides end to end with a BOUNDARY before, between and after them; where each starts, and its length."""
    sizes = np.array([len(side) for side in sides], np.int64)
    starts = np.cumsum(sizes + 1) - sizes
    axis = np.full(int(sizes.sum()) + len(sides) + 1, BOUNDARY, np.int32)
    _, places = _ranges(starts, starts + sizes)
    axis[places] = np.fromiter(chain.from_iterable(sides), np.int32, len(places))
    return axis, starts, sizes


def _counted(sides: Iterable[Sequence[str]]) -> Counter[str]:
    return Counter(map(str.lower, chain.from_iterable(sides)))


def _ranges(first: Array, end: Array) -> tuple[Array, Array]:
    """All numbers of the ranges [first, end), one range after the other, each with the place of its range."""
    sizes = np.maximum(end - first, 0)
    which = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return which, np.arange(len(which)) - (before - first)[which]


def _identical(a: Array, b: Array) -> tuple[Array, Array]:
    """The places of equal numbers in a and b, each with each, but for numbers that make more than MOST_REPEATS."""
    order = np.argsort(b, kind="stable")
    in_order = b[order]
    first, end = np.searchsorted(in_order, a, "left"), np.searchsorted(in_order, a, "right")
    _, group, sizes = np.unique(a, return_inverse=True, return_counts=True)
    end = np.where((end - first) * sizes[group] <= MOST_REPEATS, end, first)
    which, places = _ranges(first, end)
    return which, order[places]


def _stems(words: Iterable[str]) -> Array:
    """A number for the first four letters of each word, the same for the same letters (a shorter word is its own)."""
    return np.array([int.from_bytes(w[:4].encode("utf-8", "surrogatepass")) % _PRIME for w in words], np.int64)


_PRIME = 2**61 - 1


def _keys(cells: _Cells) -> Array:
    """A number for the two words of each cell."""
    return (cells.a.astype(np.int64) * KEY_BASE)[cells.row] + cells.b[cells.col]


def _distinct(parts: Sequence[Array]) -> Array:
    """The numbers of all parts in order, each once (`np.unique` hashes, which is slower here)."""
    numbers = np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))
    return numbers[np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)]]


def _offsets(size: int, places: Array, linked: Array) -> tuple[Array, Array]:
    """How far the nearest link strictly before, and strictly after, each place of an axis is off the diagonal."""
    offset = np.zeros(size, np.int64)
    offset[places] = linked - places  # of several links the last one stays
    has = np.zeros(size, bool)
    has[places] = True
    here = np.arange(size)
    before = np.maximum.accumulate(np.where(has, here, 0))
    after = np.minimum.accumulate(np.where(has, here, size - 1)[::-1])[::-1]
    return offset[np.append(0, before[:-1])], offset[np.append(after[1:], size - 1)]


def _mutual(cells: _Cells, product: Array, threshold: float) -> Array:
    """The cells that are the best of their row and of their column; ties go to the nearest to the diagonal."""
    good = np.flatnonzero(product >= threshold)
    row, col = cells.row[good], cells.col[good]
    order = np.lexsort((row + col, cells.distance[good], -np.round(product[good], 6)))
    row, col = row[order], col[order]
    best_of_row, best_of_col = np.unique(row, return_index=True)[1], np.unique(col, return_index=True)[1]
    return good[order[np.intersect1d(best_of_row, best_of_col, assume_unique=True)]]


def _best(axis: Array, posterior: Array, cells: _Cells) -> Array:
    """The most probable cell of each place of an axis that has more than "linked to nothing"."""
    order = np.lexsort((cells.row + cells.col, cells.distance, -np.round(posterior, 6)))
    best = order[np.unique(axis[order], return_index=True)[1]]
    total = np.bincount(axis, posterior)
    return best[posterior[best] > 1 - total[axis[best]]]


def _by_pair(cells: _Cells, which: Array) -> list[list[Link]]:
    """The chosen cells of each pair, as places in its two sides."""
    pair = np.searchsorted(cells.a_starts, cells.row[which], "right") - 1
    rows, cols = cells.row[which] - cells.a_starts[pair], cells.col[which] - cells.b_starts[pair]
    links: list[list[Link]] = [[] for _ in cells.a_starts]
    for number, i, j in zip(pair.tolist(), rows.tolist(), cols.tolist(), strict=True):
        links[number].append((i, j))
    return links


def _json_bytes(value: object) -> Array:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def _is_table(words: Any, occurrences: Array, keys: Array, counts: Array) -> bool:
    return (
        isinstance(words, list)
        and all(isinstance(word, str) for word in words)
        and len(set(words)) == len(words)
        and (occurrences.dtype, occurrences.shape) == (np.int64, (2, len(words)))
        and (keys.dtype, counts.dtype) == (np.int64, np.float64)
        and keys.shape == counts.shape == (keys.size,)
        and (keys.size == 0 or (keys.min() >= 0 and keys.max() // KEY_BASE < len(words)))
    )
