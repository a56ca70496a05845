"""Matrices as integers of 6, 7 or 8 bits with a scale for each row.

A value is its integer times the scale of its row, so it is off by at most half a scale. The scale is the greatest
magnitude of the row divided by 2**(bits - 1) - 1, rounded up to half precision. Integer times scale is exact in fp32,
and thus the same on every machine.

Each integer is stored in a byte, also one of 6 or 7 bits: that compresses better, in a wheel and in git, than integers
without gaps. Earlier checkpoints hold those, packed: an integer has 2**(bits - 1) added, and eight of them take `bits`
bytes; read as a little-endian number, these hold the first one in the lowest bits. A row is filled up to a multiple of
eight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronmetric.checkpoint.shards import BITS

_GROUP = 8  # integers that are packed together
_EQUAL = 0.001  # relative error: half precision has some 0.0003, 8 bits some 0.007


class LowBit(NamedTuple):
    """A matrix: `integers` int8 (rows, width), `scale` float16 (rows,)."""

    integers: NDArray[np.int8]
    scale: NDArray[np.float16]


def rounded(matrix: NDArray[np.float32], *, bits: int) -> LowBit:
    """The matrix (rows, width) as integers of `bits` bits; `values` gives it back to within half a scale.

    Raises:
        ValueError: a row is too large for a scale in half precision, or not finite.
    """
    if bits not in BITS:
        raise ValueError(f"expected {_named()} bits, got {bits}")
    most = 2 ** (bits - 1) - 1
    scale = _rounded_up(np.abs(matrix).max(axis=1, initial=0) / np.float32(most))
    if not np.isfinite(scale).all():
        raise ValueError(f"expected numbers below {65504 * most:,}, the largest that {bits} bits and a scale hold")
    divisor = np.where(scale > 0, scale, 1).astype(np.float32)
    return LowBit(np.rint(matrix / divisor[:, None]).astype(np.int8), scale)


def smallest(matrix: NDArray[np.float32], *, bits: int) -> LowBit:
    """The matrix as integers of at most `bits` bits: of the fewest that hold it to within 0.1 %, else of `bits`.

    The layers that were frozen in a training from rounded weights are still on the grid of their bits: rounding these
    once more would only take room.

    Raises:
        ValueError: as `rounded`.
    """
    size = np.linalg.norm(matrix)
    for fewer in BITS[: BITS.index(bits)] if bits in BITS else ():
        found = rounded(matrix, bits=fewer)
        if np.linalg.norm(values(*found) - matrix) <= _EQUAL * size:
            return found
    return rounded(matrix, bits=bits)


def values(integers: NDArray[np.int8], scale: NDArray[np.float16]) -> NDArray[np.float32]:
    """The matrix (rows, width) that these integers and the scales of their rows stand for."""
    matrix = integers.astype(np.float32)
    matrix *= scale.astype(np.float32)[:, None]
    return matrix


def unpack(packed: NDArray[np.uint8], *, width: int) -> NDArray[np.int8]:
    """The integers (rows, width) in packed rows (rows, bytes).

    Raises:
        ValueError: these are not the bytes of such rows.
    """
    bits = bits_of(packed.shape[1], width)
    rows, groups = len(packed), _groups(width)
    whole = np.zeros((rows, groups, _GROUP), dtype=np.uint8)
    whole[:, :, :bits] = packed.reshape(rows, groups, bits)
    words = whole.view("<u8")[:, :, 0]
    integers = np.empty((rows, groups, _GROUP), dtype=np.int8)
    for k in range(_GROUP):
        level = (words >> np.uint64(bits * k)) & np.uint64(2**bits - 1)
        integers[:, :, k] = level.astype(np.int16) - 2 ** (bits - 1)
    return integers.reshape(rows, groups * _GROUP)[:, :width]


def bits_of(stored: int, width: int) -> int:
    """The bits of an integer in packed rows of `stored` bytes and `width` integers.

    Raises:
        ValueError: no number of bits in `BITS` gives such rows.
    """
    for bits in BITS:
        if stored == _groups(width) * bits:
            return bits
    sizes = ", ".join(str(_groups(width) * bits) for bits in BITS)
    raise ValueError(f"expected rows of {sizes} bytes ({width} integers of {_named()} bits), got {stored}")


def _named() -> str:
    return f"{', '.join(map(str, BITS[:-1]))} or {BITS[-1]}"


def _groups(width: int) -> int:
    return -(-width // _GROUP)


def _rounded_up(numbers: NDArray[np.float32]) -> NDArray[np.float16]:
    """The least numbers in half precision that are not below `numbers`; infinite beyond its range."""
    with np.errstate(over="ignore"):
        found = numbers.astype(np.float16)
    return np.where(found < numbers, np.nextafter(found, np.float16(np.inf)), found)
