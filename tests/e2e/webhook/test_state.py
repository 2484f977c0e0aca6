"""What the webhook knows of a real cluster: kept up to date, through errors and restarts."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import eventually
from tests.e2e.webhook.parts import connected, running, stopped, watching, webhook_account
from webhook.kube import served
from webhook.kube.client import ApiError, Client
from webhook.kube.paths import path
from webhook.state import ClusterState

pytestmark = pytest.mark.anyio

WHOLE = ("gpu",)


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[Client]:
    """With the rights that the docs state, and no more."""
    with webhook_account(sandbox) as kubeconfig:
        async with connected(kubeconfig) as made:
            yield made


def whole_gpus(state: ClusterState) -> int:
    published = state.published()
    assert published is not None
    return published.of("gpu.nvidia.com", WHOLE)


def annotate(sandbox: Sandbox, annotations: dict[str, str | None]) -> None:
    namespace = sandbox.api.get("v1", "Namespace", sandbox.namespace)
    sandbox.api.patch(namespace, {"metadata": {"annotations": annotations}})


def annotated(state: ClusterState, sandbox: Sandbox) -> dict[str, str]:
    found = state.namespace(sandbox.namespace)
    assert found is not None
    kept: dict[str, str] = found["metadata"]["annotations"]
    return kept


async def test_nothing_is_known_before_it_was_read(client: Client) -> None:
    state = ClusterState(client)
    assert not state.synced
    assert state.published() is None
    assert not state.lacks("gpu.example.com")
    assert state.namespace("default") is None


async def test_devices_come_and_go(client: Client, sandbox: Sandbox) -> None:
    boards = [nvidia.Gpu(nvidia.L4, n) for n in range(3)]
    async with watching(client) as state:
        before = whole_gpus(state)
        sandbox.add_node(lambda node: nvidia.slices(node, boards), "one")
        await eventually(lambda: whole_gpus(state) == before + 3)
        sandbox.add_node(lambda node: nvidia.slices(node, boards[:1]), "two")
        await eventually(lambda: whole_gpus(state) == before + 4)
        node = f"spec.nodeName={sandbox.namespace}-one"
        version = "resource.k8s.io/v1"
        sandbox.api.delete_all(version, "ResourceSlice", fieldSelector=node)
        await eventually(lambda: whole_gpus(state) == before + 1)


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
async def test_counts_are_the_same_in_every_version(
    cluster: Cluster,
    client: Client,
    sandbox: Sandbox,
    version: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if version not in cluster.served_versions:
        pytest.skip(f"{cluster.version} does not serve it")
    monkeypatch.setattr(
        served, "API_VERSIONS", ("resource.k8s.io/v9", f"resource.k8s.io/{version}")
    )
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4, 0)]))
    async with watching(client) as state:
        assert state.api_version == f"resource.k8s.io/{version}"
        assert whole_gpus(state) == 1


async def test_no_version_that_can_be_written(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "API_VERSIONS", ("resource.k8s.io/v9",))
    state = ClusterState(client)
    async with running(state):
        await eventually(lambda: any("serves none of" in each for each in state.problems()))
        assert not state.synced


async def test_device_classes(client: Client) -> None:
    async with watching(client) as state:
        assert not state.lacks("gpu.nvidia.com")
        assert state.lacks("gpu.example.com")


async def test_namespace_annotations(client: Client, sandbox: Sandbox) -> None:
    async with watching(client) as state:
        assert annotated(state, sandbox) == {}
        annotate(sandbox, {"llmfit.ai/min-tps": "30", "example.com/other": "x"})
        await eventually(lambda: annotated(state, sandbox) == {"llmfit.ai/min-tps": "30"})
        annotate(sandbox, {"llmfit.ai/min-tps": None})
        await eventually(lambda: annotated(state, sandbox) == {})


async def test_a_namespace_takes_little_memory(client: Client, sandbox: Sandbox) -> None:
    many: dict[str, str | None] = {f"llmfit.ai/a{n:03}": "x" for n in range(500)}
    annotate(sandbox, {**many, "llmfit.ai/a000": "y" * 100_000})
    async with watching(client) as state:
        kept = annotated(state, sandbox)
    assert len(kept) == 32
    assert max(map(len, kept.values())) == 501


async def test_a_namespace_that_the_watch_has_not_told_of(client: Client, sandbox: Sandbox) -> None:
    state = ClusterState(client)
    annotate(sandbox, {"llmfit.ai/driver": "gpu.nvidia.com"})
    await state.learn_namespace(sandbox.namespace)
    assert annotated(state, sandbox) == {"llmfit.ai/driver": "gpu.nvidia.com"}
    await state.learn_namespace("no-such-namespace")
    assert state.namespace("no-such-namespace") is None
    with pytest.raises(ApiError, match="no name"):
        await state.learn_namespace("../nodes")


async def test_without_rights_it_says_so_and_goes_on_when_they_come(
    cluster: Cluster, sandbox: Sandbox
) -> None:
    sandbox.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "poor"}})
    async with connected(cluster.kubeconfig_for(sandbox.namespace, "poor")) as client:
        state = ClusterState(client)
        async with running(state):
            await eventually(lambda: len(state.problems()) == 4)
            await eventually(
                lambda: all("cannot list resource" in each for each in state.problems())
            )
            assert not state.synced
            binding = {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": f"poor-{sandbox.namespace}"},
                "subjects": [
                    {"kind": "ServiceAccount", "name": "poor", "namespace": sandbox.namespace}
                ],
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": "cluster-admin",
                },
            }
            made = sandbox.api.create(binding)
            try:
                await eventually(lambda: state.synced, 30)
                assert state.problems() == []
            finally:
                sandbox.api.delete(made)


async def test_survives_a_restart_of_the_api_server(
    cluster: Cluster, client: Client, sandbox: Sandbox
) -> None:
    """What happens before, during and after it is known in the end; the old list is too old."""
    annotate(sandbox, {"llmfit.ai/min-tps": "1"})
    async with watching(client) as state:
        assert annotated(state, sandbox) == {"llmfit.ai/min-tps": "1"}
        with stopped(cluster, "kube-apiserver"):
            await eventually(lambda: state.problems() != [])
            # What is known stays readable.
            assert state.synced
            assert annotated(state, sandbox) == {"llmfit.ai/min-tps": "1"}
        annotate(sandbox, {"llmfit.ai/min-tps": "2"})
        await eventually(lambda: annotated(state, sandbox) == {"llmfit.ai/min-tps": "2"}, 30)
        await eventually(lambda: state.problems() == [], 30)

        with pytest.raises(ApiError) as caught:
            async for _ in client.watch(path("v1", "namespaces"), "1"):
                pass
        assert caught.value.gone
