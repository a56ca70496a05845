"""The container file: built and run where a container engine can, else its steps by hand.

    python -m tests.tools.container

By hand, a folder takes the place of the image's root and a fresh environment that of its Python; what needs root is
left out, and named. Either way the server must start as the file says, pass the file's health check and show its page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from socket import socket
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
FILE, IGNORED = ROOT / "Dockerfile", ROOT / ".dockerignore"
IMAGE = "pronmetric-ci"
Alive = Callable[[], bool]
START, STOP = 600.0, 60.0  # seconds, of the server on a busy machine
_AS_ROOT = ("useradd",)


def instructions(path: Path) -> list[tuple[str, str]]:
    """The instructions of a container file with their arguments, continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines]


def sent(names: Iterable[str]) -> list[str]:
    """Those of the files that the build sees: none that .dockerignore names, alone or by a folder."""
    lines = IGNORED.read_text(encoding="utf-8").splitlines()
    patterns = [line.removeprefix("**/") for line in lines if line and not line.startswith("#")]

    def ignored(name: str) -> bool:
        path = PurePosixPath(name)
        of_root = [path, *path.parents][:-1]
        return any(
            fnmatch(str(each), pattern) or fnmatch(each.name, pattern) for each in of_root for pattern in patterns
        )

    return [name for name in names if not ignored(name)]


def by_hand(command: str, root: Path) -> tuple[str, list[str]]:
    """A RUN line with folders below `root` in place of the image's; the commands that need root, which are left out."""
    parts = [part.strip() for part in command.split("&&")]
    left_out = [part for part in parts if part.split()[0] in _AS_ROOT]
    kept = " && ".join(part for part in parts if part not in left_out)
    return re.sub(r"(?<![\w.:/])/(source|wheel)\b", rf"{root}/\1", kept), left_out


def _build_by_hand(root: Path) -> dict[str, str]:
    """Follow COPY and RUN; the environment of the container's program."""
    venv.create(root / "env", with_pip=True, symlinks=True)
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    home = root / "home"
    home.mkdir()
    environment = {**inherited, "PATH": f"{root / 'env/bin'}:{os.environ['PATH']}", "HOME": str(home)}
    # An index that cannot be reached is skipped at once.
    building = environment | {"PIP_RETRIES": "0", "PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name, rest in instructions(FILE):
        if name == "COPY" and not rest.startswith("--from"):
            source, target = rest.split()
            names = [source] if source != "." else sent(tracked.rstrip("\0").split("\0"))
            place = root / target.strip("/")
            for each in names:
                (place / each).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / each, place / each)
        elif name == "RUN":
            command, left_out = by_hand(rest, root)
            print("$", command, *(f"(left out: {each})" for each in left_out), flush=True)
            subprocess.run(["sh", "-ec", command], cwd=home, env=building, check=True)
    return environment


@contextmanager
def _running_by_hand(root: Path) -> Iterator[tuple[int, Alive]]:
    """The server of a build by hand; gives its port, and whether it still runs."""
    environment, port = _build_by_hand(root), _free_port()
    words = [*json.loads(dict(instructions(FILE))["ENTRYPOINT"]), "--port", str(port)]
    print("$", *words, flush=True)
    with subprocess.Popen(words, cwd=root / "home", env=environment) as server:
        try:
            yield port, lambda: server.poll() is None
            server.send_signal(signal.SIGTERM)
            if (code := server.wait(STOP)) != 143:
                raise SystemExit(f"the server ended with {code} where it was terminated")
        finally:
            server.kill()


@contextmanager
def _running_in(engine: str) -> Iterator[tuple[int, Alive]]:
    """The server in a container; gives its port, and whether it still runs."""
    port = _free_port()
    subprocess.run([engine, "build", "-t", IMAGE, str(ROOT)], check=True)
    run = [engine, "run", "--rm", "-d", "-p", f"127.0.0.1:{port}:8000", IMAGE]
    name = subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
    try:
        yield port, lambda: subprocess.run([engine, "top", name], capture_output=True, check=False).returncode == 0
    finally:
        subprocess.run([engine, "logs", name], check=False)
        subprocess.run([engine, "stop", name], check=True)


def engine() -> str | None:
    """A container engine that runs here and gets the images that the file begins with."""
    bases = {rest.split()[0] for name, rest in instructions(FILE) if name == "FROM"}
    for name in filter(shutil.which, ("docker", "podman")):
        asked = [[name, "info"], *([name, "pull", base] for base in bases)]
        if all(subprocess.run(words, capture_output=True, check=False).returncode == 0 for words in asked):
            return name
    return None


def check(port: int, alive: Alive) -> None:
    """Wait until the server answers, then make the file's health check and read the page.

    Raises:
        SystemExit: it does not answer.
    """
    began = time.monotonic()
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/") as response:
                page = response.read().decode()
            break
        except (URLError, ConnectionError):
            if not alive() or time.monotonic() - began > START:
                raise SystemExit(f"no server after {time.monotonic() - began:.0f} s") from None
            time.sleep(0.5)
    health = dict(instructions(FILE))["HEALTHCHECK"].partition("CMD ")[2].replace(":8000/", f":{port}/")
    _, *words = json.loads(health)
    subprocess.run([sys.executable, *words], check=True)
    if "pronmetric" not in page:
        raise SystemExit(f"expected the page of `serve`, got {page[:200]!r}")
    print(f"healthy after {time.monotonic() - began:.0f} s, with its page")


def _free_port() -> int:
    with socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def main() -> None:
    """Build, run and check."""
    if (found := engine()) is not None:
        print(f"built and run by {found}")
        with _running_in(found) as (port, alive):
            check(port, alive)
        return
    print("no container engine here: the steps by hand")
    with tempfile.TemporaryDirectory() as folder, _running_by_hand(Path(folder)) as (port, alive):
        check(port, alive)


if __name__ == "__main__":
    main()
