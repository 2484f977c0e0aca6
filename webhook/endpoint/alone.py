"""The endpoint as a process of its own: ``python -m webhook api``."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Sequence

from aiohttp import web
from pydantic import Field
from pydantic_settings import BaseSettings, CliApp, SettingsConfigDict

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from webhook.endpoint.app import make_app, make_runner

_log = logging.getLogger(__name__)


class Settings(BaseSettings):
    """Serve claims and models as JSON, for programs.

    Each setting can also come from the environment: LLMFIT_WEBHOOK_ENDPOINT_PORT for --port.
    """

    model_config = SettingsConfigDict(
        env_prefix="LLMFIT_WEBHOOK_ENDPOINT_", cli_kebab_case=True, cli_prog_name="webhook api"
    )

    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 is every one.")
    port: int = Field(8081, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    catalog: list[str] = Field(
        [], description="YAML file with models of your own, which win over the shipped ones."
    )
    boards: list[str] = Field(
        [], description="YAML file with boards of your own, which win over the shipped ones."
    )


def settings(arguments: Sequence[str]) -> Settings:
    """The settings of a command line over those of the environment.

    Raises:
        pydantic.ValidationError: a setting is wrong.
        SystemExit: the command line itself is, or asks for help.
    """
    return CliApp.run(Settings, cli_args=list(arguments))


async def serve(chosen: Settings, stopped: asyncio.Event) -> None:
    """Serves until ``stopped`` is set; then requests in flight are finished.

    Raises:
        Refused: a file of models or boards can't be used.
        OSError: the port can't be had.
    """
    app = make_app(Catalog.open(chosen.catalog), load_boards(chosen.boards))
    runner = make_runner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, chosen.host, chosen.port)
        await site.start()
        host, port = runner.addresses[0][:2]
        _log.info("serving on http://%s:%d", host, port)
        await stopped.wait()
    finally:
        await runner.cleanup()


async def run(chosen: Settings) -> None:
    """Serves until the process is told to end. Raises as ``serve``."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopped.set)
    await serve(chosen, stopped)
