"""The web application of a served study: the annotators' pages, their answers, the overview of the organizers.

Addresses: /a/TOKEN (page of an annotator), its /position, /answers and /undo; /o/TOKEN (overview), its /answers.zip.
Without a valid token everything is "not found", with any method. Pages load nothing from elsewhere; requests and
bodies are limited.
"""

from __future__ import annotations

import dataclasses
import io
import logging
import time
import zipfile
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from pronmetric.errors import MissingExtra
from pronmetric.lab.study import answers, page
from pronmetric.lab.study.database import UNAVAILABLE, Conflict, Database, Position, reason
from pronmetric.report import embed
from pronmetric.text import strict_json

try:
    from anyio import CapacityLimiter
    from anyio.to_thread import run_sync
    from fastapi import FastAPI, HTTPException, Request, Response
    from fastapi.responses import HTMLResponse, JSONResponse
    from starlette.requests import ClientDisconnect
except ImportError:
    raise MissingExtra("fastapi", "study", "pronmetric study serve") from None

BODY = 1024
"""The largest body of a request, in bytes."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{embed.POLICY}; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex",
}
_CLOSE = {"Connection": "close"}  # strangers keep no connection
_SENDERS = 10_000
_LOG = logging.getLogger("uvicorn.error")
Result = TypeVar("Result")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Requests a second, and at once: of each token, and of each address without a valid token.

    overview: seconds for which the overview is not computed again.
    """

    token: tuple[float, int] = (10.0, 100)
    stranger: tuple[float, int] = (1.0, 30)
    overview: float = 1.0


class Given(BaseModel):
    """The body of an answer."""

    model_config = ConfigDict(extra="forbid", strict=True)
    task: int = Field(ge=0)
    answer: Literal["first", "second", "both", "neither"]
    seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)


class Undone(BaseModel):
    """The body of an undo."""

    model_config = ConfigDict(extra="forbid", strict=True)
    task: int = Field(ge=0)


@dataclasses.dataclass(slots=True)
class RateLimit:
    """A token bucket for each sender: `burst` requests at once, then `rate` a second.

    Beyond 10,000 senders, those that were not seen for longest are forgotten.
    """

    rate: float
    burst: int
    now: Callable[[], float] = time.monotonic
    # requests left, and when; the oldest first
    _buckets: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)

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


class _Door:
    """Who may enter: valid tokens, within the rate limits."""

    def __init__(self, tokens: dict[str, str], limits: Limits) -> None:
        self._tokens = tokens
        self._known, self._strangers = RateLimit(*limits.token), RateLimit(*limits.stranger)

    def name(self, token: str, request: Request) -> str:
        """Whose token it is."""
        name = self._tokens.get(token)
        if name is None:
            self.stranger(request)
            raise HTTPException(404)
        if not self._known.allows(token):
            raise HTTPException(429, headers={"Retry-After": "1"})
        return name

    def stranger(self, request: Request) -> None:
        """Count a request without a valid token."""
        if not self._strangers.allows(request.client.host if request.client else ""):
            raise HTTPException(429, headers={"Retry-After": "60", **_CLOSE})


class _Kept(Generic[Result]):
    """The result of a call, kept for some seconds; for one thread at a time."""

    def __init__(self, call: Callable[[], Result], seconds: float) -> None:
        self._call, self._seconds = call, seconds
        self._found: tuple[float, Result] | None = None

    def get(self) -> Result:
        """The result."""
        if self._found is None or time.monotonic() >= self._found[0] + self._seconds:
            result = self._call()
            self._found = time.monotonic(), result
        return self._found[1]


class _SecureHeaders:
    """ASGI middleware: `HEADERS` on every response that does not set them itself."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {key.lower() for key, _ in message["headers"]}
                added = [(key.lower().encode(), value.encode()) for key, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(each for each in added if each[0] not in present)]
            await send(message)

        await self._app(scope, receive, secured)


def make_app(
    database: Database, *, title: str = page.TITLE, question: str = page.QUESTION, limits: Limits | None = None
) -> FastAPI:
    """The application."""
    limits = limits or Limits()
    study = database.study
    app = FastAPI(title=title, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(_SecureHeaders)
    annotators = _Door({token: name for name, token in database.tokens().items()}, limits)
    organizers = _Door({database.overview_token(): ""}, limits)
    threads, pages, reports = CapacityLimiter(database.writers), CapacityLimiter(1), CapacityLimiter(1)
    archive = f"{database.overview_token()}/answers.zip"
    summary = _Kept(partial(page.overview_page, database, title, archive), limits.overview)

    async def store(call: Callable[..., Result], *arguments: Any) -> Result:
        """Run a transaction in a thread; those that wait come in order."""
        return await run_sync(call, *arguments, limiter=threads)

    @app.exception_handler(404)
    async def not_found(request: Request, error: Exception) -> Response:
        return JSONResponse({"detail": "not found"}, 404, _CLOSE)

    async def unavailable(request: Request, error: Exception) -> Response:
        _LOG.error("the database does not answer, nothing is stored: %s", reason(error))
        return JSONResponse({"detail": "the database does not answer"}, 503, {"Retry-After": "5"})

    for kind in UNAVAILABLE:
        app.add_exception_handler(kind, unavailable)

    @app.exception_handler(ClientDisconnect)
    async def cut_off(request: Request, error: Exception) -> Response:
        _LOG.warning("a request was cut off; nothing of it is stored")
        return Response(status_code=400)  # nobody reads it

    @app.exception_handler(Conflict)
    async def conflict(request: Request, error: Conflict) -> Response:
        return JSONResponse({"detail": str(error), **dataclasses.asdict(error.position)}, 409)

    @app.get("/a/{token}", response_class=HTMLResponse)
    async def annotate(token: str, request: Request) -> Response:
        name = annotators.name(token, request)
        make = partial(page.served_page, study, name, title=title, question=question)
        return HTMLResponse(*_with_policy(await run_sync(make, limiter=pages)))

    @app.get("/a/{token}/position")
    async def position(token: str, request: Request) -> Position:
        return await store(database.position, annotators.name(token, request))

    @app.post("/a/{token}/answers")
    async def answer(token: str, request: Request) -> Position:
        name = annotators.name(token, request)
        given = await _body(request, Given)
        if given.task >= len(study.assignments[name]) or given.answer not in study.design.answers:
            raise HTTPException(422, "no such task or answer")
        return await store(database.answer, name, given.task, given.answer, given.seconds)

    @app.post("/a/{token}/undo")
    async def undo(token: str, request: Request) -> Position:
        name = annotators.name(token, request)
        return await store(database.undo, name, (await _body(request, Undone)).task)

    @app.get("/o/{token}", response_class=HTMLResponse)
    async def show_overview(token: str, request: Request) -> Response:
        organizers.name(token, request)
        return HTMLResponse(*_with_policy(await run_sync(summary.get, limiter=reports)))

    @app.get("/o/{token}/answers.zip")
    async def export(token: str, request: Request) -> Response:
        organizers.name(token, request)
        headers = {"Content-Disposition": f'attachment; filename="answers-{study.id}.zip"'}
        return Response(await run_sync(_archive, database, limiter=reports), 200, headers, "application/zip")

    async def elsewhere(scope: Message, receive: Receive, send: Send) -> None:
        annotators.stranger(Request(scope))
        raise HTTPException(404)

    app.mount("/", elsewhere)  # every other path and method
    return app


Body = TypeVar("Body", bound=BaseModel)


async def _body(request: Request, kind: type[Body]) -> Body:
    """The body of a request, at most `BODY` bytes of JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "expected application/json")
    read = bytearray()
    async for part in request.stream():
        read += part
        if len(read) > BODY:
            raise HTTPException(413, f"expected at most {BODY} bytes", headers={"Connection": "close"})
    try:
        return kind.model_validate(strict_json.parse(read.decode()))
    except ValueError:  # pydantic's too
        raise HTTPException(422, f"expected {', '.join(kind.model_fields)}") from None


def _with_policy(page_and_policy: tuple[str, str]) -> tuple[str, int, dict[str, str]]:
    """Content, status and headers of a page with its Content-Security-Policy."""
    html, policy = page_and_policy
    return html, 200, {"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"}


def _archive(database: Database) -> bytes:
    """The annotators' files as a ZIP archive."""
    given = database.answers()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, own in given.items():
            archive.writestr(f"answers-{name}.json", answers.dump(database.study, name, own))
    return content.getvalue()
