"""The port on which pages are served, and the server that listens on it."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from functools import partial
from typing import Any, cast

from pronmetric.errors import InputError, MissingExtra

try:
    import uvicorn

    from pronmetric.web import connections
except ImportError:
    raise MissingExtra("uvicorn", "serve", "a server") from None

_PAUSE = 60.0  # seconds between two equal lines of the log


class _Seldom(logging.Filter):
    """Equal messages of the log at most once a minute, so that strangers cannot fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log the message."""
        now, error = time.monotonic(), record.exc_info
        message = f"{record.getMessage()} {error[1]!r}" if error else record.getMessage()
        if now - self._last.get(message, -_PAUSE) < _PAUSE:
            return False
        self._last = {old: then for old, then in self._last.items() if now - then < _PAUSE} | {message: now}
        return True


_seldom = _Seldom()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one.

    Raises:
        InputError: the port is in use, or the host is not one of this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family, backlog=connections.WAITING)
    except (OSError, UnicodeError, OverflowError) as error:
        code = getattr(error, "errno", None) or 0  # negative: of the name
        reason = os.strerror(code) if code > 0 else getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot listen on {host}, port {port}: {reason}; give another `port=` or `host=`") from None


def address(opened: socket.socket) -> str:
    """The address of the server, such as http://127.0.0.1:8000."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(app: Any, *, seconds: connections.Seconds | None = None) -> uvicorn.Server:
    """A server to run: `server(app).run(sockets=[opened])`; requests in progress are finished when it is stopped.

    It logs no addresses, which are secret. seconds: the time limits of a connection.
    """
    among = connections.Connections(connections.most(), seconds or connections.Seconds())
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", partial(connections.Connection, among=among)),
        ws="none",
        backlog=connections.WAITING,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        timeout_keep_alive=round(among.seconds.idle) + 1,  # ours ends before it
        timeout_graceful_shutdown=5,
    )
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(_seldom)
    return uvicorn.Server(config)
