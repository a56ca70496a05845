"""The formats of a report: what each of them shows, and the report in one of them."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.errors import InputError
from pronmetric.report import buckets, page, plots, tables
from pronmetric.report.content import Content
from pronmetric.report.names import short

SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".tsv": "tsv", ".tex": "latex", ".png": "png", ".svg": "svg"}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
TABLES, PLOTS = ("md", "latex", "tsv"), ("png", "svg")
NAMES = tuple(dict.fromkeys([*tables.TABLES, *buckets.TABLES, *plots.PLOTS]))
DEFAULT = {
    "md": ("systems", "pairs", "confusion"),
    "latex": ("systems", "pairs", "confusion"),
    "tsv": ("pronouns",),
    "png": ("systems",),
    "svg": ("systems",),
}
"""The names of tables or plots that a format shows by default."""


def render(
    content: Content, kind: str, names: Sequence[str], *, title: str | None, columns: Sequence[str] | None, file: str
) -> str | bytes:
    """The report in one of `FORMATS`: the web page, some tables, one table (tsv) or one plot.

    names: of the tables or the plot. title: of the web page. columns: of the one table. file: the result, for errors.

    Raises:
        InputError: the tables have no rows, or a column is unknown.
    """
    if kind == "html":
        return page.page(content, title=title or f"Pronouns: {', '.join(short(content.result.names))}")
    if kind in PLOTS:
        return plots.plot(names[0], content, kind=kind)
    named = [(buckets if name in buckets.TABLES else tables).make(name, content) for name in names]
    if columns:
        named = [tables.choose(named[0], columns)]
    if kind == "tsv":
        return tables.tsv(named[0])
    full = [table for table in named if table.rows]
    if not full:
        raise InputError(f"contains nothing to show for {', '.join(names)}", file=file)
    notes = [*content.result.notes, *content.notes, f"signature: {content.result.signature}"]
    return (tables.markdown if kind == "md" else tables.latex)(full, notes)
