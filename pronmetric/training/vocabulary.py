"""The vocabulary of a word-based encoder: the words of the training data, by frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path

from pronmetric.data import arrow
from pronmetric.pronouns.finder import FORMS
from pronmetric.text.words import words


def count_words(data: Path, *, lower: bool) -> Counter[str]:
    """Counts of the words in the training texts of the prepared folder `data`, each distinct text once.

    Each pronoun form counts once more, since corruption may insert any of them.
    """
    pairs = arrow.read_pairs(data, "train")
    texts = {*arrow.read_passages(data, "passages_train")["text"], *pairs["better"], *pairs["worse"]}
    for column in ("context", "system_context"):
        texts.update(sentence for sentences in pairs[column] for sentence in sentences)
    counts = Counter(FORMS)
    for text in texts:
        counts.update(word.text.lower() if lower else word.text for word in words(text))
    return counts


def choose(counts: Mapping[str, int], *, most: int, least: int, among: Container[str] | None = None) -> tuple[str, ...]:
    """At most `most` words that are counted at least `least` times, the most frequent first.

    Pronoun forms come first, however rare. If `among` is given, only its members are chosen.

    >>> choose({"it": 1, "left": 2, "the": 3, "keys": 1}, most=3, least=2)
    ('it', 'the', 'left')
    """
    kept = (w for w, n in counts.items() if (n >= least or w in FORMS) and (among is None or w in among))
    return tuple(sorted(kept, key=lambda word: (word not in FORMS, -counts[word], word))[:most])
