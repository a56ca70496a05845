"""N-gram language models of two libraries: KenLM's files (ARPA or binary), and one trained by NLTK."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError, MissingExtra

EXTRA = "ngram"
_SCORES = 1_000_000  # sentences whose score is kept


class KenLM:
    """A model file read by the `kenlm` package."""

    def __init__(self, path: str | Path) -> None:
        """Read an ARPA or a binary file.

        Raises:
            MissingExtra: the package is not installed.
            InputError: no such file, or none of KenLM's.
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


class Nltk:
    """A model with Witten-Bell smoothing, trained by `nltk.lm`; words seen once are the unknown word."""

    def __init__(self, sentences: Sequence[Sequence[str]], *, order: int) -> None:
        """Train on sentences.

        Raises:
            MissingExtra: the package is not installed.
            InputError: no sentence.
        """
        try:
            from nltk.lm import Vocabulary, WittenBellInterpolated
            from nltk.util import everygrams
        except ImportError:
            raise MissingExtra("nltk", EXTRA, "`train_lm=`") from None
        if not sentences:
            raise InputError("expected sentences to train the language model on, got none")
        self._order = order
        padded = [self._pad(sentence, whole=True) for sentence in sentences]
        vocabulary = Vocabulary((word for sentence in padded for word in sentence), unk_cutoff=2)
        self._model: Any = WittenBellInterpolated(order, vocabulary=vocabulary)
        self._model.fit([everygrams(sentence, max_len=order) for sentence in padded])
        self._lookup = vocabulary.lookup
        self._log = lru_cache(_SCORES)(self._log_score)

    def __call__(self, words: Sequence[str], *, whole: bool) -> float:
        """The log10 probability of a sentence, or of its beginning."""
        padded = self._lookup(self._pad(words, whole=whole))
        start = self._order - 1
        return sum(self._log(padded[at], padded[at - start : at]) for at in range(start, len(padded)))

    def _pad(self, words: Sequence[str], *, whole: bool) -> list[str]:
        return ["<s>"] * (self._order - 1) + list(words) + (["</s>"] if whole else [])

    def _log_score(self, word: str, context: tuple[str, ...]) -> float:
        return float(self._model.logscore(word, context)) * math.log10(2)
