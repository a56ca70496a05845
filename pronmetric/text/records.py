"""Records to score, one JSON object a line: `{"id": ..., "text": "...", "context": ["previous", "sentences"]}`."""

from __future__ import annotations

import stat
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError
from pronmetric.text import streams, strict_json
from pronmetric.text.context import Text, refuse_unprintable, text_of
from pronmetric.text.lines import decode_lines, iter_lines

AHEAD = 4096


class Record(NamedTuple):
    """One line of --jsonl. doc: its document, None if unknown."""

    id: Any
    text: Text
    doc: str | None = None


def read(name: str, *, with_source: bool = False) -> tuple[Iterator[Record], int | None]:
    """The records of a file or of stdin ("-"), and their number if known; `with_source`: each has a source.

    A regular file is checked completely before anything is scored; of input that can be read only once, only the
    first records are checked.
    """
    if name != "-" and stat.S_ISREG(_mode(name)):
        total = sum(1 for _ in _parse(iter_lines(name, kept=False), name, with_source))
        if not total:
            raise InputError("is empty; expected one JSON object a line", file=name)
        return _parse(iter_lines(name, kept=False), name, with_source), total
    shown_name = streams.STDIN if name == "-" else name
    lines = decode_lines(streams.stdin(), file=shown_name, kept=False) if name == "-" else iter_lines(name, kept=False)
    records = _parse(lines, shown_name, with_source)
    ahead = list(islice(records, AHEAD))
    if not ahead:
        raise InputError("is empty; expected one JSON object a line", file=shown_name)
    return chain(ahead, records), len(ahead) if len(ahead) < AHEAD else None


def parse(text: str, *, file: str, line: int) -> Any:
    """The value of a line.

    Raises:
        InputError: it is not JSON.
    """
    try:
        return strict_json.parse(text)
    except ValueError as error:
        raise InputError(f"broken JSON ({error}); expected one object a line", file=file, line=line) from None


def record_of(value: Any, *, file: str, line: int, with_source: bool = False) -> Record:
    """The record that a value holds.

    Raises:
        InputError: as in `text_of`; the id is missing; id or document has a NUL or a lone surrogate.
    """
    text = text_of(value, file=file, line=line, with_source=with_source)
    if "id" not in value:
        raise InputError(f'the key "id" is missing; the record has {sorted(value)}', file=file, line=line)
    refuse_unprintable(strict_json.dump(value["id"], sort_keys=True), "id", file=file, line=line)
    return Record(value["id"], text, _as_text(value, "doc", file=file, line=line))


def name_of(value: Mapping[str, Any], key: str, *, file: str, line: int) -> str | None:
    """The name in a field of a record; None if the field is missing or null.

    Raises:
        InputError: it is no string, or has a NUL or a lone surrogate.
    """
    name = value.get(key)
    if name is None:
        return None
    if not isinstance(name, str):
        raise InputError(f'"{key}" must be a string or null', file=file, line=line)
    refuse_unprintable(name, key, file=file, line=line)
    return name


def id_of(value: Mapping[str, Any], *, file: str, line: int) -> str | None:
    """The id of a record as text; None if it is missing or null.

    Raises:
        InputError: it has a NUL or a lone surrogate.
    """
    return _as_text(value, "id", file=file, line=line)


def _as_text(value: Mapping[str, Any], key: str, *, file: str, line: int) -> str | None:
    if value.get(key) is None:
        return None
    found = text_of_id(value[key])
    refuse_unprintable(found, key, file=file, line=line)
    return found


def text_of_id(value: Any) -> str:
    """An id as text: a string as it is, another value as JSON, as in the tables of `score`."""
    return value if isinstance(value, str) else strict_json.dump(value, sort_keys=True)


def _mode(name: str) -> int:
    try:
        return Path(name).stat().st_mode
    except FileNotFoundError:
        raise InputError("no such file", file=name) from None


def _parse(lines: Generator[str, None, None], file: str, with_source: bool) -> Iterator[Record]:
    seen: set[bytes] = set()
    with closing(lines):
        for number, line in enumerate(lines, start=1):
            record = record_of(parse(line, file=file, line=number), file=file, line=number, with_source=with_source)
            identity = strict_json.dump(record.id, sort_keys=True)
            key = blake2b(identity.encode(), digest_size=16).digest()
            if key in seen:
                raise InputError(
                    f"the id {identity} is also on an earlier line; ids must differ", file=file, line=number
                )
            seen.add(key)
            yield record
