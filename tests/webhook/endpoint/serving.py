"""The endpoint in a thread of the test's process, on a free port of loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

from webhook.endpoint.app import make_runner


@contextmanager
def serving(app: web.Application) -> Iterator[str]:
    """Runs ``app`` and gives the URL that it has until the context ends."""
    loop = asyncio.new_event_loop()
    runner = make_runner(app)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(_start(runner), loop).result(10)
        port = runner.addresses[0][1]
        yield f"http://127.0.0.1:{port}"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _start(runner: web.AppRunner) -> None:
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
