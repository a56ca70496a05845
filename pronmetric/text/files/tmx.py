"""Translation memories (.tmx): of each unit the text in the target language, and that in the source language.

Languages are compared without regard to case; "en" is also "en-GB" and "en_US". Units without a text in the target
language are left out and counted. See `inline` for the elements in a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.files.inline import count_sub_texts, text_of
from pronmetric.text.files.unit import FileTexts, Unit
from pronmetric.text.xml import LANG, Element, elements

FORMAT = "TMX"


@dataclass(frozen=True, slots=True)
class _Variant:
    """A text of a unit in one language. subs: how many texts within codes it has."""

    language: str
    text: str
    line: int
    subs: int


@dataclass(frozen=True, slots=True)
class _TextUnit:
    """A unit: where it stands, the language that its source is said to have, and its variants."""

    place: str
    line: int
    source: str
    variants: tuple[_Variant, ...]


def read(path: Path, *, target: str | None = None) -> FileTexts:
    """The texts of a TMX file in the language `target`, in the file's order.

    Without `target` it is the one that is not the source language, in a file of two languages.

    Raises:
        InputError: broken XML, a variant without its language or `<seg>`, or a target language that is not clear or
            not there.
    """
    memory = list(_text_units(path))
    wanted = _targets(path, memory, target)
    units: list[Unit] = []
    left_out: Counter[str] = Counter()
    for each in memory:
        ours = [variant for variant in each.variants if variant.language in wanted]
        if len({variant.language for variant in ours}) > 1:
            both = " and ".join(dict.fromkeys(variant.language for variant in ours))
            raise InputError(f"a unit with {both}: name one of them as `text_key=`", file=path, line=each.line)
        written = [variant for variant in ours if variant.text]
        if not written:
            left_out["no text in the target language"] += 1
        for variant in written:
            units.append(Unit(variant.text, variant.line, each.place, source=_source(each, variant.language)))
            left_out["texts within codes (<sub>)"] += variant.subs
    return FileTexts(FORMAT, tuple(units), in_order=False, left_out=dict(+left_out))


def _text_units(path: Path) -> Iterator[_TextUnit]:
    source, order = "", 0
    for element, _ in elements(path, "tmx", ("header", "tu")):
        said = _code(element.attributes.get("srclang", ""))
        if element.name == "header":
            source = said
            continue
        order += 1
        variants = tuple(_variant(path, child) for child in element.children("tuv"))
        place = f"unit {element.attributes.get('tuid', order)}"
        yield _TextUnit(place, element.line, said or source, variants)


def _variant(path: Path, element: Element) -> _Variant:
    language = element.attributes.get(LANG) or element.attributes.get("lang")
    segment = element.child("seg")
    if language is None or segment is None:
        lacks = "xml:lang" if language is None else "<seg>"
        raise InputError(f"a <tuv> without {lacks}", file=path, line=element.line)
    return _Variant(_code(language), text_of(segment), segment.line, count_sub_texts(segment))


def _code(language: str) -> str:
    return language.strip().lower().replace("_", "-")


def _same(one: str, other: str) -> bool:
    """Whether two codes may be of one language: "en" is that of "en-us", "en-gb" is not."""
    return one == other or one.startswith(f"{other}-") or other.startswith(f"{one}-")


def _targets(path: Path, memory: list[_TextUnit], target: str | None) -> list[str]:
    """The codes of the target language in this file."""
    languages = sorted({variant.language for each in memory for variant in each.variants})
    listed = ", ".join(languages) or "none"
    if target is not None:
        found = [language for language in languages if _same(language, _code(target))]
        if not found and memory:
            raise InputError(f"no text in the language {target}; the file has {listed}", file=path)
        return found
    sources = {each.source for each in memory}
    others = [language for language in languages if not any(_same(language, source) for source in sources)]
    if memory and (len(languages) != 2 or len(others) != 1):
        said = ", ".join(sorted(filter(None, sources))) or "none"
        message = f"languages: {listed}; source language: {said}; name the one to be scored as `text_key=`"
        raise InputError(message, file=path)
    return others


def _source(unit: _TextUnit, target: str) -> str | None:
    """The source's text: in the language that is said, else in the only other one."""
    others = [variant for variant in unit.variants if variant.language != target]
    said = [variant for variant in others if _same(variant.language, unit.source)]
    found = said or (others if len({variant.language for variant in others}) == 1 else [])
    return found[0].text if found else None
