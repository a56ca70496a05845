"""Pieces, the input units of an encoder, and one tokenizer for each kind of encoder.

Pieces are the sub-words of a tokenizer, or the words of `pronmetric.text.words` for an encoder that reads words.
An id is one number, or a row of numbers for an encoder that reads each word's characters.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from pronmetric.data import characters
from pronmetric.errors import InputError
from pronmetric.text import strict_json
from pronmetric.text.lines import read_lines
from pronmetric.text.words import Word, words

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

VOCABULARY = "vocabulary.txt"
# The files of a Hugging Face tokenizer; the first one is required.
TOKENIZER = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
)
PAD, UNKNOWN, SEPARATOR, FIRST = range(4)  # ids of a `Vocabulary`; its words have those from FIRST on


class PieceSpans(NamedTuple):
    """A text in pieces: their ids (pieces, ...) and half-open spans of code points (pieces, 2).

    unread: number of words that are not read completely.
    """

    ids: np.ndarray
    offsets: np.ndarray
    unread: int = 0


@runtime_checkable
class Pieces(Protocol):
    """Splits texts into the pieces of one encoder.

    FILES: in a checkpoint's folder; the first one is required. prefix, suffix: ids before and after the text of a row
    (pieces, ...). separator: the optional id
    between context and text; None if there is none. pad: the id of padded slots. config: the entries for this class in
    `encoder` of a checkpoint's config.
    """

    FILES: ClassVar[tuple[str, ...]]
    prefix: np.ndarray
    suffix: np.ndarray
    separator: np.ndarray | None
    pad: np.ndarray
    config: dict[str, Any]

    @classmethod
    def load(cls, folder: Path, encoder: Mapping[str, Any]) -> Self:
        """Those that `save` wrote into `folder`; an error if they do not fit `encoder`, its entry in the config."""
        ...

    def __call__(self, texts: Sequence[str]) -> list[PieceSpans]:
        """Each text in pieces, in order, without prefix and suffix."""
        ...

    def save(self, folder: Path) -> None:
        """Write the files of the tokenizer, if any, to a checkpoint's folder."""
        ...


class Subwords:
    """The sub-words of a fast Hugging Face tokenizer.

    Raises:
        InputError: a slow tokenizer.
    """

    FILES: ClassVar[tuple[str, ...]] = TOKENIZER

    def __init__(self, tokenizer: PreTrainedTokenizerBase | StoredTokenizer) -> None:
        if not tokenizer.is_fast:
            raise InputError(f"expected a fast tokenizer (with offsets), got {type(tokenizer).__name__}, a slow one")
        self.tokenizer: Any = tokenizer
        marked = self._backend().encode("a")
        special = np.asarray(marked.special_tokens_mask, dtype=bool)
        ids, inside = np.asarray(marked.ids, dtype=np.int64), np.flatnonzero(~special)
        self.prefix, self.suffix = ids[: inside[0]], ids[inside[-1] + 1 :]
        mark = tokenizer.sep_token_id
        self.separator: np.ndarray | None = None if mark is None else np.asarray(mark)
        self.pad = np.asarray(tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0)
        self.config: dict[str, Any] = {"pieces": len(self.vocabulary())}

    @classmethod
    def load(cls, folder: Path, encoder: Mapping[str, Any]) -> Self:
        """The tokenizer in `folder`, read without transformers; an error if its ids do not fit `encoder`."""
        read = cls(StoredTokenizer(folder))
        rows, pieces = encoder["vocab_size"], read.config["pieces"]
        largest = max(read.vocabulary().values())
        if largest >= rows or pieces != encoder.get("pieces", pieces):
            raise InputError(
                f"expected {encoder.get('pieces', rows)} pieces with ids below {rows} (encoder.vocab_size), got "
                f"{pieces} with ids up to {largest}"
            )
        return read

    def _backend(self) -> Any:
        """The `tokenizers.Tokenizer`, set to give each text whole and without padding."""
        backend = self.tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        return backend

    def vocabulary(self) -> dict[str, int]:
        """All pieces, special ones included, with their ids."""
        return self._backend().get_vocab(with_added_tokens=True)

    def __call__(self, texts: Sequence[str]) -> list[PieceSpans]:
        """Each text in sub-words."""
        return [
            PieceSpans(np.asarray(found.ids, dtype=np.int64), np.asarray(found.offsets, dtype=np.int64).reshape(-1, 2))
            for found in self._backend().encode_batch(list(texts), add_special_tokens=False)
        ]

    def save(self, folder: Path) -> None:
        """Write the tokenizer's files."""
        self.tokenizer.save_pretrained(str(folder))


class StoredTokenizer:
    """The fast tokenizer that a checkpoint's folder holds, read without transformers.

    Its pieces are those of tokenizer.json. Separator and padding are named in tokenizer_config.json or
    special_tokens_map.json; None if neither does.
    """

    is_fast = True

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self.backend_tokenizer = Tokenizer.from_file(str(folder / TOKENIZER[0]))
        self._folder = folder
        named: dict[str, Any] = {}
        for name in ("special_tokens_map.json", "tokenizer_config.json"):
            if (folder / name).is_file():
                named |= strict_json.parse((folder / name).read_text(encoding="utf-8"))
        self.sep_token_id = self._id(named.get("sep_token"))
        self.pad_token_id = self._id(named.get("pad_token"))

    def _id(self, piece: Any) -> int | None:
        """The id of a special piece, which is written alone or with its properties."""
        content = piece["content"] if isinstance(piece, dict) else piece
        return None if content is None else self.backend_tokenizer.token_to_id(content)

    def save_pretrained(self, folder: str) -> None:
        """Copy the tokenizer's files."""
        for name in TOKENIZER:
            if (self._folder / name).is_file():
                shutil.copyfile(self._folder / name, Path(folder) / name)


class Vocabulary:
    """A vocabulary of words with ids; all other words share the id of the unknown word.

    Args:
        words: those with an id, from `FIRST` on.
        lower: whether the words of a text are looked up in lower case.

    Raises:
        InputError: no words, or a repeated word.
    """

    FILES: ClassVar[tuple[str, ...]] = (VOCABULARY,)

    def __init__(self, words: Sequence[str], *, lower: bool) -> None:
        self.words = tuple(words)
        self._ids = {word: id for id, word in enumerate(self.words, start=FIRST)}
        if not self.words or len(self._ids) < len(self.words):
            raise InputError(f"expected distinct words, got {len(self.words)} of which {len(self._ids)} are distinct")
        self.prefix = self.suffix = np.zeros(0, dtype=np.int64)
        self.separator: np.ndarray | None = np.asarray(SEPARATOR)
        self.pad = np.asarray(PAD)
        self.config: dict[str, Any] = {"lower": lower}

    @classmethod
    def load(cls, folder: Path, encoder: Mapping[str, Any]) -> Self:
        """The vocabulary that `save` wrote into `folder`; an error if it has not the words of `encoder`."""
        read = cls(read_lines(folder / VOCABULARY), lower=encoder["lower"])
        if len(read.words) != encoder["words"]:
            raise InputError(f"expected {encoder['words']} words in its vocabulary, got {len(read.words)}")
        return read

    def __call__(self, texts: Sequence[str]) -> list[PieceSpans]:
        """Each text in words.

        >>> Vocabulary(["she", "left"], lower=True)(["She left, too."])[0].ids.tolist()
        [3, 4, 1, 1, 1]
        """
        return [PieceSpans(self._looked_up(found), _offsets(found)) for found in map(words, texts)]

    def _looked_up(self, found: Sequence[Word]) -> np.ndarray:
        texts = (word.text.lower() if self.config["lower"] else word.text for word in found)
        return np.array([self._ids.get(text, UNKNOWN) for text in texts], dtype=np.int64)

    def save(self, folder: Path) -> None:
        """Write the words, one per line."""
        (folder / VOCABULARY).write_bytes("".join(f"{word}\n" for word in self.words).encode())


class Characters:
    """Words by their characters, as ELMo reads them; the marker of a sentence's end separates context and text."""

    FILES: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.prefix = self.suffix = np.zeros((0, characters.WIDTH), dtype=np.int64)
        self.separator: np.ndarray | None = characters.ids(["</S>"])[0]
        self.pad = np.zeros(characters.WIDTH, dtype=np.int64)
        self.config: dict[str, Any] = {}

    @classmethod
    def load(cls, folder: Path, encoder: Mapping[str, Any]) -> Self:
        """The same for every folder and encoder."""
        return cls()

    def __call__(self, texts: Sequence[str]) -> list[PieceSpans]:
        """Each text in words; of a word longer than 48 bytes the rest is not read."""
        made = []
        for found in map(words, texts):
            each = [word.text for word in found]
            made.append(PieceSpans(characters.ids(each), _offsets(found), characters.cut(each)))
        return made

    def save(self, folder: Path) -> None:
        """No files are needed."""


def _offsets(found: Sequence[Word]) -> np.ndarray:
    return np.array([(word.start, word.end) for word in found], dtype=np.int64).reshape(-1, 2)
