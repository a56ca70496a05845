"""Columns of values as Python gives them: lists, and those of pandas, NumPy, Arrow, polars and `datasets`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pronmetric.errors import PronmetricError

_LISTED = ("tolist", "to_list", "to_pylist")  # how NumPy and pandas, polars, and Arrow give plain values
_TRANSLATIONS = ("mt", "hypothesis", "target", "translation", "text")
_USUAL = {
    "hypotheses": _TRANSLATIONS,
    "lines": _TRANSLATIONS,
    "references": ("ref", "reference"),
    "reference": ("ref", "reference"),
    "docs": ("doc", "doc_id", "document"),
    "speakers": ("speaker",),
}
"""The usual names of the columns of an argument."""
_ROWS = {"to_dicts": "df.to_dicts()", "to_dict": 'df.to_dict("records")', "to_pylist": "table.to_pylist()"}


def values_of(given: Any, *, name: str) -> list[Any]:
    """The values of a column: a list, tuple or iterator, a Series, an array or a column of a table.

    name: the argument that it is, for errors.

    >>> values_of(("She left.", "It rained."), name="hypotheses")
    ['She left.', 'It rained.']

    Raises:
        PronmetricError: a table, which has several columns; text, or another value that is no column.
    """
    if columns := columns_of(given):
        example = f"df[{_usual(columns, name)!r}]"
        raise PronmetricError(
            f"expected {name} to be one column, got a table with the columns {_listed(columns)}: give "
            f"{name}={f'[{example}]' if name == 'references' else example}"
        )
    if isinstance(given, str | bytes | Mapping | set | frozenset) or not isinstance(given, Iterable):
        raise PronmetricError(f"expected {name} to be a list of values, got {type_of(given)}")
    as_list = next((getattr(given, each) for each in _LISTED if hasattr(given, each)), None)
    found = list(given) if as_list is None else as_list()
    if not isinstance(found, list):  # an array without dimensions
        raise PronmetricError(f"expected {name} to be a list of values, got a single one, {found!r}")
    return found


def check_records(given: Any) -> None:
    """Refuse a table whose rows are no records, with the way to make them.

    Raises:
        PronmetricError: a data frame or a table of Arrow; a dataset, which has its rows as mappings, is none.
    """
    columns = columns_of(given)
    if not columns or (isinstance(given, Iterable) and isinstance(next(iter(given), None), Mapping)):
        return
    rows = next((way for each, way in _ROWS.items() if hasattr(given, each)), "its rows")
    cure = rows if "text" in columns else f"in_context(df[{_usual(columns, 'hypotheses')!r}])"
    raise PronmetricError(f"expected records, got a table with the columns {_listed(columns)}: give {cure}")


def columns_of(given: object) -> list[str]:
    """The names of the columns of a table (pandas, polars, Arrow, `datasets`); none for anything else."""
    for attribute in ("column_names", "columns"):
        names = getattr(given, attribute, None)
        if isinstance(names, Iterable):
            return [str(name) for name in names]
    return []


def type_of(value: object) -> str:
    """The type of a value in words, such as "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _usual(columns: list[str], name: str) -> str:
    """The column that is probably meant by an argument."""
    return next((column for column in _USUAL.get(name, ()) if column in columns), columns[0])


def _listed(columns: list[str]) -> str:
    return ", ".join(map(repr, columns))
