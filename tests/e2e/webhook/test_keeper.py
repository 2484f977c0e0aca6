"""Templates made by the webhook's keeper on a real API server, with the rights in the docs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import eventually, wait_for
from tests.e2e.webhook.parts import (
    CountingClient,
    connected,
    paused,
    stopped,
    watching,
    webhook_account,
)
from tests.e2e.webhook.templates import (
    API_VERSION,
    controller,
    nobody,
    owner_uids,
    replica_set,
    spec_of,
    stored,
    template,
)
from webhook.kube.client import ApiError, Unavailable
from webhook.state import ClusterState
from webhook.templates import keeper as keeping
from webhook.templates.keeper import TemplateKeeper
from webhook.templates.known import own_path

pytestmark = pytest.mark.anyio


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
    client.writes()
    return TemplateKeeper(client, state.templates)


async def test_a_thousand_pods_cost_one_create_and_a_new_owner_one_patch(
    client: CountingClient, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    wanted = template(sandbox.namespace)
    first, second = (controller(replica_set(sandbox, name)) for name in ("first", "second"))
    await asyncio.gather(*(keeper.ensure(wanted, first) for _ in range(1000)))
    assert client.writes() == ["POST"]
    found = stored(sandbox)
    assert found is not None
    assert spec_of(sandbox) == wanted["spec"]
    assert found["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "llmfit-webhook"}
    # Not as controller, and without blockOwnerDeletion, which would need more rights.
    assert found["metadata"]["ownerReferences"] == [
        {name: first[name] for name in ("apiVersion", "kind", "name", "uid")}
    ]
    await asyncio.gather(*(keeper.ensure(wanted, second) for _ in range(1000)))
    assert client.writes() == ["PATCH"]
    assert set(owner_uids(sandbox)) == {first["uid"], second["uid"]}
    await asyncio.gather(*(keeper.ensure(wanted, each) for each in (first, second, None)))
    assert client.writes() == []


async def test_what_is_there_is_known_without_waiting(
    client: CountingClient, keeper: TemplateKeeper, state: ClusterState, sandbox: Sandbox
) -> None:
    wanted, owner = template(sandbox.namespace), controller(replica_set(sandbox, "rs"))
    assert not keeper.has(wanted, owner)
    await keeper.ensure(wanted, owner)
    client.calls.clear()
    assert all(keeper.has(wanted, each) for each in (owner, None, owner))
    assert not keeper.has(wanted, nobody())
    other = {**wanted, "spec": template(sandbox.namespace, count=2)["spec"]}
    assert not keeper.has(other, owner)
    assert not keeper.has({**wanted, "apiVersion": "resource.k8s.io/v1beta2"}, owner)
    assert client.calls == []
    await client.delete(own_path(wanted))
    await eventually(lambda: not state.templates, what="the watch tells of it")
    assert not keeper.has(wanted, owner)


async def test_another_replica_knows_it_from_the_watch(
    client: CountingClient, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    """What the server has stored equals what the core writes, so that it is known again."""
    wanted, owner = template(sandbox.namespace, count=2), controller(replica_set(sandbox, "rs"))
    await keeper.ensure(wanted, owner)
    async with watching(client) as other:
        client.writes()
        await TemplateKeeper(client, other.templates).ensure(wanted, owner)
        assert client.calls == []


async def test_replicas_that_race_leave_every_owner(
    client: CountingClient, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    wanted = template(sandbox.namespace)
    owners = [controller(replica_set(sandbox, f"rs-{n}")) for n in range(12)]
    async with watching(client) as other:
        second = TemplateKeeper(client, other.templates)
        await asyncio.gather(
            *(each.ensure(wanted, owner) for each in (keeper, second) for owner in owners)
        )
    assert sorted(owner_uids(sandbox)) == sorted(owner["uid"] for owner in owners)


async def test_kubernetes_collects_it_with_the_last_owner(
    keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    wanted = template(sandbox.namespace)
    first, second = replica_set(sandbox, "first"), replica_set(sandbox, "second")
    for owner in (first, second):
        await keeper.ensure(wanted, controller(owner))
    sandbox.api.delete(first)
    await eventually(lambda: owner_uids(sandbox) == [second["metadata"]["uid"]], 30)
    sandbox.api.delete(second)
    await eventually(lambda: stored(sandbox) is None, 30)


async def test_no_more_owners_than_a_bound(
    client: CountingClient,
    keeper: TemplateKeeper,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keeping, "OWNERS_MAX", 3)
    wanted = template(sandbox.namespace)
    owners = [replica_set(sandbox, f"rs-{n}") for n in range(4)]
    for owner in owners:
        await keeper.ensure(wanted, controller(owner))
    assert client.writes() == ["POST", "PATCH", "PATCH"]
    # A dead owner makes room.
    sandbox.api.delete(owners[0])
    await eventually(lambda: len(owner_uids(sandbox)) == 2, 30)

    def all_in() -> bool:
        return owners[3]["metadata"]["uid"] in owner_uids(sandbox)

    for _ in range(100):
        await keeper.ensure(wanted, controller(owners[3]))
        if all_in():
            break
        await asyncio.sleep(0.05)
    assert all_in()


async def test_another_spec_under_its_name_is_said_and_left_alone(
    client: CountingClient, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    sandbox.create(template(sandbox.namespace, count=7))
    with pytest.raises(ApiError, match="another spec than its name says") as caught:
        await keeper.ensure(template(sandbox.namespace), nobody())
    assert caught.value.status == 409
    found = stored(sandbox)
    assert found is not None
    assert "ownerReferences" not in found["metadata"]
    assert spec_of(sandbox) == template(sandbox.namespace, count=7)["spec"]


async def test_what_the_server_adds_to_a_spec_makes_no_other(
    client: CountingClient, keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    """As a later version of the API would, with a new field that has a default."""
    wanted = template(sandbox.namespace)
    del wanted["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"]
    sandbox.create(wanted)
    await keeper.ensure(wanted, None)
    client.writes()
    await keeper.ensure(wanted, None)
    assert client.calls == []


async def test_a_template_of_another_maker_is_used_and_not_touched(
    client: CountingClient, keeper: TemplateKeeper, state: ClusterState, sandbox: Sandbox
) -> None:
    wanted = template(sandbox.namespace)
    foreign = template(sandbox.namespace)
    foreign["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "kubectl-llmfit"}
    made = sandbox.create(foreign)
    await keeper.ensure(wanted, nobody())
    await keeper.ensure(wanted, nobody())
    assert stored(sandbox) == made
    # It is not watched, so nothing of it is believed later.
    key = (sandbox.namespace, wanted["metadata"]["name"])
    assert state.templates.get(key) is None


async def test_deleted_before_the_watch_has_told(client: CountingClient, sandbox: Sandbox) -> None:
    """A new owner finds it gone and makes it again, or finds another in its place and joins it."""
    deaf = ClusterState(client)
    keeper = TemplateKeeper(client, deaf.templates)
    wanted = template(sandbox.namespace)
    owners = [controller(replica_set(sandbox, f"rs-{n}")) for n in range(3)]
    await keeper.ensure(wanted, owners[0])
    first = stored(sandbox)
    assert first is not None
    sandbox.api.delete(first)
    client.writes()
    await keeper.ensure(wanted, owners[1])
    assert client.writes() == ["PATCH", "POST"]
    assert owner_uids(sandbox) == [owners[1]["uid"]]

    sandbox.api.delete(first)
    sandbox.create(wanted)
    await keeper.ensure(wanted, owners[2])
    assert client.writes() == ["PATCH", "PATCH"]
    assert owner_uids(sandbox) == [owners[2]["uid"]]


async def test_an_owner_that_can_be_none(keeper: TemplateKeeper, sandbox: Sandbox) -> None:
    """The API server would refuse the pod for it as well."""
    wanted = template(sandbox.namespace)
    for _ in ("created with it", "patched with it"):
        with pytest.raises(ApiError, match="ownerReferences") as caught:
            await keeper.ensure(wanted, nobody() | {"kind": ""})
        assert (caught.value.status, caught.value.reason) == (422, "Invalid")
        await keeper.ensure(wanted, None)


async def test_one_that_is_being_deleted_is_waited_for(
    client: CountingClient, state: ClusterState, sandbox: Sandbox
) -> None:
    wanted = template(sandbox.namespace)
    held = template(sandbox.namespace)
    held["metadata"]["finalizers"] = ["example.com/held"]
    made = sandbox.create(held)
    sandbox.api.delete(made)
    impatient = TemplateKeeper(client, state.templates, seconds=0.5)
    with pytest.raises(Unavailable, match=r"can't be made within 0\.5 s"):
        await impatient.ensure(wanted, None)

    async def let_go() -> None:
        await asyncio.sleep(0.2)
        sandbox.api.patch(made, {"metadata": {"finalizers": None}})

    patient = TemplateKeeper(client, state.templates, seconds=10)
    await asyncio.gather(patient.ensure(wanted, None), let_go())
    found = stored(sandbox)
    assert found is not None
    assert found["metadata"]["uid"] != made["metadata"]["uid"]


async def test_namespace_that_is_ending(keeper: TemplateKeeper, sandbox: Sandbox) -> None:
    metadata = {"generateName": "ending-"}
    namespace = sandbox.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    name = namespace["metadata"]["name"]
    kept = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kept", "finalizers": ["example.com/held"]},
    }
    made = sandbox.api.create(kept, name)
    try:
        sandbox.api.delete(namespace)
        with pytest.raises(ApiError, match="because it is being terminated") as caught:
            await keeper.ensure(template(name), None)
        assert caught.value.status == 403
    finally:
        sandbox.api.patch(made, {"metadata": {"finalizers": None}})


async def test_object_quota(keeper: TemplateKeeper, sandbox: Sandbox) -> None:
    counted = "count/resourceclaimtemplates.resource.k8s.io"
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}}
    sandbox.create({**quota, "spec": {"hard": {counted: "1"}}})

    def counts() -> Any:
        found = sandbox.api.get("v1", "ResourceQuota", "few", sandbox.namespace)
        return found.get("status", {}).get("used", {}).get(counted)

    wait_for(counts)
    await keeper.ensure(template(sandbox.namespace), None)
    with pytest.raises(ApiError, match=f"exceeded quota: few, requested: {counted}=1") as caught:
        await keeper.ensure(template(sandbox.namespace, "llmfit-webhook-ba9876543210"), None)
    assert caught.value.status == 403


async def test_namespace_that_is_none(keeper: TemplateKeeper) -> None:
    with pytest.raises(ApiError, match='namespaces "no-such-namespace" not found'):
        await keeper.ensure(template("no-such-namespace"), None)
    with pytest.raises(ApiError, match="no name of a Kubernetes object"):
        await keeper.ensure(template("../../v1/nodes"), None)


async def test_without_rights(cluster: Cluster, state: ClusterState, sandbox: Sandbox) -> None:
    async with connected(cluster.kubeconfig_for(sandbox.namespace, "default")) as client:
        keeper = TemplateKeeper(client, state.templates, seconds=3)
        with pytest.raises(ApiError, match="cannot create resource") as caught:
            await keeper.ensure(template(sandbox.namespace), None)
    assert caught.value.reason == "Forbidden"


async def test_an_outage_is_told_in_time_and_to_all(
    cluster: Cluster, client: CountingClient, state: ClusterState, sandbox: Sandbox
) -> None:
    keeper = TemplateKeeper(client, state.templates, seconds=0.5)
    wanted, owner = template(sandbox.namespace), controller(replica_set(sandbox, "rs"))
    begin = time.monotonic()
    with paused(cluster, "etcd"):
        outcomes = await asyncio.gather(
            *(keeper.ensure(wanted, owner if n % 2 else None) for n in range(200)),
            return_exceptions=True,
        )
    assert [type(each) for each in outcomes] == [Unavailable] * 200
    assert time.monotonic() - begin < 20
    # What was asked for may have been done all the same; it is no harm, and it is found.
    await eventually(lambda: cluster.api.request("GET", "/readyz") == "ok", 30)
    await TemplateKeeper(client, state.templates, seconds=10).ensure(wanted, None)
    assert stored(sandbox) is not None


async def test_a_short_outage_is_waited_for(
    cluster: Cluster, client: CountingClient, state: ClusterState, sandbox: Sandbox
) -> None:
    wanted = template(sandbox.namespace)
    hasty = TemplateKeeper(client, state.templates, seconds=0.5)
    patient = TemplateKeeper(client, state.templates, seconds=60)
    with stopped(cluster, "kube-apiserver"):
        with pytest.raises(Unavailable, match="Cannot connect to host"):
            await hasty.ensure(wanted, None)
        waiting = asyncio.create_task(patient.ensure(wanted, None))
        await asyncio.sleep(0.1)
    await waiting
    assert stored(sandbox) is not None


async def test_who_gives_up_does_not_end_it_for_others(
    keeper: TemplateKeeper, sandbox: Sandbox
) -> None:
    wanted = template(sandbox.namespace)
    hasty = asyncio.create_task(keeper.ensure(wanted, None))
    steady = asyncio.create_task(keeper.ensure(wanted, None))
    await asyncio.sleep(0)
    hasty.cancel()
    await steady
    assert hasty.cancelled()
    assert sandbox.api.get(
        API_VERSION, "ResourceClaimTemplate", wanted["metadata"]["name"], sandbox.namespace
    )


async def test_a_saboteur_beside_three_replicas(client: CountingClient, sandbox: Sandbox) -> None:
    """Whoever deletes it meanwhile: each review ends well, and what is there has the right spec."""
    wanted = template(sandbox.namespace)
    owners = [controller(replica_set(sandbox, f"rs-{n}")) for n in range(6)]
    async with AsyncExitStack() as stack:
        states = [await stack.enter_async_context(watching(client)) for _ in range(3)]
        keepers = [TemplateKeeper(client, each.templates, seconds=20) for each in states]

        async def deletes() -> None:
            for _ in range(15):
                with contextlib.suppress(ApiError):
                    await client.delete(own_path(wanted))
                await asyncio.sleep(0.02)

        async def reviews(keeper: TemplateKeeper) -> None:
            for number in range(60):
                await keeper.ensure(wanted, owners[number % 6])
                await asyncio.sleep(0)

        await asyncio.gather(deletes(), *(reviews(each) for each in keepers))
        key = (sandbox.namespace, wanted["metadata"]["name"])
        await eventually(lambda: len({each.templates.get(key) for each in states}) == 1)
        await asyncio.gather(*(keepers[0].ensure(wanted, owner) for owner in owners))
    assert set(owner_uids(sandbox)) == {owner["uid"] for owner in owners}
    assert spec_of(sandbox) == wanted["spec"]
