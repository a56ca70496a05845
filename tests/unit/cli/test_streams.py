"""Standard streams that are closed, full, or left by their reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = f'"{sys.executable}" -m pronmetric.cli.main'


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("verb", ["score -t a.txt", "compare -t a.txt a.txt", "agree r.csv", "align a.txt a.txt"])
def test_a_closed_stdout_is_one_line(verb: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She left.\n")
    found = shell(f"{PROGRAM} {verb} >&-", tmp_path)
    assert found.returncode == 1
    assert found.stderr == (
        "pronmetric: error: stdout is closed; send it to a file, or to /dev/null if nobody reads it\n"
    )


@pytest.mark.parametrize("verb", ["score", "suggest"])
def test_a_closed_stdin_is_one_line(verb: str, tmp_path: Path) -> None:
    found = shell(f"{PROGRAM} {verb} --jsonl - <&-", tmp_path)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == "pronmetric: error: <stdin>: is closed; send a file or a pipe into it\n"


def test_a_closed_stderr_leaves_stdout_alone(tmp_path: Path) -> None:
    found = shell(f"{PROGRAM} score -t gone.txt 2>&-", tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "")


def test_no_file_is_opened_under_a_closed_stream(tmp_path: Path) -> None:
    code = "import sys; from pronmetric.text import streams; streams.check(); print(open('x', 'w').fileno() > 2)"
    found = shell(f'"{sys.executable}" -c "{code}" <&- 2>&-', tmp_path)
    assert (found.returncode, found.stdout) == (0, "True\n")


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_full_stdout_is_one_line(lines: int, tmp_path: Path) -> None:
    code = f"import sys; from pronmetric.cli import main as m; m._run = lambda a: print('x\\n' * {lines}) or 0; "
    full = "ulimit -f 0; "  # as a full disk: no file may grow
    found = shell(f'{full}"{sys.executable}" -c "{code}sys.exit(m.main([]))" >out', tmp_path)
    assert found.returncode == 1
    assert found.stderr.startswith("pronmetric: error: ") and "File too large" in found.stderr
    assert found.stderr.count("\n") == 1
