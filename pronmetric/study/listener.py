"""The port on which a study is served, and the server that listens on it."""

from __future__ import annotations

import os
import socket
from typing import Any

from pronmetric.errors import InputError, MissingExtra

try:
    import uvicorn
except ImportError:
    raise MissingExtra("uvicorn", "study", "pronmetric study serve") from None

CONNECTIONS = 2000
_WAITING = 1024  # connections that the system accepts before the server does


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one.

    Raises:
        InputError: the port is in use, or the host is not one of this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family, backlog=_WAITING)
    except (OSError, UnicodeError, OverflowError) as error:
        code = getattr(error, "errno", None) or 0  # negative: of the name
        reason = os.strerror(code) if code > 0 else getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot listen on {host}, port {port}: {reason}; give another --port or --host") from None


def address(opened: socket.socket) -> str:
    """The address of the server, such as http://127.0.0.1:8000."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(app: Any) -> uvicorn.Server:
    """A server to run: `server(app).run(sockets=[opened])`; requests in progress are finished when it is stopped.

    It logs no addresses, which are secret.
    """
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=75,  # seconds; people think about an answer
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config)
