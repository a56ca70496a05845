"""--strict, and the check that texts are in the language in which they are scored."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from pronmetric.cli.output import Notes
from pronmetric.errors import PronmetricError
from pronmetric.pronouns import known_words
from pronmetric.pronouns.languages import Language
from pronmetric.text import records as record_files
from pronmetric.text.corpus import Corpus
from pronmetric.text.records import Record

LINES = 2000
"""Lines that are read for the check; most texts then have `known_words.ENOUGH` words."""


def add_strict(group: argparse._ActionsContainer) -> None:
    """The flag --strict."""
    group.add_argument(
        "--strict", action="store_true", help="an error instead of a note where texts do not look like their language"
    )


def check(named: Mapping[str, Iterable[str]], language: Language, note: Notes, *, strict: bool) -> None:
    """Note texts, by the name of their file or system, that do not look like `language`.

    Raises:
        PronmetricError: there are such texts, and `strict`.
    """
    for name, texts in named.items():
        doubt = known_words.doubt(texts, language)
        if doubt is not None and strict:
            raise PronmetricError(f"{name}: {doubt}; give texts in {language.code}, or leave out --strict")
        if doubt is not None:
            note(f"{name}: {doubt}")


def check_records(
    records: Iterator[Record], total: int | None, name: str, language: Language, note: Notes, *, strict: bool
) -> Iterator[Record]:
    """The records of --jsonl, after a check of the first; see `check`. total: their number, None if unknown."""
    ahead = LINES if total is not None else record_files.AHEAD  # a pipe may wait for an answer
    first = list(islice(records, ahead))
    check({name: [record.text.text for record in first]}, language, note, strict=strict)
    return chain(first, records)


def check_corpus(corpus: Corpus, language: Language, note: Notes, *, strict: bool) -> None:
    """Check the first lines of each system and reference; see `check`."""
    rows = list(islice(corpus.rows(), LINES))
    named = {name: [row.texts[k] for row in rows] for k, name in enumerate(corpus.systems)}
    named |= {name: [row.references[k] for row in rows] for k, name in enumerate(corpus.references)}
    check(named, language, note, strict=strict)
