"""The endpoint in a thread of the test's process, on a free port of loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from webhook.endpoint.limits import Limits
from webhook.endpoint.part import Endpoint

if TYPE_CHECKING:
    from aiohttp import web


@contextmanager
def serving(app: web.Application, limits: Limits = Limits()) -> Iterator[str]:
    """Runs ``app`` and gives the URL that it has until the context ends."""
    loop = asyncio.new_event_loop()
    endpoint = Endpoint(app, "127.0.0.1", 0, limits)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(endpoint.start(), loop).result(10)
        yield f"http://127.0.0.1:{endpoint.port}"
    finally:
        asyncio.run_coroutine_threadsafe(endpoint.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
