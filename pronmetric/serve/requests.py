"""Requests and responses of a server: how many and how large they may be, and the headers that lock them down."""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

from pronmetric.report import embed
from pronmetric.text import strict_json

CLOSE = {"Connection": "close"}
Body = TypeVar("Body", bound=BaseModel)
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_SENDERS = 10_000  # addresses whose rates are remembered; those unseen for longest are forgotten, which bounds memory
_NOBODY = "'none'"
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


def policy_header(policy: str = embed.POLICY, *, frame: str | None = None) -> dict[str, str]:
    """The Content-Security-Policy of a response; frame: the origin that may show it in a frame, None for none."""
    return {"Content-Security-Policy": f"{policy}; frame-ancestors {frame or _NOBODY}"}


def headers(*, frame: str | None = None) -> dict[str, str]:
    """The headers of every response, with the policy of one that loads nothing; frame: as in `policy_header`."""
    unframed = {} if frame else {"X-Frame-Options": "DENY"}
    return {**_HEADERS, **unframed, **policy_header(frame=frame)}


def failure(*, frame: str | None = None) -> JSONResponse:
    """The response to a request at which the server fails; no middleware sees it, so it has its headers itself."""
    return JSONResponse({"detail": "the server failed; its log says why"}, 500, headers(frame=frame))


class SecureHeaders:
    """ASGI middleware: headers on every response that does not set them itself."""

    def __init__(self, app: Any, headers: Mapping[str, str]) -> None:
        self._app, self._headers = app, headers

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, and add to its response."""

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {key.lower() for key, _ in message["headers"]}
                added = [(key.lower().encode(), value.encode()) for key, value in self._headers.items()]
                message["headers"] = [*message["headers"], *(each for each in added if each[0] not in present)]
            await send(message)

        await self._app(scope, receive, secured)


LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")


def names_of_host(host: str, more: Sequence[str] = ()) -> Callable[[str], bool]:
    """Whether a request's header Host names a server that listens on `host`, or one of `more` (behind a proxy).

    Other names are of pages that had their name point here (DNS rebinding): such a page could read the answers. A
    server that listens everywhere is also asked by its addresses, which no page can have as its name. Ports don't
    matter.

    >>> [names_of_host("127.0.0.1")(host) for host in ("localhost:8000", "[::1]", "evil.example", "")]
    [True, True, False, False]
    """
    names = {name.lower().rstrip(".") for name in (*LOOPBACK, host, *more)} - {""}

    def allows(header: str) -> bool:
        match = re.fullmatch(r"\[([^\]]*)\](?::\d*)?|([^:]*)(?::\d*)?", header.strip().lower())
        name = "" if match is None else (match[1] or match[2] or "").rstrip(".")
        return name in names or (host in _EVERYWHERE and _is_address(name))

    return allows


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Refusals:
    """ASGI middleware: refuses requests for another host (421), and those of two lengths (400, and closes).

    allows: whether a header Host is of this server; None: any is.
    """

    def __init__(self, app: Any, allows: Callable[[str], bool] | None) -> None:
        self._app, self._allows = app, allows

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (self._app if refusal is None else refusal)(scope, receive, send)

    def _refusal(self, scope: Message) -> JSONResponse | None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if b"content-length" in headers and b"transfer-encoding" in headers:
            told = (
                "expected Content-Length or Transfer-Encoding, got both"  # a proxy may read another one (RFC 9112, 6.1)
            )
            return JSONResponse({"detail": told}, 400, CLOSE)
        host = headers.get(b"host", b"").decode("latin-1")
        if self._allows is None or self._allows(host):
            return None
        told = f"this server is not {host[:100]!r}: ask it by the address that it printed, or allow this name"
        return JSONResponse({"detail": f"{told} (`pronmetric serve --allow-host NAME`)"}, 421)


@dataclass(slots=True)
class RateLimit:
    """A token bucket for each sender: `burst` requests at once, then `rate` a second.

    Beyond 10,000 senders, those that were not seen for longest are forgotten.
    """

    rate: float
    burst: int
    now: Callable[[], float] = time.monotonic
    # requests left, and when; the oldest first
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def allows(self, sender: str) -> bool:
        """Whether this request is within the limit; it counts if it is."""
        now = self.now()
        left, since = self._buckets.pop(sender, (float(self.burst), now))
        left = min(float(self.burst), left + (now - since) * self.rate)
        allowed = left >= 1
        self._buckets[sender] = (left - allowed, now)
        if len(self._buckets) > _SENDERS:
            del self._buckets[next(iter(self._buckets))]
        return allowed


async def read_body(request: Request, kind: type[Body], *, most: int) -> Body:
    """The body of a request, at most so many bytes of JSON.

    Raises:
        HTTPException: 415 for another type, 413 above the limit, 422 for what is not JSON or not of this kind.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "expected application/json")
    read = bytearray()
    async for part in request.stream():
        read += part
        if len(read) > most:
            raise HTTPException(413, f"expected at most {most:,} bytes", headers=CLOSE)
    try:
        return kind.model_validate(strict_json.parse(read.decode()))
    except ValidationError as error:
        told = (f"{'.'.join(map(str, one['loc'])) or 'the body'}: {one['msg']}" for one in error.errors())
        raise HTTPException(422, "; ".join(told)) from None
    except ValueError as error:
        raise HTTPException(422, f"broken JSON ({error})") from None
