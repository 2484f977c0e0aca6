"""A webhook that runs for a whole module, and what it was asked to make."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.webhook.hosting import Hosted, hosted
from tests.webhook.pods import NAMESPACE


@pytest.fixture
def anyio_backend() -> str:
    """Tests that are coroutines run on asyncio, as in production."""
    return "asyncio"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    with hosted(tmp_path_factory.mktemp("webhook")) as made:
        yield made


@pytest.fixture
def webhook(running: Hosted) -> Hosted:
    """The module's webhook in a cluster where nothing was made yet."""
    cluster = running.cluster
    cluster.namespaces.clear()
    cluster.namespaces[NAMESPACE] = {"metadata": {"name": NAMESPACE}}
    cluster.unseen.clear()
    cluster.without.clear()
    cluster.api_version = "resource.k8s.io/v1"
    cluster.made.clear()
    cluster.publishes, cluster.refusal = None, None
    return running
