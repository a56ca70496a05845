"""A self-contained HTML page: no network access, segments are drawn as they scroll into view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from pronmetric.eval.decision import ERRORS, IN_WORDS, SCORE, SEGMENT_UNITS
from pronmetric.output.display import visible
from pronmetric.pronouns import groups
from pronmetric.pronouns.languages import Language
from pronmetric.report import buckets, embed, tables, worst
from pronmetric.report.attended import most_attended, shown_genders
from pronmetric.report.chart import chart, svg
from pronmetric.report.content import (
    ADDED,
    NOTHING,
    PRONOUN,
    SAME,
    WORD,
    Content,
    Link,
    ModelView,
    best,
    confusion,
    gap,
)
from pronmetric.report.names import short
from pronmetric.report.verdict import COMPARE, of_result
from pronmetric.results import Output, Result, Segment
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.text.words import Word
from pronmetric.text.words import words as split

KINDS = (SAME, PRONOUN, WORD, NOTHING, ADDED)
LEVELS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # digits of quantised attention weights
PREFERRED = 3
"""Forms shown for a pronoun, the most probable first."""
_TABLES = """<body>
<main>
<h1>{{title}}</h1>
{{plot}}{{tables}}<ul class="notes">{{notes}}</ul>
</main>
</body>
</html>
"""
_UNFOLDED = 15  # pairs of systems whose table is not folded: those of six systems
Split = Callable[[str], Sequence[Word]]


def page(content: Content, *, title: str) -> str:
    """The page's HTML.

    Text from the data is escaped: in the head and the tables as HTML; the script inserts strings of the embedded JSON
    as text, so that mark-up in them is never interpreted.
    """
    result = content.result
    css, js = _file("page.css"), _file("common.js") + _file("page.js")
    made = {"systems": tables.systems(result), "pairs": tables.pairs(result)}
    made |= {name: buckets.make(name, content) for name in buckets.TABLES}
    names = dict(zip(result.names, short(result.names), strict=True))
    whole = [f"{label} is {name}" for name, label in names.items() if label != name]
    parts = {
        "title": _escape(title),
        "verdict": _verdict(result),
        "worst": worst.html(content, short(result.names)),
        "chart": chart(result.systems) if len(result.systems) > 1 else "",
        "decision": _decision(result),
        "systems": html_table(made["systems"], names),
        "pairs": _pairs(made["pairs"], names),
        "buckets": "".join(_bucket(name, made[name], names) for name in buckets.TABLES),
        "notes": "".join(f"<li>{_escape(note)}</li>" for note in [*whole, *result.notes, *content.notes]),
        "signature": _escape(result.signature),
        "data": embed.dump_json({**_data(content), "files": _files(made, content)}),
    }
    return embed.page(_file("page.html"), parts, css=css, js=js)[0]


def _files(made: Mapping[str, tables.Table], content: Content) -> dict[str, dict[str, str]]:
    """What can be downloaded: each table as TSV and LaTeX, and the chart as SVG."""
    notes = [f"signature: {content.result.signature}"]
    files = {
        name: {"tsv": tables.tsv(table), "tex": tables.latex([table], notes)}
        for name, table in made.items()
        if table.rows
    } | {"chart": {"svg": svg(content.result.systems)}}
    return {name: {kind: embed.show_controls(text) for kind, text in each.items()} for name, each in files.items()}


def _bucket(name: str, table: tables.Table, names: Mapping[str, str]) -> str:
    """A table of buckets, folded but for the first; "" if it is empty."""
    if not table.rows:
        return ""
    opened = " open" if name == "forms" else ""
    body = f'{html_table(table, names)}<p class="downloads" data-files="{name}"></p>'
    return f'<details id="{name}"{opened}><summary>{escape(table.title)}</summary>{body}</details>'


def _decision(result: Result) -> str:
    """How a segment's better system is decided, as HTML; "" for one system."""
    if len(result.systems) < 2:
        return ""
    value = "the score" if result.by == SCORE and not result.probability else IN_WORDS[result.by]
    return (
        f'<p class="hint" id="decision">Which system is better in a segment is decided by {value}; '
        f"up to {result.tie:g} apart is a tie.</p>"
    )


def _verdict(result: Result) -> str:
    """What the result says, as HTML: the verdict, then a line for each system."""
    first, *others = of_result(result, short(result.names))
    listed = "".join(f"<li>{_escape(said)}</li>" for said in others)
    told = _escape(first).replace(f"`{COMPARE}`", f"<code>{COMPARE}</code>")
    return f'<p class="verdict">{told}</p>' + (f'<ul class="notes" id="errors">{listed}</ul>' if listed else "")


def tables_page(
    shown: Sequence[tables.Table], notes: Sequence[str], *, title: str, plot: tuple[bytes, str] | None = None
) -> str:
    """A page with only tables, without a script; plot: an SVG file above them, and what it shows."""
    parts = {
        "plot": "" if plot is None else f"<p>{embed.image(plot[0], text=_escape(plot[1]))}</p>\n",
        "title": _escape(title),
        "tables": "".join(f"<section><h2>{escape(one.title)}</h2>{html_table(one)}</section>\n" for one in shown),
        "notes": "".join(f"<li>{_escape(note)}</li>" for note in notes),
    }
    return embed.page(_TABLES, parts, css=_file("page.css"), images=plot is not None)[0]


def pieces(text: str, split: Split = split) -> list[str]:
    """A text split into words by `split`, each with the white space before it; the last piece follows the last word.

    >>> pieces(" She left. ")
    [' She', ' left', '.', ' ']
    """
    ends = [0, *(word.end for word in split(text))]
    return [text[start:end] for start, end in zip(ends, [*ends[1:], len(text)], strict=True)]


def pack_weights(weights: Sequence[float]) -> list[Any]:
    """Compact weights: the largest, and for each weight a letter of `LEVELS` relative to it; trailing zeros are cut.

    >>> pack_weights([0.0, 0.25, 0.5, 0.0])
    [0.5, '0uZ']
    """
    top = max(weights, default=0.0)
    if top <= 0:
        return [0, ""]
    return [round(top, 4), "".join(LEVELS[level] for level in _levels(weights)).rstrip("0")]


def _levels(weights: Sequence[float]) -> list[int]:
    """The places in `LEVELS` of weights relative to the largest."""
    top = max(weights, default=0.0) or 1.0
    return [round(weight / top * (len(LEVELS) - 1)) for weight in weights]


class _Pool:
    """Distinct strings with their indices."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str | None) -> int:
        return -1 if text is None else self.numbers.setdefault(text, len(self.numbers))


def _data(content: Content) -> dict[str, Any]:
    """The data of the script; page.js documents the format."""
    result, strings, docs = content.result, _Pool(), _Pool()
    segments, filtered = [], []
    forms, classes, genders = _Pool(), _Pool(), _Pool()
    for place in content.listed:
        segment, said = result.segments[place], content.views.get(place)
        outputs = [
            _output(
                output,
                content,
                strings,
                genders,
                None if content.links is None else content.links[place][k],
                None if said is None else said[k],
            )
            for k, output in enumerate(segment.outputs)
        ]
        filtered.append([_kinds(output, content.language, forms, classes) for output in segment.outputs])
        given = docs(segment.doc), strings(segment.source), strings(segment.reference)
        segments.append([segment.number, *given, outputs, best(segment), round(gap(segment), 4), *_places(segment)])
    scores = [p.score for segment in result.segments for output in segment.outputs for p in output.pronouns]
    low, high = (0.0, 1.0) if result.probability or not scores else (min(scores), max(scores))
    return {
        "systems": [
            [visible(label), visible(name)] for label, name in zip(short(result.names), result.names, strict=True)
        ],
        "probability": result.probability,
        "range": [low, high],
        "doubtful": THRESHOLD if result.probability else None,
        "by": result.by,
        "unit": SEGMENT_UNITS[result.by],
        "lang": content.language.code,
        "sourceLang": result.source_language,
        "total": len(result.segments),
        "differing": content.differing,
        "kinds": KINDS,
        "levels": LEVELS,
        "docs": [visible(doc) for doc in docs.numbers],
        "strings": [
            [embed.show_controls(piece) for piece in pieces(text, content.language.words)] for text in strings.numbers
        ],
        "segments": segments,
        "forms": list(forms.numbers),
        "classes": list(classes.numbers),
        "genders": list(genders.numbers),
        "filtered": filtered,
        "confusion": None if content.links is None else [_matrix(content, k) for k in range(len(result.systems))],
    }


def _places(segment: Segment) -> list[list[str | None]]:
    """Where the outputs of a segment stand in their files; nothing where none says it."""
    places = [None if output.place is None else visible(output.place) for output in segment.outputs]
    return [places] if any(places) else []


def _kinds(output: Output, language: Language, forms: _Pool, classes: _Pool) -> list[int]:
    """The form and the class of each pronoun of an output, one after the other."""
    found = groups.classify(language, output.text, [p.start for p in output.pronouns])
    pairs = zip(output.pronouns, found, strict=True)
    return [number for p, kind in pairs for number in (forms(p.text.lower()), classes(kind))]


def _output(
    output: Output,
    content: Content,
    strings: _Pool,
    genders: _Pool,
    links: Sequence[Link] | None,
    said: ModelView | None,
) -> list[Any]:
    split, by = content.language.words, content.result.by
    words = {word.start: k for k, word in enumerate(split(output.text))} if output.pronouns or output.gaps else {}
    pronouns: list[list[Any]] = []
    for k, p in enumerate(output.pronouns):
        row: list[Any] = [words[p.start], round(p.score, 4)]
        if said is not None:
            row.append(0 if said.attention is None else pack_weights(said.attention[k]))
            others = said.others[k]
            row.append(None if others is None else [[form, round(score, 4)] for form, score in others[:PREFERRED]])
        if p.evidence is not None:
            row += [None] * (4 - len(row))
            row.append([p.evidence[1], round(p.evidence[0], 2), p.evidence[2]])
        if p.surplus is not None:
            row += [None] * (5 - len(row))
            row.append(round(p.surplus, 4))
        if said is not None and said.attention is not None:
            shown = _genders(content, output, p.text, said.attention[k], genders)
            row += [*[None] * (6 - len(row)), shown] if shown else []
        pronouns.append(row)
    score = None if output.score is None else round(output.score, 4)
    marks = [[KINDS.index(link.kind), *link[1:]] for link in links or ()]
    decides = None if by == SCORE else output.errors if by == ERRORS else output.preference
    decided = None if decides is None else round(decides, 4)
    apart: list[Any] = []
    if output.missing is not None:
        gaps = [[words[gap.start], gap.form, round(gap.probability, 4)] for gap in output.gaps]
        numbers = output.wrong, output.missing, output.surplus
        apart = [[None if each is None else round(each, 4) for each in numbers], gaps]
    return [
        strings(output.context),
        strings(output.text),
        score,
        pronouns,
        marks,
        *([] if by == SCORE and not apart else [decided]),
        *apart,
    ]


def _genders(content: Content, output: Output, pronoun: str, attention: Sequence[float], genders: _Pool) -> list[int]:
    """The gender of a pronoun, then the place and the gender of each word that is listed with it; [] without one."""
    if content.genders is None:
        return []
    words = [word.text for text in (output.context, output.text) for word in content.language.words(text)]
    listed = most_attended(words, _levels(attention))
    own, of_words = shown_genders(content.genders, pronoun, words, listed)
    rest = [number for place, gender in of_words.items() for number in (place, genders(gender))]
    return [] if own is None else [genders(own), *rest]


def _matrix(content: Content, system: int) -> dict[str, dict[str, int]]:
    """Counts by row and column of one system's confusion matrix."""
    matrix: dict[str, dict[str, int]] = {}
    for (row, column), count in confusion(content.links or (), system).items():
        matrix.setdefault(row, {})[column] = count
    return matrix


def _pairs(table: tables.Table, names: Mapping[str, str]) -> str:
    """The table of pairs under its heading; a long one is folded."""
    heading = f"<h3>{escape(table.title)}</h3>"
    if len(table.rows) > _UNFOLDED:
        return f"{heading}<details><summary>{len(table.rows)} pairs</summary>{html_table(table, names)}</details>"
    return f"{heading}{html_table(table, names)}" if table.rows else ""


def html_table(table: tables.Table, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """A table that scrolls horizontally if too wide, and its notes; `names`: the displayed names of systems."""

    def cell(place: int, k: int, text: str, tag: str) -> str:
        kinds = ["number"] * (k >= table.numbers_from) + ["best"] * ((place, k) in table.best)
        opened = f"{'th' if k == 0 else tag}" + (f' class="{" ".join(kinds)}"' if kinds else "")
        if k < table.numbers_from and text in names:
            return f'<{opened}><bdi title="{_escape(text)}">{_escape(names[text])}</bdi>'
        return f"<{opened}>{_escape(text)}"

    def row(place: int, cells: Iterable[str], tag: str) -> str:
        return f"<tr>{''.join(cell(place, k, text, tag) for k, text in enumerate(cells))}"

    body = "".join(row(place, cells, "td") for place, cells in enumerate(table.rows))
    notes = "".join(f'<p class="hint">{_escape(note[:1].upper() + note[1:])}.</p>' for note in table.notes)
    label = f'tabindex="0" role="region" aria-label="{escape(table.title)}"'
    return f'<div class="wide" {label}><table><thead>{row(-1, table.header, "th")}<tbody>{body}</table></div>{notes}'


def _escape(text: str) -> str:
    """A single line of text, escaped for HTML."""
    return escape(visible(text))


def _file(name: str) -> str:
    return files("pronmetric.report").joinpath(name).read_text(encoding="utf-8")
