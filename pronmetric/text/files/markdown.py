"""Markdown (CommonMark with tables and ~~strikethrough~~): the sentences of paragraphs, headings, list items and cells.

No text: code blocks, front matter and comments, which are counted, link targets, bare links, tags, definitions of
references, numbers of footnotes, and the marks of emphasis. `code` in a sentence stays between its backquotes, in which
no pronoun counts. HTML blocks are read without their tags, scripts, styles and `<pre>`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from html import unescape
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pronmetric.text.files.unit import FileTexts, Unit
from pronmetric.text.lines import read_lines
from pronmetric.text.sentences import starts
from pronmetric.text.writing import ANY

FORMAT = "Markdown"
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}  # of front matter: YAML, TOML
_KEY = re.compile(r"[\w.\"'-]+\s*[:=]|\[")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\](?P<text>:\s*)?")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CODE = re.compile(r"<(script|style|pre|textarea)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_IN_SENTENCE = re.compile(
    r"</?(?:a|abbr|b|cite|code|del|em|i|ins|kbd|mark|q|s|small|span|strong|sub|sup|u|var)(?:\s[^<>]*)?>", re.IGNORECASE
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LINE_BREAK = re.compile(r"<br\b[^<>]*>", re.IGNORECASE)

_Piece = tuple[str, int]
"""A part of a block's text, and its line."""


def read(path: Path) -> FileTexts:
    """The sentences of a Markdown file, in the file's order; each has the line on which it begins."""
    left_out: Counter[str] = Counter()
    lines = [line.replace("\r", " ") for line in read_lines(path)]  # the parser would end a line there
    end = _end_of_front_matter(lines)
    left_out["front matter"] += end > 0
    definitions: dict[str, Any] = {}
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    tokens = parser.parse("\n".join([""] * end + lines[end:]), definitions)
    left_out["footnotes of one word"] += sum(name.startswith("^") for name in definitions.get("references", ()))
    blocks = (block for token in tokens for block in _blocks(token, left_out))
    sentences = [unit for block in blocks for unit in _units(block)]
    units = tuple(unit for unit in sentences if any(map(str.isalpha, unit.text)))
    left_out["without a letter"] += len(sentences) - len(units)
    return FileTexts(FORMAT, units, in_order=True, left_out=dict(+left_out))


def _end_of_front_matter(lines: list[str]) -> int:
    """The number of lines of front matter; 0 where there is none, or a rule stands in the first line."""
    ends = _FENCES.get(lines[0].rstrip(), ()) if lines else ()
    first = next((line for line in lines[1:] if line.strip() and not line.startswith("#")), "")
    if not ends or not (_KEY.match(first) or first.rstrip() in ends):
        return 0
    return next((row + 1 for row, line in enumerate(lines[1:], start=1) if line.rstrip() in ends), 0)


def _blocks(token: Token, left_out: Counter[str]) -> Iterator[list[_Piece]]:
    """The texts of a token that are read each for itself."""
    line = token.map[0] + 1 if token.map else 1
    if token.type in ("fence", "code_block"):
        left_out["code blocks"] += 1
    elif token.type == "html_block":
        yield from _html_blocks(token.content, line, left_out)
    elif token.type == "inline":
        yield from _inline_blocks(token, line, left_out)


def _inline_blocks(token: Token, line: int, left_out: Counter[str]) -> Iterator[list[_Piece]]:
    """The text of a paragraph, a heading or a cell; a footnote's text stands for itself."""
    block: list[_Piece] = []
    bare_link = False
    at = line
    for child in token.children or ():
        text = child.content
        if child.type in ("softbreak", "hardbreak"):
            text, at = " ", at + 1
        elif child.type in ("link_open", "link_close"):
            bare_link = child.type == "link_open" and child.markup == "autolink"
        elif child.type == "code_inline":
            text = f"{child.markup}{text}{child.markup}"
        elif child.type == "html_inline":
            left_out["comments"] += text.startswith("<!--")
            at += text.count("\n")
            text = " " if _LINE_BREAK.match(text) else ""
        elif child.type == "text" and not bare_link:
            note = _FOOTNOTE.match(text)
            if note and note["text"] is not None:
                yield block
                block = []
            text = _FOOTNOTE.sub("", text)
        if text and not bare_link:
            block.append((text, at))
    if token.content.count("\n") != at - line:  # a line break within a code or a link: only the first line is certain
        block = [(text, line) for text, _ in block]
    yield block


def _html_blocks(content: str, line: int, left_out: Counter[str]) -> Iterator[list[_Piece]]:
    """The texts between the tags of an HTML block that break a line."""
    for pattern, name in ((_COMMENT, "comments"), (_CODE, "code blocks")):
        left_out[name] += len(pattern.findall(content))
        content = pattern.sub(lambda match: "\0" + "\n" * match[0].count("\n"), content)
    content = _LINE_BREAK.sub(" ", content)
    content = _IN_SENTENCE.sub(lambda match: "\n" * match[0].count("\n"), content)
    content = _TAG.sub(lambda match: "\n" * match[0].count("\n") + "\0", content)
    at = line
    for text in content.split("\0"):
        rows = text.split("\n")
        yield [(f"{unescape(row)} ", at + number) for number, row in enumerate(rows) if row.strip()]
        at += len(rows) - 1


def _units(block: list[_Piece]) -> Iterator[Unit]:
    """The sentences of a block."""
    text = "".join(piece for piece, _ in block)
    offsets = [0, *accumulate(len(piece) for piece, _ in block)]
    for start, end in pairwise([0, *starts(text, ANY), len(text)]):
        sentence = text[start:end]
        if words := " ".join(sentence.split()):
            first = start + len(sentence) - len(sentence.lstrip())
            line = block[bisect_right(offsets, first) - 1][1]
            yield Unit(words, line, f"line {line}")
