"""Merge the columns of marked-up files (XML or SGM, with documents) and of text files of a test set.

Documents come from the marked-up file, references and systems from both. Columns in both must agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from data_prep.wmt.testset import Columns
from pronmetric.errors import InputError

UNNAMED = "ref"
TOLERANCE = 0.01
"""Share of segments that may differ between two files of one test set; more of them: it is taken for another one."""


def merge(
    marked: Columns, text: Columns, *, marked_file: Path, text_file: Path, tally: Counter[str] | None = None
) -> Columns:
    """The union of both by name, with the documents of `marked`; if both have a column, that of `marked` is taken.

    Segments that differ in more than their spaces are counted in the tally ("segments where XML and text differ").

    Raises:
        InputError: different numbers of segments, or a column that differs in more than one segment in a hundred.
    """
    if marked.size != text.size:
        message = f"{text.size} lines, but {marked_file} has {marked.size} segments; they must be the same test set"
        raise InputError(message, file=text_file, line=min(marked.size, text.size) + 1)
    counts: Counter[str] = Counter() if tally is None else tally
    files = (marked_file, text_file)
    if marked.src is not None and text.src is not None:
        counts["segments where markup and text differ"] += count_differences(
            "source", marked.src, text.src, files=files
        )
    refs = with_text_names(marked.refs, text.refs)
    for what, ours, theirs in (("reference", refs, text.refs), ("system", marked.hyps, text.hyps)):
        for name in ours.keys() & theirs.keys():
            found = count_differences(f"{what} {name}", ours[name], theirs[name], files=files)
            counts["segments where markup and text differ"] += found
    return Columns(
        src=text.src if marked.src is None else marked.src,
        refs=dict(sorted({**text.refs, **refs}.items())),
        hyps=dict(sorted({**text.hyps, **marked.hyps}.items())),
        extents=marked.extents,
    )


def with_text_names(
    marked: Mapping[str, list[str | None]], text: Mapping[str, list[str | None]]
) -> dict[str, list[str | None]]:
    """The references of the markup; an unnamed one gets the name of the equal one in the text files."""
    named = dict(marked)
    if UNNAMED in named and UNNAMED not in text:
        rows = named[UNNAMED]
        same = [name for name, theirs in text.items() if name not in named and split_rows(theirs) == split_rows(rows)]
        if len(same) == 1:
            named[same[0]] = named.pop(UNNAMED)
    return named


def split_rows(rows: Sequence[str | None]) -> list[list[str]]:
    """The rows as words, for comparison; an absent row counts as empty."""
    return [(row or "").split() for row in rows]


def count_differences(
    what: str, marked: Sequence[str | None], text: Sequence[str | None], *, files: tuple[Path, Path]
) -> int:
    """The number of rows that differ in more than spaces, without rows absent from the markup.

    Raises:
        InputError: too many rows differ.
    """
    rows = [
        row
        for row, (ours, theirs) in enumerate(zip(marked, text, strict=True))
        if ours is not None and ours != theirs and ours.split() != (theirs or "").split()
    ]
    if len(rows) > TOLERANCE * len(marked):
        message = f"{what}: {len(rows)} of {len(marked)} segments differ from {files[0]}; are they the same test set?"
        raise InputError(message, file=files[1], line=rows[0] + 1)
    return len(rows)
