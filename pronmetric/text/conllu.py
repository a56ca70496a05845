"""CoNLL-U files: sentences of syntactic words with lemma, tags, dependencies and, in CorefUD, entity mentions.

Words are the lines whose ID is a whole number; ranges (1-2) give the surface of several words, empty nodes (1.1) are
left out. Documents begin at `# newdoc`. Mentions are the brackets of `Entity=` in the last column (CorefUD 1.0,
Nedoluzhko et al. 2022): `(e1-...` opens a mention of entity e1, `e1)` closes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.text.lines import iter_lines

ENDINGS = (".conllu", ".conllu.gz")
NOTHING = "_"
_COLUMNS = 10  # of a word: ID to MISC (universaldependencies.org/format.html)
_NUMBER = "[1-9][0-9]{0,8}"
_WHOLE, _RANGE, _EMPTY = re.compile(_NUMBER), re.compile(f"({_NUMBER})-({_NUMBER})"), re.compile(r"\d+\.\d+")
_HEAD = re.compile(f"0|{_NUMBER}")
_BRACKET = re.compile(r"\([^()]+\)?|[^()]+\)")


class Token(NamedTuple):
    """A syntactic word; head is the index of its head in the sentence from 0, -1 for the root and where there is none.

    space: whether a space follows. misc: the last column, by key.
    """

    form: str
    lemma: str
    pos: str
    feats: Mapping[str, str]
    head: int
    deprel: str
    space: bool
    misc: Mapping[str, str]


class Surface(NamedTuple):
    """The written form of the words [start, end), such as French "du" for de and le."""

    start: int
    end: int
    form: str
    space: bool


class Mention(NamedTuple):
    """A mention of an entity: its half-open span of words, and its head word."""

    start: int
    end: int
    entity: str
    head: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the name of its document ("" where the file names none)."""

    doc: str
    tokens: tuple[Token, ...]
    surfaces: tuple[Surface, ...]
    line: int

    def text(self, replaced: Mapping[int, str] | None = None) -> str:
        """The written sentence, with other forms of some words; a range with such a word is written word by word."""
        replaced = replaced or {}
        ranges = {one.start: one for one in self.surfaces if not any(one.start <= k < one.end for k in replaced)}
        written, at = [], 0
        while at < len(self.tokens):
            token = self.tokens[at]
            form, space, end = replaced.get(at, token.form), token.space, at + 1
            if at in ranges:
                form, space, end = ranges[at].form, ranges[at].space, ranges[at].end
            written += [form, " " if space else ""]
            at = end
        return "".join(written).strip()


def read(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a file, in order.

    Raises:
        InputError: with the line, where one has no ten columns, or IDs or heads are not those of the sentence.
    """
    doc, number = "", 0
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(iter_lines(path), start=1):
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            if key.split()[:1] == ["newdoc"]:
                doc = value.strip() or f"{number}"
        elif line.strip():
            cells = line.split("\t")
            if len(cells) != _COLUMNS:
                raise InputError(f"expected {_COLUMNS} tab-separated columns, got {len(cells)}", file=path, line=number)
            rows.append((number, cells))
        elif rows:
            yield _sentence(doc, rows, path)
            rows = []
    if rows:
        yield _sentence(doc, rows, path)


def _sentence(doc: str, rows: Sequence[tuple[int, list[str]]], path: str | Path) -> Sentence:
    tokens: list[Token] = []
    surfaces = []
    count = sum(bool(_WHOLE.fullmatch(cells[0])) for _, cells in rows)
    for line, cells in rows:
        misc = _pairs(cells[9])
        space = misc.get("SpaceAfter") != "No"
        if match := _RANGE.fullmatch(cells[0]):
            surfaces.append(Surface(int(match[1]) - 1, int(match[2]), cells[1], space))
        elif _WHOLE.fullmatch(cells[0]):
            if int(cells[0]) != len(tokens) + 1:
                raise InputError(f"expected the ID {len(tokens) + 1}, got {cells[0]}", file=path, line=line)
            if cells[6] != NOTHING and not (_HEAD.fullmatch(cells[6]) and int(cells[6]) <= count):
                message = f"expected a head from 0 to {count}, got {cells[6]!r}"
                raise InputError(message, file=path, line=line)
            head = int(cells[6]) - 1 if cells[6] != NOTHING else -1
            pos = cells[3] if cells[3] != NOTHING else cells[4]
            tokens.append(Token(cells[1], cells[2], pos, _pairs(cells[5]), head, cells[7], space, misc))
        elif not _EMPTY.fullmatch(cells[0]):
            raise InputError(f"expected a number as ID, got {cells[0]!r}", file=path, line=line)
    return Sentence(doc, tuple(tokens), tuple(surfaces), rows[0][0])


def _pairs(cell: str) -> dict[str, str]:
    """`A=x|B=y` by key."""
    found = (part.partition("=") for part in cell.split("|") if part != NOTHING)
    return {key: value for key, _, value in found}


def mentions(sentence: Sentence, *, file: str | Path) -> list[Mention]:
    """The mentions of a sentence, in the order in which they end; parts of a discontinuous one are mentions.

    The head of a mention is its word whose head is outside.

    Raises:
        InputError: with the line of the sentence, where a bracket has no partner.
    """
    open_: dict[str, list[int]] = {}
    found = []
    for at, token in enumerate(sentence.tokens):
        for bracket in _BRACKET.findall(token.misc.get("Entity", "")):
            entity = bracket.strip("()").split("-")[0].split("[")[0]
            if bracket.startswith("("):
                open_.setdefault(entity, []).append(at)
            if bracket.endswith(")"):
                if not open_.get(entity):
                    raise InputError(f"entity {entity} is closed but not open", file=file, line=sentence.line)
                start = open_[entity].pop()
                found.append(Mention(start, at + 1, entity, _head(sentence.tokens, start, at + 1)))
    if left := [entity for entity, starts in open_.items() if starts]:
        raise InputError(f"entity {left[0]} is not closed in its sentence", file=file, line=sentence.line)
    return found


def _head(tokens: Sequence[Token], start: int, end: int) -> int:
    return next((at for at in range(start, end) if not start <= tokens[at].head < end), end - 1)


def is_conllu(path: str | Path) -> bool:
    """Whether the name of a file is that of a CoNLL-U file."""
    return str(path).endswith(ENDINGS)


def read_factored(lines: Iterable[str], *, file: str | Path) -> Iterator[Sentence]:
    """Sentences of a file of tokens separated by blanks: `form`, `form|lemma|POS` or `form|lemma|POS|relation`.

    Raises:
        InputError: with the line, where a token has another number of factors.
    """
    for number, line in enumerate(lines, start=1):
        yield Sentence("", tuple(_parse_token(part, file, number) for part in line.split()), (), number)


def _parse_token(part: str, file: str | Path, line: int) -> Token:
    factors = part.split("|") if part.strip("|") else [part]
    if len(factors) not in (1, 3, 4):
        raise InputError(
            f"expected form, form|lemma|POS or form|lemma|POS|relation, got {part!r}", file=file, line=line
        )
    form, lemma, pos, deprel = (*factors, *("_" for _ in range(4 - len(factors))))
    return Token(form, lemma, pos, {}, -1, deprel, True, {})
