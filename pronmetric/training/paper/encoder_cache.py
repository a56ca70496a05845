"""Cache of a frozen encoder's piece states, in fp16 in a folder.

A folder belongs to the weights of one encoder; the key of a row is a hash of its piece ids
(`pronmetric.nn.stored.key`), which depend on context and text. Rows are only appended, with their positions last: the
next process overwrites an incomplete row of a killed one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import nn

from pronmetric.data.collate import Collator, Encoded, Example, cut_batches
from pronmetric.nn.encoder import Encoder
from pronmetric.nn.stored import StoredEncoder, key, read
from pronmetric.output.progress import progress as report

PIECES = 8192  # of a batch, padding included
_TEXTS = 4096  # texts sorted by length at a time
_PLACE = np.dtype([("key", "S32"), ("begin", "<i8"), ("end", "<i8")])


class States(Mapping[bytes, np.ndarray]):
    """The states of rows (pieces, width), read from `folder`/states by their positions in `folder`/places."""

    def __init__(self, folder: Path, width: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.width = folder, width
        self._places: dict[bytes, tuple[int, int]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the rows that this process or another added since."""
        path = self.folder / "places"
        size = path.stat().st_size // _PLACE.itemsize if path.exists() else 0
        places = np.fromfile(path, _PLACE, count=size).tolist() if size else []
        self._places = {name: (begin, end) for name, begin, end in places}
        self._end = places[-1][2] if places else 0
        shape = (self._end, self.width)
        file = self.folder / "states"
        self._values = np.memmap(file, np.float16, "r", shape=shape) if self._end else np.zeros(shape, np.float16)

    def __getitem__(self, name: bytes) -> np.ndarray:
        """The states of one row."""
        begin, end = self._places[name]
        return self._values[begin:end]

    def __iter__(self) -> Iterator[bytes]:
        """The keys, in the order of insertion."""
        return iter(self._places)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._places)

    @contextmanager
    def adding(self) -> Iterator[None]:
        """Lock the folder against other processes that add rows; rows added by them are read first."""
        import fcntl

        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refresh()
            yield
            self.refresh()

    def add(self, names: Sequence[bytes], rows: Sequence[np.ndarray]) -> None:
        """Write these rows; they can be read after `adding` ends."""
        ends = self._end + np.cumsum([len(row) for row in rows])
        begins = np.concatenate([[self._end], ends[:-1]])
        values, places = self.folder / "states", self.folder / "places"
        _append(values, np.concatenate(rows).astype(np.float16), at=self._end * self.width)
        whole = places.stat().st_size // _PLACE.itemsize if places.exists() else 0
        _append(places, np.array(list(zip(names, begins, ends, strict=True)), _PLACE), at=whole)
        self._end = int(ends[-1])


def _append(path: Path, items: np.ndarray, *, at: int) -> None:
    """Write items from index `at` on, overwriting what a killed process may have left."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.seek(at * items.itemsize)
        file.write(items.tobytes())
        file.truncate()


def cached_encoder(encoder: Encoder, root: Path) -> tuple[StoredEncoder, States]:
    """`encoder` with the cache for its weights below `root`; `fill` adds to the cache."""
    states = States(root / weights_hash(encoder), encoder.width)
    return StoredEncoder(encoder, states), states


def weights_hash(encoder: Encoder) -> str:
    """A digest of the encoder's weights."""
    assert isinstance(encoder, nn.Module)
    digest = blake2b(digest_size=8)
    for name, tensor in sorted(encoder.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def fill(
    states: States, encoder: Encoder, collator: Collator, texts: Iterable[Example], *, progress: bool = False
) -> int:
    """Compute and store the missing states of the rows of `texts`; returns their number."""
    added = 0
    shown = report(texts, label="encoder states", total=None, unit="texts") if progress else texts
    source = iter(shown)
    with states.adding():
        known = set(states)
        while part := list(islice(source, _TEXTS)):
            new = {key(row.ids): row for row in collator.encode(part)}
            new = {name: row for name, row in new.items() if name not in known}
            for rows in cut_batches(list(new.values()), pieces=PIECES):
                states.add([key(row.ids) for row in rows], _read(encoder, collator, rows))
            known.update(new)
            added += len(new)
    return added


def _read(encoder: Encoder, collator: Collator, rows: Sequence[Encoded]) -> list[np.ndarray]:
    assert isinstance(encoder, nn.Module)
    batch = collator.pad(rows).to(next(encoder.parameters()).device)
    computed = read(encoder, batch.ids, batch.piece_mask).to(torch.float16).cpu().numpy()
    return [states[: len(row.ids)] for states, row in zip(computed, rows, strict=True)]
