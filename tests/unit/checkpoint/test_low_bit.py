"""Matrices as integers of few bits: the bound on the error, those packed as before, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pronmetric.checkpoint import low_bit
from pronmetric.checkpoint.low_bit import rounded, smallest, unpack, values
from pronmetric.checkpoint.shards import BITS


def matrix(rows: int, width: int) -> np.ndarray:
    """Random numbers whose rows have magnitudes from 1e-8 to 1e4, and a row of zeros."""
    drawn = np.random.default_rng(0).normal(size=(rows, width)) * 10.0 ** np.linspace(-8, 4, rows)[:, None]
    drawn[rows // 2] = 0
    return drawn.astype(np.float32)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("width", [1, 8, 13, 64])
def test_values_are_off_by_at_most_half_a_scale(bits: int, width: int) -> None:
    exact = matrix(25, width)
    integers, scale = rounded(exact, bits=bits)
    assert (integers.dtype, integers.shape) == (np.int8, (25, width)) and scale.dtype == np.float16
    assert np.abs(integers.astype(int)).max() == 2 ** (bits - 1) - 1
    found = values(integers, scale)
    assert found.dtype == np.float32 and found.shape == exact.shape and (found[12] == 0).all()
    step = scale.astype(np.float64)[:, None]
    assert (np.abs(found.astype(np.float64) - exact) <= step / 2 * (1 + 1e-6)).all()  # division in fp32
    largest = np.abs(exact).max(axis=1, keepdims=True) / (2 ** (bits - 1) - 1)
    assert (step <= np.maximum(largest * 1.001, largest + 2.0**-24)).all()


@pytest.mark.parametrize("bits", BITS)
def test_rounding_again_changes_nothing(bits: int) -> None:
    once = values(*rounded(matrix(25, 24)[10:], bits=bits))
    np.testing.assert_array_equal(values(*rounded(once, bits=bits)), once)


@pytest.mark.parametrize("fewer", BITS)
def test_a_matrix_on_a_coarser_grid_keeps_its_bits(fewer: int) -> None:
    """Such as a layer that was frozen in a training from rounded weights, also once it was stored in half precision."""
    held = rounded(np.random.default_rng(1).normal(size=(8, 64)).astype(np.float32), bits=fewer)
    again = smallest(values(*held).astype(np.float16).astype(np.float32), bits=8)
    assert (again.integers == held.integers).all()
    free = np.random.default_rng(2).normal(size=(8, 64)).astype(np.float32)
    assert np.abs(smallest(free, bits=fewer).integers.astype(int)).max() == 2 ** (fewer - 1) - 1


def test_an_integer_lies_in_a_byte_of_its_own() -> None:
    integers, scale = rounded(np.array([[31, 0, -31, 1]], dtype=np.float32), bits=6)
    assert integers.tolist() == [[31, 0, -31, 1]] and scale.tolist() == [1.0]


@pytest.mark.parametrize("bits", BITS)
def test_packed_integers_of_earlier_checkpoints_are_read(bits: int) -> None:
    """Eight of them in a little-endian number: the first in the lowest bits, k stored as k + 2**(bits - 1)."""
    half = 2 ** (bits - 1)
    rows = [[half - 1, 0, 0, 0, 0, 0, 0, 1 - half, 1], [-half, 5, 0, 0, 0, 0, 0, 0, -1]]
    packed = []
    for row in rows:
        first = sum(k + half << bits * i for i, k in enumerate(row[:8]))
        packed.append([*first.to_bytes(bits, "little"), *(row[8] + half).to_bytes(bits, "little")])
    found = unpack(np.array(packed, np.uint8), width=9)
    assert found.dtype == np.int8 and found.tolist() == rows


def test_an_empty_matrix_stays_empty() -> None:
    assert values(*rounded(np.zeros((0, 5), np.float32), bits=7)).shape == (0, 5)
    assert unpack(np.zeros((0, 7), np.uint8), width=5).shape == (0, 5)


def test_what_cannot_be_rounded_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 6, 7 or 8 bits, got 4"):
        rounded(np.ones((1, 8), np.float32), bits=4)
    for wrong in (np.inf, np.nan, 1e30):
        with pytest.raises(ValueError, match="expected numbers below 4,126,752"):
            rounded(np.array([[wrong, 1.0]], np.float32), bits=7)


def test_rows_of_another_size_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"expected rows of 18, 21, 24 bytes \(17 integers of 6, 7 or 8 bits\), got 14"
    ):
        unpack(np.ones((2, 14), np.uint8), width=17)
    assert [low_bit.bits_of(2 * bits, 9) for bits in BITS] == list(BITS)
