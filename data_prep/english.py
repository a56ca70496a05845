"""All plain English documents of a preparation with their split, read anew each time they are needed."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from data_prep import documents
from data_prep.documents import EnglishDocument
from data_prep.settings import Settings
from data_prep.splits import DEVELOPMENT, TEST, TRAIN, draw
from data_prep.wmt import discovery


class English:
    """The documents of `data.english`, then WMT's sources in the target language but those of test; these are kept.

    sizes: documents by split.
    """

    def __init__(self, settings: Settings) -> None:
        self._folder = None if settings.data.english is None else Path(settings.data.english)
        self._whole_files = frozenset(settings.splits.whole_files)
        units = list(dict.fromkeys(self._unit(document) for document in self._read()))
        self._held_out: Collection[tuple[str, ...]] = draw(units, settings.splits.english_share, settings.seed)
        self._wmt = list(_wmt_sources(settings))
        self.sizes = Counter(split for split, _ in self)

    def __iter__(self) -> Iterator[tuple[str, EnglishDocument]]:
        """Split and document, in order."""
        for document in self._read():
            yield DEVELOPMENT if self._unit(document) in self._held_out else TRAIN, document
        yield from self._wmt

    def of(self, split: str) -> Iterator[EnglishDocument]:
        """The documents of a split."""
        return (document for where, document in self if where == split)

    def _read(self) -> Iterator[EnglishDocument]:
        return iter(()) if self._folder is None else documents.read(self._folder)

    def _unit(self, document: EnglishDocument) -> tuple[str, ...]:
        """What is held out as a whole: a document, or a file where its collection has one work a file."""
        if document.source in self._whole_files and document.genre is not None:
            return document.source, document.genre
        return document.source, document.doc


def _wmt_sources(settings: Settings) -> Iterator[tuple[str, EnglishDocument]]:
    data = settings.data
    for document in discovery.english_sources(
        data.wmt, years=data.years, exclude=data.exclude, language=settings.language.code
    ):
        split = settings.rule.of(document.source, None, "")
        if split != TEST:
            yield split, dataclasses.replace(document, source="wmt", doc=f"{document.source}/{document.doc}")
