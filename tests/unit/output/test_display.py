"""Names of others in a terminal."""

from __future__ import annotations

import pytest

from pronmetric.cli import main as cli
from pronmetric.cli.output import Notes
from pronmetric.errors import InputError
from pronmetric.output.display import visible
from pronmetric.report.text import table

EVIL = "a\tb\nc\x1b[31m\u202e\x9b\x7f.txt"
SHOWN = "a\\tb\\nc\\x1b[31m\\u202e\\x9b\\x7f.txt"


def test_control_characters_are_escaped_and_others_stay() -> None:
    assert visible(EVIL) == SHOWN
    assert visible("caf\udce9 \ufffe") == "caf\\udce9 \\ufffe"  # XML has neither
    assert visible("Système 1 \u4e2d\u6587 a\\b.txt") == "Système 1 \u4e2d\u6587 a\\b.txt"


def test_notes_errors_and_tables_show_names_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    note = Notes(quiet=False)
    note.begin()
    note(f"{EVIL}: 1")
    assert capsys.readouterr().err == f"pronmetric: {SHOWN}: 1\n"

    def fail(argv: object) -> int:
        raise InputError("no such file", file="\x1b[2J.txt")

    monkeypatch.setattr(cli, "_run", fail)
    assert cli.main([]) == 1
    assert capsys.readouterr().err == "pronmetric: error: \\x1b[2J.txt: no such file\n"
    assert table(["", "score"], [[EVIL, 1]]).splitlines()[1] == f"{SHOWN}      1"
