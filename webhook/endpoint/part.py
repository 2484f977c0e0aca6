"""The endpoint on its port: a part of the webhook's service, or a process of its own."""

from __future__ import annotations

import asyncio
import logging

from aiohttp import web

from webhook.endpoint.limits import Limits
from webhook.observed.logs import fields

# Above every limit of path and query, so that the limit's own answer is seen.
_LINE_BYTES = 16_384

_log = logging.getLogger(__name__)
# What a client sends that is no HTTP is its own affair, and nothing for the log.
_quiet = logging.getLogger(f"{__name__}.http")
_quiet.setLevel(logging.CRITICAL + 1)


class Endpoint:
    """One application on one port."""

    def __init__(
        self, app: web.Application, address: str | None, port: int, limits: Limits = Limits()
    ) -> None:
        self.port = port
        self._address = address
        self._runner = web.AppRunner(
            app,
            access_log=None,
            logger=_quiet,
            keepalive_timeout=limits.idle_seconds,
            # For the rest of a body that was refused, so that the client sees why.
            lingering_time=limits.read_seconds,
            max_line_size=_LINE_BYTES,
            shutdown_timeout=limits.drain_seconds,
        )

    async def start(self) -> None:
        """Listens; with port 0, ``port`` is then the one that was free.

        Raises:
            OSError: the address or port can't be had.
        """
        await self._runner.setup()
        await web.TCPSite(self._runner, self._address, self.port).start()
        self.port = self._runner.addresses[0][1]
        _log.info("listening", extra=fields(endpoint_port=self.port))

    async def stop(self) -> None:
        """Listens no more; requests at hand are answered."""
        await self._runner.cleanup()

    async def run(self) -> None:
        """Serves until cancelled. Raises as ``start``."""
        try:
            await self.start()
            await asyncio.Event().wait()
        finally:
            await self.stop()
