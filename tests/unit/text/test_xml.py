"""XML: elements with their lines, and what is refused for safety."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text.xml import Element, elements


def read(folder: Path, text: str | bytes, *names: str) -> list[tuple[Element, tuple[Element, ...]]]:
    path = folder / "a.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(elements(path, "root", names or ("unit",)))


def test_elements_are_whole_and_know_their_lines_and_what_is_around_them(tmp_path: Path) -> None:
    text = '<root>\n<file id="f"><unit id="1">a<b\nx="1">c</b>d<unit/></unit>\n</file><unit/></root>'
    (first, around), (second, above) = read(tmp_path, text)
    inner = Element("b", {"x": "1"}, 2, ["c"])
    assert first == Element("unit", {"id": "1"}, 2, ["a", inner, "d", Element("unit", {}, 3)])
    assert [(each.name, each.attributes, each.parts) for each in around] == [
        ("root", {}, []),
        ("file", {"id": "f"}, []),
    ]
    assert (second.line, [each.name for each in above]) == (4, ["root"])
    assert first.child("b") is first.children("b")[0] and first.child("c") is None


def test_names_are_those_of_the_namespace_of_the_root(tmp_path: Path) -> None:
    text = '<a:root xmlns:a="urn:a" xmlns="urn:b"><unit/><a:unit><a:x/><x/></a:unit></a:root>'
    ((unit, _),) = read(tmp_path, text)
    assert [part.name for part in unit.parts if isinstance(part, Element)] == ["x", "{urn:b}x"]


@pytest.mark.parametrize(
    "doctype",
    ['<!DOCTYPE root SYSTEM "http://x.invalid/root.dtd">', '<!DOCTYPE root PUBLIC "-//X//Y" "file:///etc/passwd">'],
)
def test_a_document_type_is_passed_over_and_not_fetched(tmp_path: Path, doctype: str) -> None:
    assert len(read(tmp_path, f"<?xml version='1.0'?>{doctype}<root><unit>a</unit></root>")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<!DOCTYPE root [<!ENTITY x "y">]>\n<root><unit>&x;</unit></root>', r"a\.xml:1: an entity declaration"),
        (
            '<!DOCTYPE root [\n<!ENTITY x SYSTEM "file:///etc/passwd">]><root><unit>&x;</unit></root>',
            r":2: an entity decl",
        ),
        ('<!DOCTYPE root [<!ENTITY % p SYSTEM "http://x.invalid/p">%p;]><root/>', r":1: an entity declaration"),
        ('<!DOCTYPE root SYSTEM "x.dtd"><root>\n<unit>&her;</unit></root>', r":2: broken XML: undefined entity"),
        ("<root><unit>" + "<g>" * 200, r":1: elements more than 100 deep"),
        ("<other/>", r":1: expected <root>, found <other>"),
        ("<root><unit>", r":1: broken XML: no element found"),
        ("She left.", r":1: broken XML: syntax error"),
        ("", r":1: broken XML: no element found"),
        (b"<?xml version='1.0' encoding='latin-99'?><root/>", r":1: (?:broken|unreadable) XML"),
        (b"<root>\n<unit>caf\xe9</unit></root>", r":2: broken XML: not well-formed"),
    ],
)
def test_what_is_broken_or_not_safe_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)
