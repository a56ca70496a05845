"""The page on which one looks at translations, and the page that describes the JSON interface; no files beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from pronmetric.checkpoint.config import untrained_note
from pronmetric.checkpoint.people import people_of
from pronmetric.output.display import visible
from pronmetric.report import embed
from pronmetric.report.verdict import of_people
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.serve.service import Service
from pronmetric.text import language_codes
from pronmetric.text.context import NONE

_SCRIPTS = ("text.js", "requests.js", "result.js", "page.js")


def page(service: Service, languages: Sequence[str]) -> tuple[str, str]:
    """The HTML of the page and its Content-Security-Policy; the data of its script are described in page.js.

    languages: those of the checkpoint, among which one chooses if there are several.
    """
    metric = service.metric
    facts = {
        "context": 0 if service.context == NONE else metric.context_size,
        "doubtful": THRESHOLD if metric.probability else None,
        "lang": metric.language.code,
        "sources": metric.with_source is not False,
        "sourcesAffectScores": metric.reads_source,
        "findsMissing": metric.finds_missing,
        "sourceLang": None if metric.source is None else metric.source.language,
    }
    js = _file("common.js", "pronmetric.report") + "".join(map(_file, _SCRIPTS))
    people, untrained = people_of(metric.config), untrained_note(metric.config, metric.name)
    parts = {
        "data": embed.dump_json(facts),
        "choice": _choice(metric.language.code, languages) if len(languages) > 1 else "",
        "model": escape(visible(metric.name)),
        "signature": escape(str(metric.signature(context=service.context))),
        "people": escape(visible(untrained or "") if people is None else of_people(people)),
        "title": "pronmetric: pronouns of a translation",
    }
    return _fill("page.html", js, parts)


def _choice(chosen: str, languages: Sequence[str]) -> str:
    """The element by which one chooses among languages, in the order of their names; the chosen one may be none."""
    names = {code: language_codes.name(code) for code in (*languages, chosen)}
    options = (
        f'<option value="{escape(code)}"{" selected" * (code == chosen)}>{escape(f"{name} ({code})")}</option>'
        for code, name in sorted(names.items(), key=lambda one: one[1])
    )
    return (
        '<p class="choice"><label for="lang">Language of the translation</label> '
        f'<select id="lang" autocomplete="off">{"".join(options)}</select></p>'
    )


def interface_page(schema: Mapping[str, Any], *, address: str) -> tuple[str, str]:
    """The HTML of the description of the interface, made of its OpenAPI schema, and its Content-Security-Policy.

    address: of the server, with a slash at its end, for the examples.
    """
    models = schema["components"]["schemas"]
    sections = []
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            reply = _name(one["responses"]["200"]["content"]["application/json"]["schema"])
            asked = (
                "" if body is None else f"<h3>Request</h3>{_curl(address + path[1:], body)}{_properties(body, models)}"
            )
            statuses = "".join(
                f"<dt><code>{status}</code></dt><dd>{_text(told['description'])}</dd>"
                for status, told in one["responses"].items()
                if status != "200"
            )
            sections.append(
                f'<section id="{path[1:]}"><h2><code>{method.upper()} {path}</code></h2><p>{_text(one["summary"])}</p>'
                f"{asked}<h3>Answer</h3>{_model(models[reply], models)}"
                + (f"<h3>Errors</h3><dl>{statuses}</dl>" if body is not None else "")
                + "</section>"
            )
    parts = {
        "description": _text(schema["info"]["description"]),
        "sections": "\n".join(sections),
        "title": "pronmetric: JSON interface",
    }
    return _fill("interface.html", _file("common.js", "pronmetric.report"), parts)


def _curl(address: str, body: Mapping[str, Any]) -> str:
    example = json.dumps(body["example"], ensure_ascii=False)
    command = f"curl -s {address} -H 'Content-Type: application/json' -d '{example}'"
    return f"<pre><code>{escape(command)}</code></pre>"


def _model(model: Mapping[str, Any], models: Mapping[str, Any]) -> str:
    told = "".join(f"<p>{_text(part)}</p>" for part in model.get("description", "").split("\n\n") if part)
    return f"{told}{_properties(model, models)}"


def _properties(model: Mapping[str, Any], models: Mapping[str, Any]) -> str:
    """The properties of an object with what they hold, and those of the objects inside it below them."""
    rows = []
    for name, one in model.get("properties", {}).items():
        inner = next((kind for kind in one.get("anyOf", ()) if "$ref" in kind or "items" in kind), one)
        inner = inner.get("items", inner)
        inner = models[_name(inner)] if "$ref" in inner else inner
        told = _text(one.get("description", ""))
        below = _model(inner, models) if "properties" in inner else ""
        rows.append(f"<dt><code>{escape(name)}</code> {escape(_kind(one))}</dt><dd>{told}{below}</dd>")
    return f"<dl>{''.join(rows)}</dl>" if rows else ""


def _kind(one: Mapping[str, Any]) -> str:
    """The type of a value in words, such as "array of Scored" or "number or null"."""
    if "anyOf" in one:
        return " or ".join(map(_kind, one["anyOf"]))
    if "$ref" in one:
        return _name(one)
    kind = one.get("type", "any value")
    inner = f" of {_kind(one['items'])}" if one.get("items") else ""
    default = "" if "default" not in one else f", default {json.dumps(one['default'])}"
    return f"{kind}{inner}{default}"


def _name(reference: Mapping[str, str]) -> str:
    """The name of the model to which a schema refers."""
    return reference["$ref"].rpartition("/")[2]


def _text(text: str) -> str:
    """Text of a docstring as HTML, with its code in backquotes as such."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def _fill(template: str, js: str, parts: Mapping[str, str]) -> tuple[str, str]:
    css = _file("page.css", "pronmetric.report") + _file("page.css")
    return embed.page(_file(template), parts, css=css, js=js, connect="'self'")


def _file(name: str, room: str = "pronmetric.serve") -> str:
    return files(room).joinpath(name).read_text(encoding="utf-8")
