"""The parts put together: started in order, watched, and ended without losing a review."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from webhook.certificates import Certificates
from webhook.observed.logs import fields
from webhook.observed.metrics import Metrics
from webhook.observed.probes import Probes, Readiness
from webhook.reviews.http import ReviewBounds, Reviews
from webhook.reviews.mutate import Mutator
from webhook.serving import Bounds, Listener
from webhook.settings import Settings

_PLAIN_BYTES = 64 * 1024
_log = logging.getLogger(__name__)


class Part(Protocol):
    """Something that runs as long as the service does: a cache, a sweeper, an endpoint."""

    async def run(self) -> None:
        """Runs until cancelled. What it raises ends the process, so that it is started anew."""


class Service:
    """The webhook as one process.

    ``readiness`` and ``metrics`` are there for parts to add their checks and numbers to, before
    ``run``.
    """

    def __init__(
        self,
        settings: Settings,
        mutator: Mutator,
        certificates: Certificates,
        parts: Sequence[Part] = (),
        metrics: Metrics | None = None,
    ) -> None:
        self.readiness = Readiness()
        self.metrics = metrics or Metrics()
        self._settings = settings
        self._parts = (certificates, *parts)
        self.readiness.add("certificate", lambda: certificates.ready)
        self.metrics.certificate_expires.set_function(lambda: _timestamp(certificates.expires_at))
        reviews = Reviews(mutator, self.metrics, _review_bounds(settings))
        address = settings.bind_address or None
        self.tls = Listener(
            reviews.handle,
            Bounds(settings.max_review_bytes, settings.max_connections, settings.client_seconds),
            address,
            settings.tls_port,
            certificates.ssl_context,
        )
        self.plain = Listener(
            Probes(self.readiness, self.metrics).handle,
            Bounds(_PLAIN_BYTES, settings.max_connections, settings.client_seconds),
            address,
            settings.plain_port,
        )

    async def run(self) -> None:
        """Serves until SIGTERM or SIGINT, then drains.

        Raises:
            OSError: a port can't be had.
            Exception: what a part raised.
        """
        asked_to_end = asyncio.Event()
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, asked_to_end.set)
        await self.plain.start()
        parts = [asyncio.create_task(each.run()) for each in self._parts]
        try:
            await self.tls.start()
            ports = fields(tls_port=self.tls.port, plain_port=self.plain.port)
            _log.info("listening", extra=ports)
            await _until(asked_to_end, parts)
            await self._drain()
        finally:
            for part in parts:
                part.cancel()
            await asyncio.gather(*parts, return_exceptions=True)
            await self.tls.stop(0)
            await self.plain.stop(0)
        _log.info("ended")

    async def _drain(self) -> None:
        """Readiness goes first: reviews still come until everybody has heard of it."""
        _log.info("draining", extra=fields(seconds=self._settings.drain_seconds))
        self.readiness.end()
        self.tls.end()
        await asyncio.sleep(self._settings.drain_seconds)
        await self.tls.stop(self._settings.shutdown_seconds)


async def _until(event: asyncio.Event, parts: Sequence[asyncio.Task[None]]) -> None:
    """Waits for ``event``; what a part raises before it is raised here."""
    waiting = asyncio.create_task(event.wait())
    try:
        done, _ = await asyncio.wait({waiting, *parts}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    for task in done - {waiting}:
        task.result()
        raise RuntimeError("a part of the webhook ended by itself")


def _timestamp(time: datetime | None) -> float:
    return time.timestamp() if time else 0.0


def _review_bounds(settings: Settings) -> ReviewBounds:
    return ReviewBounds(
        review_bytes=settings.max_review_bytes,
        in_flight=settings.max_in_flight,
        patience_s=settings.client_seconds,
        deadline_s=settings.deadline_seconds,
    )
