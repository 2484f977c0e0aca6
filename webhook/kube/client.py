"""Calls to the API server in plain JSON, over the transport of ``kubernetes.aio``.

Objects stay dicts as the server sent them: a typed model of each slice or template would cost
memory and time, and would drop the fields that this version of the library does not know.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

import aiohttp
from kubernetes.aio.client import ApiClient, Configuration
from kubernetes.aio.config import ConfigException, load_incluster_config, load_kube_config

from webhook.kube.errors import ApiError, Unavailable, decoded, failure

__all__ = ["FIELD_MANAGER", "ApiError", "Client", "NoClusterError", "Object", "Unavailable"]

Object = dict[str, Any]

FIELD_MANAGER = "llmfit-webhook"
CALL_SECONDS = 5.0
LIST_SECONDS = 30.0
PAGE_SIZE = 500

# A watch ends by itself after its time, and is then resumed: a new connection meets another API
# server where there are several. The server sends a bookmark about every minute, so a stream that
# says nothing for longer is one whose other end is gone without a word.
WATCH_SECONDS = 300
SILENCE_SECONDS = 90.0
# An object is at most 1.5 MB in etcd, and JSON is longer than what is stored there.
EVENT_MAX_BYTES = 16 * 1024 * 1024

_JSON = "application/json"
_MERGE_PATCH = "application/merge-patch+json"
_STRATEGIC_PATCH = "application/strategic-merge-patch+json"
_JSON_PATCH = "application/json-patch+json"

Query = Mapping[str, str]


class NoClusterError(Exception):
    """There is no API server to talk to: neither KUBECONFIG nor a service account."""


class Client:
    """The API server as one identity sees it. Its connections belong to one event loop.

    Every call ends within ``call_seconds`` (a page of a list within 30 s) and raises ``ApiError``
    where the server refused and ``Unavailable`` where it gave no answer that counts. Neither holds
    a header of the request, so no token reaches a log.
    """

    def __init__(self, transport: ApiClient, call_seconds: float = CALL_SECONDS) -> None:
        self._transport = transport
        self._call_seconds = call_seconds

    @classmethod
    async def connect(cls, call_seconds: float = CALL_SECONDS) -> Self:
        """A client by KUBECONFIG where that is set, else by the pod's service account.

        A service account's token is read again every minute, since the kubelet renews it.

        Raises:
            NoClusterError: why there is no API server to talk to.
        """
        transport = ApiClient(await _configuration())
        transport.user_agent = FIELD_MANAGER
        return cls(transport, call_seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections."""
        await self._transport.close()

    async def get(self, path: str) -> Object:
        """The object at ``path``."""
        return await self._call("GET", path)

    async def create(self, path: str, obj: Object, *, dry_run: bool = False) -> Object:
        """``obj`` created in the collection at ``path``; what the server made of it."""
        return await self._write("POST", path, obj, _JSON, dry_run)

    async def replace(self, path: str, obj: Object) -> Object:
        """The object at ``path`` replaced: by its resourceVersion only as it was read."""
        return await self._write("PUT", path, obj, _JSON)

    async def merge_patch(self, path: str, patch: Object) -> Object:
        """The object at ``path`` with ``patch`` merged into it (RFC 7386)."""
        return await self._write("PATCH", path, patch, _MERGE_PATCH)

    async def strategic_patch(self, path: str, patch: Object) -> Object:
        """The object at ``path`` with ``patch`` merged: lists by the keys of their types."""
        return await self._write("PATCH", path, patch, _STRATEGIC_PATCH)

    async def json_patch(self, path: str, operations: Sequence[Object]) -> Object:
        """The object at ``path`` after ``operations`` (RFC 6902): all of them or none."""
        return await self._write("PATCH", path, list(operations), _JSON_PATCH)

    async def delete(
        self, path: str, *, uid: str | None = None, resource_version: str | None = None
    ) -> None:
        """Deletes the object at ``path``: only while it is the one of ``uid``, as it was read."""
        stated = {"uid": uid, "resourceVersion": resource_version}
        preconditions = {name: value for name, value in stated.items() if value is not None}
        await self._call("DELETE", path, body={"preconditions": preconditions})

    async def list_pages(
        self, path: str, query: Query | None = None, *, page_size: int = PAGE_SIZE
    ) -> AsyncGenerator[Object, None]:
        """The pages of the collection at ``path``: List objects with ``items`` and ``metadata``.

        All pages show the state of one moment, which their ``metadata.resourceVersion`` names.

        Raises:
            ApiError: among others ``gone``, where reading took so long that the token of the next
                page has expired.
        """
        asked = {**(query or {}), "limit": str(page_size)}
        while True:
            page = await self._call("GET", path, asked, seconds=LIST_SECONDS)
            yield page
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return
            asked["continue"] = token

    async def watch(
        self,
        path: str,
        resource_version: str,
        query: Query | None = None,
        *,
        seconds: int = WATCH_SECONDS,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> AsyncGenerator[tuple[str, Object], None]:
        """What happens in the collection at ``path`` after ``resource_version``.

        Yields (ADDED | MODIFIED | DELETED | BOOKMARK, object) and returns when the server ends the
        stream, at the latest after ``seconds``.

        Raises:
            ApiError: among others ``gone``: the version is too old to go on from.
            Unavailable: the connection failed, or was silent for ``silence_seconds``.
        """
        asked = {
            **(query or {}),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(seconds),
        }
        timeout = aiohttp.ClientTimeout(sock_connect=self._call_seconds, sock_read=silence_seconds)
        async with self._request("GET", path, asked, None, _JSON, timeout) as response:
            try:
                async for line in _lines(response.content):
                    yield _event(line, f"watch {path}")
            finally:
                _cut_off(response)

    async def _write(
        self, method: str, path: str, body: Any, content_type: str, dry_run: bool = False
    ) -> Object:
        query = {"fieldManager": FIELD_MANAGER} | ({"dryRun": "All"} if dry_run else {})
        return await self._call(method, path, query, body, content_type)

    async def _call(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        body: Any = None,
        content_type: str = _JSON,
        seconds: float | None = None,
    ) -> Object:
        timeout = aiohttp.ClientTimeout(total=seconds or self._call_seconds)
        async with self._request(method, path, query, body, content_type, timeout) as response:
            answer = decoded(await response.read())
        if not isinstance(answer, dict):
            raise Unavailable(f"{method} {path}: an answer that is no JSON object")
        return answer

    @asynccontextmanager
    async def _request(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: Any,
        content_type: str,
        timeout: aiohttp.ClientTimeout,
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """An answer with a good status, its body not yet read."""
        call = f"{method} {path}"
        try:
            serialized = await self._transport.param_serialize(
                method,
                path,
                query_params=list(query.items()) if query else [],
                header_params={"Accept": _JSON, "Content-Type": content_type},
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = await self._transport.call_api(*serialized, _request_timeout=timeout)
            async with answer.response as response:
                if response.status >= 400:
                    raise failure(response.status, decoded(await response.read()), call)
                yield response
        # Without the cause: the errors of the library hold the headers of the request.
        except TimeoutError:
            raise Unavailable(f"{call}: no answer in time") from None
        # A token's file that can't be read just now is among them.
        except (aiohttp.ClientError, OSError, ConfigException) as error:
            raise Unavailable(f"{call}: {type(error).__name__}: {error}") from None


async def _lines(content: aiohttp.StreamReader) -> AsyncGenerator[bytes, None]:
    """The lines of a stream, however long; aiohttp's own reader stops at some length."""
    rest = b""
    async for chunk in content.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line:
                yield line
        if len(rest) > EVENT_MAX_BYTES:
            raise Unavailable(f"an event of a watch is longer than {EVENT_MAX_BYTES} bytes")


def _event(line: bytes, call: str) -> tuple[str, Object]:
    event = decoded(line)
    if not isinstance(event, dict) or not isinstance(event.get("object"), dict):
        raise Unavailable(f"{call}: an event that is no JSON object")
    kind, obj = str(event.get("type")), event["object"]
    if kind == "ERROR":
        status = obj.get("code")
        raise failure(status if isinstance(status, int) else 500, obj, call)
    return kind, obj


def _cut_off(response: aiohttp.ClientResponse) -> None:
    """Ends a stream without the farewell of TLS, for which nobody would wait."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


async def _configuration() -> Configuration:
    made = Configuration()
    try:
        if files := os.environ.get("KUBECONFIG"):
            await load_kube_config(files, client_configuration=made, persist_config=False)
        else:
            load_incluster_config(client_configuration=made)
    except (ConfigException, OSError) as error:
        raise NoClusterError(
            f"no API server to talk to ({error}): run in a pod with a service account, or set "
            "KUBECONFIG to a kubeconfig file"
        ) from None
    # The stricter checks that Python 3.13 makes by default refuse the CA certificates of many
    # clusters, which lack an extension that kubectl does not ask for. Chain and name are checked.
    made.disable_strict_ssl_verification = True
    return made
