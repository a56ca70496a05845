"""Annotated coreference in CoNLL form: documents of tokens, and brackets that become the mentions of each entity.

A line has columns separated by tabs: `(3` opens a mention of the entity 3, `3)` closes it, `(3)` is a mention of one
token.

GUM: documents between `# begin document NAME` and `# end document`; three columns: the token's index from 0, the token,
and brackets, or `_` for none.

LitBank (Bamman et al. 2020): between `#begin document (NAME); part N` and `#end document`; 13 columns as in CoNLL-2012,
of which the fourth is the token and the last holds brackets joined by `|`, or nothing or `_` for none; an empty line
ends a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from pronmetric.errors import InputError
from pronmetric.text.lines import iter_lines, read_lines


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

    def fail(self, expected: str, came: str, line: int) -> NoReturn:
        """Raise InputError for a line."""
        raise InputError(f"expected {expected}, got {came!r}", file=self.file, line=line)

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


class Form(NamedTuple):
    """How a corpus writes its documents.

    begin: the line that begins one, with its name. end: how the line that ends one starts. example: of a line that
    begins one, for messages. add: adds a line that is not blank, with its number, to its document.
    """

    begin: re.Pattern[str]
    end: str
    example: str
    add: Callable[[Reading, str, int], None]


def _add_gum(document: Reading, line: str, number: int) -> None:
    cells = line.split("\t")
    at = len(document.tokens)
    if len(cells) != 3 or cells[0] != str(at) or not cells[1]:
        document.fail(f"{at}, a token and its brackets, separated by tabs", line, number)
    document.tokens.append(cells[1])
    if cells[2] == "_":
        return
    brackets = re.findall(r"(\(?)([^()]+)(\)?)", cells[2])
    whole = "".join(map("".join, brackets)) == cells[2] != ""
    if not whole or any(not (opens or closes) for opens, _, closes in brackets):
        document.fail("brackets as (person-1, person-1) or _", cells[2], number)
    for opens, entity, closes in brackets:
        document.bracket(entity, opens=bool(opens), closes=bool(closes), line=number)


def _add_litbank(document: Reading, line: str, number: int) -> None:
    cells = line.split("\t")
    if len(cells) != 13 or not cells[3].strip():
        document.fail("13 columns, separated by tabs, the token in column 4", line, number)
    document.tokens.append(cells[3])
    for bracket in cells[-1].split("|") if cells[-1] not in ("", "_") else ():
        match = re.fullmatch(r"(\(?)(\d+)(\)?)", bracket)
        if match is None or not (match[1] or match[3]):
            document.fail("brackets as (1|(2) or 1), or nothing", cells[-1], number)
        document.bracket(match[2], opens=bool(match[1]), closes=bool(match[3]), line=number)


GUM = Form(re.compile("# begin document(?P<name>.*)"), "# end document", "# begin document NAME", _add_gum)
LITBANK = Form(
    re.compile(r"#begin document \((?P<name>.+)\); part \d+"),
    "#end document",
    "#begin document (NAME); part 0",
    _add_litbank,
)


def files(folder: str | Path) -> list[Path]:
    """The .conll files of a folder, sorted by name.

    Raises:
        InputError: there is no such file.
    """
    paths = sorted(Path(folder).glob("*.conll"))
    if not paths:
        raise InputError("expected .conll files with annotated coreference (GUM, LitBank) in it", file=folder)
    return paths


def read_folder(folder: str | Path) -> list[Annotated]:
    """The documents of all .conll files of a folder, in the order of their names; the first line tells a file's form.

    Raises:
        InputError: there is no such file; as `read` does.
    """

    def form(path: Path) -> Form:
        return LITBANK if next(iter_lines(path, kept=False), "").startswith("#begin document (") else GUM

    return [document for path in files(folder) for document in read(path, form(path))]


def read(path: str | Path, form: Form) -> list[Annotated]:
    """The documents of one file, in order; lines between them must be blank.

    Raises:
        InputError: with file and line, if a line is malformed, a bracket has no partner, or a document has no end; if
            the file has no document.
    """
    documents: list[Annotated] = []
    current: Reading | None = None
    for number, line in enumerate(read_lines(path), start=1):
        if begin := form.begin.match(line):
            if current is not None:
                raise InputError(f"expected {form.end!r} before the next document", file=path, line=number)
            current = Reading(begin["name"].strip(), path)
        elif current is None:
            if line.strip():
                raise InputError(f"expected {form.example!r}, got {line!r}", file=path, line=number)
        elif line.startswith(form.end):
            documents.append(current.close())
            current = None
        elif line.strip():
            form.add(current, line, number)
    if current is not None:
        raise InputError(f"{current.name} has no {form.end!r}: the file is cut off", file=path)
    if not documents:
        raise InputError(f"holds no document; expected {form.example!r}", file=path, line=1)
    return documents
