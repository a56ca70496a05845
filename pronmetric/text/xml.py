"""XML, read safely: no entity is declared or expanded, nothing is fetched; elements know their lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import XMLParser

from pronmetric.errors import InputError
from pronmetric.text.lines import chunks, open_bytes

LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_DEEPEST = 100  # elements in each other; far above real files, far below what recursion allows


class Target:
    """What takes the events of a parser; the name of a tag in a namespace is "{namespace}name"."""

    expat: Any = None  # set before the first event

    @property
    def line(self) -> int:
        """The current line (1-based) of the parser."""
        return int(self.expat.CurrentLineNumber)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle a start tag."""

    def data(self, text: str) -> None:
        """Handle text, or a part of it."""

    def end(self, tag: str) -> None:
        """Handle an end tag."""

    def close(self) -> None:
        """Handle the end of the file."""


def feed(path: Path, target: Target, *, dtd: bool = False) -> Iterator[None]:
    """Feed a file to `target`, piece by piece; yields after each.

    dtd: whether a document type declaration may stand in the file; it is not fetched.

    Raises:
        InputError: broken XML, an entity declaration, a DTD where none may be, and as `lines.chunks`.
    """
    parser = XMLParser(target=target, forbid_dtd=not dtd, forbid_entities=True, forbid_external=True)
    target.expat = parser.parser
    try:
        with open_bytes(path) as stream:
            for chunk in chunks(stream, file=path):
                parser.feed(chunk)
                yield
        parser.close()
        yield
    except DefusedXmlException:
        what = "an entity declaration" if dtd else "a DTD or an entity declaration"
        message = f"{what}, which is not read for safety; take it out of the file"
        raise InputError(message, file=path, line=target.line) from None
    except ParseError as error:
        raise InputError(f"broken XML: {error}", file=path, line=error.position[0]) from None
    except (UnicodeError, LookupError, ValueError) as error:
        raise InputError(f"unreadable XML: {error}", file=path, line=target.line) from None


@dataclass(slots=True)
class Element:
    """An element, its texts and children; its name is "{namespace}name" in a namespace other than the root's."""

    name: str
    attributes: dict[str, str]
    line: int
    parts: list[Element | str] = field(default_factory=list)

    def children(self, *names: str) -> list[Element]:
        """The children of these names."""
        return [part for part in self.parts if isinstance(part, Element) and part.name in names]

    def child(self, name: str) -> Element | None:
        """The first child of a name."""
        return next(iter(self.children(name)), None)


def elements(path: Path, root: str, names: Collection[str]) -> Iterator[tuple[Element, tuple[Element, ...]]]:
    """The outermost elements of these names, whole, each with the elements around it, which have no parts.

    A document type declaration is passed over. One element at a time is in memory.

    Raises:
        InputError: as `feed`, another root than `root`, or elements more than 100 deep.
    """
    builder = _Builder(path, root, names)
    for _ in feed(path, builder, dtd=True):
        yield from builder.whole
        builder.whole.clear()


class _Builder(Target):
    """Builds the elements that `elements` gives."""

    def __init__(self, path: Path, root: str, names: Collection[str]) -> None:
        self.path = path
        self.root = root
        self.names = names
        self.namespace = ""
        self.open: list[Element] = []
        self.outermost: int | None = None
        self.whole: list[tuple[Element, tuple[Element, ...]]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        if not self.open:
            name = tag.rpartition("}")[2]
            self.namespace = tag.removesuffix(name)
            if name != self.root:
                raise InputError(f"expected <{self.root}>, found <{name}>", file=self.path, line=self.line)
        if len(self.open) == _DEEPEST:
            raise InputError(f"elements more than {_DEEPEST} deep", file=self.path, line=self.line)
        element = Element(tag.removeprefix(self.namespace), attributes, self.line)
        if self.outermost is not None:
            self.open[-1].parts.append(element)
        elif element.name in self.names:
            self.outermost = len(self.open)
        self.open.append(element)

    def data(self, text: str) -> None:
        """Add text to the innermost element."""
        if self.outermost is not None:
            self.open[-1].parts.append(text)

    def end(self, tag: str) -> None:
        """Close an element."""
        element = self.open.pop()
        if self.outermost == len(self.open):
            self.whole.append((element, tuple(self.open)))
            self.outermost = None
