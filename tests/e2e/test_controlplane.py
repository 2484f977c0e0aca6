"""The harness itself: the cluster schedules by DRA as a real one, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import amd, intel, llmfit, nvidia, nvidia_mig
from tests.controlplane.devices.nvidia_mig import Partition
from tests.controlplane.leftovers import REPOSITORY, Running
from tests.controlplane.samples import PARTITIONABLE, sample_slices
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.versions import minor
from tests.controlplane.workloads import claim_template, claims_of, is_reserved_for

CUT = [Partition("3g.40gb", 0), Partition("1g.10gb", 6)]
A100 = nvidia.Gpu(nvidia.A100_80GB)

SERVERS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
MakeSlices = Callable[[str], list[Object]]


def _llmfit(node: str) -> list[Object]:
    """A CPU that every class without a kind test would take first, three GPUs, an NPU."""
    sick = llmfit.Gpu(pci="0000:02:00.0", healthy=False)
    return llmfit.slices(
        node, [llmfit.Cpu(), llmfit.RTX_4090, sick, llmfit.Gpu(pci="0000:83:00.0"), llmfit.Npu()]
    )


def _nvidia(node: str) -> list[Object]:
    """A partitioned A100, which is not published itself, and a whole H100."""
    return nvidia_mig.static_slices(node, [(A100, CUT)], [nvidia.Gpu(nvidia.H100, 1)])


def _amd(node: str) -> list[Object]:
    return amd.slices(node, [amd.Gpu(amd.MI300X)])


def _amd_partitions(node: str) -> list[Object]:
    return amd.slices(node, [amd.Gpu(amd.MI300X, partitions=8)])


def _intel(node: str) -> list[Object]:
    return intel.slices(node, [intel.Gpu(intel.B60)])


CLASSES = [
    # class, the node's devices, all that the class admits there
    ("llmfit.ai", _llmfit, {"cpu0", "gpu-0000-83-00-0", "npu-0000-c4-00-1"}),
    ("gpu.llmfit.ai", _llmfit, {"gpu-0000-83-00-0"}),
    ("npu.llmfit.ai", _llmfit, {"npu-0000-c4-00-1"}),
    ("cpu.llmfit.ai", _llmfit, {"cpu0"}),
    ("gpu.nvidia.com", _nvidia, {"gpu-1"}),
    ("mig.nvidia.com", _nvidia, {"gpu-0-mig-3g40gb-9-0", "gpu-0-mig-1g10gb-19-6"}),
    ("gpu.amd.com", _amd, {"gpu-0-128"}),
    ("gpu.amd.com", _amd_partitions, {f"gpu-{n}-{128 + n}" for n in range(8)}),
    ("gpu.intel.com", _intel, {"0000-04-00-0-0xe211"}),
]


@pytest.mark.parametrize(("device_class", "slices", "admitted"), CLASSES)
def test_class_admits(
    sandbox: Sandbox, device_class: str, slices: MakeSlices, admitted: set[str]
) -> None:
    """A pod with a plain claim is bound; a class gives out its own devices and no other."""
    node = sandbox.add_node(slices)
    name = sandbox.claiming_pod(device_class, count=len(admitted))
    pod = sandbox.pod_scheduled(name)
    assert pod["spec"]["nodeName"] == node
    assert {got.device for got in sandbox.allocated(name)} == admitted
    (claim,) = claims_of(sandbox.api, pod)
    assert is_reserved_for(claim, pod)
    assert sandbox.pod_pending_reason(sandbox.claiming_pod(device_class)).startswith(
        "Unschedulable: 0/"
    )


def test_first_class_of_llmfit_gives_out_an_unhealthy_gpu(sandbox: Sandbox) -> None:
    """The classes of the first releases leave health to the claim."""
    sandbox.add_node(lambda node: llmfit.slices(node, [llmfit.Gpu(healthy=False)]))
    pending = sandbox.claiming_pod("gpu.llmfit.ai")
    assert sandbox.pod_pending_reason(pending)
    for item in llmfit.device_classes(test_healthy=False):
        sandbox.device_class(item)
    assert len(sandbox.allocated(pending)) == 1


def test_memory_decides(sandbox: Sandbox) -> None:
    """The published capacities are quantities that CEL compares."""
    boards = [nvidia.Gpu(nvidia.L4, 0), nvidia.Gpu(nvidia.GB10, 1), nvidia.Gpu(nvidia.H100, 2)]
    sandbox.add_node(lambda node: nvidia.slices(node, boards))
    memory = "device.capacity['gpu.nvidia.com']"
    floor = f"'memory' in {memory} && {memory}.memory.compareTo(quantity('81559Mi')) >= 0"
    (got,) = sandbox.allocated(sandbox.claiming_pod("gpu.nvidia.com", floor))
    assert got.device == "gpu-2"


def test_unguarded_look_up_is_an_error(sandbox: Sandbox) -> None:
    """What the harness shows of a selector that reads what a device does not have."""
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.GB10)]))
    unguarded = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('1Gi')) >= 0"
    reason = sandbox.pod_pending_reason(sandbox.claiming_pod("gpu.nvidia.com", unguarded))
    assert "CEL runtime error" in reason


def test_incomplete_pool(sandbox: Sandbox, cluster: Cluster) -> None:
    """A pool with a slice missing is not used; 1.34 still takes what is there."""
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.H100)], missing=1))
    name = sandbox.claiming_pod("gpu.nvidia.com")
    if minor(cluster.version) == 34:
        assert len(sandbox.allocated(name)) == 1
    else:
        assert sandbox.pod_pending_reason(name)


def test_numa_node_is_a_constraint(sandbox: Sandbox) -> None:
    """Four GPUs of one NUMA node, and no fifth."""
    sandbox.add_node(lambda node: nvidia.slices(node, nvidia.gpus(nvidia.H100)))
    for count, fits in ((4, True), (5, False)):
        template = claim_template(f"numa-{count}", "gpu.nvidia.com", count=count)
        template["spec"]["spec"]["devices"]["constraints"] = [
            {"matchAttribute": "resource.kubernetes.io/numaNode"}
        ]
        sandbox.create(template)
        sandbox.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"numa-{count}"},
                "spec": {
                    "containers": [
                        {
                            "name": "main",
                            "image": "none.invalid/none",
                            "resources": {"claims": [{"name": "gpu"}]},
                        }
                    ],
                    "resourceClaims": [
                        {"name": "gpu", "resourceClaimTemplateName": f"numa-{count}"}
                    ],
                },
            }
        )
        if fits:
            assert len(sandbox.allocated(f"numa-{count}")) == count
        else:
            assert sandbox.pod_pending_reason(f"numa-{count}")


def test_partitions_share_their_parent(sandbox: Sandbox, cluster: Cluster) -> None:
    """Dynamic MIG: a partition and its whole GPU are never both given out."""
    if minor(cluster.version) < PARTITIONABLE:
        pytest.skip(f"partitionable devices are off by default in {cluster.version}")
    gpu = nvidia.Gpu(nvidia.H100)
    sandbox.add_node(lambda node: nvidia_mig.dynamic_slices(node, [gpu]))
    mig = "device.attributes['gpu.nvidia.com'].profile == '3g.40gb'"
    sandbox.pod_scheduled(sandbox.claiming_pod("mig.nvidia.com", mig))
    assert sandbox.pod_pending_reason(sandbox.claiming_pod("gpu.nvidia.com"))
    sandbox.pod_scheduled(sandbox.claiming_pod("mig.nvidia.com", mig))
    assert sandbox.pod_pending_reason(sandbox.claiming_pod("mig.nvidia.com"))


def test_auto_partition_shows_the_memory_of_all_partitions(
    sandbox: Sandbox, cluster: Cluster
) -> None:
    """AMD's AutoPartition: eight claims get an eighth each of a device that shows it all."""
    if minor(cluster.version) < PARTITIONABLE:
        pytest.skip(f"consumable capacity is off by default in {cluster.version}")
    sandbox.add_node(lambda node: amd.auto_partition_slices(node, [amd.Gpu(amd.MI300X)]))
    memory = "device.capacity['gpu.amd.com'].memory.compareTo(quantity('196592Mi')) >= 0"
    shared = "device.attributes['gpu.amd.com'].computePartition == 'cpx'"
    names = [sandbox.claiming_pod("gpu.amd.com", memory, shared) for _ in range(8)]
    assert len({sandbox.allocated(name)[0].device for name in names}) == 1
    assert sandbox.pod_pending_reason(sandbox.claiming_pod("gpu.amd.com"))


def test_extended_resource_is_served_by_dra(sandbox: Sandbox, cluster: Cluster) -> None:
    """A limit alone gets a device where the class has an extendedResourceName (1.36 on)."""
    if minor(cluster.version) < PARTITIONABLE:
        pytest.skip(f"extended resources by DRA are off by default in {cluster.version}")
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4)]))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "limit"},
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "none.invalid/none",
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                }
            ]
        },
    }
    sandbox.create(pod)
    (got,) = sandbox.allocated("limit")
    assert got.device == "gpu-0"


def test_pods_stay_on_their_sandbox_nodes(sandbox: Sandbox, cluster: Cluster) -> None:
    """Another test's devices are out of reach."""
    other = Sandbox(cluster, "other")
    try:
        other.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4)]))
        sandbox.add_node()
        assert sandbox.pod_pending_reason(sandbox.claiming_pod("gpu.nvidia.com"))
    finally:
        other.close()


@pytest.mark.parametrize("server", ["etcd", "kube-apiserver"])
def test_restarted_server_has_kept_everything(
    sandbox: Sandbox, cluster: Cluster, server: str
) -> None:
    before = cluster.group.pids[server]
    made = sandbox.create(claim_template("kept", "gpu.nvidia.com"))
    cluster.restart(server)
    assert cluster.group.pids[server] != before
    found = sandbox.api.get(made["apiVersion"], made["kind"], "kept", sandbox.namespace)
    assert found == made


def test_server_accepts_all_samples(cluster: Cluster) -> None:
    """Every sample slice passes validation, unknown fields included."""
    for slices in sample_slices(cluster.version).values():
        for item in slices:
            answer = cluster.api.dry_run(item)
            assert answer["spec"].keys() == item["spec"].keys()


def test_version_and_served_api(cluster: Cluster) -> None:
    """The server is the one asked for and serves what the plugin writes."""
    assert (
        json.loads(cluster.kubectl("version", "-o", "json").stdout)["serverVersion"]["gitVersion"]
        == cluster.version
    )
    served = cluster.kubectl("api-versions").stdout.split()
    assert cluster.served_versions
    for version in ("v1", "v1beta2", "v1beta1"):
        assert (f"resource.k8s.io/{version}" in served) == (version in cluster.served_versions)


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_api_version_accepts(sandbox: Sandbox, cluster: Cluster, version: str) -> None:
    """A claim in each version; v1beta1 has the request flat."""
    if version not in cluster.served_versions:
        pytest.skip(f"{cluster.version} does not serve resource.k8s.io/{version}")
    template = claim_template("any", "gpu.nvidia.com")
    if version == "v1beta1":
        (request,) = template["spec"]["spec"]["devices"]["requests"]
        request |= request.pop("exactly")
    sandbox.create(template | {"apiVersion": f"resource.k8s.io/{version}"})
    stored = sandbox.api.get(
        "resource.k8s.io/v1", "ResourceClaimTemplate", "any", sandbox.namespace
    )
    (request,) = stored["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"]["count"] == 1


# Starts a cluster, says which processes it has, and waits.
PROGRAM = """
import json, signal, sys
from tests.controlplane.cluster import Cluster
with Cluster.start(sys.argv[1]) as cluster:
    group = cluster.group
    print(json.dumps([[group.supervisor_pid, *group.pids.values()], str(group.folder)]), flush=True)
    signal.pause()
"""


def test_up_and_down(cluster: Cluster, tmp_path: Path) -> None:
    """The commands for a person: a cluster with sample nodes, and none."""

    def command(*args: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "tests.controlplane", *args],
            cwd=REPOSITORY,
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )

    try:
        variable, _, kubeconfig = command("up", cluster.version).stdout.strip().partition("=")
        assert variable == "export KUBECONFIG"
        assert command("status").stdout.strip().endswith(kubeconfig)
        names = cluster.kubectl("--kubeconfig", kubeconfig, "get", "nodes", "-o", "name").stdout
        assert set(names.split()) == {f"node/{name}" for name in sample_slices(cluster.version)}
    finally:
        assert f"stopped Kubernetes {cluster.version}" in command("down").stderr
    assert not Path(kubeconfig).exists()
    assert "no cluster is up" in command("down").stderr


def test_interrupted_cluster_leaves_nothing(cluster: Cluster) -> None:
    """Ctrl-C ends every server and removes the cluster's folder."""
    with Running(PROGRAM, cluster.version) as running:
        assert len(running.left()) == 1 + len(SERVERS)
        running.process.send_signal(signal.SIGINT)
        running.process.wait(20)
        assert running.left() == []
        assert not running.folder.exists()
