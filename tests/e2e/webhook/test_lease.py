"""Leader election on a real API server: one leads, another takes over, clocks are not believed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import eventually
from tests.e2e.webhook.parts import connected, paused
from webhook.kube.client import Client
from webhook.kube.lease import Leadership, Timing
from webhook.kube.paths import path

pytestmark = pytest.mark.anyio

FAST = Timing(lease_seconds=2.0, renew_seconds=1.0, retry_seconds=0.1)


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with connected(cluster.kubeconfig) as made:
        yield made


@asynccontextmanager
async def standing(leadership: Leadership) -> AsyncIterator[Leadership]:
    """Stands for election inside the block."""
    task = asyncio.create_task(leadership.run())
    try:
        yield leadership
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def candidate(client: Client, sandbox: Sandbox, identity: str) -> Leadership:
    return Leadership(client, sandbox.namespace, "llmfit-webhook", identity, FAST)


def lease_of(sandbox: Sandbox) -> dict[str, Any]:
    lease = sandbox.api.get("coordination.k8s.io/v1", "Lease", "llmfit-webhook", sandbox.namespace)
    spec: dict[str, Any] = lease["spec"]
    return spec


async def test_one_of_many_leads(client: Client, sandbox: Sandbox) -> None:
    async with AsyncExitStack() as stack:
        candidates = [candidate(client, sandbox, f"pod-{n}") for n in range(8)]
        for each in candidates:
            await stack.enter_async_context(standing(each))
        await eventually(lambda: any(each.is_leader for each in candidates))
        for _ in range(50):
            await asyncio.sleep(0.02)
            leaders = [n for n, each in enumerate(candidates) if each.is_leader]
            assert len(leaders) == 1
            assert lease_of(sandbox)["holderIdentity"] == f"pod-{leaders[0]}"
    assert lease_of(sandbox).get("leaseTransitions", 0) == 0


async def test_stopping_lets_another_take_over_at_once(client: Client, sandbox: Sandbox) -> None:
    second = candidate(client, sandbox, "second")
    async with AsyncExitStack() as stack:
        async with standing(candidate(client, sandbox, "first")) as first:
            await asyncio.wait_for(first.acquired(), 10)
            await stack.enter_async_context(standing(second))
            await asyncio.sleep(0.3)
            assert not second.is_leader
        assert not first.is_leader
        assert lease_of(sandbox)["holderIdentity"] in ("", "second")
        await asyncio.wait_for(second.acquired(), FAST.lease_seconds)
        assert lease_of(sandbox)["leaseTransitions"] == 1


async def test_takes_over_from_one_that_died(client: Client, sandbox: Sandbox) -> None:
    """Whatever the dead one's clock said: an hour ahead, or an hour behind."""
    for skewed in ("2020-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"):
        name = f"lease-{skewed[:4]}"
        spec = {
            "holderIdentity": "dead",
            "leaseDurationSeconds": 1,
            "acquireTime": skewed,
            "renewTime": skewed,
            "leaseTransitions": 4,
        }
        metadata = {"name": name}
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
        sandbox.create(lease | {"spec": spec})
        begin = asyncio.get_running_loop().time()
        async with standing(
            Leadership(client, sandbox.namespace, name, "alive", FAST)
        ) as leadership:
            await asyncio.wait_for(leadership.acquired(), 10)
            # Not before the lease was seen unchanged for its whole time.
            assert asyncio.get_running_loop().time() - begin >= 1.0
            found = sandbox.api.get("coordination.k8s.io/v1", "Lease", name, sandbox.namespace)
            assert found["spec"]["holderIdentity"] == "alive"
            assert found["spec"]["leaseTransitions"] == 5


async def test_a_leader_that_cannot_renew_leads_no_more(
    cluster: Cluster, client: Client, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "webhook.kube.lease")
    async with standing(candidate(client, sandbox, "first")) as first:
        await asyncio.wait_for(first.acquired(), 10)
        with paused(cluster, "kube-apiserver"):
            await eventually(lambda: not first.is_leader, FAST.lease_seconds)
        await asyncio.wait_for(first.acquired(), 30)
    assert cluster.token not in caplog.text


async def test_a_lease_taken_away_is_lost_at_the_next_try(client: Client, sandbox: Sandbox) -> None:
    async with standing(candidate(client, sandbox, "first")) as first:
        await asyncio.wait_for(first.acquired(), 10)
        lease = path("coordination.k8s.io/v1", "leases", sandbox.namespace, "llmfit-webhook")
        stolen = {"holderIdentity": "thief", "leaseDurationSeconds": 1}
        await client.merge_patch(lease, {"spec": stolen})
        await eventually(lambda: not first.is_leader, FAST.renew_seconds)
        # The thief never renews.
        await asyncio.wait_for(first.acquired(), 10)


async def test_without_rights_nobody_leads_and_it_is_said(
    cluster: Cluster, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    kubeconfig = cluster.kubeconfig_for(sandbox.namespace, "default")
    async with (
        connected(kubeconfig) as client,
        standing(candidate(client, sandbox, "first")) as first,
    ):
        await eventually(lambda: "cannot get resource" in caplog.text)
        assert not first.is_leader
