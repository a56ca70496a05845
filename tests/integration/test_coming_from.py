"""The command lines of docs/coming-from.md run on the sample; tests/integration/test_documentation.py runs its Python.

COMET is not installed: its lines are run with the verb of pronmetric in place of its program, which takes its flags.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"`((?:sacrebleu|comet-\w+|pronmetric) [^`]+)`", PAGE)
OURS = {"comet-score": "score", "comet-compare": "compare"}
FILES = {
    **{"out": "system-a", "a": "system-a", "b": "system-b"},
    **{"ref": "ref", "src": "src.de", "ids": "docids"},
}


@pytest.fixture
def place(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files that the page names."""
    for name, own in FILES.items():
        shutil.copy(sample / f"{own}.txt", tmp_path / f"{name}.txt")
    shutil.copytree(ROOT / "examples" / "wmt-sample", tmp_path / "wmt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_lines_of_pronmetric_and_comet_run(
    run_tiny: Callable[..., tuple[str, str]], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = {}
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        if "--no-model" in arguments:
            assert main(arguments) == 0
            printed[command] = capsys.readouterr().out
        elif program != "sacrebleu":
            printed[command], _ = run_tiny(*([OURS[program]] if program in OURS else []), *arguments)
    assert len(printed) == 17
    whole = "pronmetric score -s src.txt -t out.txt -r ref.txt --docids ids.txt"
    lines = printed[whole].splitlines()
    assert all(re.fullmatch(r"out\.txt\tSegment \d+\tscore: ([\d.]+|null)", line) for line in lines[:37])
    assert lines[37].startswith("out.txt\tscore: ") and printed[f"{whole} --only_system --quiet"].strip() == lines[37]
    assert r"\begin{tabular}" in printed["pronmetric report ab.json --format latex --no-model"]
    assert "<html" in (place / "out.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("sacrebleu ") and " -t " not in c])
def test_the_command_lines_of_sacrebleu_run(command: str, place: Path) -> None:
    pytest.importorskip("sacrebleu")
    _, *arguments = shlex.split(command)
    done = subprocess.run([sys.executable, "-m", "sacrebleu", *arguments], cwd=place, capture_output=True, text=True)
    assert done.returncode == 0 and "BLEU" in done.stdout, done.stderr
