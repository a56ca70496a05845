"""The tensors of a checkpoint's weight files: checked by their headers, read one by one, and written.

A matrix NAME may be stored as low-bit integers (`low_bit`): NAME then holds them, NAME.scale the scales of their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from pronmetric.checkpoint import low_bit, shards
from pronmetric.checkpoint.locate import CONFIG
from pronmetric.errors import InputError

_SCALE = ".scale"
_SMALLEST = 2**12  # numbers in a matrix that is stored in few bits; less room is not worth the rounding
_BYTE, _PACKED, _HALF = "I8", "U8", "F16"  # types by their names in headers


class Entry(NamedTuple):
    """A stored tensor as the header of its file describes it; `dtype` is safetensors' name of the type."""

    file: Path
    dtype: str
    shape: tuple[int, ...]


def read_headers(files: Sequence[Path]) -> dict[str, Entry]:
    """The tensors in the weight files of a checkpoint (`shards.weight_files`), from the files' headers.

    Raises:
        InputError: a file is broken, or has other tensors than the index says.
    """
    entries: dict[str, Entry] = {}
    for path in files:
        with _broken_in(path), safe_open(path, framework="pt") as file:
            for name in file.keys():
                part = file.get_slice(name)
                if name in entries:
                    raise ValueError(f"the tensor {name} is in {entries[name].file.name} as well")
                entries[name] = Entry(path, part.get_dtype(), tuple(part.get_shape()))
    if files[0].name != shards.WEIGHTS:
        named = shards.read_index(files[0].parent)
        for name in sorted(named.keys() | entries.keys()):
            here = entries[name].file.name if name in entries else None
            if named.get(name) != here:
                why = f"the tensor {name}: expected in {named.get(name, 'no file')}, found in {here or 'no file'}"
                raise broken("weights", files[0].parent / shards.INDEX, ValueError(why))
    return entries


def refuse_other(entries: Mapping[str, Entry], planned: Mapping[str, Tensor], *, file: Path) -> None:
    """Refuse weights that are not those of the architecture: `planned` has its tensors, which may be on "meta".

    Raises:
        InputError: with the file of the tensor, or `file` for one that is missing.
    """
    scales = set()
    for name, tensor in planned.items():
        with _broken_in(entries[name].file if name in entries else file):
            if name not in entries:
                raise ValueError(f"the tensor {name} is missing")
            entry, shape = entries[name], tuple(tensor.shape)
            if _is_low_bit(entry, tensor) and entry.dtype == _PACKED:
                _refuse_other_rows(name, entry, shape)
            elif entry.shape != shape:
                raise ValueError(f"{name}: expected the shape {shape} of {CONFIG}, got {entry.shape}")
            if _is_low_bit(entry, tensor):
                scales.add(name + _SCALE)
                _refuse_other_scales(name, entries, rows=shape[0])
    for name, entry in entries.items():
        if name not in planned and name not in scales:
            raise broken("weights", entry.file, ValueError(f"{CONFIG} has no tensor {name}"))


def _is_low_bit(entry: Entry, tensor: Tensor) -> bool:
    """Whether a matrix of the architecture is stored as low-bit integers."""
    return entry.dtype in (_BYTE, _PACKED) and len(entry.shape) == tensor.dim() == 2 and tensor.is_floating_point()


def _refuse_other_rows(name: str, entry: Entry, shape: tuple[int, ...]) -> None:
    """Refuse packed rows that are not those of a matrix of this shape."""
    rows, width = shape
    try:
        low_bit.bits_of(entry.shape[1], width)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if entry.shape[0] != rows:
        raise ValueError(f"{name}: expected the {rows} rows of {CONFIG}, got {entry.shape[0]}")


def _refuse_other_scales(name: str, entries: Mapping[str, Entry], *, rows: int) -> None:
    """Refuse scales that are not those of the rows of a matrix of low-bit integers."""
    entry, scale = entries[name], entries.get(name + _SCALE)
    if scale is None or scale.file != entry.file:
        raise ValueError(f"the tensor {name + _SCALE} is missing")
    if (scale.dtype, scale.shape) != (_HALF, (rows,)):
        raise ValueError(f"{name + _SCALE}: expected {rows} numbers of type {_HALF}, got {scale.dtype} {scale.shape}")


def load(into: Mapping[str, Tensor], entries: Mapping[str, Entry]) -> None:
    """Copy the stored values into the tensors of an fp32 model, for which `refuse_other` holds.

    Raises:
        InputError: with the file, if a value is not finite or not of the tensor's type.
    """
    for path, names in groupby(sorted(into, key=lambda name: entries[name].file), key=lambda name: entries[name].file):
        with _broken_in(path), safe_open(path, framework="pt") as file:
            for name in names:
                scale = file.get_tensor(name + _SCALE) if _is_low_bit(entries[name], into[name]) else None
                value = _value(file.get_tensor(name), scale, into[name])
                _refuse_value(name, value, into[name])
                into[name].copy_(value)


def _value(stored: Tensor, scale: Tensor | None, like: Tensor) -> Tensor:
    """What a stored tensor stands for: one with a `scale` for each row is a matrix as wide as `like`."""
    if scale is None:
        return stored
    integers = stored.numpy()
    if stored.dtype == torch.uint8:
        integers = low_bit.unpack(integers, width=like.shape[1])
    return torch.from_numpy(low_bit.values(integers, scale.numpy()))


def round_in_place(state: Mapping[str, Tensor], *, bits: int) -> None:
    """Give the tensors of a model the values that they have once stored with so many bits.

    Raises:
        ValueError: as `to_store`.
    """
    stored = to_store(state, half=True, bits=bits)
    for name, tensor in state.items():
        low = stored[name].dtype == torch.int8 and tensor.is_floating_point()
        tensor.copy_(_value(stored[name], stored[name + _SCALE] if low else None, tensor))


def _refuse_value(name: str, value: Tensor, expected: Tensor) -> None:
    if value.is_floating_point() != expected.is_floating_point():
        raise ValueError(f"{name}: expected numbers of type {expected.dtype}, got {value.dtype}")
    if value.is_floating_point() and not value.isfinite().all():
        raise ValueError(f"{name}: expected finite numbers, got {int((~value.isfinite()).sum())} that are not")


def to_store(state: Mapping[str, Tensor], *, half: bool, bits: int | None) -> dict[str, Tensor]:
    """The tensors that are written for those of a model.

    Args:
        state: of the model, by name.
        half: in half precision.
        bits: matrices as integers of at most so many bits, the rest in half precision; None: as `half` says.

    Raises:
        ValueError: a value is not finite as it is stored, or `bits` is no such number.
    """
    kind = torch.float16 if half or bits is not None else torch.float32
    stored: dict[str, Tensor] = {}
    for name, tensor in state.items():
        value = tensor.detach().cpu()
        if bits is not None and value.is_floating_point() and value.dim() == 2 and value.numel() >= _SMALLEST:
            _refuse_value(name, value, value)
            try:
                rounded = low_bit.smallest(value.float().numpy(), bits=bits)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            stored |= {name: torch.from_numpy(rounded.integers), name + _SCALE: torch.from_numpy(rounded.scale)}
        else:
            stored[name] = value.to(kind if value.is_floating_point() else value.dtype).contiguous()
            _refuse_value(name, stored[name], value)
    return stored


def write(folder: Path, stored: Mapping[str, Tensor], *, in_shards: bool) -> None:
    """Write tensors to a checkpoint's folder: one file, or shards of at most `shards.LIMIT` bytes with an index.

    Raises:
        SafetensorError: they cannot be written.
    """
    if not in_shards:
        save_file(dict(stored), folder / shards.WEIGHTS, metadata={"format": "pt"})
        return
    sizes: dict[str, int] = {}
    for name, tensor in stored.items():  # a scale stays with its matrix
        sizes[name.removesuffix(_SCALE)] = sizes.get(name.removesuffix(_SCALE), 0) + tensor.nbytes
    parts = shards.cut(sizes)
    named = {
        shards.shard_name(number, len(parts)): [n for name in part for n in (name, name + _SCALE) if n in stored]
        for number, part in enumerate(parts, start=1)
    }
    for shard, names in named.items():
        save_file({name: stored[name] for name in names}, folder / shard, metadata={"format": "pt"})
    shards.write_index(folder, named, size=sum(sizes.values()))


def broken(part: str, path: Path, error: Exception) -> InputError:
    """The error for a broken `part` of a checkpoint, with its file and the cure."""
    why = repr(error) if isinstance(error, KeyError) else str(error).split("\n")[0]
    return InputError(f"broken checkpoint {part} ({why}); download the checkpoint again", file=path)


@contextmanager
def _broken_in(path: Path) -> Iterator[None]:
    """Errors on reading a weight file, with its name."""
    try:
        yield
    except (SafetensorError, RuntimeError, ValueError, OSError) as error:
        raise broken("weights", path, error) from error
