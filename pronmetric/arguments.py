"""What the calls of `PronounMetric` are given: arguments, checked; files, opened; and warnings of them."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import inf
from numbers import Real
from pathlib import Path
from typing import TypedDict, Unpack

from pronmetric.errors import PronmetricError
from pronmetric.scoring.score import SystemScore
from pronmetric.text import corpus as corpora
from pronmetric.text.columns import type_of, values_of
from pronmetric.text.context import COMMON, NONE, RESPECTIVE
from pronmetric.text.corpus import Corpus
from pronmetric.text.files.detect import FORMATS
from pronmetric.text.files.door import Reading

File = str | Path
Files = File | Sequence[File]


def whole(value: object, *, least: int, what: str) -> int:
    """The value as a whole number from `least`."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < least:
        raise PronmetricError(f"expected a whole number from {least} as {what}, got {value!r}")
    return number


def seed_of(seed: object) -> int:
    """A seed, from 0."""
    return whole(seed, least=0, what="seed")


def batch_size_of(batch_size: object) -> int | None:
    """A size of batches, from 1, or None."""
    return None if batch_size is None else whole(batch_size, least=1, what="batch_size")


def docs_of(docs: object, number: int) -> list[Hashable] | None:
    """The documents of so many records; None if they are not known."""
    if docs is None:
        return None
    units = values_of(docs, name="docs")
    if len(units) != number:
        raise PronmetricError(f"expected one document for each record in docs, got {len(units)} for {number} records")
    for place, doc in enumerate(units):
        if not isinstance(doc, Hashable) or doc != doc:  # NaN is not equal to itself
            what = type_of(doc) if not isinstance(doc, Hashable) else "NaN"
            raise PronmetricError(
                f"expected a name or number, or None for an unknown document, in docs[{place}], got {what}"
            )
    return units


def tie_of(tie: object) -> float:
    """A tie threshold, from 0."""
    if not isinstance(tie, Real) or isinstance(tie, bool) or not 0 <= float(tie) < inf:
        raise PronmetricError(f'expected "auto" or a finite number from 0 as tie, got {tie!r}')
    return float(tie)


class TextFiles(TypedDict, total=False):
    """The files beside a translation, and how all are read; each may be left out.

    reference: one or more references, used as context; with several, scores are the means over them.
    source: the source, which affects scores if the checkpoint has a reader of sources.
    docids: a file with the document of each line, or "blank": lines that are blank in all files end documents; without
        it all lines are one document.
    speakers: who says each line, an empty line where that is not known; the model reads the names.
    resegment: lines are cut into sentences, and these aligned with those of the reference or source, as by
        `pronmetric score --resegment`.
    format: that of the files of texts, such as "csv", "po" or "lines"; None tells it from each file.
    text_key: the column of a table, the key of JSON objects, or the language of a TMX file, that has the translation.
    systems: those to read of a table with a column of systems.
    """

    reference: Files | None
    source: File | None
    docids: File | None
    speakers: File | None
    resegment: bool
    format: str | None
    text_key: str | None
    systems: Sequence[str] | None


def read_files(
    translations: Sequence[File], *, number: int, language: Callable[[], str], **beside: Unpack[TextFiles]
) -> Corpus:
    """The corpus of these files, of `number` systems; notes on them are warnings.

    Raises:
        PronmetricError: another number of systems, or an unknown format.
        TypeError: an argument that is none of `TextFiles`.
    """
    if unknown := beside.keys() - TextFiles.__annotations__.keys():
        known = ", ".join(TextFiles.__annotations__)
        raise TypeError(f"unexpected argument {min(unknown)!r}; the files of a translation are {known}")
    format = beside.get("format")
    if format not in (None, *FORMATS):
        raise PronmetricError(f"expected one of the formats {', '.join(FORMATS)}, got {format!r}")
    reference = beside.get("reference")
    references = [reference] if isinstance(reference, File) else reference or ()
    names = {key: None if (name := beside.get(key)) is None else str(name) for key in ("source", "docids", "speakers")}
    corpus = corpora.read(
        list(map(str, translations)),
        warn,
        references=list(map(str, references)),
        **names,
        resegment=beside.get("resegment", False),
        reading=Reading(format, beside.get("text_key"), beside.get("systems"), language),
    )
    if len(corpus.systems) != number:
        found = ", ".join(corpus.systems)
        raise PronmetricError(f"expected {number} systems, found {found}: choose with `systems=`")
    return corpus


def context_of(corpus: Corpus, given: str | None, otherwise: str, *, in_context: bool) -> str:
    """The kind of context of a corpus: the given one, or the default, which without a reference is `otherwise`.

    in_context: the checkpoint was trained with a context.
    """
    if given not in (None, COMMON, NONE, RESPECTIVE, otherwise):
        raise PronmetricError(f"expected context {COMMON!r}, {otherwise!r} or {NONE!r}, got {given!r}")
    if given == COMMON and not corpus.references:
        raise PronmetricError("the common context is that of a reference: give one, or another context")
    if given == NONE and corpus.has_speakers and not corpus.formats:
        raise PronmetricError("speakers are named in the context: give another context than 'none', or no speakers")
    if given is not None:
        for name in corpus.unordered if given != NONE else ():
            said = "its references (#:) are missing or not in order: what stands before a string need not be context"
            warn(f"{name}: {said}")
        return given
    if not corpus.has_speakers and not (corpus.in_order and in_context):
        return NONE
    return COMMON if corpus.references else otherwise


def warn(said: str) -> None:
    """A warning that names the caller of this package."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith("pronmetric."):
        level += 1
    warnings.warn(said, stacklevel=level + 1)


def warn_of_no_translations(systems: Mapping[str, SystemScore], unit: str) -> None:
    """Warn of systems of which segments are no translation."""
    for name, score in systems.items():
        if said := score.no_translation_note(unit):
            warn(f"{name}: {said}")
