"""XLIFF 1.0 to 1.2 and 2.0 to 2.2: the target of each unit, with its source and the file that it is of.

A unit that is cut into segments (`<mrk mtype="seg">`, `<segment>`) gives one text for each. Alternatives (`alt-trans`,
`match`) and notes are not read. Left out and counted: what has no target, or one whose state says that it is not
translated yet (new, needs-translation, initial), and what is not to be translated. See `inline` for the elements in a
text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.files.inline import count_sub_texts, text_of
from pronmetric.text.files.unit import FileTexts, Unit
from pronmetric.text.xml import Element, elements

FORMAT = "XLIFF"
_VERSION = re.compile(r"[12](?:\.\d+)*")
_NOT_YET = frozenset(("new", "needs-translation", "initial"))


def read(path: Path) -> FileTexts:
    """The translated texts of an XLIFF file, in the file's order.

    Raises:
        InputError: broken XML, or a version that is neither 1 nor 2.
    """
    units: list[Unit] = []
    left_out: Counter[str] = Counter()
    for element, around in elements(path, "xliff", ("trans-unit", "unit")):
        version = around[0].attributes.get("version", "")
        if not _VERSION.fullmatch(version):
            raise InputError(f'version "{version}"; expected XLIFF 1.2 or 2.0', file=path, line=around[0].line)
        translate = [each.attributes.get("translate") for each in (element, *reversed(around))]
        if next(filter(None, translate), "yes") == "no":
            left_out["not to be translated"] += 1
            continue
        names = [each.attributes.get("original") or each.attributes.get("id") for each in around if each.name == "file"]
        read_segments = _segments_of_1 if element.name == "trans-unit" else _segments_of_2
        for place, source, target in read_segments(element):
            text = "" if target is None else text_of(target)
            if target is None or not text:
                left_out["untranslated" if target is None or source is None or text_of(source) else "no text"] += 1
                continue
            source_text = None if source is None else text_of(source)
            units.append(Unit(text, target.line, place, source=source_text, doc=next(iter(names), None)))
            left_out["texts within codes (<sub>)"] += count_sub_texts(target)
    return FileTexts(FORMAT, tuple(units), in_order=False, left_out=dict(+left_out))


_Segment = tuple[str, Element | None, Element | None]
"""Where a segment stands, its source and its target; None: there is none, or it is not translated yet."""


def _segments_of_1(unit: Element) -> Iterator[_Segment]:
    """The segments of a `<trans-unit>`."""
    place = f"unit {unit.attributes.get('id', '?')}"
    source, target = unit.child("source"), _translated(unit.child("target"), unit.child("target"))
    parts = [] if target is None else _marked(target)
    if not parts:
        yield place, source, target
        return
    cut = unit.child("seg-source")
    sources = {} if cut is None else {part.attributes.get("mid"): part for part in _marked(cut)}
    for part in parts:
        number = part.attributes.get("mid", "?")
        yield f"{place}, segment {number}", sources.get(number), part


def _segments_of_2(unit: Element) -> Iterator[_Segment]:
    """The segments of a `<unit>`."""
    place = f"unit {unit.attributes.get('id', '?')}"
    segments = unit.children("segment")
    for order, segment in enumerate(segments, start=1):
        at = f"{place}, segment {segment.attributes.get('id', order)}" if len(segments) > 1 else place
        yield at, segment.child("source"), _translated(segment.child("target"), segment)


def _translated(target: Element | None, stated: Element | None) -> Element | None:
    """The target, unless the state of `stated` says that it is not translated yet."""
    return None if stated is not None and stated.attributes.get("state") in _NOT_YET else target


def _marked(element: Element) -> list[Element]:
    """The segments that are marked within a text."""
    found = []
    for part in element.parts:
        if isinstance(part, Element):
            found += [part] if part.name == "mrk" and part.attributes.get("mtype") == "seg" else _marked(part)
    return found
