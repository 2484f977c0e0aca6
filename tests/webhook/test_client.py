"""The API client against answers that a real API server does not give: proxies, cuts, floods."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import ApiClient, Configuration

from webhook.kube import client as calls
from webhook.kube.client import ApiError, Client, Unavailable
from webhook.kube.paths import path

pytestmark = pytest.mark.anyio

SECRET = "bearer very-secret"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served(handler: Handler, call_seconds: float = 5.0) -> AsyncIterator[Client]:
    """A client of a server that answers everything with ``handler``."""
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", handler)
    async with TestServer(app) as server:
        configuration = Configuration(host=str(server.make_url("")).rstrip("/"))
        configuration.api_key["BearerToken"] = SECRET
        async with Client(ApiClient(configuration), call_seconds) as client:
            yield client


def answers(status: int, body: str, content_type: str = "application/json") -> Handler:
    async def handler(request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == SECRET
        return web.Response(status=status, text=body, content_type=content_type)

    return handler


def streams(*chunks: bytes, cut: bool = False) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        if cut:
            assert request.transport is not None
            request.transport.abort()
        return response

    return handler


def event(kind: str, **obj: object) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


async def watched(client: Client) -> list[str]:
    return [kind async for kind, _ in client.watch("/api/v1/things", "1")]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, '{"kind":"Status","message":"too many","reason":"TooManyRequests"}'),
        (500, '{"kind":"Status","message":"etcdserver: request timed out"}'),
        (502, "<html>Bad Gateway</html>"),
        (503, '"not even a Status"'),
        (504, ""),
        (200, "<html>Please log in</html>"),
        (200, "[]"),
        (200, ""),
    ],
)
async def test_no_answer_that_counts(status: int, body: str) -> None:
    async with served(answers(status, body)) as client:
        with pytest.raises(Unavailable, match="GET /api/v1/things"):
            await client.get("/api/v1/things")


@pytest.mark.parametrize(
    ("body", "reason", "message"),
    [
        ('{"reason":"NotFound","message":"things \\"a\\" not found"}', "NotFound",
         'things "a" not found'),
        ("<html>no such page</html>", "", "GET /api/v1/things: HTTP 404"),
        ('{"reason":null,"message":null}', "", "GET /api/v1/things: HTTP 404"),
        (json.dumps({"message": "x" * 5000}), "", "x" * 1000),
    ],
    ids=["status", "html", "nulls", "long"],
)  # fmt: skip
async def test_a_refusal(body: str, reason: str, message: str) -> None:
    async with served(answers(404, body)) as client:
        with pytest.raises(ApiError) as caught:
            await client.get("/api/v1/things")
    assert (caught.value.status, caught.value.reason, caught.value.message) == (
        404,
        reason,
        message,
    )


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (401, "Unauthorized", True),
        (403, 'pods is forbidden: User "x" cannot list resource "pods" in API group ""', True),
        (403, 'forbidden: User "x" cannot get path "/apis/resource.k8s.io"', True),
        (403, 'things "a" is forbidden: exceeded quota: few, requested: count/things=1', False),
        (403, 'things "a" is forbidden: because it is being terminated', False),
        (404, 'you cannot list resource "pods" here', False),
    ],
)
def test_what_only_rights_forbid(status: int, message: str, expected: bool) -> None:
    assert ApiError(status, "", message).lacks_right is expected


async def test_an_answer_that_drips_ends_in_time() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(100):
            await response.write(b" ")
            await asyncio.sleep(0.05)
        return response

    async with served(handler, call_seconds=0.3) as client:
        with pytest.raises(Unavailable, match="no answer in time"):
            await client.get("/api/v1/things")


async def test_no_secret_in_what_is_raised() -> None:
    """Errors of the library hold the request's headers; a redirect for ever gives such a one."""

    async def handler(request: web.Request) -> web.Response:
        raise web.HTTPFound(request.path)

    async with served(handler) as client:
        with pytest.raises(Unavailable, match="TooManyRedirects") as caught:
            await client.get("/api/v1/things")
    error = caught.value
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(error.__cause__)
    assert "very-secret" not in shown


async def test_events_in_any_pieces() -> None:
    whole = event("ADDED", metadata={"name": "a" * 5_000_000}) + event("DELETED", metadata={})
    pieces = [whole[:7], whole[7:3_000_000], whole[3_000_000:], b"\n"]
    async with served(streams(*pieces)) as client:
        assert await watched(client) == ["ADDED", "DELETED"]


async def test_an_event_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "EVENT_MAX_BYTES", 100_000)
    async with served(streams(*[b"x" * 50_000] * 4)) as client:
        with pytest.raises(Unavailable, match="longer than 100000 bytes"):
            await watched(client)


@pytest.mark.parametrize(
    "chunks",
    [
        [b"no json\n"],
        [b'{"type":"ADDED"}\n'],
        [b'{"type":"ADDED","object":[]}\n'],
        [event("ERROR", code=500, message="internal")],
        [event("ERROR", message="no code")],
    ],
)
async def test_a_watch_that_makes_no_sense(chunks: list[bytes]) -> None:
    async with served(streams(*chunks)) as client:
        with pytest.raises(Unavailable):
            await watched(client)


async def test_a_watch_from_too_old_a_version() -> None:
    gone = event("ERROR", code=410, reason="Expired", message="too old resource version: 1 (5)")
    async with served(streams(gone)) as client:
        with pytest.raises(ApiError) as caught:
            await watched(client)
    assert caught.value.gone


async def test_a_watch_that_is_cut_off() -> None:
    chunks = [event("ADDED", metadata={}), b'{"type":"MODI']
    async with served(streams(*chunks, cut=True)) as client:
        events = client.watch("/api/v1/things", "1")
        assert (await anext(events))[0] == "ADDED"
        with pytest.raises(Unavailable, match="ClientPayloadError"):
            await anext(events)


async def test_pages_whose_token_has_expired() -> None:
    async def handler(request: web.Request) -> web.Response:
        if "continue" in request.query:
            expired = {"code": 410, "reason": "Expired", "message": "the token has expired"}
            return web.json_response(expired, status=410)
        return web.json_response({"metadata": {"continue": "more"}, "items": []})

    async with served(handler) as client:
        with pytest.raises(ApiError) as caught:
            async for _ in client.list_pages("/api/v1/things"):
                pass
    assert caught.value.gone


@pytest.mark.parametrize(
    "name", ["..", ".", "a/b", "a?b", "a%2fb", "A", "-a", "a-", "a..b", "a\n", "é", "a" * 254]
)
def test_names_that_would_leave_their_place(name: str) -> None:
    for namespace, own in ((name, "ok"), ("ok", name)):
        with pytest.raises(ApiError, match="no name of a Kubernetes object"):
            path("v1", "pods", namespace, own)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("v1", "pods"), "/api/v1/pods"),
        (("v1", "namespaces", "", "x"), "/api/v1/namespaces/x"),
        (("apps/v1", "jobs", "x.y-1"), "/apis/apps/v1/namespaces/x.y-1/jobs"),
        (("a.b/v1", "things", "n", "t"), "/apis/a.b/v1/namespaces/n/things/t"),
    ],
    ids=str,
)
def test_paths(arguments: tuple[str, ...], expected: str) -> None:
    assert path(*arguments) == expected
