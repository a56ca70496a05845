"""The web application: the page, its JSON interface, and the description of the interface.

Nothing is loaded from elsewhere, and nothing of a request is kept. The number and size of requests are limited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from pydantic import BaseModel

from pronmetric.errors import MissingExtra, PronmetricError

try:
    from fastapi import Depends, FastAPI, HTTPException, Request, Response
    from fastapi.responses import HTMLResponse, JSONResponse
    from starlette.requests import ClientDisconnect
except ImportError:
    raise MissingExtra("fastapi", "serve", "pronmetric serve") from None

from pronmetric.serve import interface, page
from pronmetric.serve.batches import Busy
from pronmetric.serve.given_file import read_file
from pronmetric.serve.languages import Languages, NoLanguage
from pronmetric.serve.requests import (
    CLOSE,
    RateLimit,
    Refusals,
    SecureHeaders,
    failure,
    headers,
    policy_header,
    read_body,
)
from pronmetric.serve.service import Service, TooMuch
from pronmetric.version import __version__

BURST = 5
"""Seconds whose requests may come at once."""
Result = TypeVar("Result")
Asked = TypeVar("Asked", bound=BaseModel)
InLanguage = TypeVar("InLanguage", interface.ScoreRequest, interface.SuggestRequest, interface.CompareRequest)
_ERRORS = {
    400: "a language that the model does not score, or both Content-Length and Transfer-Encoding",
    413: "more than one request may ask for",
    415: "the body is not application/json",
    421: "another Host than this server's",
    422: "the body is not as described; `detail` says what and where",
    429: "too many requests of this address",
    500: "the server failed; its log says why",
    503: "too much work waits, or the server stops; try again after `Retry-After` seconds",
}


def make_app(
    service: Service,
    *,
    rate: float = 0.0,
    frame: str | None = None,
    allows: Callable[[str], bool] | None = None,
) -> FastAPI:
    """The application; requests may name another language of the service's checkpoint.

    allows: whether the header Host of a request is of this server (`names_of_host`); None: any is. rate: requests a
    second of each address, 0 for any number. frame: the origin that may show the page in a frame.
    """
    languages = Languages(service)
    limit = RateLimit(rate, max(1, round(rate * BURST)))

    async def allowed(request: Request) -> None:
        if rate and not limit.allows(request.client.host if request.client else ""):
            raise HTTPException(429, "too many requests", headers={"Retry-After": "1"})

    app = FastAPI(
        title="pronmetric",
        version=__version__,
        description=f"Scores of pronouns in translations. Model: {service.metric.name}.",
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(allowed)],
    )
    app.add_middleware(Refusals, allows=allows)
    app.add_middleware(SecureHeaders, headers=headers(frame=frame))

    async def refused(request: Request, error: Exception) -> Response:
        status = 413 if isinstance(error, TooMuch) else 400 if isinstance(error, NoLanguage) else 422
        return JSONResponse({"detail": str(error)}, status)

    async def busy(request: Request, error: Exception) -> Response:
        return JSONResponse({"detail": "too much work waits"}, 503, {"Retry-After": "5"})

    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it

    async def failed(request: Request, error: Exception) -> Response:
        return failure(frame=frame)

    app.add_exception_handler(PronmetricError, refused)
    app.add_exception_handler(Busy, busy)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, failed)

    @app.get("/", include_in_schema=False)
    async def show_page(lang: str | None = None) -> Response:
        return _html(page.page(await languages.service(lang), languages.codes), frame)

    @app.get("/docs", include_in_schema=False)
    async def show_interface(request: Request) -> Response:
        return _html(page.interface_page(app.openapi(), address=str(request.base_url)), frame)

    @app.get("/health", summary="Whether the server answers, and with which model.")
    async def health() -> interface.Health:
        return interface.Health(**service.health(), languages=list(languages.codes))

    def add(
        path: str,
        asked: type[Asked],
        answer: type[BaseModel],
        work: Callable[[Asked], Awaitable[object]],
        most: int = interface.BODY,
    ) -> None:
        async def respond(request: Request) -> Response:
            body = await read_body(request, asked, most=most)
            try:
                return JSONResponse(await _unless_gone(request, work(body)))
            except asyncio.CancelledError:  # the server stops
                return JSONResponse({"detail": "the server stops"}, 503, {"Retry-After": "5", **CLOSE})

        schema = {"required": True, "content": {"application/json": {"schema": asked.model_json_schema()}}}
        errors: dict[int | str, dict[str, Any]] = {status: {"description": why} for status, why in _ERRORS.items()}
        app.post(
            path,
            summary=work.__doc__,
            response_model=None,
            responses={200: {"model": answer, "description": answer.__doc__ or ""}, **errors},
            openapi_extra={"requestBody": schema},
        )(respond)

    def chosen(work: Callable[[Service, InLanguage], Awaitable[object]]) -> Callable[[InLanguage], Awaitable[object]]:
        @wraps(work)
        async def answer(asked: InLanguage) -> object:
            return await work(await languages.service(asked.lang), asked)

        return answer

    add("/score", interface.ScoreRequest, interface.ScoredRecords, chosen(Service.score))
    add("/compare", interface.CompareRequest, interface.Comparison, chosen(Service.compare))
    add("/suggest", interface.SuggestRequest, interface.SuggestedRecords, chosen(Service.suggest))
    add("/attention", interface.ScoreRequest, interface.AttendedRecords, chosen(Service.attend))
    add("/texts", interface.ReadRequest, interface.ReadFile, read_file, interface.FILE)
    return app


async def _unless_gone(request: Request, work: Awaitable[Result]) -> Result:
    """What the work gives; it is cancelled if the client closes the connection before.

    Raises:
        ClientDisconnect: so it was.
    """

    async def closed() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    doing, gone = asyncio.ensure_future(work), asyncio.create_task(closed())
    try:
        await asyncio.wait({doing, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise ClientDisconnect
        return await doing
    finally:
        doing.cancel()
        gone.cancel()


def _html(made: tuple[str, str], frame: str | None) -> Response:
    """A page with its Content-Security-Policy."""
    html, policy = made
    return HTMLResponse(html, headers=policy_header(policy, frame=frame))
