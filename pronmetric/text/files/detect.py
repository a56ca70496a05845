"""The format of a file, told by its first lines and the suffix of its name; formats that are not read are refused.

The first lines decide where they have an unmistakable sign (`WEBVTT`, a cue's times, `msgid`, the root of an XML
document, JSON objects, a header that names columns of texts), else the suffix, else the file has plain lines. One line
of a plain text with a comma, a brace or a tag is no sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, NoReturn

from pronmetric.errors import InputError
from pronmetric.text import strict_json
from pronmetric.text.files.columns import is_header
from pronmetric.text.lines import BYTE_ORDER_MARK, GZIP_ERRORS, broken_gzip, open_bytes

LINES = "lines"
CSV, TSV, JSONL, SRT, VTT = "csv", "tsv", "jsonl", "srt", "vtt"
PO, XLIFF, TMX, MARKDOWN = "po", "xliff", "tmx", "markdown"
FORMATS = (LINES, CSV, TSV, JSONL, SRT, VTT, PO, XLIFF, TMX, MARKDOWN)
NAMES = {
    LINES: "plain lines",
    CSV: "CSV",
    TSV: "TSV",
    JSONL: "JSON Lines",
    SRT: "SRT",
    VTT: "WebVTT",
    PO: "PO",
    XLIFF: "XLIFF",
    TMX: "TMX",
    MARKDOWN: "Markdown",
}
INSIST = " (`format=lines` takes its lines as texts)"
"""The end of a refusal."""
_SUFFIXES = {
    **{f".{name}": name for name in (CSV, TSV, SRT, VTT, PO, TMX, MARKDOWN)},
    ".tab": TSV,
    ".jsonl": JSONL,
    ".ndjson": JSONL,
    ".pot": PO,
    ".webvtt": VTT,
    ".xlf": XLIFF,
    ".xliff": XLIFF,
    ".sdlxliff": XLIFF,
    ".mqxliff": XLIFF,
    ".md": MARKDOWN,
    ".mkd": MARKDOWN,
    ".mdown": MARKDOWN,
}
_AS_TEXT = "save it as plain text, one segment a line"
_OF_TOOL = "convert it to PO, XLIFF or CSV, which are read"
_OF_WMT = (
    "score the test set (`pronmetric score -d NAME:LP --wmt-dir DIR`), or take its texts out (`pronmetric prepare`)"
)
_SUBTITLES = "convert it to SRT or WebVTT, which are read"
_UNREAD = {
    ".docx": ("a Word document", _AS_TEXT),
    ".doc": ("a Word document", _AS_TEXT),
    ".odt": ("an OpenDocument text", _AS_TEXT),
    ".rtf": ("an RTF document", _AS_TEXT),
    ".epub": ("an EPUB book", _AS_TEXT),
    ".pdf": ("a PDF document", _AS_TEXT),
    ".xlsx": ("an Excel workbook", "save the sheet as CSV, which is read"),
    ".xls": ("an Excel workbook", "save the sheet as CSV, which is read"),
    ".ods": ("an OpenDocument sheet", "save the sheet as CSV, which is read"),
    ".zip": ("a ZIP archive", "unpack it and give a file of it"),
    ".parquet": ("a Parquet table", "write it as CSV or JSON Lines, which are read, or give it to `pronmetric bulk`"),
    ".html": ("an HTML page", _AS_TEXT),
    ".htm": ("an HTML page", _AS_TEXT),
    ".xhtml": ("an HTML page", _AS_TEXT),
    ".ass": ("ASS subtitles", _SUBTITLES),
    ".ssa": ("SSA subtitles", _SUBTITLES),
    ".strings": ("an Apple .strings file", _OF_TOOL),
    ".stringsdict": ("an Apple .stringsdict file", _OF_TOOL),
    ".xcstrings": ("an Apple string catalog", _OF_TOOL),
    ".arb": ("a Flutter ARB file", _OF_TOOL),
    ".resx": ("a .NET resource file", _OF_TOOL),
    ".properties": ("a Java properties file", _OF_TOOL),
    ".yaml": ("a YAML file", _OF_TOOL),
    ".yml": ("a YAML file", _OF_TOOL),
    ".sgm": ("a WMT test set in SGM or XML", _OF_WMT),
    ".sgml": ("a WMT test set in SGM or XML", _OF_WMT),
    ".xml": ("XML of an unknown kind", _OF_TOOL),
    ".json": ("a JSON document", "write one object a line (JSON Lines), which is read"),
}
_ROOTS = {
    "xliff": XLIFF,
    "tmx": TMX,
    "html": ".html",
    "srcset": ".sgm",
    "refset": ".sgm",
    "tstset": ".sgm",
    "mteval": ".sgm",
}
"""The formats whose XML begins with an element, without a declaration too; those with a dot are of `_UNREAD`."""
_HEAD = 1 << 16  # bytes that are looked at
_TIMES = re.compile(r"(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}\s+-->\s+(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}")
_ENTRY = re.compile(r'(?:msgid|msgctxt|domain)\s+"')
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)+"\s*=\s*"(?:[^"\\]|\\.)*"\s*;\s*(?:\n|//|/\*|\Z)')
_ROOT = re.compile(r"<(?:[\w-]+:)?([A-Za-z][\w.-]*)(?=[\s/>])")
_DOCUMENT = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:|\[\s*\{\s*"')
_BEFORE_ROOT = re.compile(r"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)", re.DOTALL | re.IGNORECASE)
_MAGIC = {
    b"%PDF-": ".pdf",
    b"{\\rtf": ".rtf",
    b"\xd0\xcf\x11\xe0": ".doc",
    b"PAR1": ".parquet",
    b"PK\x03\x04": ".zip",
}


def of_file(path: str | Path) -> str:
    """The format of a file, one of `FORMATS`.

    Raises:
        InputError: it cannot be read, or has a format that is not read; the message names the format and what to do.
    """
    try:
        with open_bytes(path) as stream:
            head = stream.read(_HEAD)
    except GZIP_ERRORS as error:
        raise broken_gzip(error, path) from None
    return of_head(head, path)


def of_head(head: bytes, path: str | Path) -> str:
    """The format of a file with these first bytes; see `of_file`.

    >>> of_head(b"WEBVTT", "a.txt"), of_head(b"She said, {smiling}: yes.", "a.txt"), of_head(b"# Note", "a.md")
    ('vtt', 'lines', 'markdown')
    """
    suffix = _suffix(path)
    if (magic := next((kind for start, kind in _MAGIC.items() if head.startswith(start)), None)) is not None:
        _refuse(suffix if magic in (".zip", ".doc") and suffix in _UNREAD else magic, path)
    lines = [line.strip() for line in _text(head).split("\n")]
    filled = [line for line in lines if line]
    whole = len(head) < _HEAD
    for found in (_subtitles(filled), _po(filled), _xml(filled), _strings(filled), _json(filled, suffix, whole)):
        if found is not None:
            return found if found in FORMATS else _refuse(found, path)
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if suffix in _UNREAD:
        _refuse(suffix, path)
    return _table(filled) or LINES


def named(path: str | Path) -> str | None:
    """What the suffix of a file says that it is; None where it says nothing.

    >>> named("a.srt.gz"), named("a.docx"), named("a.txt")
    ('SRT', 'a Word document', None)
    """
    suffix = _suffix(path)
    return NAMES[_SUFFIXES[suffix]] if suffix in _SUFFIXES else _UNREAD[suffix][0] if suffix in _UNREAD else None


def _suffix(path: str | Path) -> str:
    """The suffix of a name, without that of gzip, in lower case."""
    name = PurePath(str(path).lower())
    return PurePath(name.stem).suffix if name.suffix == ".gz" else name.suffix


def _refuse(kind: str, path: str | Path) -> NoReturn:
    what, cure = _UNREAD[kind]
    raise InputError(f"is {what}, which is not read: {cure}{INSIST}", file=path)


def _text(head: bytes) -> str:
    return head.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="replace")


def _subtitles(lines: Sequence[str]) -> str | None:
    """Subtitles by their first cue or title."""
    if not lines:
        return None
    if re.match(r"WEBVTT(?:\s|$)", lines[0]):
        return VTT
    if lines[0].lower() == "[script info]":
        return ".ass"
    numbered = lines[0].isdigit() and len(lines) > 1
    return SRT if _TIMES.match(lines[1] if numbered else lines[0]) else None


def _po(lines: Sequence[str]) -> str | None:
    """PO by the first line that is no comment."""
    first = next((line for line in lines if not line.startswith("#")), "")
    return PO if _ENTRY.match(first) else None


def _xml(lines: Sequence[str]) -> str | None:
    """XML, HTML and SGM by the declaration or the root; a line of text that begins with another tag is none."""
    if not lines or not lines[0].startswith("<"):
        return None
    text = "\n".join(lines)
    declared, rest = False, text
    while (match := _BEFORE_ROOT.match(rest)) is not None:
        declared = declared or not match[0].lstrip().startswith("<!--")
        rest = rest[match.end() :]
    root = _ROOT.match(rest.lstrip())
    name = "" if root is None else root[1].lower()
    if re.match(r"(?i)<!DOCTYPE\s+html\b", lines[0]):
        return ".html"
    if name in _ROOTS:
        return _ROOTS[name]
    segments = re.search(r"<seg\s+id\s*=", text, re.IGNORECASE) is not None
    if segments and name in ("doc", "dataset", "set", "corpus"):
        return ".sgm"
    return ".xml" if declared else None


def _strings(lines: Sequence[str]) -> str | None:
    """An Apple .strings file by its first entry after comments."""
    text = re.sub(r"\A(?:\s*(?:/\*.*?\*/|//[^\n]*))*\s*", "", "\n".join(lines), flags=re.DOTALL)
    return ".strings" if _STRINGS.match(text) else None


def _json(lines: Sequence[str], suffix: str, whole: bool) -> str | None:
    """JSON Lines where each of the first lines is an object; another JSON document where they begin one.

    whole: the lines are all of the file.
    """
    if not lines or lines[0][0] not in "{[":
        return None
    first = lines[:5] if whole or len(lines) > 5 else lines[:-1]
    values = list(_values(first))
    if first and len(values) == len(first) and all(isinstance(value, dict) for value in values):
        return ".json" if suffix == ".json" and whole and len(lines) == 1 and _nested(values[0]) else JSONL
    if _DOCUMENT.match("\n".join(lines)) and _SUFFIXES.get(suffix) != JSONL:
        return ".json"
    return None


def _values(lines: Sequence[str]) -> Iterator[Any]:
    """The values of the lines up to one that is no JSON."""
    with suppress(ValueError):
        for line in lines:
            yield strict_json.parse(line)


def _nested(value: dict[str, Any]) -> bool:
    """Whether an object holds others, as a file of strings by their keys does."""
    return any(isinstance(each, dict) for each in value.values())


def _table(lines: Sequence[str]) -> str | None:
    """A table by a header that names columns of texts."""
    if is_header(lines, "\t"):
        return TSV
    return CSV if any(is_header(lines, mark) for mark in ";,") else None
