"""Annotated coreference in GUM's CoNLL format: documents of tokens, with the mentions of each entity.

A document is enclosed in `# begin document NAME` and `# end document`. Its lines have three tab-separated columns: the
token's index from 0, the token, and brackets, or `_` for none: `(person-1` opens a mention of the entity `person-1`,
`person-1)` closes it, `(person-1)` is a mention of one token.
"""

from __future__ import annotations

import re
from pathlib import Path

from data_prep.coreference.document import Annotated, Reading, read_documents
from pronmetric.errors import InputError

_BEGIN, _END = "# begin document", "# end document"
_BRACKET = re.compile(r"(\(?)([^()]+)(\)?)")


def read(path: str | Path) -> list[Annotated]:
    """The documents of one file, in order.

    Raises:
        InputError: with file and line, if a line is malformed, a bracket has no partner, or a document has no end; if
            the file has no document.
    """
    return read_documents(path, begin=_begin, end=_END, add=_add, example=f"{_BEGIN} NAME")


def _begin(line: str) -> str | None:
    return line.removeprefix(_BEGIN).strip() if line.startswith(_BEGIN) else None


def _add(document: Reading, line: str, number: int) -> None:
    cells = line.split("\t")
    at = len(document.tokens)
    if len(cells) != 3 or cells[0] != str(at) or not cells[1]:
        message = f"expected {at}, a token and its brackets, separated by tabs, got {line!r}"
        raise InputError(message, file=document.file, line=number)
    document.tokens.append(cells[1])
    if cells[2] == "_":
        return
    brackets = _BRACKET.findall(cells[2])
    whole = "".join(map("".join, brackets)) == cells[2] != ""
    if not whole or any(not (opens or closes) for opens, _, closes in brackets):
        message = f"expected brackets as (person-1, person-1) or _, got {cells[2]!r}"
        raise InputError(message, file=document.file, line=number)
    for opens, entity, closes in brackets:
        document.bracket(entity, opens=bool(opens), closes=bool(closes), line=number)
