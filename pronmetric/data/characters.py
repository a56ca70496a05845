"""Words as character ids for ELMo: UTF-8 bytes between two word markers, in a row of fixed width.

The numbers are those of the published weights (Peters et al. 2018): id b + 1 is byte b, ids from 257 are the markers
below, id 0 fills the slots of a padded word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WIDTH = 50  # ids per word
SENTENCE_START, SENTENCE_END, WORD_START, WORD_END, PAD = range(257, 262)


_MARKERS = {"<S>": SENTENCE_START, "</S>": SENTENCE_END}


def ids(words: Sequence[str]) -> np.ndarray:
    """The ids of `words`, int64 (words, 50); of a word longer than 48 bytes only the first 48 are read.

    The words "<S>" and "</S>" are the markers of a sentence's start and end, as in AllenNLP.

    >>> ids(["it"])[0, :5].tolist()
    [259, 106, 117, 260, 261]
    """
    return np.array([_row(word) for word in words], dtype=np.int64).reshape(-1, WIDTH)


def cut(words: Sequence[str]) -> int:
    """How many of `words` are longer than 48 bytes, so that their ends are not read.

    >>> cut(["it", "e" * 48, "e" * 49])
    1
    """
    return sum(len(_bytes(word)) > WIDTH - 2 for word in words)


def _row(word: str) -> list[int]:
    inside = [_MARKERS[word]] if word in _MARKERS else [1 + byte for byte in _bytes(word)[: WIDTH - 2]]
    row = [WORD_START, *inside, WORD_END]
    return row + [PAD] * (WIDTH - len(row))


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", errors="ignore")  # lone surrogates have none
