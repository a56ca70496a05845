"""Whether the lines of a source, or of a reference, can be those of the lines of a text; no model is read.

Five things are seen at once: lines without a source, sources without a word, such as numbers, a source that is one line
again and again, one that is the text itself, and one that is English as the text is. Then the lines are compared. A
pair of lines is the more alike the more numbers, Latin words (their first letters, without diacritics: names and
cognates) and marks of punctuation they share, rare ones above all, and the better their lengths agree; this holds for
sources in any script. The lines are doubted where they are clearly more alike to the texts one to three lines above or
below, or to the texts in reverse order, or hardly more alike to their own texts than to those far away. docs/source.md
has measurements. Of references only their order is compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import PronmetricError
from pronmetric.pronouns.known_words import KnownWords
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.text.context import Text
from pronmetric.text.corpus import Corpus

SAMPLE = 1000
"""Lines that are read for a check, the first ones."""
FEWEST_NUMBERS, FEWEST_IN_ORDER, FEWEST_FAR = 8, 10, 100
"""Lines: with numbers; to tell another order; to tell that source and text do not belong together."""
NEAR = (1, -1, 2, -2, 3, -3)
"""By how many lines a source may be shifted: the text stands so many lines below it."""
CLEARLY = 3.0  # standard errors by which another order is better; at most 0.5 for 10 right lines, below -1 for 20
HARDLY = 0.25  # standard deviations by which a text is better than those far away; at least 0.5 for 100 right lines
FAR = {"source": (FEWEST_FAR, HARDLY), "reference": (50, 0.5)}
"""The fewest lines, and how much better a text must go with its own line; texts with their references at least 1.0."""
SHARED = 4.0  # weight of what is shared: a cosine of 0.25 counts as much as two lengths of one standard deviation
ALIKE = 0.25  # of the words of two texts, those that both have
_NUMBER, _LATIN, _WORD = re.compile(r"\d+"), re.compile("[a-z]{4,}"), re.compile(r"\w+")
_FIRST_LETTERS = 5  # that a name and its translation share; chosen by hand, not tuned
_MARKS = {"?": "?", "\u061f": "?", "!": "!", ":": ":", "(": "(", **dict.fromkeys('"“”„«「『', '"')}


class Order(NamedTuple):
    """How much more alike lines are in another order than in their own.

    better: for each shift, and None for the reverse order, by how many standard errors; below 0 where the own order is
    better. own: by how many standard deviations a text is more alike to its source than texts far away are.
    """

    better: dict[int | None, float]
    own: float


def doubts(pairs: Iterable[tuple[str | None, str]], language: Language) -> list[str]:
    """Why the sources of texts cannot be right, each with its cure; none where they may be.

    pairs: (source, text), in order. Only the first `SAMPLE` are read. A source may be None, which is as good as empty
        if another text has one.

    >>> doubts([("Sie kam.", "She came."), ("", "He left.")], ENGLISH)
    ['1 of 2 lines has no source (the first is line 2), so that its text is scored without; fill it in']
    >>> doubts([("She came.", "She came.")], ENGLISH)
    ['in 1 of 1 lines the source is the text itself; give the text that was translated']
    """
    read = [(source, text) for source, text in islice(pairs, SAMPLE)]
    if all(source is None for source, _ in read):
        return []
    both = [("" if source is None else source.strip(), text.strip()) for source, text in read]
    lines = f"the first {SAMPLE:,} lines" if len(both) == SAMPLE else f"{len(both)} lines"
    texts = [k for k, (_, text) in enumerate(both) if text]
    empty = [k for k in texts if not both[k][0]]
    if not texts or len(empty) == len(texts):
        return [f"none of {lines} has a source, so that it does not count; give the text that was translated"]
    found = []
    if empty:
        one = len(empty) == 1
        found.append(
            f"{len(empty)} of {lines} {'has' if one else 'have'} no source (the first is line {empty[0] + 1}), so that "
            f"{'its text is' if one else 'their texts are'} scored without; fill {'it' if one else 'them'} in"
        )
    filled = [both[k] for k in texts if both[k][0]]
    wrong = (
        _wordless(filled)
        or _same(filled)
        or _english(filled, language)
        or _other_order(both, "source")
        or _numbers(filled)
    )
    return [*found, wrong] if wrong else found


def check_sources(
    name: str,
    pairs: Iterable[tuple[str | None, str]],
    language: Language,
    note: Callable[[str], None],
    *,
    strict: bool,
) -> None:
    """Note each of the `doubts` about the sources of the file `name`.

    Raises:
        PronmetricError: there is one, and `strict`.
    """
    for said in doubts(pairs, language):
        if strict:
            raise PronmetricError(f"{name}: {said}, or leave out `strict=True`")
        note(f"{name}: {said}")


def check_references(
    references: Mapping[str, Iterable[tuple[str, str]]], note: Callable[[str], None], *, strict: bool
) -> None:
    """Note each reference, by its name, whose lines do not belong to those of the text: pairs of a line of both.

    Raises:
        PronmetricError: there is one, and `strict`.
    """
    for name, pairs in references.items():
        both = [(line.strip(), text.strip()) for line, text in islice(pairs, SAMPLE)]
        if (said := _other_order(both, "reference")) is None:
            continue
        if strict:
            raise PronmetricError(f"{name}: {said}, or leave out `strict=True`")
        note(f"{name}: {said}")


def reference_pairs(corpus: Corpus) -> dict[str, Iterator[tuple[str, str]]]:
    """For each reference of a corpus, the pairs of its lines and those of the first system."""

    def pairs(k: int) -> Iterator[tuple[str, str]]:
        return ((row.references[k], row.texts[0]) for row in corpus.rows())

    return {name: pairs(k) for k, name in enumerate(corpus.references)}


def pairs_of(texts: Iterable[Text]) -> Iterator[tuple[str | None, str]]:
    """The source of each text, None without one, and the text."""
    return ((None if text.source is None else text.source.text, text.text) for text in texts)


def given_pairs(texts: Iterable[Text]) -> Iterator[tuple[str, str]]:
    """The source and the text of each text that has a source, be it empty."""
    return ((text.source.text, text.text) for text in texts if text.source is not None)


def compare_orders(sources: Sequence[str], texts: Sequence[str]) -> Order:
    """How alike as many sources and texts, at least 10 not empty, are in their own order, and in others."""
    lines = [[_features(line) for line in side] for side in (sources, texts)]
    counts = Counter(feature for side in lines for features in side for feature in features)
    weight = {feature: log(1 + 2 * len(sources) / count) ** 2 for feature, count in counts.items()}
    norms = [[sqrt(sum(weight[each] for each in features)) for features in side] for side in lines]
    lengths = [_lengths(side) for side in (sources, texts)]

    def alike(i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
        shared = [
            sum(weight[each] for each in both) / (norms[0][a] * norms[1][b])
            if (both := lines[0][a] & lines[1][b])
            else 0.0
            for a, b in zip(i.tolist(), j.tolist(), strict=True)
        ]
        return SHARED * np.array(shared) + lengths[0][i] * lengths[1][j]

    size = len(sources)
    filled = np.array([k for k, pair in enumerate(zip(sources, texts, strict=True)) if all(pair)], dtype=np.int64)
    own = alike(filled, filled)
    better: dict[int | None, float] = {None: _errors(alike(filled, size - 1 - filled) - own)}
    for shift in NEAR:
        there = (filled + shift >= 0) & (filled + shift < size)
        better[shift] = _errors(alike(filled[there], filled[there] + shift) - own[there])
    far = [alike(filled, (filled + size * k // 3) % size) for k in (1, 2)]
    return Order(better, _errors(own - np.mean(far, axis=0)) / sqrt(len(filled)))


def _wordless(pairs: Sequence[tuple[str, str]]) -> str | None:
    """Whether the sources of most texts with words have none."""
    worded = [source for source, text in pairs if _has_word(text)]
    without = sum(not _has_word(source) for source in worded)
    if 2 * without <= len(worded) or not worded:
        return None
    return f"in {without} of {len(worded)} lines the source has no word; give the text that was translated"


def _has_word(line: str) -> bool:
    return any(map(str.isalpha, line))


def _same(pairs: Sequence[tuple[str, str]]) -> str | None:
    """Whether most sources are one line, though their texts are not alike, or the text itself."""
    distinct = dict.fromkeys(pairs)
    ((line, most),) = Counter(source for source, _ in distinct).most_common(1)
    if most > 2 and 2 * most > len(distinct) and not _alike([text for source, text in distinct if source == line]):
        return f"the source is the same line for {most} texts; give the source of each text"
    copied = sum(source.casefold() == text.casefold() for source, text in pairs)
    if 2 * copied > len(pairs):
        return f"in {copied} of {len(pairs)} lines the source is the text itself; give the text that was translated"
    return None


def _alike(texts: Sequence[str]) -> bool:
    """Whether texts share words as translations of one line do: consecutive ones a quarter of theirs, on average."""
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    shared = [len(a & b) / max(1, len(a | b)) for a, b in pairwise(words)]
    return sum(shared) >= ALIKE * len(shared)


def _english(pairs: Sequence[tuple[str, str]], language: Language) -> str | None:
    """Whether the source of an English text is English; of other languages too few words are known."""
    if language.code != ENGLISH.code:
        return None
    sample = KnownWords(ENGLISH)
    for source, _ in pairs:
        sample.add(source)
    if not sample.is_english():
        return None
    return "the source looks like en, the language of the text; give the text that was translated"


def _other_order(pairs: Sequence[tuple[str, str]], what: str) -> str | None:
    """Whether the lines go better in another order, or as well with any other text; what: "source" or "reference"."""
    filled = sum(all(pair) for pair in pairs)
    if filled < FEWEST_IN_ORDER:
        return None
    found = compare_orders(*zip(*pairs, strict=True))
    order, by = max(found.better.items(), key=lambda each: each[1])
    cure = f"give the {what} of each text in the same line"
    if by >= CLEARLY and order is None:
        return f"the lines of the {what} look reversed: they go better with the texts in reverse order; {cure}"
    if by >= CLEARLY and order is not None:
        where = f"{abs(order)} {'line' if abs(order) == 1 else 'lines'} {'below' if order > 0 else 'above'}"
        return f"the lines of the {what} look shifted: they go better with the texts {where}; {cure}"
    fewest, hardly = FAR[what]
    if filled >= fewest and found.own < hardly:
        return f"the lines of the {what} go hardly better with their texts than with any others; {cure}"
    return None


def _numbers(pairs: Sequence[tuple[str, str]]) -> str | None:
    """Whether most lines with numbers of two digits or more share none; smaller ones are often words in the text."""
    numbers = [(_numbers_of(source), _numbers_of(text)) for source, text in pairs]
    numbered = [(source, text) for source, text in numbers if any(len(each) > 1 for each in source)]
    differ = sum(not source & text for source, text in numbered)
    if len(numbered) < FEWEST_NUMBERS or 4 * differ <= 3 * len(numbered):
        return None
    return (
        f"in {differ} of {len(numbered)} lines whose source has numbers the text has none of them; give the source of "
        "each text in the same line"
    )


def _features(line: str) -> frozenset[str]:
    """What a line may share with its translation: numbers, first letters of Latin words, marks."""
    plain = unicodedata.normalize("NFKD", line.casefold())  # also makes full-width marks those of ASCII
    letters = "".join(c for c in plain if not unicodedata.combining(c))
    words = (word[:_FIRST_LETTERS] for word in _LATIN.findall(letters))
    return _numbers_of(line).union(words, (_MARKS[c] for c in plain if c in _MARKS))


def _numbers_of(line: str) -> frozenset[str]:
    """The numbers of a line in ASCII digits, without leading zeros."""
    found = _NUMBER.findall(line)
    return frozenset("".join(str(unicodedata.decimal(c)) for c in each).lstrip("0") or "0" for each in found)


def _lengths(lines: Sequence[str]) -> NDArray[np.float64]:
    """The logarithms of the lengths of lines (lines,), with mean 0 and variance 1; 0 for empty lines."""
    logs = np.log([max(1, len(line)) for line in lines])
    filled = np.array([bool(line) for line in lines])
    spread = logs[filled].std() if filled.any() else 0.0
    if spread < 1e-9:
        return np.zeros(len(lines))
    return np.where(filled, np.clip((logs - logs[filled].mean()) / spread, -3, 3), 0.0)


def _errors(values: NDArray[np.float64]) -> float:
    """The mean in its standard errors; 0 where all values are the same."""
    spread = float(values.std(ddof=1))
    return float(values.mean()) / spread * sqrt(len(values)) if spread > 1e-9 else 0.0
