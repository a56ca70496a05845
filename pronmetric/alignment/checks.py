"""What is checked of texts before they are scored: their language, and the lines of their references and sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice

from pronmetric.alignment.parallel import check_references, check_sources, pairs_of, reference_pairs
from pronmetric.pronouns.known_words import CHECKED_LINES, check_texts
from pronmetric.pronouns.languages import Language
from pronmetric.text.corpus import Corpus
from pronmetric.text.records import AHEAD, Record


def check_corpus(
    corpus: Corpus, language: Language, note: Callable[[str], None], *, strict: bool, source: str | None
) -> None:
    """Note systems and references that do not look like `language`, and lines that cannot be those of the texts.

    source: the name of the sources; None: they are ignored.

    Raises:
        PronmetricError: there are such, and `strict`.
    """
    rows = list(islice(corpus.rows(), CHECKED_LINES))
    named = {name: [row.texts[k] for row in rows] for k, name in enumerate(corpus.systems)}
    named |= {name: [row.references[k] for row in rows] for k, name in enumerate(corpus.references)}
    check_texts(named, language, note, strict=strict)
    check_references(reference_pairs(corpus), note, strict=strict)
    if source is not None:
        check_sources(source, corpus_sources(corpus), language, note, strict=strict)


def check_records(
    records: Iterator[Record],
    total: int | None,
    name: str,
    language: Language,
    note: Callable[[str], None],
    *,
    strict: bool,
    sources: bool,
) -> Iterator[Record]:
    """The records of a file, after a check of the first, as `check_corpus`.

    total: their number, None if unknown. sources: these are not ignored.
    """
    ahead = CHECKED_LINES if total is not None else AHEAD  # a pipe may wait for an answer
    first = list(islice(records, ahead))
    check_texts({name: [record.text.text for record in first]}, language, note, strict=strict)
    if sources:
        check_sources(name, pairs_of(record.text for record in first), language, note, strict=strict)
    return chain(first, records)


def corpus_sources(corpus: Corpus) -> Iterator[tuple[str | None, str]]:
    """The source of each segment, and the text of the first system."""
    return ((row.source, row.texts[0]) for row in corpus.rows())
