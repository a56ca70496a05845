"""The pages of the board: self-contained HTML files that open from disk, without network access."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from pronmetric.eval.decision import SCORE, SEGMENT_UNITS, SYSTEM_UNITS
from pronmetric.lab.board import examples, limits
from pronmetric.lab.board.examples import DoubtfulPronoun, Segment
from pronmetric.lab.board.figures import ALL, Figures, PairFigures, SystemFigures, rounded
from pronmetric.lab.board.human import Agreement, Human
from pronmetric.lab.board.scored import BoardScores
from pronmetric.lab.human.wmt_scores import is_human
from pronmetric.output.display import visible
from pronmetric.report import embed
from pronmetric.report.page import html_table
from pronmetric.report.tables import Table
from pronmetric.report.verdict import of_pair, of_system
from pronmetric.results.records import ERROR_RATES, Pair, System
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.text.context import COMMON

TITLE = "Which system gets pronouns right?"
SYSTEMS, COMPARE = "systems", "compare"
_DIGITS = 3  # of figures in the data of a page
_NAME = 60  # characters of a name in a file's name
_MARK, _END = 96, 5  # width of the mark of an interval, and its margin; index.js has the same


class Names:
    """File names of the pages: letters, digits and hyphens of the names, made distinct, also where case is ignored."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, *parts: str) -> str:
        """A new file name for a page about `parts`."""
        stem = ".".join(re.sub(r"[^A-Za-z0-9-]+", "_", part)[:_NAME] for part in parts)
        name, number = f"{stem}.html", 2
        while name.casefold() in self._taken:
            name, number = f"{stem}.{number}.html", number + 1
        self._taken.add(name.casefold())
        return name


def index(
    boards: Sequence[Figures],
    human: Human,
    agreement: Agreement,
    *,
    title: str,
    uses: Mapping[str, str],
    links: Mapping[str, tuple[str, Sequence[str]]],
    context_size: int,
    decision: str = SCORE,
) -> str:
    """The first page: all systems, limits, plots, and the choice of two to compare.

    uses: what the checkpoint used a test set for, by id. links: by id of a test set, the page of its comparisons and
    the page of each system. context_size: number of previous sentences in a context. decision: what decides between
    two systems.
    """
    classes = list(dict.fromkeys(name for board in boards for name in board.groups))
    return _page(
        "index",
        {
            "title": _escape(title),
            "limits": limits.section(boards, agreement, uses=uses, context_size=context_size, decision=decision),
            "about": _about(boards),
            "data": embed.dump_json(
                {
                    "classes": list(map(visible, classes)),
                    "sets": [_set(board, uses, links[board.testset.id][0]) for board in boards],
                    "systems": [
                        [number, *row]
                        for number, board in enumerate(boards)
                        for row in _systems(board, classes, human, links[board.testset.id][1])
                    ],
                }
            ),
        },
    )


def _set(board: Figures, uses: Mapping[str, str], page: str) -> dict[str, Any]:
    testset = board.testset
    return {
        "id": visible(testset.id),
        "year": testset.year,
        "lp": visible(testset.lp),
        "use": uses.get(testset.id),
        "page": f"{COMPARE}/{page}",
    }


def _systems(board: Figures, classes: Sequence[str], human: Human, pages: Sequence[str]) -> Iterable[list[Any]]:
    people = human.get(board.testset.id, {})
    for place, (name, page) in enumerate(zip(board.systems, pages, strict=True)):
        figures = [_figures(board.groups[c].systems[place]) if c in board.groups else 0 for c in classes]
        score = people.get(name)
        yield [visible(name), f"{SYSTEMS}/{page}", int(is_human(name)), rounded(score, _DIGITS), figures]


def _figures(figures: SystemFigures) -> list[Any]:
    """Pronouns, score, ends of its interval, cluster, rank range, errors apart; index.js documents the format."""
    ends = figures.interval or (None, None)
    place = (None, None, None) if figures.place is None else tuple(figures.place)
    known = [figures.pronouns, *(rounded(x, _DIGITS) for x in (figures.score, *ends)), *place]
    if figures.missing is None:
        return known
    apart = figures.wrong, figures.missing.value, figures.surplus
    errors = figures.errors, *(figures.errors_interval or (None, None)), *apart
    return [*known, *(rounded(x, _DIGITS) for x in errors)]


def system(
    board: Figures, place: int, worst: Sequence[DoubtfulPronoun], where: Mapping[str, Table], *, compare: str
) -> str:
    """The page of one system; `compare`: the file name of the comparisons of its test set. where: tables of buckets."""
    name, testset = board.systems[place], board.testset
    axis = _axis(figures.systems[place] for figures in board.groups.values())
    rows = "".join(
        f"<tr><th scope=row>{_escape(_class(group))}{_cells(figures.systems[place], axis)}"
        for group, figures in board.groups.items()
        if figures.systems[place].pronouns
    )
    label = '<p class="hint">A human translation, not a system.</p>' if is_human(name) else ""
    label += _apart(visible(name), board.groups[ALL].systems[place])
    return _page(
        "system",
        {
            "title": f"{_escape(name)}, {_escape(testset.id)}",
            "system": _escape(name),
            "testset": _escape(testset.id),
            "label": label,
            "rows": rows,
            "where": "".join(_bucket(kind, table) for kind, table in where.items() if table.rows),
            "compare": escape(f"../{COMPARE}/{compare}"),
            "context": _escape(limits.context(testset)),
            "number": str(len(worst)),
            "worst": "".join(map(_worst, worst)) or "<li>No pronoun was scored.",
            "cut": f"{examples.TEXT} characters before and after the pronoun, {examples.CONTEXT} of the context",
            "signature": _escape(board.signature),
        },
    )


def _bucket(kind: str, table: Table) -> str:
    """A table of buckets, folded but for the first kind."""
    opened = " open" if kind == "forms" else ""
    body = f'{html_table(table)}<p data-downloads="{kind}" data-of="#{kind}"></p>'
    return f'<details id="{kind}"{opened}><summary>{escape(table.title)}</summary>{body}</details>'


def _apart(name: str, figures: SystemFigures) -> str:
    """What the figures of all pronouns say, as HTML; "" where the missing ones are not known."""
    if figures.missing is None or figures.errors is None or figures.wrong is None:
        return ""
    of_each = figures.errors, figures.wrong, figures.missing.value, figures.surplus
    ends = (figures.errors_interval, None, None, None)
    rates = {key: (rate, own) for key, rate, own in zip(ERROR_RATES, of_each, ends, strict=True) if rate is not None}
    record = System(name, figures.score, figures.interval, figures.pronouns, 0, 0, rates=rates)
    return f'<p class="hint">{_escape(of_system(record))}</p>'


def _axis(of: Iterable[SystemFigures]) -> tuple[float, float]:
    """The ends of an axis that holds these scores and their intervals."""
    values = [x for one in of for x in (one.score, *(one.interval or ())) if x is not None]
    return (min(values), max(values)) if values and min(values) < max(values) else (0.0, 100.0)


def _mark(figures: SystemFigures, axis: tuple[float, float]) -> str:
    """The interval of a score as a line with a dot at the score; the figures stand beside it."""
    if figures.score is None or figures.interval is None:
        return ""
    low, at, high = (
        f"{_END + (_MARK - 2 * _END) * (x - axis[0]) / (axis[1] - axis[0]):.1f}"
        for x in (figures.interval[0], figures.score, figures.interval[1])
    )
    return (
        f'<svg class="mark" width="{_MARK}" height="12" aria-hidden="true">'
        f'<line x1="{low}" x2="{high}" y1="6" y2="6"/><circle cx="{at}" cy="6" r="3.5"/></svg>'
    )


def _cells(figures: SystemFigures, axis: tuple[float, float]) -> str:
    place = figures.place
    cells = [
        f"{figures.pronouns:,}",
        _number(figures.score),
        f"{_mark(figures, axis)}{_span(figures.interval)}",
        _number(figures.errors),
        _span(figures.errors_interval),
        "&ndash;" if place is None else str(place.cluster),
        "&ndash;" if place is None else f"{place.best}&ndash;{place.worst}",
    ]
    return "".join(f"<td class=number>{cell}" for cell in cells)


def _worst(pronoun: DoubtfulPronoun) -> str:
    where = f"line {pronoun.segment + 1}" + ("" if pronoun.doc is None else f" of {_escape(pronoun.doc)}")
    context = f'<span class="context">{_text(pronoun.context)}</span> ' if pronoun.context else ""
    return (
        f'<li><p class="where"><b>{pronoun.probability:.3f}</b> <bdi>{_escape(pronoun.pronoun)}</bdi> '
        f"({_escape(_class(pronoun.kind))}), <bdi>{where}</bdi></p>"
        f'<p class="text" dir="auto">{context}{_text(pronoun.before)}<mark>{_text(pronoun.pronoun)}</mark>'
        f"{_text(pronoun.after)}</p>"
        f"{_labelled('source', pronoun.source)}{_labelled('reference', pronoun.reference)}"
    )


def _labelled(name: str, text: str | None) -> str:
    return "" if text is None else f'<p class="text {name}"><span class="tag">{name}</span><bdi>{_text(text)}</bdi></p>'


def compare(board: Figures, scored: BoardScores, listed: Sequence[Segment]) -> str:
    """The page that compares any two systems of a test set."""
    testset = board.testset
    return _page(
        "compare",
        {
            "title": f"Compare two systems, {_escape(testset.id)}",
            "testset": _escape(testset.id),
            "resampled": board.resampled,
            "by": limits.decides(board.by),
            "context": _escape(limits.context(testset)),
            "sides": str(examples.SIDES),
            "cut": f"{examples.TEXT} characters before and after the worst pronoun, {examples.CONTEXT} of the context",
            "signature": _escape(board.signature),
            "data": embed.dump_json(_comparisons(board, scored, listed)),
        },
    )


def _comparisons(board: Figures, scored: BoardScores, listed: Sequence[Segment]) -> dict[str, Any]:
    """The data of compare.js, which documents the format."""
    strings: dict[str, int] = {}
    texts: dict[str, list[Any]] = {}
    named: dict[int, list[Any]] = {}

    def text(segment: int, place: int) -> None:
        key = f"{segment}.{place}"
        if key in texts:
            return
        given = listed[segment]
        context = examples.tail(given.contexts[place], examples.CONTEXT)
        pieces = examples.marked(scored, given.texts[place], place, segment).pieces
        texts[key] = [
            strings.setdefault(embed.show_controls(context), len(strings)),
            [
                embed.show_controls(part) if p is None else [embed.show_controls(part), round(p, 3)]
                for part, p in pieces
            ],
        ]
        source = None if given.source is None else examples.head(given.source, 2 * examples.TEXT)
        named[segment] = [
            None if given.doc is None else visible(given.doc),
            None if source is None else embed.show_controls(source),
        ]

    compared = []
    for (a, b), sides in examples.differing(scored, board.by).items():
        for segment, _ in (*sides[0], *sides[1]):
            text(segment, a)
            text(segment, b)
        rows = [_pair(group.pairs[a, b]) for group in board.groups.values()]
        record = _record(board.verdicts[a, b], board.resampled)
        said = of_pair(record, [visible(board.systems[k]) for k in (a, b)], by=board.by)
        won = [[[segment, rounded(gap, _DIGITS)] for segment, gap in side] for side in sides]
        compared.append([a, b, _pair(board.verdicts[a, b]), rows, *won, said])
    return {
        "doubtful": THRESHOLD,
        "by": board.by,
        "units": [SYSTEM_UNITS[board.by], SEGMENT_UNITS[board.by]],
        "systems": [visible(name) for name in board.systems],
        "classes": list(map(visible, board.groups)),
        "figures": [[_figures(group.systems[k]) for group in board.groups.values()] for k in range(len(board.systems))],
        "pairs": compared,
        "segments": named,
        "texts": texts,
        "contexts": list(strings),
    }


def _pair(pair: PairFigures) -> list[Any]:
    """Difference, ends of its interval, p value, A better, ties, B better."""
    ends = pair.interval or (None, None)
    numbers = [rounded(x, _DIGITS) for x in (pair.difference, *ends)]
    return [*numbers, rounded(pair.p, 4), pair.wins, pair.ties, pair.losses]


def _record(pair: PairFigures, resampled: str) -> Pair:
    """Two systems as a record, for the sentence on them."""
    counts = pair.wins, pair.ties, pair.losses
    return Pair(0, 1, pair.difference, pair.interval, pair.p, None, *counts, resampled=resampled)


def _about(boards: Sequence[Figures]) -> str:
    rows = "".join(
        f"<tr><th scope=row>{_escape(b.testset.id)}<td class=number>{len(b.systems)}<td class=number>{b.segments:,}"
        f"<td>{_escape(_reference(b))}<td>{b.resampled}<td><code><bdi>{_escape(b.signature)}</bdi></code>"
        for b in boards
    )
    head = "".join(
        f"<th scope=col>{h}" for h in ("test set", "systems", "segments", "context", "resampled", "signature")
    )
    return f"<table><caption>Test sets</caption><thead><tr>{head}<tbody>{rows}</table>"


def _reference(board: Figures) -> str:
    return f"reference {board.testset.reference}" if board.testset.context == COMMON else board.testset.context


def _class(group: str) -> str:
    return "all pronouns" if group == ALL else "I" if group == "i" else group


def _number(value: float | None) -> str:
    return "&ndash;" if value is None else f"{value:.2f}"


def _span(ends: tuple[float, float] | None) -> str:
    return "&ndash;" if ends is None else f"{ends[0]:.2f} to {ends[1]:.2f}"


def _page(name: str, parts: Mapping[str, str]) -> str:
    """The page of a template with the style sheet, and the scripts of all pages and of this one."""
    css, js = _file("board.css"), _file("common.js", "pronmetric.report") + _file("downloads.js")
    if name != "system":
        js += _file(f"{name}.js")
    return embed.page(_file(f"{name}.html"), parts, css=css, js=js)[0]


def _text(text: str) -> str:
    return escape(embed.show_controls(text))


def _escape(text: str) -> str:
    """A single line of text, escaped for HTML."""
    return escape(visible(text))


def _file(name: str, room: str = "pronmetric.lab.board") -> str:
    return files(room).joinpath(name).read_text(encoding="utf-8")
