"""Annotated coreference in CoNLL form: documents of tokens, and brackets that become the mentions of each entity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.text.lines import read_lines


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


def read_documents(
    path: str | Path,
    *,
    begin: Callable[[str], str | None],
    end: str,
    add: Callable[[Reading, str, int], None],
    example: str,
) -> list[Annotated]:
    """The documents of one file, in order; lines between them must be blank.

    Args:
        path: the file.
        begin: the document's name, of a line that begins one; None of other lines.
        end: how the line that ends a document starts.
        add: adds a line that is not blank, with its number, to its document.
        example: a line that begins a document, for messages.

    Raises:
        InputError: with file and line, if a line is malformed, a bracket has no partner, or a document has no end; if
            the file has no document.
    """
    documents: list[Annotated] = []
    current: Reading | None = None
    for number, line in enumerate(read_lines(path), start=1):
        if (name := begin(line)) is not None:
            if current is not None:
                raise InputError(f"expected {end!r} before the next document", file=path, line=number)
            current = Reading(name, path)
        elif current is None:
            if line.strip():
                raise InputError(f"expected {example!r}, got {line!r}", file=path, line=number)
        elif line.startswith(end):
            documents.append(current.close())
            current = None
        elif line.strip():
            add(current, line, number)
    if current is not None:
        raise InputError(f"{current.name} has no {end!r}: the file is cut off", file=path)
    if not documents:
        raise InputError(f"holds no document; expected {example!r}", file=path, line=1)
    return documents
