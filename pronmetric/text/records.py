"""Records to score, one JSON object a line: `{"id": ..., "text": "...", "context": ["previous", "sentences"]}`."""

from __future__ import annotations

import stat
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import STDIN, InputError
from pronmetric.text import streams, strict_json
from pronmetric.text.context import Text, text_of
from pronmetric.text.corpus import Corpus, Place
from pronmetric.text.entry import Entry, parse
from pronmetric.text.lines import decode_lines, iter_lines

AHEAD = 4096
"""Records of a stream read before the first is scored; a stream with fewer has a known end."""


class Record(NamedTuple):
    """One line of --jsonl, or a text of a file. doc: its document, None if unknown. place: in a file of units."""

    id: Any
    text: Text
    doc: str | None = None
    place: Place | None = None


def read(
    name: str, *, with_source: bool | None = False, context_size: int | None = None
) -> tuple[Iterator[Record], int | None]:
    """The records of a file or of stdin ("-"), and their number if known; the arguments as for `text_of`.

    A regular file is checked completely before anything is scored; of input that can be read only once, only the
    first records are checked.
    """
    parse_all = partial(_parse, with_source=with_source, context_size=context_size)
    of_stdin = streams.is_stdin(name)
    if not of_stdin and stat.S_ISREG(_mode(name)):
        total = sum(1 for _ in parse_all(iter_lines(name, kept=False), name))
        if not total:
            raise InputError("is empty; expected one JSON object a line", file=name)
        return parse_all(iter_lines(name, kept=False), name), total
    shown_name = STDIN if of_stdin else name
    lines = decode_lines(streams.stdin(), file=shown_name, kept=False) if of_stdin else iter_lines(name, kept=False)
    records = parse_all(lines, shown_name)
    ahead = list(islice(records, AHEAD))
    if not ahead:
        raise InputError("is empty; expected one JSON object a line", file=shown_name)
    return chain(ahead, records), len(ahead) if len(ahead) < AHEAD else None


def of_corpus(corpus: Corpus, kind: str, *, size: int) -> Iterator[Record]:
    """The lines of the first system as records, each in its context of this kind; see `Corpus.in_context`."""
    for line, (row, contexts) in enumerate(corpus.in_context(kind, size=size)):
        text = Text(contexts[0][0], row.texts[0], row.evidence, row.speaker)
        yield Record(line, text, place=row.places[0] if row.places else None)


def record_of(
    value: Any, *, file: str, line: int, with_source: bool | None = False, context_size: int | None = None
) -> Record:
    """The record that a value holds; the arguments as for `text_of`. Without an id, it is its number from 0.

    Raises:
        InputError: as in `text_of`; id or document has a NUL or a lone surrogate.
    """
    text = text_of(value, file=file, line=line, with_source=with_source, context_size=context_size)
    entry = Entry(value, file=file, line=line)
    identity = value["id"] if "id" in value else line - 1
    entry.printable(text_of_id(identity), "id")
    return Record(identity, text, as_text(entry, "doc"))


def as_text(entry: Entry, key: str) -> str | None:
    """A value of a record as `text_of_id`; None if it is missing or null.

    Raises:
        InputError: it has a NUL or a lone surrogate.
    """
    value = entry.get(key)
    return None if value is None else entry.printable(text_of_id(value), key)


def text_of_id(value: Any) -> str:
    """An id as text: a string as it is, another value as JSON, as in the tables of `score`."""
    return value if isinstance(value, str) else strict_json.dump(value, sort_keys=True)


def _mode(name: str) -> int:
    try:
        return Path(name).stat().st_mode
    except FileNotFoundError:
        raise InputError("no such file", file=name) from None


def _parse(lines: Generator[str, None, None], file: str, **given: Any) -> Iterator[Record]:
    seen: set[bytes] = set()
    with closing(lines):
        for number, line in enumerate(lines, start=1):
            record = record_of(parse(line, file=file, line=number), file=file, line=number, **given)
            identity = strict_json.dump(record.id, sort_keys=True)
            key = blake2b(identity.encode(), digest_size=16).digest()
            if key in seen:
                raise InputError(
                    f"the id {identity} is also on an earlier line; ids must differ", file=file, line=number
                )
            seen.add(key)
            yield record
