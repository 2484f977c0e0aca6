"""Templates made again while a pod waits for its claim, and swept when no pod names them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.controlplane import workloads
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import eventually
from tests.e2e.webhook.parts import (
    CountingClient,
    connected,
    running,
    watching,
    webhook_account,
)
from tests.e2e.webhook.templates import controller, owner_uids, replica_set, stored, template
from webhook.kube.client import Client
from webhook.kube.lease import Leadership, Timing
from webhook.state import ClusterState
from webhook.templates.keeper import TemplateKeeper
from webhook.templates.remake import Remaker
from webhook.templates.sweep import Sweeper, SweepTiming

pytestmark = pytest.mark.anyio

NAME = "llmfit-webhook-0123456789ab"
FAST = Timing(lease_seconds=2.0, renew_seconds=1.0, retry_seconds=0.1)


class Leader:
    """Whether this process leads is for the test to say."""

    def __init__(self, is_leader: bool = True) -> None:
        self.is_leader = is_leader


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[CountingClient]:
    with webhook_account(sandbox) as kubeconfig:
        async with connected(kubeconfig) as made:
            yield made


@pytest.fixture
async def state(client: CountingClient) -> AsyncIterator[ClusterState]:
    async with watching(client) as made:
        yield made


@pytest.fixture
def keeper(client: CountingClient, state: ClusterState) -> TemplateKeeper:
    return TemplateKeeper(client, state.templates)


def remaker(client: Client, state: ClusterState, keeper: TemplateKeeper, leader: Any) -> Remaker:
    return Remaker(client, state.templates, keeper, leader)


def sweeper(client: Client, state: ClusterState, clock: Clock) -> Sweeper:
    leader: Any = Leader()
    return Sweeper(client, state.templates, leader, SweepTiming(unused_seconds=600), clock)


def uid(sandbox: Sandbox) -> str | None:
    found = stored(sandbox)
    return None if found is None else found["metadata"]["uid"]


async def deleted(state: ClusterState, sandbox: Sandbox) -> None:
    """The template is deleted, and the watch has told so."""
    found = stored(sandbox)
    assert found is not None
    sandbox.api.delete(found)
    await eventually(lambda: state.templates.get((sandbox.namespace, NAME)) is None)


async def test_a_waiting_pod_gets_its_template_again_and_is_bound(
    client: CountingClient, state: ClusterState, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    """Its controller owns the new one."""
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4, 0)]))
    owner = replica_set(sandbox, "rs", NAME)
    async with running(remaker(client, state, keeper, Leader())):
        await keeper.ensure(template(sandbox.namespace), controller(owner))
        before = uid(sandbox)
        await deleted(state, sandbox)
        sandbox.api.patch(owner, {"spec": {"replicas": 1}})
        await eventually(lambda: sandbox.api.list("v1", "Pod", sandbox.namespace) != [])
        (pod,) = sandbox.api.list("v1", "Pod", sandbox.namespace)
        await asyncio.to_thread(sandbox.pod_scheduled, pod["metadata"]["name"])
    assert len(sandbox.allocated(pod["metadata"]["name"])) == 1
    assert uid(sandbox) not in (None, before)
    assert owner_uids(sandbox) == [owner["metadata"]["uid"]]


async def test_a_pod_that_comes_later_than_the_first_look(
    client: CountingClient,
    state: ClusterState,
    keeper: TemplateKeeper,
    sandbox: Sandbox,
) -> None:
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4, 0)]))
    async with running(remaker(client, state, keeper, Leader())):
        await keeper.ensure(template(sandbox.namespace), None)
        await deleted(state, sandbox)
        client.calls = []
        pods = f"GET /api/v1/namespaces/{sandbox.namespace}/pods"
        await eventually(lambda: pods in client.calls)
        sandbox.create(workloads.pod("late", NAME))
        await asyncio.to_thread(sandbox.pod_scheduled, "late")


async def test_kubernetes_collects_it_while_a_bare_pod_waits(
    client: CountingClient, state: ClusterState, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    owner = replica_set(sandbox, "rs")
    async with running(remaker(client, state, keeper, Leader())):
        await keeper.ensure(template(sandbox.namespace), controller(owner))
        before = uid(sandbox)
        sandbox.api.delete(owner)
        await eventually(lambda: uid(sandbox) is None, 30)
        # Admitted with the template in the cache, and persisted after it was collected.
        sandbox.create(workloads.pod("bare", NAME))
        await eventually(lambda: uid(sandbox) not in (None, before))
    assert owner_uids(sandbox) == []


async def test_nobody_waits(
    client: CountingClient, state: ClusterState, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    """A pod with its claim needs no template; nor does one that is gone, or names another."""
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4, 0)]))
    clock = Clock()
    leader: Any = Leader()
    looking = Remaker(client, state.templates, keeper, leader, clock)
    await keeper.ensure(template(sandbox.namespace), None)
    sandbox.create(workloads.pod("served", NAME))
    await asyncio.to_thread(sandbox.pod_scheduled, "served")
    sandbox.create(workloads.pod("other", "llmfit-webhook-ba9876543210"))
    await deleted(state, sandbox)
    client.writes()
    for _ in range(20):
        clock.now += 10
        await looking.look()
    # As many looks as are documented, and nothing is made. The caches may read a list anew.
    pods = f"GET /api/v1/namespaces/{sandbox.namespace}/pods"
    assert client.calls.count(pods) == 5
    assert client.writes() == []
    assert uid(sandbox) is None


async def test_who_does_not_lead_makes_nothing_until_it_does(
    client: CountingClient, state: ClusterState, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    leader = Leader(is_leader=False)
    async with running(remaker(client, state, keeper, leader)):
        await keeper.ensure(template(sandbox.namespace), None)
        await deleted(state, sandbox)
        sandbox.create(workloads.pod("waiting", NAME))
        await asyncio.sleep(1.7)
        assert uid(sandbox) is None
        leader.is_leader = True
        await eventually(lambda: uid(sandbox) is not None)


async def test_swept_when_no_pod_has_named_it_for_a_while(
    client: CountingClient, state: ClusterState, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    clock = Clock()
    sweeping = sweeper(client, state, clock)
    wanted = template(sandbox.namespace)
    patched = template(sandbox.namespace, "llmfit-0123456789ab")
    patched["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "kubectl-llmfit"}
    sandbox.create(patched)
    owned = template(sandbox.namespace, "llmfit-webhook-aaaaaaaaaaaa")
    await keeper.ensure(owned, controller(replica_set(sandbox, "rs")))
    await keeper.ensure(wanted, None)
    sandbox.create(workloads.pod("bare", NAME))

    for _ in range(3):
        await sweeping.sweep()
        clock.now += 601
    assert uid(sandbox) is not None

    sandbox.api.delete(sandbox.pod("bare"), grace_seconds=0)
    await sweeping.sweep()
    assert uid(sandbox) is not None
    clock.now += 599
    await sweeping.sweep()
    assert uid(sandbox) is not None
    clock.now += 1
    await sweeping.sweep()
    assert uid(sandbox) is None
    assert stored(sandbox, "llmfit-0123456789ab") is not None
    assert stored(sandbox, "llmfit-webhook-aaaaaaaaaaaa") is not None


async def test_an_owner_that_came_meanwhile_keeps_it(
    client: CountingClient, sandbox: Sandbox
) -> None:
    """The sweeper's watch has not told of the owner yet: the deletion is for what it had seen."""
    deaf = ClusterState(client)
    clock = Clock()
    sweeping = sweeper(client, deaf, clock)
    wanted, owner = template(sandbox.namespace), controller(replica_set(sandbox, "rs"))
    await TemplateKeeper(client, deaf.templates).ensure(wanted, None)
    await sweeping.sweep()
    async with watching(client) as other:
        await TemplateKeeper(client, other.templates).ensure(wanted, owner)
    clock.now += 601
    await sweeping.sweep()
    assert owner_uids(sandbox) == [owner["uid"]]


async def test_without_rights_nothing_is_swept_and_it_is_said(
    cluster: Cluster,
    client: CountingClient,
    state: ClusterState,
    keeper: TemplateKeeper,
    sandbox: Sandbox,
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    await keeper.ensure(template(sandbox.namespace), None)
    async with connected(cluster.kubeconfig_for(sandbox.namespace, "default")) as poor:
        sweeping = sweeper(poor, state, clock)
        await sweeping.sweep()
        clock.now += 601
        await sweeping.sweep()
    assert 'cannot list resource "pods"' in caplog.text
    assert uid(sandbox) is not None


async def test_one_of_two_replicas_sweeps(
    cluster: Cluster,
    client: CountingClient,
    state: ClusterState,
    keeper: TemplateKeeper,
    sandbox: Sandbox,
) -> None:
    """By a real Lease: the second begins when the first has stopped."""
    async with connected(cluster.kubeconfig) as admin:
        leases = [
            Leadership(admin, sandbox.namespace, "llmfit-webhook", name, FAST) for name in "ab"
        ]
        timing = SweepTiming(unused_seconds=0.2, every_seconds=0.1)
        first, second = (Sweeper(client, state.templates, each, timing) for each in leases)
        async with running(leases[1], second):
            async with running(leases[0], first):
                await eventually(lambda: any(each.is_leader for each in leases))
                await keeper.ensure(template(sandbox.namespace), None)
                await eventually(lambda: uid(sandbox) is None)
            await keeper.ensure(template(sandbox.namespace), None)
            begin = time.monotonic()
            await eventually(lambda: uid(sandbox) is None)
            assert time.monotonic() - begin >= 0.2
