from __future__ import annotations

import math
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import export
from pronmetric.lab.suites.contrastive import Candidate, Item

ITEMS = [Item("1", (Candidate("a", "b"),) * 2), Item("2", (Candidate("a", "b"),))]


def read(tmp_path: Path, text: str, *, maximize: bool = False, compat: bool = False) -> list[list[float]]:
    path = tmp_path / "s.txt"
    path.write_text(text)
    return [
        list(values) for values in export.read_scores(path, ITEMS, maximize=maximize, compat=compat, surplus=compat)
    ]


def test_scores_are_cut_into_items_and_higher_is_better(tmp_path: Path) -> None:
    assert read(tmp_path, "1\n2.5\n-3e1\n") == [[-1.0, -2.5], [30.0]]
    assert read(tmp_path, "1\r\n 2.5 \ninf", maximize=True) == [[1.0, 2.5], [math.inf]]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("1\n\n3\n", 2, "a blank line"),
        ("1\n2\nnan\n", 3, "expected a number, got 'nan'"),
        ("1\nx\n3\n", 2, "expected one number, got 'x'"),
        ("1\n2 0.5\n3\n", 2, "`compat=True` reads the first field"),
        ("1\n1_0\n3\n", 2, "expected a number, got '1_0'"),
        ("1\n2\n", 3, "expected 3 scores, one for each candidate of 2 items, got 2"),
        ("1\n2\n3\n4\n", 4, "`compat=True` ignores surplus lines"),
    ],
)
def test_what_is_no_score_is_refused_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert error.value.line == line
    assert said in str(error.value)


def test_compat_is_lenient_as_the_programs(tmp_path: Path) -> None:
    found = read(tmp_path, "1 0.3\n2\nnan\n4\n", compat=True)
    assert found[0] == [-1.0, -2.0] and math.isnan(found[1][0])
    assert read(tmp_path, "1\n2\n3\n\nend of file\n", compat=True) == [[-1.0, -2.0], [-3.0]]  # never read
    with pytest.raises(InputError, match=r"s.txt:3: expected 3 scores"):
        read(tmp_path, "1\n2\n", compat=True)
