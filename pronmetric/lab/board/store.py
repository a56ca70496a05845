"""The folder of scored test sets: what is there with the same signature and texts is not scored again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import quote

from pronmetric.lab.board import scored
from pronmetric.lab.board.scored import BoardSet, Scored
from pronmetric.pronouns.languages import Language
from pronmetric.scoring.score import SegmentScore
from pronmetric.signature import Signature
from pronmetric.text.context import COMMON, Text
from pronmetric.text.corpus import Corpus


class Bar(Protocol):
    """Progress of one test set."""

    def update(self, n: int) -> object:
        """Count `n` more texts."""


class Stored(NamedTuple):
    """A test set's scores, and whether they were in the folder already."""

    scored: Scored
    reused: bool


@dataclass(frozen=True, slots=True)
class Store:
    """Scores test sets, or reads their scores from `folder`.

    stream: scores texts, in order, with probabilities; `advance` is called with the number of texts finished. size:
    number of previous sentences in a context. signature: of scores in a kind of context. bar: progress of a test set,
    from its id and its number of texts.
    """

    folder: Path
    stream: Callable[[Iterable[Text], Callable[[int], object]], Iterator[SegmentScore]]
    size: int
    language: Language
    signature: Callable[[str], Signature]
    bar: Callable[[str, int], AbstractContextManager[Bar]]

    def get(self, testset: BoardSet, corpus: Corpus) -> Stored:
        """The scores of a test set's systems, from the folder if version, signature and texts are the same.

        Raises:
            InputError: a broken file in the folder.
        """
        signature = self.signature(testset.context)
        if testset.context == COMMON:
            signature = signature.plus(references=testset.reference)
        path = self.folder / f"{quote(testset.id, safe='')}.json"
        if path.exists():
            found = scored.read(path)
            wanted = testset, str(signature), scored.hash_texts(corpus)
            if found is not None and (found.testset, found.signature, found.texts) == wanted:
                return Stored(found, reused=True)
        with self.bar(testset.id, corpus.segments * len(corpus.systems)) as bar:
            made = scored.score(
                testset,
                corpus,
                size=self.size,
                stream=lambda texts: self.stream(texts, bar.update),
                language=self.language,
                signature=str(signature),
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        scored.write(made, path)
        return Stored(made, reused=False)
