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
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from pronmetric.errors import MissingExtra

try:
    from anyio import CapacityLimiter, fail_after
    from anyio.to_thread import run_sync
    from fastapi import FastAPI, HTTPException, Request, Response
    from fastapi.responses import HTMLResponse, JSONResponse
    from starlette.requests import ClientDisconnect
except ImportError:
    raise MissingExtra("fastapi", "study", "pronmetric study serve") from None

from pronmetric.lab.study import answers, page
from pronmetric.lab.study.database import UNAVAILABLE, Conflict, Database, Position, reason
from pronmetric.serve.requests import (
    CLOSE,
    Message,
    RateLimit,
    Receive,
    Refusals,
    SecureHeaders,
    Send,
    failure,
    headers,
    policy_header,
    read_body,
)

BODY = 4096
"""The largest body of a request, in bytes."""
TURN = 8.0
"""Seconds that a transaction waits for those before it. With those for a lock they are fewer than remote.js waits."""
COMMENT = 500
"""The longest comment of an annotator, in characters; `page.html` has the same."""
_LOG = logging.getLogger("uvicorn.error")
Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Requests a second, and at once: of each token, and of each address without a valid token.

    overview: seconds for which the overview is not computed again.
    """

    token: tuple[float, int] = (10.0, 100)
    stranger: tuple[float, int] = (1.0, 30)
    overview: float = 1.0


class AnswerBody(BaseModel):
    """The body of an answer."""

    model_config = ConfigDict(extra="forbid", strict=True)
    task: int = Field(ge=0)
    answer: str = Field(max_length=20)
    seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)
    comment: str = Field(default="", max_length=COMMENT, pattern="^[^\\x00]*$")


class UndoBody(BaseModel):
    """The body of an undo."""

    model_config = ConfigDict(extra="forbid", strict=True)
    task: int = Field(ge=0)


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
            raise HTTPException(429, headers={"Retry-After": "60", **CLOSE})


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


def make_app(database: Database, look: page.PageOptions | None = None, *, limits: Limits | None = None) -> FastAPI:
    """The application."""
    limits, look = limits or Limits(), look or page.PageOptions()
    study = database.study
    app = FastAPI(title=look.title, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Refusals, allows=None)  # its addresses are secret
    app.add_middleware(SecureHeaders, headers=headers())
    annotators = _Door({token: name for name, token in database.tokens().items()}, limits)
    organizers = _Door({database.overview_token(): ""}, limits)
    threads, pages, reports = CapacityLimiter(database.writers), CapacityLimiter(1), CapacityLimiter(1)
    archive = f"{database.overview_token()}/answers.zip"
    summary = _Kept(partial(page.overview_page, database, look.title, archive), limits.overview)

    async def store(call: Callable[..., Result], *arguments: Any) -> Result:
        """Run a transaction in a thread; those that wait come in order, and give up after `TURN`."""
        with fail_after(TURN):  # a transaction that has begun is not cut off
            return await run_sync(call, *arguments, limiter=threads)

    @app.exception_handler(404)
    async def not_found(request: Request, error: Exception) -> Response:
        return JSONResponse({"detail": "not found"}, 404, CLOSE)

    async def unavailable(request: Request, error: Exception) -> Response:
        _LOG.error("the database does not answer, nothing is stored: %s", reason(error))
        return JSONResponse({"detail": "the database does not answer"}, 503, {"Retry-After": "5"})

    for kind in (*UNAVAILABLE, TimeoutError):
        app.add_exception_handler(kind, unavailable)

    @app.exception_handler(ClientDisconnect)
    async def cut_off(request: Request, error: Exception) -> Response:
        _LOG.warning("a request was cut off; nothing of it is stored")
        return Response(status_code=400)  # nobody reads it

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        return failure()

    @app.exception_handler(Conflict)
    async def conflict(request: Request, error: Conflict) -> Response:
        return JSONResponse({"detail": str(error), **dataclasses.asdict(error.position)}, 409)

    @app.get("/a/{token}", response_class=HTMLResponse)
    async def annotate(token: str, request: Request) -> Response:
        name = annotators.name(token, request)
        make = partial(page.served_page, study, name, look)
        return HTMLResponse(*_with_policy(await run_sync(make, limiter=pages)))

    @app.get("/a/{token}/position")
    async def position(token: str, request: Request) -> Position:
        return await store(database.position, annotators.name(token, request))

    @app.post("/a/{token}/answers")
    async def answer(token: str, request: Request) -> Position:
        name = annotators.name(token, request)
        given = await read_body(request, AnswerBody, most=BODY)
        if given.task >= len(study.assignments[name]) or given.answer not in study.design.answers:
            raise HTTPException(422, "no such task or answer")
        return await store(database.answer, name, given.task, given.answer, given.seconds, given.comment.strip())

    @app.post("/a/{token}/undo")
    async def undo(token: str, request: Request) -> Position:
        name = annotators.name(token, request)
        return await store(database.undo, name, (await read_body(request, UndoBody, most=BODY)).task)

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


def _with_policy(page_and_policy: tuple[str, str]) -> tuple[str, int, dict[str, str]]:
    """Content, status and headers of a page with its Content-Security-Policy."""
    html, policy = page_and_policy
    return html, 200, policy_header(policy)


def _archive(database: Database) -> bytes:
    """The annotators' files as a ZIP archive."""
    given = database.answers()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, own in given.items():
            archive.writestr(f"answers-{name}.json", answers.dump(database.study, name, own))
    return content.getvalue()
