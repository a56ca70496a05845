"""The names that columns of tables and keys of JSON objects have for a text, its source, its document and the like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from pronmetric.errors import InputError


class Role(StrEnum):
    """What the texts of a file are: translations, candidates of which a line has several, references or sources."""

    TRANSLATION = "translation"
    CANDIDATES = "candidates"
    REFERENCE = "reference"
    SOURCE = "source"


TEXT, SOURCE, REFERENCE, DOC, SYSTEM, SPEAKER = "text", "source", "reference", "doc", "system", "speaker"
_NAMES = {
    TEXT: ("mt", "hypothesis", "hyp", "target", "tgt", "translation", "output", "prediction", "utterance", "text"),
    SOURCE: ("src", "source", "src_text", "source_text", "source_segment"),
    REFERENCE: ("ref", "reference", "ref_text", "reference_text"),
    DOC: ("doc", "doc_id", "docid", "document", "document_id", "conversation_id", "dialogue_id"),
    SYSTEM: ("system", "system_id", "system_name"),
    SPEAKER: ("speaker", "speaker_id"),
}
_KNOWN = {name: kind for kind, names in _NAMES.items() for name in names}
TEXTS = _NAMES[TEXT]
IDS = ("seg_id", "segid", "segment_id", "segment", "line", "id")
"""Names of what tells the line that a text is of; an id of the row itself comes last."""
CANDIDATES = ("candidates", "hypotheses", "translations", "nbest", "n_best", "samples", "outputs")
"""Keys of a list of translations of one line."""
_WEAK = ("text", "target", "tgt", "output", "utterance")
"""Names of a text that give way to another one: a target beside a hypothesis may be the reference."""
_NAME = re.compile(r"[^\W\d][\w .-]{0,40}")


def is_header(lines: Sequence[str], mark: str) -> bool:
    """Whether the first line names columns, one of them of texts, and the second has as many cells.

    A header that is one line of a plain text would be of nothing but names, two or more of which are known here.
    """
    if len(lines) < 2 or mark not in lines[0]:
        return False
    names = [name.strip().strip('"') for name in lines[0].split(mark)]
    kinds = [_KNOWN[plain(name)] for name in names if plain(name) in _KNOWN]
    texts = {TEXT, REFERENCE, SOURCE} & set(kinds)
    named = all(_NAME.fullmatch(name) for name in names) and len(set(kinds)) == len(kinds)
    return named and len(kinds) > 1 and bool(texts) and lines[1].count(mark) >= len(names) - 1


def plain(name: str) -> str:
    """A name in lower case, its words joined by underscores.

    >>> plain(" Source Text"), plain("doc-id")
    ('source_text', 'doc_id')
    """
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def first_of(names: Iterable[str], known: Sequence[str]) -> str | None:
    """The name that is the earliest of those that are known; None if none is.

    >>> first_of(["ID", "Seg ID", "mt"], IDS)
    'Seg ID'
    """
    found = {plain(name): name for name in names}
    return next((found[name] for name in known if name in found), None)


def roles_of(
    names: Sequence[str], role: Role, text_key: str | None, *, what: str, file: str | Path, line: int = 1
) -> Mapping[str, str]:
    """The name of the text, and those of the source, reference, document, system and speaker that are there.

    names: as the file has them. text_key: the name of the text; None finds it by its role. what: a name, in errors.

    Raises:
        InputError: there is no name of a text, or there are several that could be it.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        if (kind := _KNOWN.get(plain(name))) is not None:
            found.setdefault(kind, []).append(name)
    if text_key is not None:
        if text_key not in names:
            raise _no_text(f"there is no {what} {text_key!r}", names, what, file, line)
        text = text_key
    else:
        own = {Role.REFERENCE: REFERENCE, Role.SOURCE: SOURCE}.get(role)
        texts = found.get(own or TEXT) or found.get(TEXT, [])
        strong = [name for name in texts if plain(name) not in _WEAK]
        if not texts:
            raise _no_text(f"no {what} is known to be the {role}", names, what, file, line)
        if len(strong or texts) > 1:
            several = " and ".join(map(repr, strong or texts))
            cure = f"choose one with `text_key={texts[0]}`" if role == Role.TRANSLATION else "leave one out"
            raise InputError(f"{several} may both be the {role}: {cure}", file=file, line=line)
        text = (strong or texts)[0]
    others = {kind: each for kind, each in found.items() if kind != TEXT}
    for kind, each in others.items():
        if len(each) > 1:
            raise InputError(
                f"{' and '.join(map(repr, each))} may both be the {kind}: leave one out", file=file, line=line
            )
    return {TEXT: text, **{kind: each[0] for kind, each in others.items() if each[0] != text}}


def _no_text(problem: str, names: Sequence[str], what: str, file: str | Path, line: int) -> InputError:
    has = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    cure = f"name it in the first line as mt, src or ref, or give `text_key=` ({what}s: {has})"
    if what == "key":
        cure = f"name it mt, src or ref, or give `text_key=` (keys: {has})"
    return InputError(f"{problem}: {cure}", file=file, line=line)
