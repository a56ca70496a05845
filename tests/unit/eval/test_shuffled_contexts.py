"""Contexts shuffled between documents."""

from __future__ import annotations

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import shuffle_contexts


def test_shuffled_context_is_that_of_another_document() -> None:
    documents = [d for d, size in enumerate((5, 1, 3, 2, 4)) for _ in range(size)]
    for seed in range(20):
        given = shuffle_contexts(list(enumerate(documents)), items=range(15), groups=documents, seed=seed)
        assert sorted(given) == list(enumerate(documents))  # each context once
        assert all(own != foreign for own, (_, foreign) in zip(documents, given, strict=True))
    first, second = (shuffle_contexts(range(15), items=range(15), groups=documents, seed=s) for s in (0, 1))
    assert first != second


def test_shuffled_context_is_the_same_for_the_pairs_of_a_sentence() -> None:
    given = shuffle_contexts(["a", "a", "b", "c"], items=["x", "x", "y", "z"], groups=[1, 1, 2, 3])
    assert given[0] == given[1] != "a"


def test_a_document_of_more_than_half_cannot_be_shuffled() -> None:
    with pytest.raises(PronmetricError, match="got one with 3 of 5"):
        shuffle_contexts("abcde", items=range(5), groups=[1, 1, 1, 2, 3])
