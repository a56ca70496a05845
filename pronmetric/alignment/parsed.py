"""Parsed sentence pairs: two CoNLL-U or factored files and the links of their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.text import conllu
from pronmetric.text.conllu import Sentence
from pronmetric.text.lines import iter_lines
from pronmetric.text.running_text import require_lines

SUBJECTS = ("nsubj", "nsubj:pass", "nsubjpass", "csubj", "expl", "sb", "sbj", "suj")
"""Dependency labels of subjects, lower-cased: Universal Dependencies (expl: "it rains"), TIGER, CoNLL 2009, French."""

Link = tuple[int, int]
_LINK = re.compile("[0-9]{1,9}-[0-9]{1,9}")


class Aligned(NamedTuple):
    """A sentence pair with its word alignment; `line` is its number in the alignment file."""

    source: Sentence
    target: Sentence
    links: tuple[Link, ...]
    line: int


def read(source: str | Path, target: str | Path, alignment: str | Path) -> Iterator[Aligned]:
    """The sentence pairs of a corpus: each side CoNLL-U (by its name) or factored lines.

    Raises:
        InputError: the files are not of the same length, or a link is none or leads past the end of a sentence.
    """
    for number, row in enumerate(zip_longest(_side(source), _side(target), iter_lines(alignment, kept=False)), start=1):
        files = (source, target, alignment)
        if None in row:
            raise InputError(f"ends before sentence {number} of {files[0]}", file=files[row.index(None)])
        left, right, links = row
        found = tuple(_link(text, left, right, alignment, number) for text in links.split())
        yield Aligned(left, right, found, number)


def _side(path: str | Path) -> Iterator[Sentence]:
    if conllu.is_conllu(path):
        return conllu.read(path)
    require_lines(path)
    return _factored(path)


def _factored(path: str | Path) -> Iterator[Sentence]:
    with closing(iter_lines(path, kept=False)) as lines:
        yield from conllu.read_factored(lines, file=path)


def _link(text: str, source: Sentence, target: Sentence, file: str | Path, line: int) -> Link:
    s, _, t = text.partition("-")
    if not _LINK.fullmatch(text):
        raise InputError(f"expected links s-t, got {text!r}", file=file, line=line)
    if int(s) >= len(source.tokens) or int(t) >= len(target.tokens):
        sizes = f"{len(source.tokens)} and {len(target.tokens)}"
        raise InputError(f"link {text}: the sentences have {sizes} words, counted from 0", file=file, line=line)
    return int(s), int(t)
