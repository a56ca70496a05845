"""The hook and the workflow of examples/gate in a repository of their own, with the tiny checkpoint."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

GATE = Path(__file__).resolve().parents[2] / "examples" / "gate"
Git = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def place(sample: Path, tmp_path: Path, tiny_checkpoint: Callable[..., Path]) -> Path:
    """The folder of the repository: the texts of the sample, and the settings with a score that any text has."""
    for file in ("ref.txt", "docids.txt"):
        shutil.copy(sample / file, tmp_path)
    shutil.copy(sample / "system-a.txt", tmp_path / "output.txt")
    settings = (GATE / "pronmetric.toml").read_text(encoding="utf-8").replace("min_score = 85", "min_score = 0")
    model = f'model = "{tiny_checkpoint()}"\ngpus = 0\n'
    settings = settings.replace("[tool.pronmetric]\n", f"[tool.pronmetric]\n{model}")
    (tmp_path / "pronmetric.toml").write_text(settings, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(place: Path, programs: dict[str, str]) -> Git:
    """Runs a command in the repository, where git knows no other settings."""
    who = {f"GIT_{role}_{key}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    empty = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GITHUB_BASE_REF": "main"}
    inherited = {name: value for name, value in programs.items() if not name.startswith("GIT_")}

    def call(*command: str) -> subprocess.CompletedProcess[str]:
        environment = {**inherited, **who, **empty}
        return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)

    assert call("git", "init", "-q").returncode == 0
    assert call("git", "symbolic-ref", "HEAD", "refs/heads/main").returncode == 0
    return call


def commit(run: Git) -> subprocess.CompletedProcess[str]:
    assert run("git", "add", "-A").returncode == 0
    return run("git", "commit", "-q", "-m", "a change")


def test_the_hook_checks_a_changed_translation_as_it_is_staged(run: Git, place: Path) -> None:
    hook = place / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(GATE / "pre-commit", hook)
    hook.chmod(0o755)
    output, settings = place / "output.txt", place / "pronmetric.toml"
    first = commit(run)
    assert first.returncode == 0 and not first.stdout, first.stderr  # there is nothing to compare with
    output.write_text(output.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    broken = commit(run)
    assert broken.returncode == 1 and "output.txt" in broken.stderr  # a line too many
    assert run("git", "reset", "-q", "--hard").returncode == 0
    lines = output.read_text(encoding="utf-8").splitlines()
    output.write_text("\n".join([lines[0] + " ", *lines[1:]]) + "\n", encoding="utf-8")
    same = commit(run)
    printed = same.stdout + same.stderr
    assert same.returncode == 0 and "output.txt: passed" in printed and "worse than before.txt" in printed, printed
    settings.write_text(settings.read_text(encoding="utf-8").replace("= 0\nmargin", "= 100\nmargin"), encoding="utf-8")
    assert commit(run).returncode == 0  # the translation is that of the last commit
    output.write_text("\n".join([lines[0], *lines[1:]]) + "\n", encoding="utf-8")
    failed = commit(run)
    assert failed.returncode == 1 and "NOT MET  score at least 100" in failed.stdout + failed.stderr


def test_the_steps_of_the_workflow_run(run: Git, place: Path) -> None:
    workflow = yaml.safe_load((GATE / "workflow.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert steps[0].endswith(' "pronmetric @ $PRONMETRIC_URL"') and ".whl" not in steps[0] and len(steps) == 3
    assert commit(run).returncode == 0
    assert run("git", "update-ref", "refs/remotes/origin/main", "main").returncode == 0
    assert run("bash", "-e", "-c", steps[1]).returncode == 0
    assert (place / "before.txt").read_bytes() == (place / "output.txt").read_bytes()
    done = run("bash", "-e", "-c", steps[2])
    assert done.returncode == 0 and "output.txt: passed" in done.stdout, done.stdout + done.stderr
    uploaded = workflow["jobs"]["check"]["steps"][-1]["with"]["path"]
    assert "<testsuite " in (place / uploaded).read_text(encoding="utf-8")
