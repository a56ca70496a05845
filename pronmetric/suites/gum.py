"""Annotated coreference in GUM's CoNLL format: documents of tokens, with the mentions of each entity.

A document is enclosed in `# begin document NAME` and `# end document`. Its lines have three tab-separated columns: the
token's index from 0, the token, and brackets, or `_` for none: `(person-1` opens a mention of the entity `person-1`,
`person-1)` closes it, `(person-1)` is a mention of one token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.text.lines import read_lines

_BEGIN, _END = "# begin document", "# end document"
_BRACKET = re.compile(r"(\(?)([^()]+)(\)?)")


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


def read(path: str | Path) -> list[Annotated]:
    """The documents of one file, in order.

    Raises:
        InputError: with file and line, if a line is malformed, a bracket has no partner, or a document has no end; if
            the file has no document.
    """
    documents: list[Annotated] = []
    current: _Document | None = None
    for number, line in enumerate(read_lines(path), start=1):
        if line.startswith(_BEGIN):
            if current is not None:
                raise InputError(f"expected {_END!r} before the next document", file=path, line=number)
            current = _Document(line.removeprefix(_BEGIN).strip())
        elif current is None:
            if line.strip():
                raise InputError(f"expected {_BEGIN + ' NAME'!r}, got {line!r}", file=path, line=number)
        elif line.startswith(_END):
            documents.append(current.close(path))
            current = None
        elif line.strip():
            current.add(line, path, number)
    if current is not None:
        raise InputError(f"{current.name} has no {_END!r}: the file is cut off", file=path)
    if not documents:
        raise InputError(f"holds no document; expected {_BEGIN + ' NAME'!r}", file=path, line=1)
    return documents


class _Document:
    """A partially read document."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokens: list[str] = []
        self.mentions: list[Mention] = []
        self.open: dict[str, list[tuple[int, int]]] = {}  # by entity: token and line of its open brackets

    def add(self, line: str, path: str | Path, number: int) -> None:
        cells = line.split("\t")
        at = len(self.tokens)
        if len(cells) != 3 or cells[0] != str(at) or not cells[1]:
            message = f"expected {at}, a token and its brackets, separated by tabs, got {line!r}"
            raise InputError(message, file=path, line=number)
        self.tokens.append(cells[1])
        if cells[2] == "_":
            return
        brackets = _BRACKET.findall(cells[2])
        whole = "".join(map("".join, brackets)) == cells[2] != ""
        if not whole or any(not (opens or closes) for opens, _, closes in brackets):
            raise InputError(
                f"expected brackets as (person-1, person-1) or _, got {cells[2]!r}", file=path, line=number
            )
        for opens, entity, closes in brackets:
            if opens:
                self.open.setdefault(entity, []).append((at, number))
            if closes:
                if not self.open.get(entity):
                    raise InputError(f"{entity}) closes a mention that was not opened", file=path, line=number)
                self.mentions.append(Mention(self.open[entity].pop()[0], at + 1, entity))

    def close(self, path: str | Path) -> Annotated:
        for entity, places in self.open.items():
            for _, number in places:
                raise InputError(f"({entity} opens a mention that is not closed", file=path, line=number)
        mentions = sorted(self.mentions, key=lambda mention: (mention.start, -mention.end))
        return Annotated(self.name, tuple(self.tokens), tuple(mentions))
