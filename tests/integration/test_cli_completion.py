from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pronmetric.cli.completion import SHELLS
from pronmetric.cli.main import VERBS, main


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The script for bash."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    assert main(["--print-completion", "bash"]) == 0
    path = tmp_path / "pronmetric.bash"
    path.write_text(capsys.readouterr().out)
    return path


def completed(script: Path, *words: str) -> set[str]:
    """What bash offers for the last of the words."""
    line = f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}"
    run = f'source "{script}"; {line}; _shtab_pronmetric; printf "%s\\n" "${{COMPREPLY[@]}}"'
    found = subprocess.run(["bash", "-c", run], capture_output=True, text=True, check=True, cwd=script.parent)
    return set(found.stdout.split())


def test_the_script_is_valid_bash(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_bash_completes_verbs(script: Path) -> None:
    assert completed(script, "pronmetric", "sug") == {"suggest"}
    assert completed(script, "pronmetric", "") == set(VERBS)


def test_bash_completes_flags_and_their_values(script: Path) -> None:
    assert completed(script, "pronmetric", "suggest", "--thr") == {"--threshold"}
    assert completed(script, "pronmetric", "report", "result.json", "--format", "la") == {"latex"}
    assert completed(script, "pronmetric", "train", "--mu") == {"--multirun"}
    assert completed(script, "pronmetric", "--print-c") == {"--print-completion"}


def test_bash_completes_commands_and_their_flags(script: Path) -> None:
    assert completed(script, "pronmetric", "checkpoint", "") >= {"average", "export"}
    assert completed(script, "pronmetric", "checkpoint", "average", "--sh") == {"--shares"}
    assert completed(script, "pronmetric", "nmt", "train", "--mu") == {"--multirun"}


def test_bash_completes_file_names(script: Path) -> None:
    (script.parent / "system.txt").touch()

    assert completed(script, "pronmetric", "score", "-t", "sys") == {"system.txt"}
    assert completed(script, "pronmetric", "report", "sys") == {"system.txt"}
    assert completed(script, "pronmetric", "baseline", "counts", "-o", "sys") == {"system.txt"}


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_names_every_verb(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-completion", shell]) == 0

    out = capsys.readouterr().out
    assert all(verb in out for verb in VERBS)
    assert "--only_system" in out or "only_system" in out


def test_an_unknown_shell_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--print-completion", "csh"])
    assert end.value.code == 2
    assert "choose from" in capsys.readouterr().err
