"""Cells of tables: nothing that a spreadsheet runs, nothing that breaks a row, and everything read back."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.output import tsv
from pronmetric.report import tables
from pronmetric.results.write import Writer


@pytest.mark.parametrize("formula", ['=HYPERLINK("x")', "+1+cmd", "-1+1", "@SUM(A1)", "-a", "\uff1d1", "+", "-1.5.2"])
def test_a_formula_is_guarded(formula: str) -> None:
    assert tsv.cell(formula) == f"'{formula}"


@pytest.mark.parametrize("text", ["she", "it's", "'tis", "-", "-5", "+0.25", "-1e-05", "1=1", "", "a@b"])
def test_plain_texts_and_numbers_stay(text: str) -> None:
    assert tsv.cell(text) == text


def test_numbers_are_written_as_numbers() -> None:
    assert [tsv.cell(value) for value in (-0.25, -3, 0, None)] == ["-0.25000", "-3", "0", ""]


def test_every_text_is_read_back() -> None:
    for size in range(5):
        for letters in product("='\\t\n-1", repeat=size):
            text = "".join(letters)
            written = tsv.cell(text)
            assert tsv.text(written) == text
            assert "\n" not in written and "\t" not in written and written[:1] not in ("=", "+", "@")


def test_a_table_is_read_back(tmp_path: Path) -> None:
    path, name = tmp_path / "o.tsv", "=cmd\t|\nx\\y"
    with Writer(json_path=None, tsv_path=str(path), columns=("system", "=column", "score")) as exports:
        exports.segment({}, [(name, "'=x", -0.5), ("plain", None, 1)])
    assert path.read_text(encoding="utf-8").splitlines()[1] == "'=cmd\\t|\\nx\\\\y\t''=x\t-0.50000"
    assert list(tsv.read(path)) == [
        {"system": name, "=column": "'=x", "score": "-0.50000"},
        {"system": "plain", "=column": "", "score": "1"},
    ]


def test_tables_of_a_report_are_guarded_too() -> None:
    made = tables.Table("Systems", ("system", "score"), (("@evil", "-1.50"), ("b", "-")))
    assert tables.tsv(made) == "system\tscore\n'@evil\t-1.50\nb\t-\n"


def test_a_broken_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "o.tsv"
    path.write_text("")
    with pytest.raises(InputError, match="is empty; expected a line of column names"):
        list(tsv.read(path))
    path.write_text("a\tb\n1\n")
    with pytest.raises(InputError, match=r"o\.tsv:2: expected 2 cells, got 1"):
        list(tsv.read(path))
