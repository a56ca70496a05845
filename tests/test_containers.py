"""The container files: what they copy exists and is not ignored, and what they start is a command with these flags."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from socket import socket

import pytest
import yaml

from pronmetric.cli.serve import VERB
from tests.tools.container import by_hand, check, instructions, sent

ROOT = Path(__file__).resolve().parents[1]
SPACE = ROOT / "examples" / "space"


@pytest.mark.parametrize("path", [ROOT / "Dockerfile", SPACE / "Dockerfile"])
def test_the_container_starts_the_server_on_the_port_that_it_names(path: Path) -> None:
    found = dict(instructions(path))
    words = json.loads(found["ENTRYPOINT"])
    if words[:2] == ["sh", "-c"]:
        words = shlex.split(words[2].removeprefix("exec "))
    program, verb, *flags = words
    assert (program, verb) == ("pronmetric", "serve")
    given = VERB.parser().parse_args(flags)
    assert given.host == "0.0.0.0" and str(given.port) == found["EXPOSE"] and found["USER"] == "pronmetric"


def test_the_wheel_of_the_container_is_built_from_all_that_it_holds() -> None:
    needed = ["pyproject.toml", "README.md", "LICENSE", "constraints.txt", "pronmetric/version.py", "conf/train.yaml"]
    needed += [path.relative_to(ROOT).as_posix() for path in (ROOT / "checkpoints/base").rglob("*") if path.is_file()]
    ignored = ["tests/conftest.py", "docs/index.md", "checkpoints/small/model-00001-of-00002.safetensors", ".git/HEAD"]
    assert sent([*needed, *ignored, "pronmetric/text/__pycache__/a.pyc", ".ci-venv-3/bin/pip"]) == needed
    copied = [rest.split()[0] for name, rest in instructions(ROOT / "Dockerfile") if name == "COPY"]
    assert copied == [".", "--from=wheel", "constraints.txt"]


def test_by_hand_the_steps_have_other_folders_and_nothing_that_needs_root() -> None:
    runs = [by_hand(rest, Path("/tmp/r")) for name, rest in instructions(ROOT / "Dockerfile") if name == "RUN"]
    (build, kept), (install, left_out) = runs
    assert build.endswith("--wheel-dir /tmp/r/wheel /tmp/r/source") and kept == []
    assert '"$(ls /tmp/r/wheel/*.whl)[serve]"' in install and "--constraint /tmp/r/wheel/constraints.txt" in install
    assert "https://download.pytorch.org/whl/cpu" in install and "useradd" not in install
    assert left_out == ["useradd --uid 1000 --create-home pronmetric"]


def test_a_server_that_ended_is_told_at_once() -> None:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(SystemExit, match="no server after 0 s"):
            check(free.getsockname()[1], lambda: False)


def test_the_space_says_its_port_and_gets_pronmetric_from_its_variable() -> None:
    front = yaml.safe_load((SPACE / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    found = dict(instructions(SPACE / "Dockerfile"))
    assert front["sdk"] == "docker" and str(front["app_port"]) == found["EXPOSE"]
    assert len(front["short_description"]) <= 60
    assert found["ARG"] == "PRONMETRIC_URL"
    installs = [rest for name, rest in instructions(SPACE / "Dockerfile") if name == "RUN" and "pip install" in rest]
    assert len(installs) == 1 and installs[0].endswith('"pronmetric[serve] @ $PRONMETRIC_URL"')
    assert {path.name for path in SPACE.iterdir()} == {"Dockerfile", "README.md"}
