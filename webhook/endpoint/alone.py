"""The endpoint as a process of its own: ``python -m webhook api``."""

from __future__ import annotations

import asyncio
import signal

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from webhook.endpoint.app import make_app
from webhook.endpoint.part import Endpoint
from webhook.settings import EndpointSettings


async def serve(settings: EndpointSettings) -> None:
    """Runs the endpoint until SIGTERM or SIGINT; requests at hand are answered.

    Raises:
        Refused: a catalog or board file has mistakes.
        OSError: the address or port can't be had.
    """
    catalog = Catalog.open([str(path) for path in settings.catalog])
    boards = load_boards([str(path) for path in settings.boards])
    endpoint = Endpoint(make_app(catalog, boards), settings.bind_address or None, settings.port)
    asked_to_end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, asked_to_end.set)
    try:
        await endpoint.start()
        await asked_to_end.wait()
    finally:
        await endpoint.stop()
