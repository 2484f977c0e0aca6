"""One endpoint for all tests, over the shipped catalog and the models of the golden files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from tests.webhook.endpoint.serving import serving
from webhook.endpoint.app import make_app

MODELS = Path(__file__).parents[2] / "golden" / "models.yaml"


@pytest.fixture(scope="package")
def own_models() -> str:
    """The file with models beside the shipped ones."""
    return str(MODELS)


@pytest.fixture(scope="package", autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing of the user's own settings reaches a test, and no proxy stands before loopback."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="package")
def url(isolated: None, own_models: str) -> Iterator[str]:
    """Where the endpoint is."""
    with serving(make_app(Catalog.open([own_models]), load_boards())) as address:
        yield address


@pytest.fixture(scope="package")
def client(url: str) -> Iterator[httpx.Client]:
    """A client of the endpoint."""
    with httpx.Client(base_url=url, timeout=30) as opened:
        yield opened
