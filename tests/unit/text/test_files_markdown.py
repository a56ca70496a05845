"""Markdown: what is text, and the line of each sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.text.files import markdown
from pronmetric.text.files.unit import FileTexts


def read(folder: Path, text: str) -> FileTexts:
    path = folder / "a.md"
    path.write_text(text, encoding="utf-8")
    return markdown.read(path)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("She *left*. __He__ ~~stayed~~\nhere.", [("She left.", 1), ("He stayed here.", 1)]),
        ("She\nleft. He\nstayed.", [("She left.", 1), ("He stayed.", 2)]),
        ("She  \nleft\\\nhim<br>there.", [("She left him there.", 1)]),
        ("[Her book](http://he.example 'his') and ![his dog](she.png).", [("Her book and his dog.", 1)]),
        ("[Her][him] <https://she.example>.\n\n[him]: <http://he.example> 'his'", [("Her .", 1)]),
        ("Call `she(it)` or ``a`b``.", [("Call `she(it)` or ``a`b``.", 1)]),
        ("She <b title='his'>left</b> <!-- he --> now.", [("She left now.", 1)]),
        ("# She #\n\nHe\n---\n", [("She", 1), ("He", 3)]),
        ("> - She\n>   left\n> 1. He", [("She left", 1), ("He", 3)]),
        ("\\*She\\* &amp; he", [("*She* & he", 1)]),
        ("| a | b |\n|---|---|\n| She. He | `it` |", [("a", 1), ("b", 1), ("She.", 3), ("He", 3), ("`it`", 3)]),
        ("She `a\nb` left. He\nstayed.", [("She `a b` left.", 1), ("He stayed.", 1)]),
        ("She.[^1]\n\n[^1]: Her note\n[^long]: his", [("She.", 1), ("Her note", 3), ("his", 4)]),
        ("She\u2028left.\rHe stayed.", [("She left.", 1), ("He stayed.", 1)]),
        ("- " * 30 + "She", [("She", 1)]),
    ],
)
def test_sentences_and_their_lines(tmp_path: Path, text: str, sentences: list[tuple[str, int]]) -> None:
    found = read(tmp_path, text)
    assert [(unit.text, unit.line) for unit in found.units] == sentences
    assert [unit.place for unit in found.units] == [f"line {unit.line}" for unit in found.units]


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("```\nshe\n```\n~~~py\nhe\n~~~\n", {"code blocks": 2}),
        ("```\nshe, to the end", {"code blocks": 1}),
        ("    she()\n", {"code blocks": 1}),
        ("---\ntitle: she\n---\n", {"front matter": 1}),
        ("---\n# he\n\ntitle: she\n...\n", {"front matter": 1}),
        ("+++\ntitle = 'she'\n+++\n", {"front matter": 1}),
        ("<!-- she\n\nhe -->\n", {"comments": 1}),
        ("<script>\nshe\n</script>\n<style>he</style>\n", {"code blocks": 2}),
        ("<pre>\nshe\n\nhe</pre>\n", {"code blocks": 1}),
        ("[^1]: Ibid\n", {"footnotes of one word": 1}),
        ("1\n\n***\n", {"without a letter": 1}),
    ],
)
def test_what_is_no_text_is_counted(tmp_path: Path, text: str, left_out: dict[str, int]) -> None:
    found = read(tmp_path, text)
    assert (found.units, found.left_out) == ((), left_out)


@pytest.mark.parametrize("text", ["---\nShe left.\n\n---\n", "---\n\nShe left.\n", "----\ntitle: She left.\n"])
def test_a_rule_in_the_first_line_is_no_front_matter(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.units[0].text.endswith("She left.") and not found.left_out


def test_html_blocks_are_read_without_their_tags(tmp_path: Path) -> None:
    found = read(
        tmp_path, "<p align='his'>She <i\ntitle='x'>left</i>.<br>He\nstayed.</p>\n<!-- it\n-->\n<li>They &amp;\n"
    )
    assert [(unit.text, unit.line) for unit in found.units] == [("She left.", 1), ("He stayed.", 2), ("They &", 6)]


def test_a_comment_before_a_text_leaves_the_text(tmp_path: Path) -> None:
    assert [unit.text for unit in read(tmp_path, "<!-- he --> She left.\n").units] == ["She left."]
