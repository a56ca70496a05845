"""The log-probability of texts after their contexts by a causal language model: a zero-shot baseline of a metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.lab.seq2seq.model import LogProbability, ModelSettings, TranslationModel
from pronmetric.text.context import Text

BATCH_SIZE = 8


class LanguageModel:
    """A causal model of a folder (`pronmetric.lab.seq2seq.model`).

    precision: "32", "bf16" or "16". gpus: 0 for the CPU, 1 for a GPU, None for a GPU if there is one.

    Raises:
        InputError: the folder holds no causal language model.
    """

    def __init__(self, folder: str | Path, *, precision: str = "32", gpus: int | None = None) -> None:
        self.model = TranslationModel(folder, ModelSettings(precision=precision, gpus=gpus, prompt="{source}"))
        self._folder = folder
        if not self.model.is_causal:
            raise InputError("expected a causal language model, got an encoder-decoder", file=folder)

    def read(self, texts: Sequence[Text], *, advance: Callable[[int], object] | None = None) -> list[LogProbability]:
        """The log-probability of each text after its context and a blank, with the end of sentence.

        Equal texts in equal contexts are read once. advance: called with the number of texts finished since the last
        call.

        Raises:
            InputError: a text with its context is longer than the model reads.
        """
        pairs = [(context, f" {text}" if context else text) for context, text, _ in texts]
        distinct = list(dict.fromkeys(pairs))
        if (found := self.model.find_too_long(distinct)) is not None:
            number, pieces = found
            raise InputError(
                f"{distinct[number][1].strip()[:40]!r} has {pieces} pieces with its context, more than the model's "
                f"{self.model.positions} positions: give `context=none`, or leave the text out",
                file=self._folder,
            )
        if advance is not None:
            advance(len(pairs) - len(distinct))
        read = self.model.read(distinct, batch_size=BATCH_SIZE, advance=advance)
        known = dict(zip(distinct, read, strict=True))
        return [known[pair] for pair in pairs]
