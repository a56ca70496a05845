"""A file that is dropped on the page: its texts, read as the command line reads them."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from pronmetric.errors import InputError
from pronmetric.serve.interface import ReadRequest
from pronmetric.text import corpus
from pronmetric.text.corpus import Corpus
from pronmetric.text.files.detect import INSIST

_ONE = asyncio.Semaphore(1)


async def read_file(asked: ReadRequest) -> dict[str, Any]:
    """The texts of a file in any format that the command line reads, one file at a time."""
    async with _ONE:
        return await asyncio.to_thread(_read, PurePath(asked.name).name, asked.text)


def _read(name: str, text: str) -> dict[str, Any]:
    """The answer; the file is in a folder of its own, which is removed.

    Raises:
        InputError: the file is not read; the message has the name that it was given.
    """
    notes: list[str] = []
    with TemporaryDirectory(prefix="pronmetric-") as folder:
        path = Path(folder, "file" + re.sub(r"[^\w.]", "", "".join(PurePath(name).suffixes[-2:]))[-40:])
        path.write_text(text, encoding="utf-8", newline="")
        try:
            found = corpus.read([str(path)], notes.append)
            if len(found.systems) > 1:
                raise InputError(f"has the systems {', '.join(found.systems)}; give a file of one system", file=path)
            rows, unused = list(found.rows()), _unused(found)
        except InputError as error:
            raise InputError(str(error).replace(str(path), name).removesuffix(INSIST)) from None
    sourced = any(row.source is not None for row in rows)
    return {
        "format": next(iter(found.formats.values()), "lines"),
        "texts": [row.texts[0] for row in rows],
        "sources": [row.source or "" for row in rows] if sourced else None,
        "places": [place._asdict() for row in rows for place in row.places if place is not None],
        "notes": [note.replace(str(path), name) for note in notes] + [f"{name}: {what}" for what in unused],
    }


def _unused(found: Corpus) -> list[str]:
    """What the page does not do for a file that the command line does."""
    told = {
        "strings are no running text, but the lines before a string are its context here": not found.in_order,
        "who speaks is not read here": found.has_speakers,
        "documents are not kept apart here": found.documents,
    }
    return [f"{what}; `pronmetric score` knows it" for what, so in told.items() if so]
