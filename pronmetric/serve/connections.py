"""The port on which pages are served, its connections, and how long each of their phases may take."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, cast

from pronmetric.errors import InputError, MissingExtra

try:
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError:
    raise MissingExtra("uvicorn", "serve", "a server") from None

MOST = 2000
"""The most connections at a time, if the system has enough file descriptors."""
WAITING = 128
"""Connections that the system accepts before the server does."""
_RESERVED = 2 * WAITING + 64  # descriptors for accepted and closing connections, and for files and the database
_FEWEST = 8  # connections, even where the system allows fewer files
_PAUSE = 60.0  # seconds between two equal lines of the log


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long a connection may be in each phase; then it is closed.

    request: until a whole request has arrived, line, headers and body. reply: until it is answered and the reply sent.
    idle: between two requests; people think about an answer.
    """

    request: float = 15.0
    reply: float = 120.0
    idle: float = 75.0


@dataclass(slots=True)
class Connections:
    """The open connections by address. Above `most`, a new one takes the place of another one.

    The place of the address with most connections, of those the one that has waited longest for a request.
    """

    most: int
    seconds: Seconds
    _waiting: dict[str, dict[Connection, None]] = field(default_factory=dict)  # for a request; the longest first
    _open: set[Connection] = field(default_factory=set)

    def add(self, new: Connection) -> None:
        """A connection was opened."""
        self._open.add(new)
        if len(self._open) > self.most:
            crowd: dict[Connection, None] = max(self._waiting.values(), key=len, default={new: None})
            given_up = next(iter(crowd))
            self.discard(given_up)
            given_up.transport.abort()

    def discard(self, closed: Connection) -> None:
        """A connection is closed."""
        self._open.discard(closed)
        self.busy(closed)

    def wait(self, one: Connection) -> None:
        """A connection waits for a request."""
        if one in self._open:
            self.busy(one)
            self._waiting.setdefault(one.address, {})[one] = None

    def busy(self, one: Connection) -> None:
        """A connection waits for a request no longer."""
        own = self._waiting.get(one.address, {})
        own.pop(one, None)
        if not own:
            self._waiting.pop(one.address, None)


class Connection(H11Protocol):
    """uvicorn's connection, with the time limits of its phases."""

    def __init__(self, *arguments: Any, among: Connections, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.address = ""
        self._among = among
        self._phase = ""
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection and wait for its first request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._among.add(self)
        self._enter("request")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._among.discard(self)
        if self._limit is not None:
            self._limit.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came of a request."""
        super().data_received(data)
        self._enter("request" if self._incomplete() else "reply")

    def on_response_complete(self) -> None:
        """Wait for the next request, which may be here already."""
        if not self.transport.is_closing():  # else the time limit of the reply stays, until it is sent
            self._enter("idle")
        super().on_response_complete()
        if self.conn.their_state is not h11.IDLE:
            self._enter("request" if self._incomplete() else "reply")

    def _incomplete(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _enter(self, phase: Literal["request", "reply", "idle"]) -> None:
        """Begin a phase and its time limit; a phase that goes on keeps its limit."""
        if phase == self._phase:
            return
        if self._limit is not None:
            self._limit.cancel()
        self._phase = phase
        self._limit = self.loop.call_later(getattr(self._among.seconds, phase), self.transport.abort)
        if phase == "reply":
            self._among.busy(self)
        else:
            self._among.wait(self)


def most() -> int:
    """The number of connections for which there are file descriptors; raises this process's soft limit for them."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + _RESERVED
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST if soft == resource.RLIM_INFINITY else max(_FEWEST, min(MOST, soft - _RESERVED))


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
        return socket.create_server(address, family=family, backlog=WAITING)
    except (OSError, UnicodeError, OverflowError) as error:
        code = getattr(error, "errno", None) or 0  # negative: of the name
        reason = os.strerror(code) if code > 0 else getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot listen on {host}, port {port}: {reason}; give another `port=` or `host=`") from None


def address(opened: socket.socket) -> str:
    """The address of the server, such as http://127.0.0.1:8000."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(app: Any, *, seconds: Seconds | None = None) -> uvicorn.Server:
    """A server to run: `server(app).run(sockets=[opened])`; requests in progress are finished when it is stopped.

    It logs no addresses, which are secret. seconds: the time limits of a connection.
    """
    among = Connections(most(), seconds or Seconds())
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", partial(Connection, among=among)),
        ws="none",
        backlog=WAITING,
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
