"""Short names of systems."""

from __future__ import annotations

import pytest

from pronmetric.report.names import short


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.txt", "b.txt"], ["a.txt", "b.txt"]),
        (["/x/y/a.txt"], ["a.txt"]),
        (["/x/a/out.txt", "/x/b/out.txt"], ["a", "b"]),
        (["/x/a/1/out.txt", "/x/b/1/out.txt"], ["a", "b"]),
        (["x/out.txt", "y/out.txt", "z/sys.txt"], ["x/out.txt", "y/out.txt", "sys.txt"]),
        (["a", "x/a"], ["a", "x/a"]),
        ([r"C:\runs\one\o.txt", r"C:\runs\two\o.txt"], ["one", "two"]),
        (["x/a.txt", "x/a.txt"], ["x/a.txt", "x/a.txt"]),
        (["x/a", "x//a"], ["x/a", "x//a"]),
        (["/", "", "a b/c d"], ["/", "", "c d"]),
        ([], []),
    ],
)
def test_the_shortest_part_that_distinguishes(names: list[str], expected: list[str]) -> None:
    assert short(names) == expected and len(set(short(names))) == len(set(names))
