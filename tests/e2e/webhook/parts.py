"""The webhook's parts on the tests' control plane: clients of an identity, servers stopped."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from webhook.kube.client import Client
from webhook.state import ClusterState

DOC = Path(__file__).parents[3] / "docs" / "webhook-templates.md"


def documented_rules() -> list[dict[str, list[str]]]:
    """The RBAC rules of the docs' table."""
    rights = DOC.read_text().partition("\n## Rights\n")[2]
    rows = re.findall(r"^\|(.*?)\|(.*?)\|(.*?)\|.*\|$", rights, re.MULTILINE)[2:]
    assert len(rows) == 4
    names = ("apiGroups", "resources", "verbs")
    return [
        dict(zip(names, (cell.strip().split(", ") for cell in row), strict=True)) for row in rows
    ]


class CountingClient(Client):
    """Remembers the calls that are no watches, as ``POST /apis/…``."""

    calls: list[str]

    async def _call(self, method: str, path: str, *more: Any, **named: Any) -> dict[str, Any]:
        self.calls = [*getattr(self, "calls", []), f"{method} {path}"]
        return await super()._call(method, path, *more, **named)

    def writes(self) -> list[str]:
        """Methods of the calls that change something, since the last time this was asked."""
        methods = [call.partition(" ")[0] for call in getattr(self, "calls", [])]
        self.calls = []
        return [method for method in methods if method != "GET"]


@asynccontextmanager
async def connected(kubeconfig: Path, call_seconds: float = 5.0) -> AsyncIterator[CountingClient]:
    """A client with the identity of ``kubeconfig``."""
    with mock.patch.dict(os.environ, KUBECONFIG=str(kubeconfig)):
        client = await CountingClient.connect(call_seconds)
    async with client:
        yield client


@asynccontextmanager
async def running(*parts: Any) -> AsyncIterator[None]:
    """Runs parts of the webhook inside the block; none may end by itself."""
    tasks = [asyncio.create_task(part.run()) for part in parts]
    try:
        yield
        for task in tasks:
            assert not task.done(), task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def watching(client: Client) -> AsyncIterator[ClusterState]:
    """A cluster's state, read and kept up to date."""
    state = ClusterState(client)
    async with running(state):
        for each in (state.templates, state.slices, state.device_classes, state.namespaces):
            await asyncio.wait_for(each.until_synced(), 20)
        yield state


@contextmanager
def webhook_account(
    sandbox: Sandbox, rules: list[dict[str, list[str]]] | None = None
) -> Iterator[Path]:
    """A kubeconfig of a ServiceAccount with the rights that the docs state, or with ``rules``."""
    name = f"webhook-{sandbox.namespace}"
    rules = documented_rules() if rules is None else rules
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name}}
    subject = {"kind": "ServiceAccount", "name": "webhook", "namespace": sandbox.namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "webhook"}}
    sandbox.create(account)
    made = [
        sandbox.api.create({**rbac, "kind": "ClusterRole", "rules": rules}),
        sandbox.api.create(
            {**rbac, "kind": "ClusterRoleBinding", "subjects": [subject], "roleRef": reference}
        ),
    ]
    try:
        yield sandbox.cluster.kubeconfig_for(sandbox.namespace, "webhook")
    finally:
        for each in made:
            sandbox.api.delete(each)


@contextmanager
def paused(cluster: Cluster, server: str) -> Iterator[None]:
    """A server that answers nothing, though its connections stay."""
    pid = cluster.group.pids[server]
    os.kill(pid, signal.SIGSTOP)
    # Its threads stop one by one, and until then one may still answer.
    wait_for(lambda: _states(pid) == {"T"}, what=f"{server} to stop")
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _states(pid: int) -> set[str]:
    """The states of a process's threads; source: proc(5), /proc/PID/stat."""
    states = set()
    for each in Path(f"/proc/{pid}/task").glob("*/stat"):
        # A thread may end just now.
        with suppress(FileNotFoundError, ProcessLookupError):
            states.add(each.read_text().rpartition(")")[2].split()[0])
    return states


@contextmanager
def stopped(cluster: Cluster, server: str) -> Iterator[None]:
    """A server that is not there; after the block it starts again and is ready."""
    cluster.group.stop(server)
    try:
        yield
    finally:
        cluster.group.start_again(server)
        cluster.wait_ready()


def config_map(sandbox: Sandbox, name: str, data: Mapping[str, str]) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": sandbox.namespace},
        "data": dict(data),
    }
