"""Features of a pronoun slot: source pronoun, nearby words and tags, preceding nouns, language model scores.

Participants of WMT 2016 found local context, the source pronoun and preceding nouns useful (Novák 2016; Stymne 2016;
Tiedemann 2016; Wetzel 2016).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronmetric.lab.clpp.baseline import bare, fillers
from pronmetric.lab.clpp.data import SLOT, Line, Task
from pronmetric.lab.clpp.language_models import Ngrams
from pronmetric.lab.clpp.windows import Window, tag_of, windows

MAXENT, SVM, TWO_STEP, FOREST = KINDS = ("maxent", "svm", "two-step", "forest")
"""The classifiers on features, see `feature_classifier`."""
NOUNS, LINES = 3, 2
"""The number of preceding nouns that are features, and of previous lines in which they are looked for."""
EDGE = "<>"
"""Stands for the word beyond the edge of a sentence."""


class Noun(NamedTuple):
    """A target noun: its position, its word, and the aligned source words, each with the word before it."""

    at: int
    word: str
    sources: tuple[tuple[str, str], ...]


class SlotFeatures(NamedTuple):
    """A slot, and the names of the features that it has."""

    window: Window
    names: tuple[str, ...]


def describe(lines: Sequence[Line], *, size: int) -> Iterator[SlotFeatures]:
    """Each slot of the lines, with features of at most `size` words on each side."""
    nouns = [list(_nouns(line)) for line in lines]
    for window in windows(lines, size=size):
        at = lines[window.line].slots[window.slot]
        here = [noun for noun in nouns[window.line] if noun.at < at]
        before = [noun for line in nouns[max(0, window.line - LINES) : window.line] for noun in line]
        nearest = [*before, *here][: -NOUNS - 1 : -1]
        yield SlotFeatures(window, tuple(dict.fromkeys(_names(window, nearest))))


def _names(window: Window, nouns: Sequence[Noun]) -> Iterator[str]:
    yield f"pronoun {window.pronoun}"
    sides = zip(("word-", "word+", "tag-", "tag+", "source-", "source+"), window[4:], strict=True)
    for name, words in sides:
        for place, word in enumerate(reversed(words) if words else [EDGE], start=1):
            yield f"{name}{place} {word}"
            yield f"{name} {word}"
        yield f"pronoun {window.pronoun} {name}1 {words[-1] if words else EDGE}"
    for place, noun in enumerate(nouns, start=1):
        yield f"noun{place} {noun.word}"
        for before, word in noun.sources:
            yield f"noun{place} source {word}"
            yield f"noun{place} source-1 {before}"


def _nouns(line: Line) -> Iterator[Noun]:
    """The nouns of the target; tags of nouns are PROPN or begin with N, as in most tagsets."""
    source = [word.lower() for word in line.source]
    for at, token in enumerate(line.target):
        tag = "" if SLOT.fullmatch(token) else tag_of(token)
        if tag == "PROPN" or (tag.startswith("N") and tag not in ("NUM", "NEG")):
            linked = sorted(s for s, t in line.links if t == at and s < len(source))
            sources = tuple((source[s - 1] if s else EDGE, source[s]) for s in linked)
            yield Noun(at, bare(token).lower(), sources)


def model_scores(found: Sequence[SlotFeatures], task: Task, model: Ngrams) -> NDArray[np.float64]:
    """The log10 probability of a text with the best word of each class, minus that with the best word of all.

    (slots, classes), at most 0; higher is more probable.
    """
    options = fillers(task)
    labels = np.array([task.classes.index(option.label) for option in options])
    made = np.zeros((len(found), len(task.classes)))
    for row, (window, _) in enumerate(found):
        right = window.target_right[::-1]
        scores = np.array([model.between(window.target_left, option.word, right) for option in options])
        for label in range(len(task.classes)):
            made[row, label] = scores[labels == label].max() - scores.max()
    return made
