"""JSON Lines of other tools: an object a line with a text, or with the messages of a talk.

Objects have the keys of COMET (`src`, `mt`, `ref`), MetricX (`source`, `hypothesis`, `reference`), WMT (`doc_id`,
`hypothesis`) and the like, see `columns`. A talk is an object with a list `messages`, `conversation`, `dialogue` or
`turns`; each message is a text, its speaker is said by `speaker`, `name`, `sender` or `role`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pronmetric.text import entry as records
from pronmetric.text.entry import Entry
from pronmetric.text.files.columns import (
    CANDIDATES,
    DOC,
    IDS,
    REFERENCE,
    SOURCE,
    SPEAKER,
    SYSTEM,
    TEXT,
    TEXTS,
    Role,
    first_of,
    plain,
    roles_of,
)
from pronmetric.text.files.unit import FileTexts, Unit

_MESSAGES = ("messages", "conversation", "dialogue", "turns", "utterances")
_SAID_BY = ("speaker", "speaker_id", "name", "sender", "role", "from")
_SAID = ("mt", "hypothesis", "hyp", "target", "translation", "utterance", "text", "content", "value")
_INSTRUCTIONS = "message of a system prompt or a tool"


def read(path: Path, role: Role = Role.TRANSLATION, text_key: str | None = None) -> FileTexts:
    """The texts of the objects, in order.

    Raises:
        InputError: a line that is no object, a missing key, a value of another type, records that contain their
            contexts.
    """
    left_out: Counter[str] = Counter()
    units = [unit for entry in records.read(path) for unit in _units(entry, role, text_key, left_out)]
    return FileTexts("JSON Lines", tuple(units), in_order=True, left_out=dict(left_out))


def _units(entry: Entry, role: Role, text_key: str | None, left_out: Counter[str]) -> Iterator[Unit]:
    line = entry.line
    assert line is not None and entry.file is not None
    if "text" in entry.record and "context" in entry.record and text_key is None:
        entry.fail("records with their context: give them with `jsonl=`, or their texts alone with `text_key=text`")
    talk = next((key for key in _MESSAGES if isinstance(entry.get(key), list)), None)
    if talk is not None and text_key not in entry.record:
        yield from _talk(entry, talk, text_key, left_out)
        return
    names = [str(key) for key, value in entry.record.items() if not isinstance(value, dict | list)]
    lists = [str(key) for key, value in entry.record.items() if isinstance(value, list)]
    listed = first_of(lists, CANDIDATES) if text_key is None and role in (Role.TRANSLATION, Role.CANDIDATES) else None
    if listed is not None and role == Role.TRANSLATION:
        if first_of(names, TEXTS) is None:
            entry.fail(f'"{listed}" are several translations of a line: `pronmetric rerank --nbest` chooses among them')
        listed = None
    if listed is not None and not entry.record[listed]:
        entry.fail(f'"{listed}" is empty; expected the candidates of a line')
    of_list = [] if listed is None else [listed]
    keys = roles_of([*names, *of_list], role, text_key or listed, what="key", file=entry.file, line=line)
    texts = (entry.text(keys[TEXT]),) if listed is None else entry.sentences(listed)
    of = str(line) if listed is not None else _label(entry, first_of(names, IDS)) if role == Role.CANDIDATES else None
    for number, text in enumerate(texts, start=1):
        yield Unit(
            text,
            line,
            f"object {line}" if listed is None else f"object {line}, candidate {number}",
            source=_text(entry, keys.get(SOURCE)),
            reference=_text(entry, keys.get(REFERENCE)),
            doc=_label(entry, keys.get(DOC)),
            system=_label(entry, keys.get(SYSTEM)),
            speaker=None if SPEAKER not in keys else _label(entry, keys[SPEAKER]) or "",
            of=of,
        )


def _talk(entry: Entry, key: str, text_key: str | None, left_out: Counter[str]) -> Iterator[Unit]:
    """The messages of a talk, which is a document."""
    line = entry.line
    assert line is not None
    doc = next((_label(entry, name) for name in entry.record if plain(str(name)) in _OF_TALK), None)
    for number, message in enumerate(entry.entries(key), start=1):
        said_by = next((name for name in _SAID_BY if name in message.record), None)
        if said_by == "role" and message.get("role") in ("system", "developer", "tool"):
            left_out[_INSTRUCTIONS] += 1
            continue
        text = text_key or next((name for name in _SAID if name in message.record), None)
        if text is None:
            message.fail(f"no key of a text ({', '.join(_SAID)}); give it with `text_key=`")
        source = next((name for name in ("src", "source") if name in message.record), None)
        yield Unit(
            message.text(text),
            line,
            f"object {line}, message {number}",
            source=_text(message, source),
            reference=_text(message, next((name for name in ("ref", "reference") if name in message.record), None)),
            doc=doc or f"line {line}",
            speaker=None if said_by is None else _label(message, said_by) or "",
        )


_OF_TALK = ("id", "doc", "doc_id", "conversation_id", "dialogue_id")


def _text(entry: Entry, key: str | None) -> str | None:
    return None if key is None or entry.get(key) is None else entry.text(key)


def _label(entry: Entry, key: str | None) -> str | None:
    return None if key is None else entry.label(key)
