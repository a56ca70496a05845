"""Contrastive error span annotation (cESA) of WMT26, `annotations.json`: the annotated segments that count.

A JSON object has for each language pair (`ces_Latn---deu_Latn v3`) a list of documents: `user_id`, `item`, a list of
segments with `item_id` (`DOMAIN_###_NAME_###_NUMBER`, from 0), `src` and `tgt` by system, and `annotation`, a list with
`score` and `error_spans` by system. Format: github.com/wmt-conference/wmt26-general-mt, github.com/zouharvi/pearmut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError
from pronmetric.text import numbers, strict_json
from pronmetric.text.entry import Entry

CONTROL, REPEATED = "annotations of tutorials and attention checks", "annotations that a later one replaces"
FIX = "expected ESA as WMT publishes it"
_PART = "_###_"
_RESET = "__RESET__"


class ContrastiveAnnotation(NamedTuple):
    """A segment that an annotator saw: its document, its number there from 0, the texts, and what was said of each."""

    doc: str
    number: int
    annotator: str
    item: Entry
    said: Entry


def holds(path: str | Path) -> bool:
    """Whether a file is one of these."""
    try:
        return is_contrastive(strict_json.read(path, FIX))
    except InputError:
        return False


def is_contrastive(value: Any) -> bool:
    """Whether an object of JSON is the content of one of these files."""
    return (
        isinstance(value, Mapping)
        and any(value.values())
        and all(
            isinstance(documents, list)
            and all(isinstance(one, Mapping) and {"item", "annotation", "user_id"} <= one.keys() for one in documents)
            for documents in value.values()
        )
    )


def read(path: str | Path) -> Iterator[tuple[str, Entry]]:
    """Each language pair of a file as it is written, and the object that has its documents under this name.

    Raises:
        InputError: the file is none of these.
    """
    records = strict_json.read(path, FIX)
    if not is_contrastive(records):
        raise InputError(f"{FIX}: an object of language pairs with lists of annotated documents", file=path)
    for name, documents in records.items():
        yield name.split()[0], Entry({name: documents}, file=path, cure=FIX)


def segments(whole: Entry, tally: Counter[str]) -> Iterator[ContrastiveAnnotation]:
    """The annotated segments of a language pair; annotations that do not count are counted in `tally`."""
    (name,) = whole.record
    for document in _kept(whole.entries(name), tally):
        items, said = document.entries("item"), document.entries("annotation")
        if len(items) != len(said):
            document.fail(f"{len(said)} annotations of {len(items)} segments; {FIX}")
        for place, (item, annotation) in enumerate(zip(items, said, strict=True)):
            doc, _, number = item.string("item_id").rpartition(_PART)
            numbered = doc and numbers.is_whole(number)
            yield ContrastiveAnnotation(
                doc or number, int(number) if numbered else place, document.string("user_id"), item, annotation
            )


def document_of(identity: str) -> str:
    """The document of these files that a test set calls `identity`.

    >>> document_of("WMT26_###_edu_###_ces_Latn_###_deu_Latn_###_edu00733"), document_of("edu00733")
    ('edu_###_edu00733', 'edu00733')
    """
    fields = identity.split(_PART)
    return _PART.join((fields[1], fields[-1])) if len(fields) == 5 else identity


def _kept(documents: Iterable[Entry], tally: Counter[str]) -> list[Entry]:
    """The documents without those that their annotator did again, and without tutorials and attention checks."""
    by_annotator: dict[str, list[Entry]] = {}
    for document in documents:
        own = by_annotator.setdefault(document.string("user_id"), [])
        if document.get("annotation") == _RESET:
            tally[REPEATED] += len(own)
            own.clear()
        elif any(
            "item_id" not in item.record or _is_control(item.string("item_id")) for item in document.entries("item")
        ):
            tally[CONTROL] += 1
        else:
            own.append(document)
    return [document for own in by_annotator.values() for document in own]


def _is_control(identity: str) -> bool:
    return identity.startswith("attention_check") or "_#_tutorial_#_" in identity
