"""The other back ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.embedding import EmbeddingAligner
from pronmetric.alignment.links import PrecomputedAligner
from pronmetric.errors import InputError

PAIRS: list[TokenPair] = [(["She", "saw", "it"], ["she", "saw", "that\u2028thing"]), ([], ["x"]), (["a"], ["b"])]


VECTORS = {"she": (1, 0, 0), "he": (0.9, 0.2, 0), "saw": (0, 1, 0), "met": (0, 0.9, 0.3), "it": (0, 0, 1)}


def vectors(sides: Sequence[Sequence[str]]) -> list[np.ndarray]:
    return [np.array([VECTORS.get(word, (0, 0, 0)) for word in side], float).reshape(-1, 3) for side in sides]


def test_embedding_takes_the_mutual_best_of_lowered_words() -> None:
    aligner = EmbeddingAligner(vectors)
    pairs = [(["She", "saw", "it"], ["it", "he", "MET"]), ([], ["it"]), (["it", "zzz"], ["it", "yyy"])]
    assert [links.links for links in aligner.align_all(pairs)] == [((0, 1), (1, 2), (2, 0)), (), ((0, 0),)]


def test_embedding_prefers_the_place_between_shared_words() -> None:
    far = ["he", *["x"] * 8, "saw"], ["saw", *["x"] * 8, "she"]  # eight words between, in both
    assert (0, 9) in next(EmbeddingAligner(vectors, decay=0.0).align_all([far])).links
    assert (0, 9) not in next(EmbeddingAligner(vectors, decay=0.1).align_all([far])).links


def test_embedding_needs_a_likeness() -> None:
    assert next(EmbeddingAligner(vectors, threshold=0.95).align_all([(["saw"], ["met"])])).links == ()
    assert next(EmbeddingAligner(vectors, threshold=0.9).align_all([(["saw"], ["met"])])).links == ((0, 0),)


def test_embedding_in_batches() -> None:
    pairs = [(["she", "saw"], ["saw", "he"])] * 5
    one, all_at_once = EmbeddingAligner(vectors, batch_size=2), EmbeddingAligner(vectors)
    assert list(one.align_all(iter(pairs))) == list(all_at_once.align_all(pairs))


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "links.txt"
    path.write_text("0-0 1-1\n\n0-0\n")
    return path


def test_precomputed(links: Path) -> None:
    assert [found.links for found in PrecomputedAligner(links).align_all(PAIRS)] == [((0, 0), (1, 1)), (), ((0, 0),)]


def test_precomputed_checks_the_words(links: Path) -> None:
    pairs = [PAIRS[0], PAIRS[1], ([], ["b"])]
    with pytest.raises(InputError, match=r"links\.txt:3: link 0-0, but the pair has 0 and 1 words"):
        list(PrecomputedAligner(links).align_all(pairs))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [(PAIRS[:2], "3 lines of links, but 2 pairs"), ([*PAIRS, ([], [])], "3 lines of links, but more pairs")],
)
def test_precomputed_checks_the_number(links: Path, pairs: list[TokenPair], message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(PrecomputedAligner(links).align_all(pairs))
