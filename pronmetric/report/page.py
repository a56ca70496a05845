"""A self-contained HTML page: no network access, segments are drawn as they scroll into view."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from pronmetric.eval.decision import ERRORS, IN_WORDS, SCORE, SEGMENT_UNITS
from pronmetric.output.display import visible
from pronmetric.pronouns import groups
from pronmetric.pronouns.languages import Language
from pronmetric.report import buckets, embed, tables
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
from pronmetric.report.text import errors_apart
from pronmetric.results import Output, Result, Segment, System
from pronmetric.results.records import ERROR_RATES
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.text.words import Word
from pronmetric.text.words import words as split

KINDS = (SAME, PRONOUN, WORD, NOTHING, ADDED)
LEVELS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # digits of quantised attention weights
PREFERRED = 3
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
_STRIP, _AXIS = 18, 22  # pixels
_LEFT, _WIDTH = 1.5, 96.0  # per cent of the width that the axis takes
_FILE_WIDTH, _ROW, _MARGIN = 640, 40, 16  # pixels
_FILE_STYLE = (
    f"text{{font:13px sans-serif;fill:{embed.colour('ink')}}}"
    f".tick{{font-size:11px;fill:{embed.colour('faint')};text-anchor:middle}}.grid{{stroke:{embed.colour('line')}}}"
    f".interval{{stroke:{embed.colour('link')};stroke-width:2}}.score{{fill:{embed.colour('link')}}}"
)


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
        "chart": chart(result.systems),
        "errors": _errors(result),
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


def _errors(result: Result) -> str:
    """The expected errors of each system, together and apart, as HTML; "" where missing pronouns are not known."""
    lines = []
    for name, system in zip(short(result.names), result.systems, strict=True):
        errors, wrong, missing, surplus = (system.rates.get(key) for key in ERROR_RATES)
        if errors is None or wrong is None or missing is None:
            continue
        ends = errors[1]
        said = errors_apart(errors[0], wrong[0], missing[0], None if surplus is None else surplus[0])
        said += "" if ends is None else ", 95 % {:.2f} to {:.2f}".format(*ends)
        lines.append(f'<li><bdi title="{_escape(system.name)}">{_escape(name)}</bdi>: {escape(said)}')
    return f'<ul class="notes" id="errors">{"".join(lines)}</ul>' if lines else ""


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
    letters = "".join(LEVELS[round(weight / top * (len(LEVELS) - 1))] for weight in weights)
    return [round(top, 4), letters.rstrip("0")]


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
    forms, classes = _Pool(), _Pool()
    for place in content.listed:
        segment, said = result.segments[place], content.views.get(place)
        outputs = [
            _output(
                output,
                result.by,
                strings,
                None if content.links is None else content.links[place][k],
                None if said is None else said[k],
                content.language.words,
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
    output: Output, by: str, strings: _Pool, links: Sequence[Link] | None, said: ModelView | None, split: Split
) -> list[Any]:
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


def chart(systems: Sequence[System]) -> str:
    """One row per system: its name and score in words, a dot at its score, a bar over its interval; the axis below.

    Positions are in per cent of the width, so that the chart adapts to the width of the page.
    """
    ends = [end for s in systems for end in (s.interval or ()) + ((s.score,) if s.score is not None else ())]
    low, high, step = axis(ends)
    ticks = [low + k * step for k in range(round((high - low) / step) + 1)]

    def x(value: float) -> str:
        return f"{_LEFT + _WIDTH * (value - low) / (high - low):.3f}%"

    grid = "".join(f'<line class="grid" x1="{x(t)}" x2="{x(t)}" y1="0" y2="{_STRIP}"/>' for t in ticks)
    rows = []
    for name, system in zip(short([s.name for s in systems]), systems, strict=True):
        y, parts = _STRIP // 2, [grid]
        if system.interval is not None:
            left, right = map(x, system.interval)
            parts.append(f'<line class="interval" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
            parts += [f'<line class="interval" x1="{e}" x2="{e}" y1="{y - 5}" y2="{y + 5}"/>' for e in (left, right)]
        if system.score is not None:
            parts.append(f'<circle class="score" cx="{x(system.score)}" cy="{y}" r="6"/>')
        label = f'<bdi title="{escape(visible(system.name))}">{escape(visible(name))}</bdi>'
        rows.append(f"<p>{label} <span>{escape(value(system))}</span></p>{_svg(_STRIP, parts)}")
    labels = [f'<text class="tick" x="{x(t)}" y="16" text-anchor="middle">{t:g}</text>' for t in ticks]
    label = "; ".join(f"{visible(system.name)}: {value(system)}" for system in systems)
    return f'<div class="chart" role="img" aria-label="{escape(label)}">{"".join(rows)}{_svg(_AXIS, labels)}</div>'


def svg(systems: Sequence[System]) -> str:
    """The chart as a single SVG file, for papers and slides; no library draws it. Rows and axis as in `chart`."""
    ends = [end for s in systems for end in (s.interval or ()) + ((s.score,) if s.score is not None else ())]
    low, high, step = axis(ends)
    bottom = _MARGIN + _ROW * len(systems)

    def x(score: float) -> str:
        return f"{_MARGIN + (_FILE_WIDTH - 2 * _MARGIN) * (score - low) / (high - low):.1f}"

    parts = []
    for k in range(round((high - low) / step) + 1):
        tick = low + k * step
        parts.append(f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="{_MARGIN}" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x(tick)}" y="{bottom + 14}">{tick:g}</text>')
    for row, (name, system) in enumerate(zip(short([s.name for s in systems]), systems, strict=True)):
        top = _MARGIN + _ROW * row
        parts.append(f'<text x="{_MARGIN}" y="{top + 12}">{escape(visible(name))}: {escape(value(system))}</text>')
        if system.interval is not None:
            left, right = map(x, system.interval)
            parts.append(
                f'<path class="interval" d="M{left} {top + 27}H{right}M{left} {top + 22}v10M{right} {top + 22}v10"/>'
            )
        if system.score is not None:
            parts.append(f'<circle class="score" cx="{x(system.score)}" cy="{top + 27}" r="5"/>')
    size = f'width="{_FILE_WIDTH}" height="{bottom + 22}" viewBox="0 0 {_FILE_WIDTH} {bottom + 22}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_FILE_STYLE}</style>{"".join(parts)}</svg>\n'


def value(system: System) -> str:
    """A system's score and interval in words."""
    if system.score is None:
        return "no pronouns"
    return f"{system.score:.2f}" + ("" if system.interval is None else " ({:.2f} to {:.2f})".format(*system.interval))


def _svg(height: int, parts: Sequence[str]) -> str:
    return f'<svg width="100%" height="{height}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'


def axis(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower end, upper end and step of an axis for `values`, in round numbers, with four to ten steps.

    >>> axis([81.2, 93.9]), axis([50.0]), axis([])
    ((80.0, 94.0, 2.0), (49.0, 51.0, 0.2), (0.0, 100.0, 20.0))
    """
    if not values:
        return 0.0, 100.0, 20.0
    low, high = min(values), max(values)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 1, high + 1
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= rough * 0.75)
    return round(math.floor(low / step) * step, 9), round(math.ceil(high / step) * step, 9), round(step, 9)


def short(names: Sequence[str]) -> list[str]:
    """For each name the shortest part of its path that distinguishes it; repeated names are unchanged.

    >>> short(["/runs/a/out.txt", "/runs/b/out.txt"]), short(["runs/a.txt", "b.txt"]), short(["/runs/a.txt"])
    (['a', 'b'], ['a.txt', 'b.txt'], ['a.txt'])
    """
    if len(set(names)) < len(names):
        return list(names)
    paths = [tuple(part for part in re.split(r"[/\\]", name) if part) or (name,) for name in names]
    if len(set(paths)) < len(paths):
        return list(names)
    tails = [_tail(path, [other for other in paths if other is not path]) for path in paths]
    while len(names) > 1 and all(len(tail) > 1 for tail in tails) and len({tail[-1] for tail in tails}) == 1:
        tails = [tail[:-1] for tail in tails]
    return ["/".join(tail) for tail in tails]


def _tail(path: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The shortest unique suffix of a path."""
    sizes = range(1, len(path) + 1)
    return next((path[-k:] for k in sizes if all(other[-k:] != path[-k:] for other in others)), path)
