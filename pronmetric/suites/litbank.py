"""Annotated coreference in the CoNLL-2012 form of LitBank (Bamman et al. 2020).

A document stands between `#begin document (NAME); part N` and `#end document`. Its lines have 13 columns, separated by
tabs: the document's name, the part, the token's index in its sentence, the token, eight more, and brackets, empty or
`_` for none and joined by `|`: `(3` opens a mention of the entity 3, `3)` closes it, `(3)` is a mention of one token.
An empty line ends a sentence.
"""

from __future__ import annotations

import re
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.suites.gum import Annotated, Mention
from pronmetric.text.lines import read_lines

BEGIN = "#begin document ("
_BEGIN = re.compile(r"#begin document \((?P<name>.+)\); part \d+")
_END = "#end document"
_BRACKET = re.compile(r"(\(?)(\d+)(\)?)")
_COLUMNS, _TOKEN = 13, 3


def read(path: str | Path) -> list[Annotated]:
    """The documents of one file, in order.

    Raises:
        InputError: with file and line, where a line is none of this form, a bracket has no partner, or a document no
            end; where the file has no document.
    """
    documents: list[Annotated] = []
    current: _Document | None = None
    for number, line in enumerate(read_lines(path), start=1):
        if begin := _BEGIN.match(line):
            if current is not None:
                raise InputError(f"expected {_END!r} before the next document", file=path, line=number)
            current = _Document(begin["name"])
        elif current is None:
            if line.strip():
                message = f"expected '#begin document (NAME); part 0', got {line!r}"
                raise InputError(message, file=path, line=number)
        elif line.startswith(_END):
            documents.append(current.closed(path))
            current = None
        elif line.strip():
            current.add(line, path, number)
    if current is not None:
        raise InputError(f"{current.name} has no {_END!r}: the file is cut off", file=path)
    if not documents:
        raise InputError("holds no document; expected '#begin document (NAME); part 0'", file=path, line=1)
    return documents


class _Document:
    """A document while it is read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokens: list[str] = []
        self.mentions: list[Mention] = []
        self.open: dict[str, list[tuple[int, int]]] = {}  # by entity: token and line of its open brackets

    def add(self, line: str, path: str | Path, number: int) -> None:
        cells = line.split("\t")
        if len(cells) != _COLUMNS or not cells[_TOKEN].strip():
            message = f"expected {_COLUMNS} columns, separated by tabs, the token in column {_TOKEN + 1}, got {line!r}"
            raise InputError(message, file=path, line=number)
        at = len(self.tokens)
        self.tokens.append(cells[_TOKEN])
        for bracket in cells[-1].split("|") if cells[-1] not in ("", "_") else ():
            match = _BRACKET.fullmatch(bracket)
            if match is None or not (match[1] or match[3]):
                message = f"expected brackets as (1|(2) or 1), or nothing, got {cells[-1]!r}"
                raise InputError(message, file=path, line=number)
            if match[1]:
                self.open.setdefault(match[2], []).append((at, number))
            if match[3]:
                if not self.open.get(match[2]):
                    raise InputError(f"{match[2]}) closes a mention that none opened", file=path, line=number)
                self.mentions.append(Mention(self.open[match[2]].pop()[0], at + 1, match[2]))

    def closed(self, path: str | Path) -> Annotated:
        for entity, places in self.open.items():
            for _, number in places:
                raise InputError(f"({entity} opens a mention that none closes", file=path, line=number)
        mentions = sorted(self.mentions, key=lambda mention: (mention.start, -mention.end))
        return Annotated(self.name, tuple(self.tokens), tuple(mentions))
