"""A report's tables, as Markdown, tab-separated values and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pronmetric.errors import PronmetricError
from pronmetric.eval.decision import SCORE, SYSTEM_UNITS
from pronmetric.output.tsv import line
from pronmetric.report.content import NOTHING, Content, Link, confusion, display_form
from pronmetric.results import Pronoun, Result, Segment
from pronmetric.results.records import RATES, pair_notes, system_notes

TABLES = ("systems", "pairs", "confusion", "pronouns", "gaps")

_MARKDOWN = str.maketrans(
    {"|": "\\|", "\n": " ", "\r": " ", "<": "&lt;", ">": "&gt;", "&": "&amp;"} | {c: f"\\{c}" for c in "\\`*_[]#"}
)
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\\": "\\textbackslash{}", "\n": " ", "\r": " "}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)
_MINUS = re.compile(r"(?<!\w)-(?=\d)")


class Table(NamedTuple):
    """A table of strings; columns from the first numeric one on are right-aligned.

    keys: the names by which columns are chosen; the header if empty. narrow: the keys of the columns that fit a printed
    page; all if empty. best: cells with the best figure of their column, (row, column) from 0. notes: what its reader
    must know.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers_from: int = 1
    keys: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    best: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.keys or self.header


def make(name: str, content: Content) -> Table:
    """One of `TABLES`."""
    if name == "systems":
        return systems(content.result)
    if name == "pairs":
        return pairs(content.result)
    if name == "gaps":
        return gaps(content)
    return confusions(content) if name == "confusion" else pronouns(content)


def choose(table: Table, columns: Sequence[str]) -> Table:
    """The table with these columns, by their names, in this order.

    Raises:
        PronmetricError: it has no such column.
    """
    if missing := [name for name in columns if name not in table.names]:
        raise PronmetricError(
            f"the table of {table.title.lower()} has no column {missing[0]}; it has: {', '.join(table.names)}"
        )
    places = [table.names.index(name) for name in columns]
    return table._replace(
        header=tuple(table.header[k] for k in places),
        rows=tuple(tuple(row[k] for k in places) for row in table.rows),
        numbers_from=next((at for at, k in enumerate(places) if k >= table.numbers_from), len(places)),
        keys=tuple(columns),
        narrow=(),
        best=tuple((row, at) for at, k in enumerate(places) for row, column in table.best if column == k),
    )


def systems(result: Result) -> Table:
    """Scores and rates with 95 % intervals, and the baseline scores of `score --also`."""
    older = tuple(dict.fromkeys(name for s in result.systems for name in s.also))
    rates = [key for key in RATES if any(s.rates.get(key) is not None for s in result.systems)]
    rows = tuple(
        (
            *(s.name, number(s.score), interval(s.interval), str(s.pronouns), str(s.with_pronoun), str(s.segments)),
            *(cell for key in rates for cell in _rate(s.rates.get(key))),
            *(number(s.also.get(name)) for name in older),
        )
        for s in result.systems
    )
    headings = [cell for key in rates for cell in (key.replace("_", " "), "95 % interval")]
    header = ("system", "score", "95 % interval", "pronouns", "segments with one", "segments", *headings, *older)
    first = ("system", "score", "score_interval", "pronouns", "segments_with_pronoun", "segments")
    keys = (*first, *(name for key in rates for name in (key, f"{key}_interval")), *older)
    shown = [key for key in rates if key != "errors_per_1000_words"]
    return Table(
        "Systems",
        header,
        rows,
        keys=keys,
        narrow=("system", "score", "score_interval", "pronouns", *shown, *older),
        best=_best(rows, {keys.index(key): "per_100" in key for key in ("score", *rates, *older)}),
        notes=system_notes(result.systems),
    )


def _rate(rate: tuple[float, tuple[float, float] | None] | None) -> tuple[str, str]:
    return ("-", "-") if rate is None else (number(rate[0]), interval(rate[1]))


def _best(rows: Sequence[Sequence[str]], columns: Mapping[int, bool]) -> tuple[tuple[int, int], ...]:
    """The best cells, as they are printed, of these columns (True: lower is better), where there are several rows."""
    best = set()
    for column, lower in columns.items():
        known = {row: float(cells[column]) for row, cells in enumerate(rows) if cells[column] != "-"}
        if len(known) > 1:
            first = (min if lower else max)(known.values())
            best |= {(row, column) for row, value in known.items() if value == first}
    return tuple(sorted(best))


def pairs(result: Result) -> Table:
    """Differences between systems in the unit of what decides, and their significance, from `compare`."""
    beside = result.by != SCORE  # the difference of the scores stands beside that of what decides
    rows = tuple(
        (
            result.names[p.a],
            result.names[p.b],
            number(p.difference, "+.2f"),
            interval(p.interval, "+.2f"),
            *((number(p.score_difference, "+.2f"),) if beside else ()),
            *(number(value, ".4f") for value in (p.p_randomisation, p.p_t)),
            *map(str, (p.wins, p.ties, p.losses)),
        )
        for p in result.pairs
    )
    tests = ("p, approximate randomisation", "p, t test")
    difference = (f"A - B ({SYSTEM_UNITS[result.by]})", "95 % interval")
    scores = (f"A - B (score, {SYSTEM_UNITS[SCORE]})",) if beside else ()
    return Table(
        "Pairs of systems",
        ("A", "B", *difference, *scores, *tests, "A better", "ties", "B better"),
        rows,
        numbers_from=2,
        keys=(
            *("a", "b", "difference", "interval"),
            *(("score_difference",) if beside else ()),
            *("p_randomisation", "p_t", "wins", "ties", "losses"),
        ),
        notes=pair_notes(result.pairs),
        narrow=(
            *("a", "b", "difference", "interval"),
            *(("score_difference",) if beside else ()),
            *("p_randomisation", "wins", "ties", "losses"),
        ),
    )


def confusions(content: Content) -> Table:
    """Pronouns of the reference and their counterparts in each system, with counts; equal pronouns are left out."""
    counts = [confusion(content.links or (), system) for system in range(len(content.result.systems))]
    total = {key: sum(count[key] for count in counts) for key in {key for count in counts for key in count}}
    keys = sorted((key for key in total if key[0] != key[1]), key=lambda key: (-total[key], key))
    rows = ((*map(display_form, key), *(str(count[key]) for count in counts)) for key in keys)
    return Table("Confusions", ("reference", "output", *content.result.names), tuple(rows), numbers_from=2)


def pronouns(content: Content) -> Table:
    """The pronouns of the listed segments, one per row, with the reference's pronoun and the model's preferred form."""
    listed = [content.result.segments[place] for place in content.listed]
    sourced = any(p.evidence is not None for segment in listed for output in segment.outputs for p in output.pronouns)
    given = ("source", "log-odds") if sourced else ()
    placed = _placed(listed)
    header = (*("segment", "doc", *placed, "system", "pronoun", "start", "score"), *given)
    header = (*header, "reference", "preferred", "its score", "text")
    rows = []
    for place in content.listed:
        segment = content.result.segments[place]
        for at, (name, output) in enumerate(zip(content.result.names, segment.outputs, strict=True)):
            words = {word.start: k for k, word in enumerate(content.language.words(output.text))}
            of = links_by_word(content, place, at)
            said = content.views.get(place)
            for k, p in enumerate(output.pronouns):
                link = of.get(words[p.start])
                best = (said[at].others[k] or ())[:1] if said is not None else ()
                rows.append(
                    (
                        *(str(segment.number), segment.doc or "", *(output.place or "" for _ in placed), name),
                        *(p.text, str(p.start), f"{p.score:.4f}"),
                        *(_source(p) if sourced else ()),
                        "" if link is None else link.reference_form,
                        *((best[0][0], f"{best[0][1]:.4f}") if best else ("", "")),
                        output.text,
                    )
                )
    return Table("Pronouns of differing segments", header, tuple(rows), numbers_from=len(header))


def gaps(content: Content) -> Table:
    """The places of the listed segments where a pronoun is likely missing, one per row, with the likeliest form."""
    placed = _placed([content.result.segments[place] for place in content.listed])
    header = ("segment", "doc", *placed, "system", "form", "start", "probability", "text")
    rows = []
    for place in content.listed:
        segment = content.result.segments[place]
        for name, output in zip(content.result.names, segment.outputs, strict=True):
            head = (str(segment.number), segment.doc or "", *(output.place or "" for _ in placed), name)
            rows += [(*head, g.form, str(g.start), f"{g.probability:.4f}", output.text) for g in output.gaps]
    return Table("Missing pronouns of differing segments", header, tuple(rows), numbers_from=len(header))


def _placed(segments: Iterable[Segment]) -> tuple[str, ...]:
    """The column of the places of texts in their files; none where no file says it."""
    known = any(output.place is not None for segment in segments for output in segment.outputs)
    return ("place",) if known else ()


def _source(p: Pronoun) -> tuple[str, str]:
    """The source word that supports or contradicts a pronoun most, and the log-odds."""
    return ("", "") if p.evidence is None else (p.evidence[1], f"{p.evidence[0]:+.2f}")


def links_by_word(content: Content, place: int, system: int) -> dict[int, Link]:
    """The links of one output by the index of their word."""
    if content.links is None:
        return {}
    return {link.word: link for link in content.links[place][system] if link.kind != NOTHING}


def number(value: float | None, form: str = ".2f") -> str:
    """A figure, or "-" if missing."""
    return "-" if value is None else f"{value:{form}}"


def interval(ends: tuple[float, float] | None, form: str = ".2f") -> str:
    """An interval, or "-" if missing."""
    return "-" if ends is None else f"{ends[0]:{form}} to {ends[1]:{form}}"


def markdown(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Tables under their headings, each with its notes, then other notes; what is special to Markdown is escaped."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.translate(_MARKDOWN) for cell in cells)} |"

    def listed(notes: Sequence[str]) -> str:
        return "\n".join(f"- {note.translate(_MARKDOWN)}" for note in notes) + "\n"

    parts = []
    for table in tables:
        rule = ["---" if k < table.numbers_from else "---:" for k in range(len(table.header))]
        rows = "\n".join([line(table.header), f"| {' | '.join(rule)} |", *map(line, table.rows)])
        parts.append(f"## {table.title}\n\n{rows}\n")
        if table.notes:
            parts.append(listed(table.notes))
    if others := _others(notes, tables):
        parts.append(listed(others))
    return "\n".join(parts)


def _others(notes: Sequence[str], tables: Sequence[Table]) -> list[str]:
    """The notes that no table has."""
    return [note for note in notes if not any(note in table.notes for table in tables)]


def tsv(table: Table) -> str:
    """One table with a header line; cells as in `pronmetric.output.tsv`."""
    return "".join(map(line, (table.header, *table.rows)))


def latex(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """A `table` with a caption for each, for the package booktabs; the best figures are bold, notes are comments.

    Of a wide table the columns that fit a page are printed; a comment names the others.
    """
    parts = [f"% {' '.join(note.split())}\n" for note in ["\\usepackage{booktabs}", *_others(notes, tables)]]
    for table in tables:
        left = [name for name in table.names if table.narrow and name not in table.narrow]
        parts.append(_latex_table(choose(table, table.narrow) if left else table, left))
    return "\n".join(parts)


def _latex_table(table: Table, left: Sequence[str]) -> str:
    def cell(row: int, column: int, text: str) -> str:
        written = text.translate(_LATEX)
        if column >= table.numbers_from:
            written = "--" if text == "-" else _MINUS.sub("$-$", written)
        return f"\\textbf{{{written}}}" if (row, column) in table.best else written

    def line(row: int, cells: Sequence[str]) -> str:
        return f"    {' & '.join(cell(row, column, text) for column, text in enumerate(cells))} \\\\\n"

    sentences = [table.title, *(note[:1].upper() + note[1:] for note in table.notes)]
    if table.best:
        sentences.append("The best figure of a column is bold")
    caption = " ".join(f"{sentence}." for sentence in sentences).translate(_LATEX)
    label = re.sub("[^a-z0-9]+", "-", table.title.lower()).strip("-")
    columns = "".join("l" if k < table.numbers_from else "r" for k in range(len(table.header)))
    return (
        (f"% columns left out, which can be chosen by name: {' '.join(left)}\n" if left else "")
        + f"\\begin{{table}}\n  \\centering\n  \\caption{{{caption}}}\n  \\label{{tab:{label}}}\n"
        f"  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n{line(-1, table.header)}    \\midrule\n"
        f"{''.join(line(number, row) for number, row in enumerate(table.rows))}"
        "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
    )
