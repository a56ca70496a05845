"""Self-contained HTML pages: their head and security policy, JSON in a script element, text with visible controls."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pronmetric.output.display import visible

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'"
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{{meta}}<meta http-equiv="Content-Security-Policy" content="{{policy}}">
<title>{{title}}</title>
<style>{{css}}</style>
</head>
"""
_HIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")  # control characters
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def page(
    body: str,
    parts: Mapping[str, str],
    *,
    css: str,
    js: str = "",
    connect: str = "",
    images: bool = False,
    meta: str = "",
) -> tuple[str, str]:
    """The HTML of a page, and the Content-Security-Policy in it: this style sheet, this script and nothing else.

    body: a template from `<body>` on, with `{{js}}` where the script stands. parts: of the template, and the title; as
    HTML. css: what the page has beside the colours (`theme`). connect: what the script may connect to. images: it holds
    images (`image`). meta: further elements of the head.
    """
    css = theme() + css
    allowed = policy(css=css, js=js) + (f"; connect-src {connect}" if connect else "")
    allowed += "; img-src data:" if images else ""
    return _fill(_HEAD + body, {**parts, "policy": allowed, "css": css, "js": js, "meta": meta}), allowed


def image(svg: bytes, *, text: str) -> str:
    """An SVG file as an element of a page; text: what it shows, for those who do not see it, as HTML."""
    return f'<img alt="{text}" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">'


@cache
def theme() -> str:
    """The style sheet of the colours, light and dark, which all pages share."""
    return files("pronmetric.report").joinpath("theme.css").read_text(encoding="utf-8")


@cache
def colour(name: str, *, dark: bool = False) -> str:
    """A colour of the theme by its name there, for files that have no style sheet beside them."""
    found = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\);", theme())
    assert found is not None, f"expected a colour {name} in theme.css"
    return found[2 if dark else 1]


def policy(*, css: str, js: str = "") -> str:
    """A Content-Security-Policy that allows this style sheet, this script and nothing else."""
    return f"{POLICY}; style-src '{_digest(css)}'" + (f"; script-src '{_digest(js)}'" if js else "")


def _digest(text: str) -> str:
    """The hash by which a Content-Security-Policy names an inline style sheet or script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def dump_json(value: Any) -> str:
    """JSON for a script element, with `<` and other characters special to HTML escaped."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_UNSAFE)


def show_controls(text: str) -> str:
    """The text with its control characters, also those of direction, as visible codes; line ends and tabs stay."""
    return _HIDDEN.sub(lambda match: visible(match[0]), text)


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """The template with each `{{name}}` replaced, in one pass, so that the parts are not read as templates."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
