"""The plan of a bulk run: which rows of which file are in which shard.

The plan depends on the input files, the signature and the rows of a shard alone, never on workers or time, so that a
run that was stopped goes on with the same shards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pronmetric.bulk import inputs, storage
from pronmetric.bulk.inputs import STEP, InputFile
from pronmetric.bulk.storage import Place
from pronmetric.errors import InputError
from pronmetric.signature import Signature

NAME = "plan.json"
FORMAT = 1
"""Number of our own file format."""
FEWEST, MOST, SHARDS = 4096, 65536, 1024  # rows of a shard by default, and the number of shards aimed at between both


class Shard(NamedTuple):
    """Shard `number` of the plan: rows `start` to `stop` (from 0, half-open) of one file.

    file: its number in the plan. line, position: a line at or before `start`, and its position in the file's unpacked
    bytes; 0 in Parquet.
    """

    number: int
    file: int
    start: int
    stop: int
    line: int
    position: int

    @property
    def name(self) -> str:
        """The name of its output file; names are in the order of the plan."""
        return f"part-{self.number:06d}.parquet"


def default_rows(total: int) -> int:
    """The rows of a shard for so many rows in total.

    >>> [default_rows(total) for total in (10_000, 50_000_000, 10**9)]
    [4096, 48828, 65536]
    """
    return min(MOST, max(FEWEST, total // SHARDS))


def cut(surveyed: Sequence[InputFile], *, rows: int) -> list[Shard]:
    """The shards of all files, in order, of `rows` rows; the last one of a file may be smaller."""
    return [Shard(number, *place) for number, place in enumerate(_ranges(surveyed, rows))]


def _ranges(surveyed: Sequence[InputFile], rows: int) -> Iterator[tuple[int, int, int, int, int]]:
    for number, one in enumerate(surveyed):
        for start in range(0, one.rows, rows):
            known = start // STEP if one.positions else 0
            position = one.positions[known] if one.positions else 0
            yield number, start, min(start + rows, one.rows), known * STEP, position


def record(surveyed: Sequence[InputFile], signature: Signature, *, rows: int) -> dict[str, Any]:
    """What the output depends on, in JSON."""
    files = list(inputs.entries(surveyed))
    return {"format": FORMAT, "signature": str(signature), "rows_of_shard": rows, "inputs": files}


def adopt(folder: Place, mine: Mapping[str, Any]) -> bool:
    """Write the plan into a new or empty folder, or accept the folder of the same plan; True if it was there.

    Raises:
        InputError: the folder has other files, or the plan of another run.
    """
    theirs = storage.read_json(folder / NAME)
    if theirs is None:
        if storage.files(folder):
            raise InputError("has files, but none of a bulk run; give a new folder", file=folder.url)
        storage.write_json(folder / NAME, mine)
        return False
    if (difference := _difference(mine, theirs)) is not None:
        raise InputError(f"holds another run: {difference}; give another folder", file=folder.url)
    return True


def _difference(mine: Mapping[str, Any], theirs: Any) -> str | None:
    """The first difference of two plans; None if they are the same."""
    if mine == theirs:
        return None
    if not isinstance(theirs, dict) or theirs.keys() != mine.keys() or theirs["format"] != mine["format"]:
        return f"{NAME} is of another format"
    if mine["signature"] != theirs["signature"]:
        fields = Signature.parse(mine["signature"]).differences(Signature.parse(theirs["signature"]))
        name, (new, old) = next(iter(fields.items()))
        return f"its signature has {name}:{old}, this one {name}:{new}"
    if mine["rows_of_shard"] != theirs["rows_of_shard"]:
        return f"its shards have {theirs['rows_of_shard']} rows, these {mine['rows_of_shard']} (`shard_rows=`)"
    new, old = mine["inputs"], theirs["inputs"]
    if [one["name"] for one in new] != [one["name"] for one in old]:
        return f"its inputs are {len(old)} files, these {len(new)}, with other names"
    changed = next(one["name"] for one, other in zip(new, old, strict=True) if one != other)
    return f"the input {changed} has changed since"
