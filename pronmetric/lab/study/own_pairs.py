"""Pairs of sentences that somebody has in a table: a TSV file with named columns, as candidates of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pronmetric.alignment.counterparts import in_same_rest
from pronmetric.errors import InputError
from pronmetric.lab.study.folder import Item
from pronmetric.pronouns.languages import Language
from pronmetric.text.lines import read_lines

SUFFIXES = (".tsv", ".tab")
CONTEXT = 2
"""Sentences before a pair that are shown, unless its antecedent is further away."""
UNNAMED = "all"
"""The label of pairs without a source language."""
_NEEDED = ("reference", "other")
_MORE = ("id", "group", "doc", "context", "source", "source_context", "antecedent")


def read(path: str, language: Language, note: Callable[[str], object]) -> Iterator[Item]:
    """The pairs of a table in `language` whose columns are `reference` and `other`, and maybe more, in any order.

    `context` and `source_context` are the text before; without `context` it is the references of the rows before in the
    same `doc`: two, or as many as `antecedent` says, the number of sentences from the antecedent to this one. `group`
    is the source language. The pronouns are found in the versions, which differ in them alone.

    Raises:
        InputError: with file and line.
    """
    rows = _rows(Path(path))
    columns = next(rows, (1, {}))[1].keys()
    if "doc" not in columns and "context" not in columns:
        note(f"{path} has no column context or doc: the pairs are shown without the sentences before them")
    before: list[str] = []
    doc: str | None = None
    for line, row in _rows(Path(path)):
        if (own := row.get("doc") or None) != doc:
            before, doc = [], own
        reference, other = (row[name] for name in _NEEDED)
        if before and before[-1] == reference:  # the same sentence in another row
            before.pop()
        if "context" in row:
            context = tuple(filter(None, [row["context"]]))
        else:
            context = tuple(before[-_reach(row, path, line) :]) if doc is not None else ()
        try:
            pronoun_a, pronoun_b = _pronouns(reference, other, language)
        except InputError as error:
            raise InputError(str(error), file=path, line=line) from None
        before.append(reference)
        source_context = row.get("source_context")
        yield Item(
            id=row.get("id") or str(line),
            language=row.get("group") or UNNAMED,
            pronoun_a=pronoun_a,
            pronoun_b=pronoun_b,
            context=context,
            text_a=reference,
            text_b=other,
            source=row.get("source") or None,
            source_context=(source_context,) if source_context else (),
            doc=doc,
        )


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Each row with its line."""
    lines = read_lines(path)
    names = [name.strip().lower() for name in lines[0].split("\t")] if lines else []
    if missing := [name for name in _NEEDED if name not in names]:
        raise InputError(
            f"expected a header with the columns {' and '.join(_NEEDED)}, and maybe {', '.join(_MORE)}; there is no "
            f"{missing[0]}",
            file=path,
            line=1,
        )
    if unknown := [name for name in names if name not in (*_NEEDED, *_MORE)]:
        raise InputError(f"unknown column {unknown[0]!r}; remove it, or name it {', '.join(_MORE)}", file=path, line=1)
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two columns are named {repeated[0]}", file=path, line=1)
    for number, line in enumerate(lines[1:], start=2):
        cells = [cell.strip() for cell in line.split("\t")]
        if not any(cells):
            continue
        if len(cells) != len(names):
            raise InputError(f"expected {len(names)} cells, got {len(cells)}", file=path, line=number)
        yield number, dict(zip(names, cells, strict=True))


def _reach(row: Mapping[str, str], path: str, line: int) -> int:
    """How many sentences before a pair are shown: back to the antecedent where it is known."""
    given = row.get("antecedent", "")
    if given and not given.isdecimal():
        raise InputError(
            f"expected the number of sentences from the antecedent to this one, got {given!r}", file=path, line=line
        )
    return max(CONTEXT, int(given or 0))


def _pronouns(reference: str, other: str, language: Language) -> tuple[str, str]:
    """The first pronoun that the versions have differently, in both of them."""
    words = [language.words(text) for text in (reference, other)]
    pronouns = [language.find(text, its_words) for text, its_words in zip((reference, other), words, strict=True)]
    pairs = in_same_rest(words[0], pronouns[0], words[1], pronouns[1])
    changed = [(pronoun.form, pairs[pronoun.word].form) for pronoun in pronouns[0] if pairs and pronoun.word in pairs]
    first = next((forms for forms in changed if forms[0] != forms[1]), None)
    if first is None:
        raise InputError(
            f"the reference {reference!r} and the other version {other!r} must differ in a pronoun and in nothing else "
            f"(the language is {language.code}; `lang=` names another)"
        )
    return first
