"""Annotated coreference in the CoNLL-2012 form of LitBank (Bamman et al. 2020).

A document stands between `#begin document (NAME); part N` and `#end document`. Its lines have 13 columns, separated by
tabs: the document's name, the part, the token's index in its sentence, the token, eight more, and brackets, empty or
`_` for none and joined by `|`: `(3` opens a mention of the entity 3, `3)` closes it, `(3)` is a mention of one token.
An empty line ends a sentence.
"""

from __future__ import annotations

import re
from pathlib import Path

from data_prep.coreference.document import Annotated, Reading, read_documents
from pronmetric.errors import InputError

BEGIN = "#begin document ("
_BEGIN = re.compile(r"#begin document \((?P<name>.+)\); part \d+")
_END = "#end document"
_BRACKET = re.compile(r"(\(?)(\d+)(\)?)")
_COLUMNS, _TOKEN = 13, 3


def read(path: str | Path) -> list[Annotated]:
    """The documents of one file, in order.

    Raises:
        InputError: with file and line, if a line is malformed, a bracket has no partner, or a document has no end; if
            the file has no document.
    """
    return read_documents(path, begin=_begin, end=_END, add=_add, example="#begin document (NAME); part 0")


def _begin(line: str) -> str | None:
    match = _BEGIN.match(line)
    return match["name"] if match else None


def _add(document: Reading, line: str, number: int) -> None:
    cells = line.split("\t")
    if len(cells) != _COLUMNS or not cells[_TOKEN].strip():
        message = f"expected {_COLUMNS} columns, separated by tabs, the token in column {_TOKEN + 1}, got {line!r}"
        raise InputError(message, file=document.file, line=number)
    document.tokens.append(cells[_TOKEN])
    for bracket in cells[-1].split("|") if cells[-1] not in ("", "_") else ():
        match = _BRACKET.fullmatch(bracket)
        if match is None or not (match[1] or match[3]):
            message = f"expected brackets as (1|(2) or 1), or nothing, got {cells[-1]!r}"
            raise InputError(message, file=document.file, line=number)
        document.bracket(match[2], opens=bool(match[1]), closes=bool(match[3]), line=number)
