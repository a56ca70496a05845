"""Any pairs of a better and a worse text, as a TSV table."""

from __future__ import annotations

from pathlib import Path

from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Reading,
    judge_scores,
    last,
    no_documents,
    no_translations,
)
from pronmetric.text.entry import Entry, read_table
from pronmetric.text.sentences import split_sentences

CONTEXT, BETTER, WORSE, GROUP = COLUMNS = ("context", "better", "worse", "group")

ABOUT = About(
    name="tsv",
    title="Any pairs, as a table",
    languages="any",
    phenomena="any",
    judged=("scores",),
    by=GROUP,
    text="""Set: a TSV file (no quotes, no escapes) whose first line names the columns context, better, worse and group,
and where there are any, source, reference, language and document. "context" are the previous target sentences as one
text, of which the last --context are used; "group" is what accuracy is broken down by.
One score for each line: the better text, then the worse one. An item is right if the better one scores strictly better.
Intervals are over the documents, or the items without that column.""",
)


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The pairs of a table.

    Raises:
        InputError: with the line, where a column is missing or a text is empty.
    """
    no_documents(path, reading)
    rows = read_table(path, COLUMNS, expected="a TSV file of pairs")
    return tuple(_item(entry, str(number), reading.context) for number, entry in enumerate(rows, start=1))


def _item(entry: Entry, id: str, size: int) -> Item:
    context = last(split_sentences(entry.text(CONTEXT)), size)
    texts = [entry.text(key) for key in (BETTER, WORSE)]
    for key, text in zip((BETTER, WORSE), texts, strict=True):
        if not text.strip():
            entry.fail(f'"{key}" is empty; both texts of a pair are needed')
    if texts[0] == texts[1]:
        entry.fail(f'"{BETTER}" and "{WORSE}" are the same text')
    return Item(
        id=id,
        candidates=tuple(Candidate(_cell(entry, "source"), text, (), context) for text in texts),
        groups={GROUP: entry.string(GROUP)},
        document=_cell(entry, "document") or id,
        reference=_cell(entry, "reference"),
        language=_cell(entry, "language"),
    )


def _cell(entry: Entry, key: str) -> str:
    """A cell of a column that may be missing."""
    return entry.text(key) if key in entry.record else ""


judge, judge_translations = judge_scores, no_translations
