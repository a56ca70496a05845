"""The container files: what they copy exists and is not ignored, and what they start is a command with these flags."""

from __future__ import annotations

import json
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from pronmetric.cli.serve import VERB

ROOT = Path(__file__).resolve().parents[1]
SPACE = ROOT / "examples" / "space"


def instructions(path: Path) -> list[tuple[str, str]]:
    """The instructions of a container file with their arguments, continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines]


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
    ignored = [
        line
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    needed = ["pyproject.toml", "README.md", "LICENSE", "constraints.txt", "pronmetric", "data_prep", "conf"]
    needed += [f"checkpoints/{path.name}" for path in (ROOT / "checkpoints").iterdir()]
    needed += [path.relative_to(ROOT).as_posix() for path in (ROOT / "checkpoints" / "base").rglob("*")]
    assert [name for name in needed if any(fnmatch(name, pattern) for pattern in ignored)] == []
    copied = [rest.split()[0] for name, rest in instructions(ROOT / "Dockerfile") if name == "COPY"]
    assert copied == [".", "--from=wheel", "constraints.txt"]


def test_the_space_says_its_port_and_gets_pronmetric_from_its_variable() -> None:
    front = yaml.safe_load((SPACE / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    found = dict(instructions(SPACE / "Dockerfile"))
    assert front["sdk"] == "docker" and str(front["app_port"]) == found["EXPOSE"]
    assert len(front["short_description"]) <= 60
    assert found["ARG"] == "PRONMETRIC_URL"
    installs = [rest for name, rest in instructions(SPACE / "Dockerfile") if name == "RUN" and "pip install" in rest]
    assert len(installs) == 1 and installs[0].endswith('"pronmetric[serve] @ $PRONMETRIC_URL"')
    assert {path.name for path in SPACE.iterdir()} == {"Dockerfile", "README.md"}
