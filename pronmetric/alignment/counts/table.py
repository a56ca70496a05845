"""The table of a source language, by which missing and surplus pronouns of translations into English are counted.

It holds a pruned word aligner, and how often references have a counterpart for each source pronoun and a source for
each English one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from pronmetric.alignment import source_words
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.places import Links
from pronmetric.alignment.source_words import SourceWords
from pronmetric.alignment.unmatched import Unmatched, person, unmatched
from pronmetric.pronouns.closed_class import ClosedClass, closed_class
from pronmetric.pronouns.finder import Occurrence
from pronmetric.text.words import Word, lower_words

RELIABLE = 0.9  # share of references from which a pronoun without a counterpart counts as missing or surplus


class Item(NamedTuple):
    """A translation to compare with its source: the source, the words of the translation and its pronouns."""

    source: str
    words: Sequence[Word]
    pronouns: Sequence[Occurrence]


class Counted(NamedTuple):
    """missing: pronouns of the source without a counterpart. surplus: numbers of the pronouns without a source."""

    missing: tuple[Word, ...]
    surplus: tuple[int, ...]


@dataclass(frozen=True)
class CountTable:
    """The table of one source language.

    aligner: source words to English words. kept: how often each source pronoun has a counterpart in references.
    sourced: how often an English pronoun of each personal class has a source there. about: how it was made. hash: of
    its file, 8 hexadecimal digits.
    """

    language: str
    aligner: AgreementAligner
    kept: Mapping[str, float] = field(default_factory=dict)
    sourced: Mapping[str, float] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    hash: str = ""

    @cached_property
    def closed(self) -> ClosedClass:
        """The closed-class table of the language."""
        return closed_class(self.language)

    def count(self, items: Sequence[Item]) -> Iterator[Counted]:
        """The missing and surplus pronouns of each item, in order.

        Forms that references often leave without a counterpart, such as subjects of pro-drop languages, don't count.
        """
        for item, found in zip(items, self._unmatched(items), strict=True):
            source = self.read(item.source)
            persons = {k: person(item.words, item.pronouns[k]) for k in found.surplus}
            yield Counted(
                tuple(source.words[k] for k in found.missing if self.kept.get(source.forms[k], 0.0) >= RELIABLE),
                tuple(k for k, name in persons.items() if self.sourced.get(name, 0.0) >= RELIABLE),
            )

    def unsourced(self, items: Sequence[Item]) -> Iterator[tuple[int, ...]]:
        """The numbers of all pronouns of each item without a source, in order, whatever references leave without."""
        return (found.surplus for found in self._unmatched(items))

    def _unmatched(self, items: Sequence[Item]) -> Iterator[Unmatched]:
        for item, (source, links) in zip(items, self.aligned(items), strict=True):
            yield unmatched(source, self.closed, item.words, item.pronouns, links)

    def aligned(self, items: Sequence[Item]) -> Iterator[tuple[SourceWords, Links]]:
        """The source words of each item and their links to its English words."""
        read = [self.read(item.source) for item in items]
        pairs = [(source.lower, lower_words(item.words)) for source, item in zip(read, items, strict=True)]
        for source, item, links in zip(read, items, self.aligner.align_all(pairs), strict=True):
            yield source, Links.read(links.links, len(item.words))

    def read(self, text: str) -> SourceWords:
        """The words of a source sentence."""
        return _read(text, self.language)


@lru_cache(maxsize=4096)
def _read(text: str, language: str) -> SourceWords:
    return source_words.read(text, closed_class(language))
