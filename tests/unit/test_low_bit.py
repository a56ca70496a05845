"""Matrices as packed integers: the bound on the error, the layout of the bits, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pronmetric.checkpoint import low_bit
from pronmetric.checkpoint.low_bit import BITS, pack, unpack


def matrix(rows: int, width: int) -> np.ndarray:
    """Random numbers whose rows have magnitudes from 1e-8 to 1e4, and a row of zeros."""
    drawn = np.random.default_rng(0).normal(size=(rows, width)) * 10.0 ** np.linspace(-8, 4, rows)[:, None]
    drawn[rows // 2] = 0
    return drawn.astype(np.float32)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("width", [1, 8, 13, 64])
def test_values_are_off_by_at_most_half_a_scale(bits: int, width: int) -> None:
    exact = matrix(25, width)
    packed, scale = pack(exact, bits=bits)
    assert (packed.dtype, packed.shape) == (np.uint8, (25, -(-width // 8) * bits)) and scale.dtype == np.float16
    found = unpack(packed, scale, width=width)
    assert found.dtype == np.float32 and found.shape == exact.shape and (found[12] == 0).all()
    step = scale.astype(np.float64)[:, None]
    assert (np.abs(found.astype(np.float64) - exact) <= step / 2 * (1 + 1e-6)).all()  # division in fp32
    largest = np.abs(exact).max(axis=1, keepdims=True) / (2 ** (bits - 1) - 1)
    assert (step <= np.maximum(largest * 1.001, largest + 2.0**-24)).all()


@pytest.mark.parametrize("bits", BITS)
def test_rounding_again_changes_nothing(bits: int) -> None:
    once = unpack(*pack(matrix(25, 24)[10:], bits=bits), width=24)
    again = pack(once, bits=bits)
    np.testing.assert_array_equal(unpack(*again, width=24), once)


def test_eight_integers_lie_in_a_little_endian_number() -> None:
    """Of 6 bits: the first is in the lowest bits, and an integer k is stored as k + 32."""
    row = np.array([[31, 0, 0, 0, 0, 0, 0, -31, 1]], dtype=np.float32)
    packed, scale = pack(row, bits=6)
    assert scale.tolist() == [1.0]
    first = sum(value << 6 * k for k, value in enumerate([63, 32, 32, 32, 32, 32, 32, 1]))
    second = sum(value << 6 * k for k, value in enumerate([33, 0, 0, 0, 0, 0, 0, 0]))
    assert packed.tobytes() == first.to_bytes(6, "little") + second.to_bytes(6, "little")


def test_an_empty_matrix_stays_empty() -> None:
    assert unpack(*pack(np.zeros((0, 5), np.float32), bits=7), width=5).shape == (0, 5)


def test_what_cannot_be_packed_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 6, 7 or 8 bits, got 4"):
        pack(np.ones((1, 8), np.float32), bits=4)
    for wrong in (np.inf, np.nan, 1e30):
        with pytest.raises(ValueError, match="expected numbers below 4,126,752"):
            pack(np.array([[wrong, 1.0]], np.float32), bits=7)


def test_rows_of_another_size_are_refused() -> None:
    packed, scale = pack(np.ones((2, 9), np.float32), bits=7)
    with pytest.raises(
        ValueError, match=r"expected rows of 18, 21, 24 bytes \(17 integers of 6, 7 or 8 bits\), got 14"
    ):
        unpack(packed, scale, width=17)
    assert [low_bit.bits_of(2 * bits, 9) for bits in BITS] == list(BITS)
