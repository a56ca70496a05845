"""`pronmetric serve` as a process, and requests to it."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

SECONDS = 300  # on a busy machine too


class Served(NamedTuple):
    """A server's process and its address."""

    process: subprocess.Popen[str]
    address: str


@contextmanager
def serving(*flags: object) -> Iterator[Served]:
    """The server in a process of its own, on a free port; it is killed at the end."""
    command = [sys.executable, "-m", "pronmetric", "serve", "--port", "0", *map(str, flags)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Served(process, process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()


def connect(address: str) -> http.client.HTTPConnection:
    """A connection, kept open between requests."""
    at = urlsplit(address)
    return http.client.HTTPConnection(str(at.hostname), at.port, timeout=SECONDS)


def ask(connection: http.client.HTTPConnection, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The answer to a request; POST with a body, else GET.

    Raises:
        RuntimeError: the server refuses it.
    """
    headers = {"Content-Type": "application/json"}
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
    reply = connection.getresponse()
    found: dict[str, Any] = json.loads(reply.read())
    if reply.status != 200:
        raise RuntimeError(f"{path}: {reply.status} {found}")
    return found
