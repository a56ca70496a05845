"""N-gram language models: KenLM's files (ARPA or binary), and one that is trained here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError, MissingExtra

EXTRA = "ngram"
START, STOP, UNKNOWN = "<s>", "</s>", "<unk>"
_SCORES = 1_000_000  # n-grams whose score is kept

Gram = tuple[str, ...]


class KenLM:
    """A model file read by the `kenlm` package."""

    def __init__(self, path: str | Path) -> None:
        """Read an ARPA or a binary file.

        Raises:
            MissingExtra: the package is not installed.
            InputError: no such file, or another kind of file.
        """
        try:
            import kenlm
        except ImportError:
            raise MissingExtra("kenlm", EXTRA, "`lm=`") from None
        if not Path(path).is_file():
            raise InputError("no such file; expected an ARPA or KenLM file", file=path)
        try:
            config = kenlm.Config()
            config.show_progress = False
            config.arpa_complain = kenlm.ARPALoadComplain.NONE
            self._model: Any = kenlm.Model(str(path), config)
        except OSError as error:
            raise InputError(f"expected an ARPA or KenLM file: {error}".splitlines()[0], file=path) from None

    def __call__(self, words: Sequence[str], *, whole: bool) -> float:
        """The log10 probability of a sentence, or of its beginning."""
        return float(self._model.score(" ".join(words), bos=True, eos=whole))


class Ngrams:
    """An n-gram model with Witten-Bell smoothing; words that were seen once are the unknown word.

    The probability of a word after a context h that was seen c(h) times, before t(h) different words, is
    (c(h word) + t(h) p) / (c(h) + t(h)), where p is its probability after the context without its first word; that
    without any context is interpolated with the uniform distribution.

    Args:
        counts: of n-grams of every length up to `order`.
        order: the longest n-gram.
    """

    def __init__(self, counts: Mapping[Gram, int], *, order: int) -> None:
        self.counts, self.order = counts, order
        self._known = {gram[0] for gram in counts if len(gram) == 1} | {START, UNKNOWN}
        self._after: dict[Gram, tuple[int, int]] = {}  # of a context: how often it was seen, before how many words
        for (*context, _), count in counts.items():
            seen, words = self._after.get(tuple(context), (0, 0))
            self._after[tuple(context)] = seen + count, words + 1
        self._log = lru_cache(_SCORES)(self._log_score)

    @classmethod
    def count(cls, sentences: Sequence[Sequence[str]], *, order: int) -> Ngrams:
        """Train on sentences.

        Raises:
            InputError: no sentence.
        """
        if not sentences:
            raise InputError("expected sentences to train the language model on, got none")
        seen = Counter(word for sentence in sentences for word in sentence)
        counts: Counter[Gram] = Counter()
        for sentence in sentences:
            known = [word if seen[word] > 1 else UNKNOWN for word in sentence]
            words = (*[START] * (order - 1), *known, STOP)
            for at in range(order - 1, len(words)):
                counts.update(words[at - n : at + 1] for n in range(order))
        return cls(counts, order=order)

    def __call__(self, words: Sequence[str], *, whole: bool) -> float:
        """The log10 probability of a sentence, or of its beginning."""
        return self._sum((*[START] * (self.order - 1), *words, *([STOP] if whole else [])))

    def between(self, left: Sequence[str], word: str, right: Sequence[str]) -> float:
        """The log10 probability of a word ("" for none) in a sentence, and of the words after it in its reach."""
        reach = self.order - 1
        before = (*[START] * reach, *left)
        return self._sum((*before[len(before) - reach :], *([word] if word else []), *(*right, STOP)[:reach]))

    def _sum(self, words: Sequence[str]) -> float:
        """The log10 probability of the words that have a whole context before them."""
        reach = self.order - 1
        known = tuple(word if word in self._known else UNKNOWN for word in words)
        return sum(self._log(known[at - reach : at], known[at]) for at in range(reach, len(known)))

    def _log_score(self, context: Gram, word: str) -> float:
        found = 1 / (len(self._known) - 1)  # START is none of the words that can follow
        for start in range(len(context), -1, -1):
            seen, words = self._after.get(context[start:], (0, 0))
            if seen:
                found = (self.counts.get((*context[start:], word), 0) + words * found) / (seen + words)
        return math.log10(found)
