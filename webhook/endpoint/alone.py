"""The endpoint as a process of its own: ``python -m webhook api``."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, CliApp, NoDecode, SettingsConfigDict

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from webhook.endpoint.app import make_app
from webhook.endpoint.part import Endpoint


def _split(value: object) -> object:
    return value.split(",") if isinstance(value, str) else value


# Without NoDecode a variable would have to hold JSON, and anything else end in a traceback.
Files = Annotated[list[Path], NoDecode, BeforeValidator(_split)]


class EndpointSettings(BaseSettings):
    """Claims and models as JSON over HTTP, for programs; no cluster is needed."""

    model_config = SettingsConfigDict(
        env_prefix="LLMFIT_WEBHOOK_",
        env_ignore_empty=True,
        cli_kebab_case=True,
        cli_prog_name="python -m webhook api",
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    bind_address: str = "127.0.0.1"
    """Address to listen on; empty for all of them."""

    port: int = Field(8081, ge=0, le=65535)
    """Port to listen on; 0 for one that is free."""

    catalog: Files = []
    """Files with models of your own, as for `kubectl llmfit --catalog`; commas between them."""

    boards: Files = []
    """Files with boards of your own, as for `kubectl llmfit --boards`; commas between them."""


def read_settings(arguments: list[str]) -> EndpointSettings:
    """The settings of a command line over those of the environment.

    Raises:
        pydantic.ValidationError: settings that can't be used.
        SystemExit: the command line is wrong or asks for help; argparse has said so.
    """
    return CliApp.run(EndpointSettings, cli_args=arguments)


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
