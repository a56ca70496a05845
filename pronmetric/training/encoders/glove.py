"""Word vectors and a BiLSTM: vectors of a text file, or at random, for the most frequent words of the training data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pronmetric.checkpoint import glove
from pronmetric.data import arrow
from pronmetric.data.pieces import Vocabulary
from pronmetric.nn.encoders.glove.encoder import BiLSTM
from pronmetric.nn.encoders.glove.options import Glove
from pronmetric.pronouns.finder import FORMS
from pronmetric.text.words import words

MOST_WORDS = 50_000  # that have vectors, the most frequent of the training data


def read(options: Glove, *, data: Path) -> tuple[BiLSTM, Vocabulary, dict[str, Any]]:
    """A BiLSTM over new vectors or those of a file, its vocabulary, and where they are from."""
    counts = count_words(data)
    sizes = {"vector": options.width, "hidden": options.hidden, "layers": 1}
    if options.vectors is None:
        chosen = choose_words(counts, most=MOST_WORDS, least=2)  # rarer ones are unknown: its vector is learned
        encoder = BiLSTM(words=len(chosen), **sizes)
        origin: dict[str, Any] = {"vectors": None}
    else:
        found = glove.read(options.vectors, counts, width=options.width)
        chosen = choose_words(counts, most=MOST_WORDS, least=1, among=found.vectors)
        encoder = BiLSTM(words=len(chosen), **sizes)
        with torch.no_grad():
            encoder.vectors.weight.copy_(torch.from_numpy(np.stack([found.vectors[word] for word in chosen])))
        origin = {"vectors": Path(options.vectors).name, "repeated": found.repeated}
    coverage = sum(counts[word] for word in chosen) / counts.total()
    pieces = Vocabulary(chosen, lower=True)
    return encoder, pieces, {**origin, "words": len(chosen), "coverage": round(coverage, 4)}


def choose_trained(encoder: BiLSTM, options: Glove) -> None:
    """Train the vectors or not."""
    encoder.vectors.requires_grad_(options.trainable)


def count_words(data: Path) -> Counter[str]:
    """Counts of the lower-cased words in the training texts of the prepared folder `data`, each distinct text once.

    Each pronoun form counts once more, since corruption may insert any of them.
    """
    pairs = arrow.read_pairs(data, "train")
    texts = {*arrow.read_passages(data, "passages_train")["text"], *pairs["better"], *pairs["worse"]}
    for column in ("context", "system_context"):
        texts.update(sentence for sentences in pairs[column] for sentence in sentences)
    counts = Counter(FORMS)
    for text in texts:
        counts.update(word.text.lower() for word in words(text))
    return counts


def choose_words(
    counts: Mapping[str, int], *, most: int, least: int, among: Container[str] | None = None
) -> tuple[str, ...]:
    """At most `most` words that are counted at least `least` times, the most frequent first.

    Pronoun forms come first, however rare. If `among` is given, only its members are chosen.

    >>> choose_words({"it": 1, "left": 2, "the": 3, "keys": 1}, most=3, least=2)
    ('it', 'the', 'left')
    """
    kept = (w for w, n in counts.items() if (n >= least or w in FORMS) and (among is None or w in among))
    return tuple(sorted(kept, key=lambda word: (word not in FORMS, -counts[word], word))[:most])
