"""The webhook's client of the API server: calls, their errors, pages, watches, identities."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from kubernetes.aio.config import incluster_config

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.e2e.webhook.parts import config_map, connected, paused
from webhook.kube.client import ApiError, Client, NoClusterError, Unavailable
from webhook.kube.paths import path

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with connected(cluster.kubeconfig) as made:
        yield made


@pytest.fixture
def maps(sandbox: Sandbox) -> str:
    return path("v1", "configmaps", sandbox.namespace)


async def test_an_object_from_its_creation_to_its_end(
    client: Client, sandbox: Sandbox, maps: str
) -> None:
    made = await client.create(maps, config_map(sandbox, "facts", {"a": "1"}))
    assert made["metadata"]["uid"]
    assert made["metadata"]["managedFields"][0]["manager"] == "llmfit-webhook"
    one = f"{maps}/facts"
    assert (await client.replace(one, {**made, "data": {"a": "2"}}))["data"] == {"a": "2"}
    assert (await client.merge_patch(one, {"data": {"b": "3"}}))["data"] == {"a": "2", "b": "3"}
    operations = [{"op": "remove", "path": "/data/a"}]
    assert (await client.json_patch(one, operations))["data"] == {"b": "3"}
    patched = await client.strategic_patch(one, {"metadata": {"labels": {"x": "y"}}})
    assert patched["metadata"]["labels"] == {"x": "y"}
    assert (await client.get(one))["data"] == {"b": "3"}
    with pytest.raises(ApiError) as caught:
        await client.delete(one, uid="another")
    assert caught.value.reason == "Conflict"
    with pytest.raises(ApiError) as caught:
        await client.delete(one, resource_version=made["metadata"]["resourceVersion"])
    assert caught.value.reason == "Conflict"
    await client.delete(one, uid=made["metadata"]["uid"])
    assert sandbox.api.find("v1", "ConfigMap", "facts", sandbox.namespace) is None


async def test_dry_run_creates_nothing(client: Client, sandbox: Sandbox, maps: str) -> None:
    made = await client.create(maps, config_map(sandbox, "facts", {}), dry_run=True)
    assert made["metadata"]["name"] == "facts"
    assert sandbox.api.find("v1", "ConfigMap", "facts", sandbox.namespace) is None


async def test_errors_are_the_servers_own(client: Client, sandbox: Sandbox, maps: str) -> None:
    with pytest.raises(ApiError) as caught:
        await client.get(f"{maps}/none")
    assert (caught.value.status, caught.value.reason) == (404, "NotFound")
    assert caught.value.message == 'configmaps "none" not found'

    made = await client.create(maps, config_map(sandbox, "facts", {}))
    with pytest.raises(ApiError) as caught:
        await client.create(maps, config_map(sandbox, "facts", {}))
    assert (caught.value.status, caught.value.reason) == (409, "AlreadyExists")

    await client.merge_patch(f"{maps}/facts", {"data": {"a": "1"}})
    with pytest.raises(ApiError) as caught:
        await client.replace(f"{maps}/facts", made)
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")

    with pytest.raises(ApiError) as caught:
        await client.create(maps, config_map(sandbox, "No_Name", {}))
    assert (caught.value.status, caught.value.reason) == (422, "Invalid")


async def test_rights_are_those_of_the_service_account(cluster: Cluster, sandbox: Sandbox) -> None:
    async with connected(cluster.kubeconfig_for(sandbox.namespace, "default")) as client:
        with pytest.raises(ApiError) as caught:
            await client.get(path("v1", "configmaps", sandbox.namespace, "facts"))
    assert (caught.value.status, caught.value.reason) == (403, "Forbidden")
    assert f"system:serviceaccount:{sandbox.namespace}:default" in caught.value.message


async def test_reads_in_pages_that_show_one_moment(
    client: Client, sandbox: Sandbox, maps: str
) -> None:
    for number in range(7):
        sandbox.create(config_map(sandbox, f"map-{number}", {"n": str(number)}))
    pages = [page async for page in client.list_pages(maps, page_size=3)]
    assert [len(page["items"]) for page in pages] in ([3, 3, 1], [3, 3, 2])
    names = [item["metadata"]["name"] for page in pages for item in page["items"]]
    assert [name for name in names if name.startswith("map-")] == [f"map-{n}" for n in range(7)]
    assert len({page["metadata"]["resourceVersion"] for page in pages}) == 1


async def test_watches_from_a_version_on(client: Client, sandbox: Sandbox, maps: str) -> None:
    before = sandbox.create(config_map(sandbox, "before", {}))
    sandbox.create(config_map(sandbox, "facts", {"a": "1"}))
    await client.merge_patch(f"{maps}/facts", {"data": {"a": "2"}})
    await client.delete(f"{maps}/facts")
    version = before["metadata"]["resourceVersion"]
    seen = []
    stream = client.watch(maps, version, {"fieldSelector": "metadata.name=facts"}, seconds=60)
    async with aclosing(stream) as events:
        async for kind, item in events:
            seen.append((kind, item["data"]["a"]))
            if kind == "DELETED":
                break
    assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


async def test_watch_ends_by_itself(client: Client, sandbox: Sandbox, maps: str) -> None:
    version = sandbox.create(config_map(sandbox, "facts", {}))["metadata"]["resourceVersion"]
    events = [kind async for kind, _ in client.watch(maps, version, seconds=1)]
    assert set(events) <= {"BOOKMARK", "ADDED"}


@pytest.mark.parametrize("server", ["etcd", "kube-apiserver"])
async def test_a_server_that_hangs_is_unavailable_in_time(
    cluster: Cluster, sandbox: Sandbox, server: str
) -> None:
    maps = path("v1", "configmaps", sandbox.namespace)
    async with connected(cluster.kubeconfig, call_seconds=0.5) as client:
        await client.get(f"{maps}/kube-root-ca.crt")
        with paused(cluster, server):
            begin = time.monotonic()
            with pytest.raises(Unavailable, match="no answer in time"):
                await client.create(maps, config_map(sandbox, "facts", {}))
            assert time.monotonic() - begin < 3
        # What hung may have been done all the same; the connection is not used for others.
        for _ in range(20):
            try:
                assert (await client.get(f"{maps}/kube-root-ca.crt"))["data"]
                break
            except Unavailable:
                await asyncio.sleep(0.1)
        else:
            pytest.fail("it answers again and the client does not see it")


async def test_a_silent_watch_is_unavailable(
    cluster: Cluster, client: Client, sandbox: Sandbox, maps: str
) -> None:
    version = sandbox.create(config_map(sandbox, "facts", {}))["metadata"]["resourceVersion"]
    with pytest.raises(Unavailable, match="no answer in time"):
        async for _ in client.watch(maps, version, silence_seconds=0.3):
            pass


async def test_no_server_at_all(cluster: Cluster, tmp_path: Path) -> None:
    port = cluster.url.rpartition(":")[2]
    other = tmp_path / "kubeconfig"
    other.write_text(cluster.kubeconfig.read_text().replace(f":{port}", ":1"))
    async with connected(other) as client:
        with pytest.raises(Unavailable, match="Cannot connect") as caught:
            await client.get("/api/v1/namespaces")
    assert cluster.token not in repr(caught.value)


async def test_service_account_token_is_read_again(
    cluster: Cluster, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a pod: the kubelet renews the token's file, and the old token ends."""
    token = tmp_path / "token"
    token.write_text(cluster.token)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(cluster.ca_file))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", cluster.url.rpartition(":")[2])

    # The library reads the file again after a minute; here at each call.
    loader = incluster_config.InClusterConfigLoader
    monkeypatch.setattr(
        loader, "_token_refresh_period", property(lambda _: dt.timedelta(0), lambda *_: None), False
    )
    async with await Client.connect() as client:
        here = path("v1", "namespaces", name=sandbox.namespace)
        assert (await client.get(here))["kind"] == "Namespace"
        token.write_text("no-such-token")
        with pytest.raises(ApiError) as caught:
            await client.get(here)
        assert (caught.value.status, caught.value.reason) == (401, "Unauthorized")
        assert "no-such-token" not in str(caught.value)
        token.write_text(cluster.token)
        assert (await client.get(here))["kind"] == "Namespace"


async def test_neither_pod_nor_kubeconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(NoClusterError, match="set KUBECONFIG to a kubeconfig file"):
        await Client.connect()
