from __future__ import annotations

import io
import sys

import pytest
from rich.cells import cell_len

from pronmetric.report.text import table

LONG = "a system with a very long name " * 20


def test_in_a_pipe_a_table_is_plain_and_as_wide_as_its_content() -> None:
    text = table(("system", "score"), [(LONG, 91.2), ("[bold]B[/bold]", "8.0")])

    header, first, second = text.split("\n")
    assert header.split() == ["system", "score"]
    assert first == f"{LONG}   91.2"
    assert second.split() == ["[bold]B[/bold]", "8.0"]
    assert len(header) == len(first) == len(second)


def test_columns_are_right_aligned_but_those_named_in_left() -> None:
    assert table(("a", "b", "c"), [("xx", "yy", "zz")], left=(0, 2)).split("\n") == ["a    b  c", "xx  yy  zz"]
    assert table(("a", "b"), [("xx", "yy")], left=()).split("\n") == [" a   b", "xx  yy"]


def test_wide_characters_are_aligned_by_their_width() -> None:
    lines = table(("system", "score"), [("訳文", 1), ("A", 12)]).split("\n")

    assert {cell_len(line) for line in lines} == {len("system  score")}


def test_a_table_without_rows_is_its_header() -> None:
    assert table(("a", "b"), []) == "a  b"


def test_a_header_without_names_is_not_shown() -> None:
    assert table(("", ""), [("a", 12), ("bb", 3)]) == "a   12\nbb   3"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bold_header_and_nothing_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stdout", Terminal())

    text = table(("system", "score"), [("x" * 100, 91.2)])

    assert "\x1b[1m" in text.split("\n")[0]
    assert text.count("x") == 100
    assert "91.2" in text and "…" not in text


def test_a_notebook_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(sys, "stdout", Terminal())
    wide = "word " * 40
    assert table(("name", "text"), [("A", wide.strip())]) == f"name{' ' * 197}text\nA     {wide.strip()}"


def test_a_colour_that_is_forced_makes_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as workflows and the kernels of notebooks set it
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert table(("name", "text"), [("A", ("word " * 40).strip())]).splitlines()[1] == f"A     {('word ' * 40).strip()}"
