"""The application: its paths, and the bounds that every request is held to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

from aiohttp import web

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.core.boards import Board
from webhook.endpoint.answers import Answer, Answers
from webhook.endpoint.limits import Limits
from webhook.endpoint.openapi import CLAIM_PATH, DOCUMENT_PATH, MODELS_PATH, WARNING, document
from webhook.endpoint.parameters import (
    ClaimParameters,
    MalformedBody,
    ModelsParameters,
    from_json,
    from_query,
)
from webhook.endpoint.problems import Handler, as_problems, problem

JSON = "application/json"


def make_app(
    catalog: Catalog, boards: tuple[Board, ...], limits: Limits = Limits()
) -> web.Application:
    """The endpoint over ``catalog`` and ``boards``, which are read once and never changed."""
    endpoint = _Endpoint(Answers(catalog, boards), limits)
    app = web.Application(
        middlewares=[as_problems, endpoint.bounded], client_max_size=limits.body_bytes
    )
    app.router.add_get(CLAIM_PATH, endpoint.get_claim)
    app.router.add_post(CLAIM_PATH, endpoint.post_claim)
    app.router.add_get(MODELS_PATH, endpoint.get_models)
    app.router.add_get(DOCUMENT_PATH, endpoint.get_document)
    app.on_response_prepare.append(_common_headers)
    app.cleanup_ctx.append(endpoint.threads)
    return app


class _Endpoint:
    """The handlers, and what they share."""

    def __init__(self, answers: Answers, limits: Limits) -> None:
        self._answers = answers
        self._limits = limits
        self._pool: ThreadPoolExecutor | None = None
        self._in_flight = 0
        self._document = _encoded(document(limits))

    async def threads(self, _app: web.Application) -> AsyncIterator[None]:
        """The threads, as long as the application runs."""
        self._pool = ThreadPoolExecutor(self._limits.workers, "endpoint")
        yield
        self._pool.shutdown(cancel_futures=True)

    @web.middleware
    async def bounded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuses what is too long or comes while too much is in flight."""
        if len(request.raw_path) > self._limits.target_bytes:
            most = self._limits.target_bytes
            return problem(
                HTTPStatus.REQUEST_URI_TOO_LONG, f"Path and query have at most {most} bytes."
            )
        if self._in_flight >= self._limits.in_flight:
            return _busy()
        self._in_flight += 1
        try:
            return await handler(request)
        finally:
            self._in_flight -= 1

    async def get_claim(self, request: web.Request) -> web.Response:
        """The claim that a query asks for."""
        asked = from_query(ClaimParameters, request.query.items())
        return await self._answered(lambda: self._answers.claim(asked))

    async def post_claim(self, request: web.Request) -> web.Response:
        """The claim that a JSON body asks for."""
        if request.query_string:
            return problem(
                HTTPStatus.BAD_REQUEST, "A POST has its parameters in the body, and no query."
            )
        if request.content_type != JSON or (request.charset or "utf-8").lower() != "utf-8":
            return problem(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"The body has to be of Content-Type {JSON}, in UTF-8.",
                {"Accept-Post": JSON},
            )
        try:
            async with asyncio.timeout(self._limits.read_seconds):
                body = await request.read()
            asked = from_json(ClaimParameters, body)
        except TimeoutError:
            late = problem(HTTPStatus.REQUEST_TIMEOUT, "The body did not arrive in time.")
            late.force_close()
            return late
        except MalformedBody as error:
            return problem(HTTPStatus.BAD_REQUEST, f"The body is no JSON in UTF-8: {error}.")
        return await self._answered(lambda: self._answers.claim(asked))

    async def get_models(self, request: web.Request) -> web.Response:
        """The models that a query searches for."""
        asked = from_query(ModelsParameters, request.query.items())
        return await self._answered(lambda: self._answers.models(asked))

    async def get_document(self, _request: web.Request) -> web.Response:
        """The OpenAPI document."""
        return _json(self._document)

    async def _answered(self, work: Callable[[], Answer]) -> web.Response:
        """The answer of ``work``, done in a thread: a search takes long for an event loop."""

        def encoded() -> tuple[bytes, str | None]:
            answer = work()
            return _encoded(answer.data), answer.warning

        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._limits.answer_seconds):
                body, warning = await loop.run_in_executor(self._pool, encoded)
        except TimeoutError:
            return _busy()
        response = _json(body)
        if warning is not None:
            response.headers[WARNING] = warning
        return response


def _busy() -> web.Response:
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Too much is asked at once; ask again later.",
        {"Retry-After": "1"},
    )


def _encoded(data: object) -> bytes:
    """JSON letter for letter as the command line prints it."""
    return f"{json.dumps(data, indent=4)}\n".encode("ascii")


def _json(body: bytes) -> web.Response:
    # The answer changes with the catalog, that is with a restart: a cache has to ask again.
    return web.Response(body=body, content_type=JSON, headers={"Cache-Control": "no-cache"})


async def _common_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers["X-Content-Type-Options"] = "nosniff"
    # Which library serves is nobody's business.
    response.headers.pop("Server", None)
