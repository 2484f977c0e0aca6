"""What a live patch finds in the cluster: whose devices it asks for, and what it tells before."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.cluster.api import Api
from kubectl_llmfit.cluster.discovery import CLASSES, NODES, SLICES, discover
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.patching.changing import Writer
from kubectl_llmfit.patching.live import Live, patch_live
from tests.controlplane import workloads
from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import amd, llmfit, nvidia, nvidia_mig
from tests.controlplane.devices.nvidia_mig import Partition
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.versions import minor
from tests.controlplane.waiting import wait_for
from tests.e2e.test_patch_files import DEPLOYMENT, MODEL
from tests.e2e.test_patch_live import Meddler, made, patch, resources, templates

NAME = "deployment.apps/vllm"


@pytest.fixture
def environment(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)


def tokens(stderr: str) -> list[str]:
    """The tokens of the warnings, in their order."""
    warnings = [line for line in stderr.splitlines() if line.startswith(f"Warning: {NAME}: ")]
    return [line.rpartition("(")[2].rstrip(")") for line in warnings]


def claiming(sandbox: Sandbox) -> str:
    """The name of the pod that the patched Deployment makes."""

    def found() -> list[str]:
        pods = sandbox.api.list("v1", "Pod", sandbox.namespace)
        return [each["metadata"]["name"] for each in pods if each["spec"].get("resourceClaims")]

    (name,) = wait_for(found, what="a pod with the claim")
    return name


def _limits(**limits: Any) -> list[Object]:
    (container,) = yaml.safe_load(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    return [{**container, "resources": {"limits": limits}}]


def test_llmfit_stands_in_where_the_vendor_publishes_nothing(
    cluster: Cluster, sandbox: Sandbox
) -> None:
    small = llmfit.Gpu(model="small", memory_gib=18, pci="0000:03:00.0")
    large = llmfit.Gpu(model="large", memory_gib=48, bandwidth=900, pci="0000:02:00.0")
    published: list[llmfit.Gpu | llmfit.Cpu] = [llmfit.Cpu(), small, llmfit.RTX_4090, large]
    sandbox.add_node(lambda node: llmfit.slices(node, published))
    made(sandbox)
    code, out, err = patch(cluster, sandbox, "deployment/vllm")
    assert (code, out) == (0, f"{NAME} patched\n"), err
    assert "driver-stands-in" in tokens(err)
    assert "no-device-fits" not in tokens(err)
    (got,) = sandbox.allocated(claiming(sandbox))
    assert (got.driver, got.device) == ("llmfit.ai", "gpu-0000-02-00-0")


def test_named_driver_wins_over_what_is_published(cluster: Cluster, sandbox: Sandbox) -> None:
    sandbox.add_node(lambda node: llmfit.slices(node, [llmfit.Gpu(bandwidth=5000)]))
    made(sandbox)
    _, _, err = patch(cluster, sandbox, "deployment/vllm", "--driver", "gpu.nvidia.com")
    assert "gpu.nvidia.com publishes no device; its pods pend until one does" in err
    assert sandbox.pod_pending_reason(claiming(sandbox)).startswith("Unschedulable: 0/")


def test_amd(cluster: Cluster, sandbox: Sandbox) -> None:
    gpus = [amd.Gpu(amd.NAMELESS, 0), amd.Gpu(amd.MI300X, 1, "0000:06:00.0")]
    sandbox.add_node(lambda node: amd.slices(node, gpus))
    made(sandbox, containers=_limits(**{"amd.com/gpu": 1}))
    code, _, err = patch(cluster, sandbox, "deployment/vllm", "--min-tps", "30")
    assert code == 0, err
    assert "no-device-fits" not in tokens(err)
    (got,) = sandbox.allocated(claiming(sandbox))
    assert (got.driver, got.device) == ("gpu.amd.com", "gpu-8-136")


@pytest.mark.parametrize(
    ("profile", "device"),
    [
        pytest.param("3g.40gb", "gpu-0-mig-3g40gb-9-4", id="there"),
        pytest.param("7g.80gb", None, id="no-such-partition"),
    ],
)
def test_mig(cluster: Cluster, sandbox: Sandbox, profile: str, device: str | None) -> None:
    cut = [Partition("1g.10gb", 0), Partition("1g.20gb", 2), Partition("3g.40gb", 4)]
    gpus = [(nvidia.Gpu(nvidia.A100_80GB), cut)]
    sandbox.add_node(lambda node: nvidia_mig.static_slices(node, gpus))
    made(sandbox, containers=_limits(**{f"nvidia.com/mig-{profile}": 1}))
    code, _, err = patch(cluster, sandbox, "deployment/vllm")
    assert code == 0, err
    if device is None:
        assert 'has profile "3g.40gb", not "7g.80gb"; its pods pend' in err
        assert sandbox.pod_pending_reason(claiming(sandbox)).startswith("Unschedulable: 0/")
    else:
        assert "no-device-fits" not in tokens(err)
        assert sandbox.allocated(claiming(sandbox))[0].device == device


def test_init_container_only(cluster: Cluster, sandbox: Sandbox) -> None:
    """Two devices, since the pod from before holds one to its end."""
    sandbox.add_node(lambda node: nvidia.slices(node, nvidia.gpus(nvidia.L40S, 2)))
    limits = {"limits": {"nvidia.com/gpu": 1}}
    warm_up = {"name": "warm-up", "image": "none.invalid/none", "resources": limits}
    made(sandbox, initContainers=[warm_up], containers=_limits(cpu=1))
    code, out, err = patch(cluster, sandbox, "deployment/vllm", "--model", MODEL)
    assert (code, out) == (0, f"{NAME} patched\n"), err
    assert "no-device-fits" not in tokens(err)
    assert len(sandbox.allocated(claiming(sandbox))) == 1


def test_device_that_is_too_slow(cluster: Cluster, sandbox: Sandbox) -> None:
    """At 20 tok/s, 15.23 GB of weights take 554 GB/s; an L4 has 300, and a T4 too little memory."""
    gpus = [nvidia.Gpu(nvidia.T4, 0), nvidia.Gpu(nvidia.L4, 1)]
    node = sandbox.add_node(lambda node: nvidia.slices(node, gpus))
    made(sandbox)
    code, out, err = patch(cluster, sandbox, "deployment/vllm")
    assert (code, out) == (0, f"{NAME} patched\n"), err
    assert (
        f"Warning: {NAME}: no device of the 2 that gpu.nvidia.com publishes meets the claim; the "
        f"nearest, NVIDIA L4 on node {node}, is none of the "
    ) in err
    assert "boards known to be fast enough; its pods pend until one does (no-device-fits)\n" in err
    assert sandbox.pod_pending_reason(claiming(sandbox)).startswith("Unschedulable: 0/")


def test_device_plugin_beside_the_driver(cluster: Cluster, sandbox: Sandbox) -> None:
    node = sandbox.add_node(
        lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L40S)]),
        extended_resources={"nvidia.com/gpu": "1"},
    )
    made(sandbox)
    _, _, err = patch(cluster, sandbox, "deployment/vllm", "--dry-run=server")
    assert f'node "{node}" has nvidia.com/gpu of a device plugin beside' in err
    assert "device-plugin-beside-driver" in tokens(err)


def test_queue_and_autoscaler(cluster: Cluster, sandbox: Sandbox) -> None:
    labels = {"karpenter.sh/nodepool": "gpus"}
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L40S)]), labels=labels)
    made(sandbox)
    sandbox.kubectl("label", "deployment/vllm", "kueue.x-k8s.io/queue-name=team")
    code, out, _ = patch(cluster, sandbox, "deployment/vllm", "--json")
    assert code == 0
    (decision,) = json.loads(out)
    told = {each["token"] for each in decision["consequences"]}
    assert {"kueue-counts-otherwise", "autoscaler-ignores-claims"} <= told


def test_one_device_where_the_cluster_makes_claims_of_the_limit(
    cluster: Cluster, sandbox: Sandbox
) -> None:
    """NVIDIA's chart has its class serve nvidia.com/gpu: the claim takes that claim's place."""
    if minor(cluster.version) == 34:
        pytest.skip("the class's field is behind a gate that is off by default in 1.34")
    node = sandbox.add_node(lambda node: nvidia.slices(node, nvidia.gpus(nvidia.L40S, 4)))
    made(sandbox)
    extended = "-extended-resources-"

    def claims() -> list[str]:
        found = sandbox.api.list("resource.k8s.io/v1", "ResourceClaim", sandbox.namespace)
        return [each["metadata"]["name"] for each in found]

    (before,) = wait_for(lambda: [each for each in claims() if extended in each], what="its claim")
    code, _, err = patch(cluster, sandbox, "deployment/vllm")
    assert code == 0, err
    assert "allocated-through-dra-already" in tokens(err)
    name = claiming(sandbox)
    pod = sandbox.pod_scheduled(name)
    assert "extendedResourceClaimStatus" not in pod["status"]
    (got,) = workloads.allocated(sandbox.api, pod)
    assert got.pool == node
    assert [each for each in claims() if each.startswith(name)] == [
        each["metadata"]["name"] for each in workloads.claims_of(sandbox.api, pod)
    ]
    assert not any(extended in each and each != before for each in claims())


@pytest.mark.usefixtures("environment")
def test_told_before_anything_changes_and_only_once(sandbox: Sandbox) -> None:
    """Two conflicts lead to three decisions, and to each sentence once."""
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.T4)]))
    workload = made(sandbox)
    api: Api = Meddler(sandbox, 2)
    catalog = Catalog.open()
    knowledge = Knowledge(catalog.resolve, catalog.exact, load_boards)
    live = Live(Writer(api), discover(api, (CLASSES, SLICES, NODES)), Wishes({}), knowledge)
    told: list[Consequence] = []

    def tell(name: str, consequence: Consequence) -> None:
        assert name == NAME
        assert templates(sandbox) == []
        assert resources(sandbox)["limits"]["nvidia.com/gpu"] == "1"
        told.append(consequence)

    outcome = patch_live(live, workload, tell)
    assert outcome.problems == ()
    assert "nvidia.com/gpu" not in resources(sandbox)["limits"]
    assert len(told) == len(set(told))
    assert "no-device-fits" in [each.token for each in told]
