"""The columns that a bulk run reads, and what Parquet files must hold in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pronmetric.errors import InputError

if TYPE_CHECKING:
    import pyarrow


class Kind(NamedTuple):
    """What a column holds, as in errors, and whether a type fits."""

    expected: str
    fits: Callable[[pyarrow.DataType], bool]


class Columns(NamedTuple):
    """The columns that are read, by name, and those that a file must have."""

    kinds: Mapping[str, Kind]
    required: tuple[str, ...]

    def check(self, schema: pyarrow.Schema, *, file: str) -> None:
        """Check the columns of a Parquet file.

        Raises:
            InputError: a column is missing, is there twice, or has another type.
        """
        for name in self.required:
            if name not in schema.names:
                raise InputError(f"the column {name!r} is missing; the file has {schema.names}", file=file)
        for name, kind in self.kinds.items():
            if (times := schema.names.count(name)) > 1:
                raise InputError(f"{times} columns are named {name!r}: rename or drop all but one", file=file)
            if name in schema.names and not kind.fits(schema.field(name).type):
                found = schema.field(name).type
                raise InputError(f"expected the column {name!r} to hold {kind.expected}, got {found}", file=file)


def _is_string(kind: pyarrow.DataType) -> bool:
    import pyarrow.types as types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind))


def _is_string_list(kind: pyarrow.DataType) -> bool:
    import pyarrow.types as types

    lists = types.is_list(kind) or types.is_large_list(kind)
    return bool(types.is_null(kind) or (lists and _is_string(kind.value_type)))


def _is_id(kind: pyarrow.DataType) -> bool:
    import pyarrow.types as types

    return bool(_is_string(kind) or types.is_integer(kind))


STRINGS = Kind("strings", _is_string)
STRING_LISTS = Kind("lists of strings", _is_string_list)
IDS = Kind("strings or integers", _is_id)
