"""Annotated coreference: a document's tokens with the mentions of each entity, and how brackets become mentions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError


class Mention(NamedTuple):
    """A mention of an entity: its half-open span of tokens."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class Annotated:
    """A document's tokens and mentions; mentions are sorted by start, longer ones first."""

    name: str
    tokens: tuple[str, ...]
    mentions: tuple[Mention, ...]


class Reading:
    """A partially read document: its tokens, and the brackets that are open."""

    def __init__(self, name: str, file: str | Path) -> None:
        self.name, self.file = name, file
        self.tokens: list[str] = []
        self._mentions: list[Mention] = []
        self._open: dict[str, list[tuple[int, int]]] = {}  # by entity: token and line of its open brackets

    def bracket(self, entity: str, *, opens: bool, closes: bool, line: int) -> None:
        """Open a mention at the last token, close the mention of the entity that was opened last, or both.

        Raises:
            InputError: with the line, if no mention of the entity is open.
        """
        at = len(self.tokens) - 1
        if opens:
            self._open.setdefault(entity, []).append((at, line))
        if closes:
            if not self._open.get(entity):
                raise InputError(f"{entity}) closes a mention that was not opened", file=self.file, line=line)
            self._mentions.append(Mention(self._open[entity].pop()[0], at + 1, entity))

    def close(self) -> Annotated:
        """The document.

        Raises:
            InputError: with the line, if a mention is not closed.
        """
        for entity, places in self._open.items():
            for _, line in places:
                raise InputError(f"({entity} opens a mention that is not closed", file=self.file, line=line)
        mentions = sorted(self._mentions, key=lambda mention: (mention.start, -mention.end))
        return Annotated(self.name, tuple(self.tokens), tuple(mentions))
