"""The pieces of a translation model: byte-level BPE of the training text, one vocabulary for both languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from pronmetric.errors import InputError

FILE = "tokenizer.json"
PAD, BEGIN, END, SEPARATOR, CONTEXT = range(5)
"""Marks: padding, begin and end of a text, between two sentences, begin of a context."""
FIRST = 5  # id of the first piece of text
_NAMES = [f"\0{name}" for name in ("pad", "begin", "end", "separator", "context")]  # no text has a NUL


class Pieces:
    """Splits sentences into pieces and joins them again; there is no unknown piece.

    >>> pieces = Pieces.train(["the lamp", "die Lampe"], size=300)
    >>> pieces.decode(pieces.encode(["the  lamp"])[0])
    'the  lamp'
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def train(cls, texts: Iterable[str], *, size: int) -> Self:
        """Learn at most `size` pieces, including the 256 bytes and the marks."""
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=size, special_tokens=_NAMES, initial_alphabet=alphabet, show_progress=False
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    def __len__(self) -> int:
        """The number of pieces, including the marks."""
        return self._tokenizer.get_vocab_size()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of each text, without marks; a blank text has none."""
        known = [text.strip() for text in texts]
        found = self._tokenizer.encode_batch(known, add_special_tokens=False)
        return [each.ids if text else [] for text, each in zip(known, found, strict=True)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of pieces; marks are left out."""
        return self._tokenizer.decode([number for number in ids if number >= FIRST]).strip()

    def save(self, folder: Path) -> None:
        """Write the pieces."""
        self._tokenizer.save(str(folder / FILE))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            InputError: there is no such file, or it was not written by `tokenizers`.
        """
        try:
            return cls(Tokenizer.from_file(str(folder / FILE)))
        except Exception as error:  # tokenizers raises bare exceptions
            raise InputError(f"no pieces of a translation model ({error})", file=folder / FILE) from None
