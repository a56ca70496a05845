r"""Catalogues of gettext (.po): the translation of each entry, its msgid as the source.

A plural form is a unit of its own; its source is the msgid for form 0 of several, else msgid_plural. Placeholders are
text; line breaks are blanks. The header, fuzzy, untranslated and obsolete entries are left out and counted.

The parser is our own: that of polib has no line of a msgstr, and takes off a letter where a closing quote is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.files.unit import FileTexts, Unit
from pronmetric.text.lines import read_lines

FORMAT = "PO"
_STRING = r'"(?:[^"\\]|\\.)*+"'
_LINE = re.compile(
    rf"(?:(?P<key>msgctxt|msgid_plural|msgid|msgstr|domain)(?:\[(?P<form>\d{{1,3}})\])?\s*)?(?P<text>{_STRING}(?:\s*{_STRING})*+)"
)
_ESCAPE = re.compile(r'\\(?:(?P<letter>[abfnrtv"\\?])|x(?P<hex>[\da-fA-F]{1,8})|(?P<octal>[0-7]{1,3})|(?P<bad>.))')
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(slots=True)
class _Entry:
    """An entry: its fields by keyword, the forms of its msgstr by number, the line of each form."""

    obsolete: bool = False
    fuzzy: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    forms: dict[int, str] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)


def read(path: Path) -> FileTexts:
    """The translated texts of a PO file, in the file's order.

    Raises:
        InputError: a line that is none of the format, or an entry without a msgid or a msgstr.
    """
    units: list[Unit] = []
    left_out: Counter[str] = Counter()
    for entry in _entries(path):
        if reason := _reason(entry):
            left_out[reason] += 1
            continue
        for form, text in entry.forms.items():
            if text.strip():
                units.append(_unit(entry, form))
            else:
                left_out["untranslated"] += 1
    return FileTexts(FORMAT, tuple(units), in_order=False, left_out=dict(left_out))


def _reason(entry: _Entry) -> str | None:
    """Why an entry is left out as a whole."""
    if entry.obsolete:
        return "obsolete"
    if not entry.fields["msgid"] and "msgctxt" not in entry.fields:
        return "header"
    if entry.fuzzy:
        return "fuzzy"
    return None if any(text.strip() for text in entry.forms.values()) else "untranslated"


def _unit(entry: _Entry, form: int) -> Unit:
    line = entry.lines[form]
    plural = entry.fields.get("msgid_plural")
    source = entry.fields["msgid"] if plural is None or (form == 0 and len(entry.forms) > 1) else plural
    place = [f"line {line}"]
    if "msgctxt" in entry.fields:
        place.insert(0, f"msgctxt {_one_line(entry.fields['msgctxt'])}")
    if plural is not None:
        place.append(f"plural form {form}")
    return Unit(_one_line(entry.forms[form]), line, ", ".join(place), source=_one_line(source))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _entries(path: Path) -> Iterator[_Entry]:
    """The entries of a file, each checked."""
    entry, key = _Entry(), ""
    number = 0
    for number, raw in enumerate(read_lines(path), start=1):
        line = raw.strip()
        obsolete = line.startswith("#~")
        if obsolete:
            line = line[2:].strip()
        if not line or line[0] in "#|":
            if entry.forms:
                yield entry
                entry, key = _Entry(), ""
            entry.fuzzy |= line.startswith("#,") and "fuzzy" in re.split(r"[,\s]+", line[2:])
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise InputError(_broken(line), file=path, line=number)
        if entry.forms and match["key"] in ("msgctxt", "msgid", "domain"):
            yield entry
            entry = _Entry()
        if match["key"] == "domain":
            continue
        entry.obsolete |= obsolete
        key = _add(entry, match, key, path, number)
    if entry.forms:
        yield entry
    elif entry.fields:
        raise InputError("an entry without a msgstr; is the file cut off?", file=path, line=number)


def _broken(line: str) -> str:
    found = f'"{line[:60]}"'
    if re.match(r"(?:msg\w+(?:\[\d+\])?\s*)?\"", line):
        return f'a string without its closing quote, or with a quote inside that is not written \\": {found}'
    return f"expected msgid, msgstr, a string in quotes or a comment, found {found}; is this a PO file?"


def _add(entry: _Entry, match: re.Match[str], key: str, path: Path, number: int) -> str:
    """Add a line's string to the entry; gives the keyword that the next line goes on with."""
    text = "".join(_unescaped(string, path, number) for string in re.findall(_STRING, match["text"]))
    if match["key"] is None:
        if not key:
            raise InputError("a string without a keyword before it", file=path, line=number)
        if key == "msgstr":
            entry.forms[next(reversed(entry.forms))] += text
        else:
            entry.fields[key] += text
        return key
    key, form = match["key"], match["form"]
    if key != "msgstr":
        if key in entry.fields or (key == "msgid_plural" and (entry.forms or "msgid" not in entry.fields)):
            order = "the order in an entry is msgctxt, msgid, msgid_plural, msgstr"
            raise InputError(f"{key} where none can be; {order}", file=path, line=number)
        entry.fields[key] = text
        return key
    if "msgid" not in entry.fields:
        raise InputError("a msgstr without a msgid before it", file=path, line=number)
    if (form is None) != ("msgid_plural" not in entry.fields) or int(form or 0) in entry.forms:
        wanted = "one msgstr, as it has no msgid_plural" if form or not entry.forms else "one msgstr"
        if "msgid_plural" in entry.fields:
            wanted = f"msgstr[{len(entry.forms)}], as it has a msgid_plural"
        raise InputError(f"the entry needs {wanted}", file=path, line=number)
    entry.forms[int(form or 0)] = text
    entry.lines[int(form or 0)] = number
    return key


def _unescaped(string: str, path: Path, number: int) -> str:
    """What a string in quotes stands for."""

    def letter(match: re.Match[str]) -> str:
        if match["bad"]:
            raise InputError(f"unknown escape {match[0]}; write \\\\ for a backslash", file=path, line=number)
        if code := match["hex"] or match["octal"]:
            return chr(int(code, 16 if match["hex"] else 8) & 0xFF)
        return _LETTERS.get(match["letter"], match["letter"])

    return _ESCAPE.sub(letter, string[1:-1])
