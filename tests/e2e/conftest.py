"""End-to-end tests run against a real control plane; tests/controlplane makes it."""

import pytest

from tests.controlplane.fixtures import cluster, pytest_runtest_makereport, sandbox

__all__ = ["cluster", "pytest_runtest_makereport", "sandbox"]


@pytest.fixture
def anyio_backend() -> str:
    """Tests that are coroutines run on asyncio, as the webhook does."""
    return "asyncio"
