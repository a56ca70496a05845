"""The alignment table of a bulk run, `table.npz` in its folder: trained on a sample of the rows, or given."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair
from pronmetric.bulk import storage
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import BadRow, Reader
from pronmetric.bulk.storage import Place

FILE = "table.npz"
R = TypeVar("R")


def draw(shards: Sequence[Shard], *, sample: int, seed: int) -> Iterator[tuple[Shard, frozenset[int]]]:
    """A sample of at most `sample` rows of all shards: their numbers in the file, from 1, of each shard that has one.

    All samples are equally probable; they depend on the numbers of rows, `sample` and `seed` alone.
    """
    first = 0
    total = sum(shard.stop - shard.start for shard in shards)
    chosen = np.sort(np.random.default_rng(seed).choice(total, min(sample, total), replace=False, shuffle=False))
    for shard in shards:
        after = first + shard.stop - shard.start
        inside = chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, after)]
        if len(inside):
            yield shard, frozenset((inside - first + shard.start + 1).tolist())
        first = after


def rows(
    reader: Reader[R], drawn: Sequence[tuple[Shard, frozenset[int]]], *, advance: Callable[[int], object]
) -> Iterator[R]:
    """The rows of a sample without the bad ones; `advance` is called with the number of rows that were passed."""
    for shard, only in drawn:
        with closing(reader.read(shard, only=only)) as found:
            yield from (row for row in found if not isinstance(row, BadRow))
        advance(shard.stop - shard.start)


def train(folder: Place, pairs: Sequence[TokenPair], *, advance: Callable[[int], object]) -> None:
    """Train the table of a run; `advance` as in `AgreementAligner.train`."""
    aligner = AgreementAligner()
    aligner.train(pairs, progress=advance)
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / FILE
        aligner.save(path)
        take(folder, path)


def take(folder: Place, path: str | Path) -> None:
    """Copy a table into the folder of a run."""
    with open(path, "rb") as given, storage.atomic(folder / FILE) as file:
        shutil.copyfileobj(given, file)


def load(folder: Place, **settings: Any) -> AgreementAligner:
    """The aligner with the table of a run; `settings` override the stored ones.

    Raises:
        InputError: the table is missing or broken.
    """
    where = folder / FILE
    if storage.is_local(where):
        return AgreementAligner.load(where.path, **settings)
    with TemporaryDirectory() as scratch:
        path = str(Path(scratch) / FILE)
        where.system.get_file(where.path, path)
        return AgreementAligner.load(path, **settings)
