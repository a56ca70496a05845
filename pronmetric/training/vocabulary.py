"""The words of an encoder that has a vocabulary: those of the training data, the frequent ones first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path

from pronmetric.data import arrow
from pronmetric.pronouns.finder import FORMS
from pronmetric.text.words import words


def count_words(data: Path, *, lower: bool) -> Counter[str]:
    """Counts of the words in the training texts of the prepared folder `data`, each distinct text once.

    Each form of a pronoun counts once more, since corruption may write any of them.
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

    Forms of pronouns go before all others and are taken however rare they are. `among` takes its members only.

    >>> choose({"it": 1, "left": 2, "the": 3, "keys": 1}, most=3, least=2)
    ('it', 'the', 'left')
    """
    kept = (w for w, n in counts.items() if (n >= least or w in FORMS) and (among is None or w in among))
    return tuple(sorted(kept, key=lambda word: (word not in FORMS, -counts[word], word))[:most])
