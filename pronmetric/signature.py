"""Signatures of scores: ordered fields in one line, like those of sacreBLEU."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

_RESERVED = re.compile(r"[%|\s\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class Signature:
    """Ordered fields with everything that a score depends on; scores with different signatures are not comparable.

    >>> str(Signature.of(model="base", weights="ab12cd34", context="common"))
    'model:base|weights:ab12cd34|context:common'
    """

    fields: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        """Refuse an invalid or repeated field name."""
        names = [name for name, _ in self.fields]
        bad = [name for name in names if not re.fullmatch(r"[a-z_]+", name)]
        if bad or len(set(names)) != len(names):
            raise ValueError(f"expected distinct field names of lower-case letters, got {names}")

    @classmethod
    def of(cls, **fields: object) -> Signature:
        """The signature of these fields, in the order given."""
        return cls(tuple((name, str(value)) for name, value in fields.items()))

    def plus(self, **fields: object) -> Signature:
        """This signature with further fields appended.

        >>> str(Signature.of(model="base").plus(tie=0.01))
        'model:base|tie:0.01'
        """
        return Signature((*self.fields, *Signature.of(**fields).fields))

    @classmethod
    def parse(cls, line: str) -> Signature:
        """Read what `str` wrote.

        Raises:
            ValueError: a field without a colon, or a repeated name.
        """
        fields = []
        for field in line.strip().split("|"):
            name, colon, value = field.partition(":")
            if not colon:
                raise ValueError(f"expected fields name:value between bars, got {field!r} in {line!r}")
            fields.append((name, unquote(value)))
        return cls(tuple(fields))

    def __str__(self) -> str:
        """One line, `name:value` between bars; a bar, a per cent sign or white space inside a value is %-coded."""
        return "|".join(f"{name}:{_RESERVED.sub(_encode, value)}" for name, value in self.fields)

    def __getitem__(self, name: str) -> str:
        """The value of one field."""
        return dict(self.fields)[name]

    def differences(self, other: Signature) -> Mapping[str, tuple[str | None, str | None]]:
        """The fields in which two signatures differ, with both values; empty if their scores are comparable."""
        mine, theirs = dict(self.fields), dict(other.fields)
        names = dict.fromkeys([*mine, *theirs])
        return {n: (mine.get(n), theirs.get(n)) for n in names if mine.get(n) != theirs.get(n)}


def _encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode())
