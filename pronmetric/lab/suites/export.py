"""What a translation model has to score or translate for a suite: line-parallel files, an index, JSONL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Protocol

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import Candidate, Item
from pronmetric.output import tsv
from pronmetric.text import strict_json

SOURCE, TARGET, INDEX, LINES = "source.txt", "target.txt", "index.tsv", "lines.jsonl"
SOURCE_CONTEXT, TARGET_CONTEXT = "source.context.txt", "target.context.txt"
COLUMNS = ("line", "item", "candidate", "right", "document", "groups")


class Opening(Protocol):
    """How a file of the export is opened, by its name."""

    def __call__(self, name: str) -> IO[str]:
        """The file to write to."""


def write(items: Sequence[Item], opening: Opening, *, context: int, join: str | None = None) -> int:
    """Write one line for each candidate of each item; the number of lines.

    The context files have `context` lines for each line, oldest first, empty where there is no sentence. With `join`
    there are none: the context stands before the sentence, joined by this text.

    Raises:
        InputError: a text has a line end in it.
    """
    contexts = join is None and context > 0
    names = (SOURCE, TARGET, INDEX, LINES, *((SOURCE_CONTEXT, TARGET_CONTEXT) if contexts else ()))
    files = {name: opening(name) for name in names}
    files[INDEX].write(tsv.line(COLUMNS))
    number = 0
    for item in items:
        for place, candidate in enumerate(item.candidates):
            number += 1
            source, target = _texts(item, candidate, join)
            files[SOURCE].write(f"{source}\n")
            files[TARGET].write(f"{target}\n")
            if contexts:
                files[SOURCE_CONTEXT].writelines(_padded(candidate.source_context, context))
                files[TARGET_CONTEXT].writelines(_padded(candidate.target_context, context))
            right = place == item.right
            groups = "; ".join(f"{name}: {group}" for name, group in item.groups.items())
            row = (number, item.id, place, "yes" if right else "no", item.document, groups)
            files[INDEX].write(tsv.line(row))
            files[LINES].write(strict_json.dump(_record(item, candidate, place)) + "\n")
    return number


def _texts(item: Item, candidate: Candidate, join: str | None) -> tuple[str, str]:
    texts = (*candidate.source_context, candidate.source, *candidate.target_context, candidate.target)
    if any("\n" in text for text in texts):
        raise InputError(f"item {item.id}: a text has a line end in it; the export has one text on each line")
    if join is None:
        return candidate.source, candidate.target
    source = join.join((*candidate.source_context, candidate.source))
    return source, join.join((*candidate.target_context, candidate.target))


def _padded(sentences: Sequence[str], size: int) -> list[str]:
    return [f"{sentence}\n" for sentence in (*[""] * (size - len(sentences)), *sentences)]


def _record(item: Item, candidate: Candidate, place: int) -> dict[str, object]:
    return {
        "item": item.id,
        "candidate": place,
        "right": place == item.right,
        "source": candidate.source,
        "target": candidate.target,
        "source_context": list(candidate.source_context),
        "target_context": list(candidate.target_context),
        "document": item.document,
        "groups": dict(item.groups),
    }
