"""A report's tables, as Markdown, tab-separated values and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pronmetric.output.tsv import line
from pronmetric.report.content import NOTHING, Content, Link, confusion
from pronmetric.results import Pronoun, Result
from pronmetric.results.records import RATES

TABLES = ("systems", "pairs", "confusion", "pronouns")

_MARKDOWN = str.maketrans(
    {"|": "\\|", "\n": " ", "\r": " ", "<": "&lt;", ">": "&gt;", "&": "&amp;"} | {c: f"\\{c}" for c in "\\`*_[]#"}
)
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\\": "\\textbackslash{}", "\n": " ", "\r": " "}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)


class Table(NamedTuple):
    """A table of strings; columns from the first numeric one on are right-aligned."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers_from: int = 1


def make(name: str, content: Content) -> Table:
    """One of `TABLES`."""
    if name == "systems":
        return systems(content.result)
    if name == "pairs":
        return pairs(content.result)
    return confusions(content) if name == "confusion" else pronouns(content)


def systems(result: Result) -> Table:
    """Scores and rates with 95 % intervals, and the baseline scores of `score --also`."""
    older = tuple(dict.fromkeys(name for s in result.systems for name in s.also))
    rates = [key for key in RATES if any(s.rates.get(key) is not None for s in result.systems)]
    rows = (
        (
            *(s.name, number(s.score), interval(s.interval), str(s.pronouns), str(s.with_pronoun), str(s.segments)),
            *(cell for key in rates for cell in _rate(s.rates.get(key))),
            *(number(s.also.get(name)) for name in older),
        )
        for s in result.systems
    )
    headings = [cell for key in rates for cell in (key.replace("_", " "), "95 % interval")]
    header = ("system", "score", "95 % interval", "pronouns", "segments with one", "segments", *headings, *older)
    return Table("Systems", header, tuple(rows))


def _rate(rate: tuple[float, tuple[float, float] | None] | None) -> tuple[str, str]:
    return ("-", "-") if rate is None else (number(rate[0]), interval(rate[1]))


def pairs(result: Result) -> Table:
    """Differences between systems and their significance, from `compare`."""
    rows = (
        (
            result.names[p.a],
            result.names[p.b],
            number(p.difference, "+.2f"),
            interval(p.interval, "+.2f"),
            *(number(value, ".4f") for value in (p.p_randomisation, p.p_t)),
            *map(str, (p.wins, p.ties, p.losses)),
        )
        for p in result.pairs
    )
    tests = ("p, approximate randomisation", "p, t test")
    header = ("A", "B", "A - B", "95 % interval", *tests, "A better", "ties", "B better")
    return Table("Pairs of systems", header, tuple(rows), numbers_from=2)


def confusions(content: Content) -> Table:
    """Pronouns of the reference and their counterparts in each system, with counts; equal pronouns are left out."""
    counts = [confusion(content.links or (), system) for system in range(len(content.result.systems))]
    total = {key: sum(count[key] for count in counts) for key in {key for count in counts for key in count}}
    keys = sorted((key for key in total if key[0] != key[1]), key=lambda key: (-total[key], key))
    rows = (((*key, *(str(count[key]) for count in counts))) for key in keys)
    return Table("Confusions", ("reference", "output", *content.result.names), tuple(rows), numbers_from=2)


def pronouns(content: Content) -> Table:
    """The pronouns of the listed segments, one per row, with the reference's pronoun and the model's preferred form."""
    listed = [content.result.segments[place] for place in content.listed]
    sourced = any(p.evidence is not None for segment in listed for output in segment.outputs for p in output.pronouns)
    given = ("source", "log-odds") if sourced else ()
    header = (*("segment", "doc", "system", "pronoun", "start", "score"), *given)
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
                        *(str(segment.number), segment.doc or "", name, p.text, str(p.start), f"{p.score:.4f}"),
                        *(_source(p) if sourced else ()),
                        "" if link is None else link.reference_form,
                        *((best[0][0], f"{best[0][1]:.4f}") if best else ("", "")),
                        output.text,
                    )
                )
    return Table("Pronouns of differing segments", header, tuple(rows), numbers_from=len(header))


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
    """Tables under their headings, then the notes; characters special to Markdown or HTML are escaped."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.translate(_MARKDOWN) for cell in cells)} |"

    parts = []
    for table in tables:
        rule = ["---" if k < table.numbers_from else "---:" for k in range(len(table.header))]
        rows = "\n".join([line(table.header), f"| {' | '.join(rule)} |", *map(line, table.rows)])
        parts.append(f"## {table.title}\n\n{rows}\n")
    if notes:
        parts.append("\n".join(f"- {note.translate(_MARKDOWN)}" for note in notes) + "\n")
    return "\n".join(parts)


def tsv(table: Table) -> str:
    """One table with a header line; cells as in `pronmetric.output.tsv`."""
    return "".join(map(line, (table.header, *table.rows)))


def latex(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """A `tabular` for each table, without packages; notes are comment lines."""

    def line(cells: Sequence[str]) -> str:
        return f"  {' & '.join(cell.translate(_LATEX) for cell in cells)} \\\\\n"

    parts = [f"% {' '.join(note.split())}\n" for note in notes]
    for table in tables:
        columns = "".join("l" if k < table.numbers_from else "r" for k in range(len(table.header)))
        body = line(table.header) + "  \\hline\n" + "".join(map(line, table.rows))
        parts.append(
            f"% {table.title}\n\\begin{{tabular}}{{{columns}}}\n  \\hline\n{body}  \\hline\n\\end{{tabular}}\n"
        )
    return "\n".join(parts)
