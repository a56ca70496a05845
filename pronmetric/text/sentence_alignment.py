"""Aligns the sentences of two versions of one text, or of a text and its translation, that were merged or split apart.

Relative to the paper: Gale and Church (1993), "A Program for Aligning Sentences in Bilingual Corpora", with their beads
and the cost of their lengths. The share of words on both sides lowers the cost, the rarer the more, so that versions in
one language, and names and numbers across languages, hold the path. A sentence without a counterpart costs the same
whatever its length. The search is exact within a band around the diagonal, which is widened until the best path keeps
off its edges.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from pronmetric.text.sentences import split_sentences

_BEADS = {(1, 1): 0.89, (2, 1): 0.0445, (1, 2): 0.0445, (2, 2): 0.011, (1, 0): 0.005, (0, 1): 0.005}
"""The beads, by how many sentences of the two sides they join, with their probabilities (Gale and Church, Table 5)."""
_COSTS = {bead: -math.log(probability) for bead, probability in _BEADS.items()}
_VARIANCE = 6.8  # of the length of a translation, for each character (section 3.1 there)
_LEAST = 1e-12  # the least probability of a difference in length
_SHARED = 30.0  # by how much the cost of a bead is lower whose sides have the same words, in nats
_COMMON = 100  # shared words that more sentences of the right have are not looked at
_BAND = 25  # sentences on each side of the diagonal, at first
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+")
IDEOGRAPHIC_END = re.compile(
    "[\u3002\uff01\uff1f\uff61]+[\u300d\u300f\u201d\u2019\uff09\u3011]*"
)  # in Chinese and Japanese


class Bead(NamedTuple):
    """Sentences of the one text and those of the other that say the same, half-open; either side may have none."""

    left: tuple[int, int]
    right: tuple[int, int]


def cut(line: str) -> list[str]:
    """The sentences of a line; the full stops of Chinese and Japanese end them too.

    >>> cut("She left. Mr. Hall stayed."), cut("\u5979\u8d70\u4e86\u3002\u4ed6\u5462\uff1f"), cut(" ")
    (['She left.', 'Mr. Hall stayed.'], ['\u5979\u8d70\u4e86\u3002', '\u4ed6\u5462\uff1f'], [])
    """
    return [
        sentence for part in IDEOGRAPHIC_END.sub(r"\g<0>\n", line).split("\n") for sentence in split_sentences(part)
    ]


def align(left: Sequence[str], right: Sequence[str], *, starts: Collection[int] = ()) -> list[Bead]:
    """The beads of two texts, in order; together they hold every sentence.

    starts: sentences of `left` that no bead joins to the one before, such as the first ones of documents.

    >>> align(["She left.", "It rained, and he stayed."], ["She left.", "It rained.", "He stayed."])
    [Bead(left=(0, 1), right=(0, 1)), Bead(left=(1, 2), right=(1, 3))]
    """
    if not left or not right:
        alone = [Bead((i, i + 1), (0, 0)) for i in range(len(left))]
        return alone or [Bead((0, 0), (j, j + 1)) for j in range(len(right))]
    texts, band = _Texts(left, right), _BAND
    while (path := _search(texts, frozenset(starts), band)) is None:
        band *= 2
    return path


class _Texts:
    """What the costs of beads of two texts depend on."""

    def __init__(self, left: Sequence[str], right: Sequence[str]) -> None:
        self.ends = tuple(list(accumulate(map(len, side), initial=0)) for side in (left, right))
        all_left, all_right = (ends[-1] for ends in self.ends)
        self.ratio = all_right / all_left if all_left and all_right else 1.0
        weights, self.shared = _weigh(left, right)
        self.weights = tuple(list(accumulate(side, initial=0.0)) for side in weights)
        self.diagonal = [bisect_left(self.ends[1], self.ratio * done) for done in self.ends[0]]
        self.diagonal[-1] = len(right)

    def cost(self, i: int, j: int, a: int, b: int) -> float:
        """The cost of the bead of `a` and `b` sentences that ends before the sentences `i` and `j`."""
        cost = _COSTS[a, b]
        if not a or not b:
            return cost
        one, other = self.ends[0][i] - self.ends[0][i - a], self.ends[1][j] - self.ends[1][j - b]
        z = (self.ratio * one - other) / math.sqrt(_VARIANCE * max(1.0, (one + other / self.ratio) / 2))
        cost -= math.log(max(_LEAST, math.erfc(abs(z) / math.sqrt(2))))
        shared = sum(row.get(k, 0.0) for row in self.shared[i - a : i] for k in range(j - b, j))
        if not shared:
            return cost
        left, right = self.weights[0][i] - self.weights[0][i - a], self.weights[1][j] - self.weights[1][j - b]
        return cost - _SHARED * min(1.0, shared / math.sqrt(left * right))


def _weigh(
    left: Sequence[str], right: Sequence[str]
) -> tuple[tuple[Sequence[float], Sequence[float]], Sequence[Mapping[int, float]]]:
    """The weight of the words of each sentence of both sides, and that of those that each two sentences share.

    A word weighs the more the fewer sentences have it. What a sentence of the left shares is a mapping from the right.
    """
    one, other = ([set(_WORD.findall(sentence.casefold())) for sentence in side] for side in (left, right))
    counts = [Counter(chain.from_iterable(side)) for side in (one, other)]
    most = 1 + max(len(left), len(right))
    weight = {word: math.log(most / max(count[word] for count in counts)) for word in counts[0] | counts[1]}
    places: dict[str, list[int]] = defaultdict(list)
    for number, words in enumerate(other):
        for word in words & counts[0].keys():
            places[word].append(number)
    shared: list[Mapping[int, float]] = []
    for words in one:
        row: dict[int, float] = defaultdict(float)
        for word in sorted(words):
            if counts[1][word] <= _COMMON:
                for place in places.get(word, ()):
                    row[place] += weight[word]
        shared.append(row)
    weights = [[math.fsum(weight[word] for word in words) for words in side] for side in (one, other)]
    return (weights[0], weights[1]), shared


def _search(texts: _Texts, starts: Collection[int], band: int) -> list[Bead] | None:
    """The cheapest path of beads in a band around the diagonal; None where it may lie outside."""
    last = len(texts.ends[1]) - 1
    limits = [(max(0, middle - band), min(last, middle + band)) for middle in texts.diagonal]
    least: list[list[float]] = []
    taken: list[list[tuple[int, int]]] = []
    for i, (low, high) in enumerate(limits):
        least.append([math.inf] * (high - low + 1))
        taken.append([(0, 0)] * (high - low + 1))
        if not i:
            least[0][0] = 0.0
        for j in range(low, high + 1):
            for a, b in _COSTS:
                if a > i or (a == 2 and i - 1 in starts) or not limits[i - a][0] <= j - b <= limits[i - a][1]:
                    continue
                before = least[i - a][j - b - limits[i - a][0]]
                if math.isfinite(before) and (cost := before + texts.cost(i, j, a, b)) < least[i][j - low]:
                    least[i][j - low], taken[i][j - low] = cost, (a, b)
    if not math.isfinite(least[-1][-1]):
        return None
    path: list[Bead] = []
    i, j = len(limits) - 1, last
    while i or j:
        low, high = limits[i]
        if (j == low and low > 0) or (j == high and high < last):
            return None
        a, b = taken[i][j - low]
        path.append(Bead((i - a, i), (j - b, j)))
        i, j = i - a, j - b
    return path[::-1]
