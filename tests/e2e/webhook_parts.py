"""The webhook's parts on the tests' control plane: clients of an identity, servers stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from unittest import mock

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from webhook.kube.client import Client


@asynccontextmanager
async def connected(kubeconfig: Path, call_seconds: float = 5.0) -> AsyncIterator[Client]:
    """A client with the identity of ``kubeconfig``."""
    with mock.patch.dict(os.environ, KUBECONFIG=str(kubeconfig)):
        client = await Client.connect(call_seconds)
    async with client:
        yield client


@contextmanager
def paused(cluster: Cluster, server: str) -> Iterator[None]:
    """A server that answers nothing, though its connections stay."""
    pid = cluster.group.pids[server]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def config_map(sandbox: Sandbox, name: str, data: Mapping[str, str]) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": sandbox.namespace},
        "data": dict(data),
    }
