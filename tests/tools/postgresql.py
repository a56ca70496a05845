"""A PostgreSQL server of its own for tests and measurements: on a socket in a temporary folder, without a port."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_USER = "nobody"  # PostgreSQL refuses to run as root
_SECONDS = 600  # on a busy machine too


def find() -> Path | None:
    """The folder of PostgreSQL's programs, None where it is not installed."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "postgres").exists() and (place / "initdb").exists()), None)


@contextmanager
def running(programs: Path) -> Iterator[str]:
    """A server with durable commits; its address. It is stopped and removed at the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="pronmetric-postgresql-", dir="/tmp"))  # a short path for the socket
    options: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    if os.geteuid() == 0:
        shutil.chown(folder, _USER)
        options |= {"user": _USER, "extra_groups": []}
    try:
        make = [programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"]
        subprocess.run([*make, "--no-sync"], check=True, **options)
        flags = ["-D", folder / "data", "-k", folder, "-c", "listen_addresses="]
        process = subprocess.Popen([programs / "postgres", *flags], **{**options, "stderr": subprocess.DEVNULL})
        try:
            _wait(programs, folder, process)
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=_SECONDS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(address: str, name: str) -> str:
    """The address of a new, empty database on the server."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return address.replace("/postgres?", f"/{name}?")


def _wait(programs: Path, folder: Path, process: subprocess.Popen[bytes]) -> None:
    for _ in range(_SECONDS * 10):
        if subprocess.run([programs / "pg_isready", "-q", "-h", folder]).returncode == 0:
            return
        if process.poll() is not None:
            raise RuntimeError(f"postgres ended with {process.returncode}")
        time.sleep(0.1)
    raise RuntimeError("postgres did not start")
