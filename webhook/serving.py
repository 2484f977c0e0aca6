"""Listening: one port with its bounds, with TLS or without.

A connection has to send its first request in time, and a body in time as well; idle connections
stay open for longer than Kubernetes' API server keeps its own (90 s), so that it is never the
webhook that closes one just as a review comes: a POST is not sent twice.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from aiohttp.http import HttpProcessingError

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

IDLE_SECONDS = 120.0
_BACKLOG = 128
_HEADER_BYTES = 16 * 1024
_HEADERS = 64


@dataclass(frozen=True)
class Bounds:
    """What one port takes: bytes of a body, connections, and seconds for a client to speak."""

    body_bytes: int
    connections: int
    patience_s: float


class _NotOurFault(logging.Filter):
    """A client that breaks HTTP is worth a line, but not a traceback with what it has sent."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            record.exc_info = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.msg, record.args = "a client breaks HTTP (%s)", (type(error).__name__,)
        return True


_log = logging.getLogger(__name__)
_log.addFilter(_NotOurFault())


class Listener:
    """One port."""

    def __init__(
        self,
        handler: Handler,
        bounds: Bounds,
        address: str | None,
        port: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._handler = handler
        self._bounds = bounds
        self._address = address
        self._tls = tls
        self._is_ending = False
        self._server: _Server | None = None
        self._listening: asyncio.Server | None = None
        self.port = port

    async def start(self) -> None:
        """Listens; with port 0, ``port`` is then the one that was free.

        Raises:
            OSError: the address or port can't be had.
        """
        self._server = _Server(self._handle, self._bounds)
        patience = self._bounds.patience_s if self._tls else None
        self._listening = await asyncio.get_running_loop().create_server(
            self._server,
            self._address,
            self.port,
            ssl=self._tls,
            backlog=_BACKLOG,
            ssl_handshake_timeout=patience,
            ssl_shutdown_timeout=patience,
        )
        self.port = self._listening.sockets[0].getsockname()[1]

    def end(self) -> None:
        """Asks clients to go elsewhere: each connection is closed after its next answer."""
        self._is_ending = True

    async def stop(self, patience_s: float) -> None:
        """Listens no more; requests at hand have ``patience_s`` to be answered."""
        if self._listening is None or self._server is None:
            return
        self._listening.close()
        # Requests that have arrived already begin before idle connections are closed.
        await asyncio.sleep(0)
        self._server.pre_shutdown()
        await self._server.shutdown(patience_s)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        response = await self._handler(request)
        if self._is_ending or response.status >= 400:
            response.force_close()
        return response


class _Server(web.Server):
    """Counts connections, and cuts off those that stay silent from the start."""

    def __init__(self, handler: Any, bounds: Bounds) -> None:
        super().__init__(
            self._spoken,
            request_factory=self._request,
            access_log=None,
            logger=_log,
            keepalive_timeout=IDLE_SECONDS,
            lingering_time=bounds.patience_s,
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
            max_headers=_HEADERS,
            auto_decompress=False,
        )
        self._bounds = bounds
        self._answer = handler
        self._silent: dict[Any, asyncio.TimerHandle] = {}

    def connection_made(self, handler: Any, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self.connections) > self._bounds.connections:
            transport.abort()
            return
        loop = asyncio.get_running_loop()
        self._silent[handler] = loop.call_later(self._bounds.patience_s, transport.abort)

    def connection_lost(self, handler: Any, exc: BaseException | None = None) -> None:
        self._heard(handler)
        super().connection_lost(handler, exc)

    async def _spoken(self, request: web.BaseRequest) -> web.StreamResponse:
        self._heard(request.protocol)
        response: web.StreamResponse = await self._answer(request)
        return response

    def _heard(self, handler: Any) -> None:
        timer = self._silent.pop(handler, None)
        if timer is not None:
            timer.cancel()

    def _request(
        self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any
    ) -> web.BaseRequest:
        return web.BaseRequest(
            message,
            payload,
            protocol,
            writer,
            task,
            asyncio.get_running_loop(),
            client_max_size=self._bounds.body_bytes,
        )
