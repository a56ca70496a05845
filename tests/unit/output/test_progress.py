"""Progress: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import io
import re

import pytest

from pronmetric.output.progress import progress


@pytest.fixture
def every(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each item."""
    monkeypatch.setattr("pronmetric.output.progress.SECONDS", 0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("every")
def test_a_log_gets_whole_lines_and_a_last_one_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress(range(3), label="read", total=3, unit="files")) == [0, 1, 2]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" files")[0] for line in lines] == [f"read: {n}/3" for n in (1, 2, 3)]
    assert re.fullmatch(r"read: 3/3 files \(100 %\), [\d:]+ elapsed, 00:00 left", lines[-1])


def test_lines_come_now_and_then_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pronmetric.output.progress.SECONDS", 3600)
    for _ in progress(range(1000), label="read", total=1000, unit="files"):
        pass
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("read: 1000/1000 files (100 %)")


@pytest.mark.usefixtures("every")
def test_work_that_goes_on_counts_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(label="train", total=20, unit="steps", done=15) as bar:
        bar.set_postfix_str("loss 0.5", refresh=False)
        bar.update()
    assert capsys.readouterr().err.startswith("train: 16/20 steps (80 %)")


def test_without_a_total_the_count_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pronmetric.output.progress.SECONDS", 3600)
    list(progress(iter("abc"), label="states", total=None, unit="texts"))
    assert capsys.readouterr().err.startswith("states: 3 texts, 0")


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    list(progress(range(3), label="read", total=3, unit="files"))
    assert "\r" in terminal.getvalue() and "read: 100%|" in terminal.getvalue()
    assert "3/3 files [" in terminal.getvalue()


@pytest.mark.usefixtures("every")
def test_short_work_shows_nothing_before_the_delay(capsys: pytest.CaptureFixture[str]) -> None:
    list(progress(range(3), label="read", total=3, unit="files", short=True))
    assert capsys.readouterr().err == ""


def test_short_work_shows_no_bar_before_the_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    list(progress(range(3), label="read", total=3, unit="files", short=True))
    assert terminal.getvalue() == ""
