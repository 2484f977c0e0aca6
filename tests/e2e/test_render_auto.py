"""``render --driver auto``: the cluster's slices choose, and what was chosen is said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import amd, intel, llmfit, nvidia, nvidia_mig
from tests.controlplane.devices.nvidia_mig import Partition
from tests.controlplane.sandbox import Sandbox
from tests.e2e.plugin import in_cluster, render, shell
from tests.e2e.plugin import llmfit as run

MODEL = "Qwen/Qwen2.5-7B-Instruct"


def chosen(cluster: Cluster, *flags: str) -> tuple[str, str]:
    """The device class in the object, and what standard error says."""
    done = run("render", MODEL, "--driver", "auto", *flags, environment=in_cluster(cluster))
    assert done.returncode == 0, done.stderr
    (request,) = yaml.safe_load(done.stdout)["spec"]["devices"]["requests"]
    return request["exactly"]["deviceClassName"], done.stderr


def test_vendor_goes_before_llmfit(cluster: Cluster, sandbox: Sandbox) -> None:
    sandbox.add_node(lambda node: llmfit.slices(node, [llmfit.Gpu(), llmfit.RTX_4090]), "a")
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4)]), "b")
    device_class, said = chosen(cluster)
    assert device_class == "gpu.nvidia.com"
    assert said == "Using class gpu.nvidia.com: gpu.nvidia.com publishes 1 device for it.\n"


def test_vendor_with_the_most_devices(cluster: Cluster, sandbox: Sandbox) -> None:
    sandbox.add_node(lambda node: amd.slices(node, amd.gpus(amd.MI300X, 2)), "a")
    sandbox.add_node(lambda node: intel.slices(node, [intel.Gpu(intel.B60)]), "b")
    device_class, said = chosen(cluster)
    assert device_class == "gpu.amd.com"
    assert "publishes 2 devices" in said
    assert "gpu.intel.com" in said


def test_partitions_where_there_is_nothing_whole(cluster: Cluster, sandbox: Sandbox) -> None:
    cut = [(nvidia.Gpu(nvidia.A100_80GB), [Partition("3g.40gb", 0)])]
    sandbox.add_node(lambda node: nvidia_mig.static_slices(node, cut))
    assert chosen(cluster)[0] == "mig.nvidia.com"


def test_llmfit_for_gpus_that_no_vendor_manages(cluster: Cluster, sandbox: Sandbox) -> None:
    """Its class with a kind test: llmfit.ai would give a CPU or an NPU to a pod as well."""
    devices: list[llmfit.Gpu | llmfit.Cpu]
    devices = [llmfit.Cpu(), llmfit.Npu(), llmfit.Gpu(), llmfit.RTX_4090]
    sandbox.add_node(lambda node: llmfit.slices(node, devices))
    device_class, said = chosen(cluster)
    assert device_class == "gpu.llmfit.ai"
    assert "publishes 1 GPU" in said


def test_nothing_to_choose_from(cluster: Cluster, sandbox: Sandbox) -> None:
    """A CPU, an NPU and a GPU that a vendor's driver manages are no reason to choose llmfit.ai."""
    devices: list[llmfit.Gpu | llmfit.Cpu]
    devices = [llmfit.Cpu(), llmfit.Npu(), llmfit.RTX_4090]
    sandbox.add_node(lambda node: llmfit.slices(node, devices))
    done = run("render", MODEL, "--driver", "auto", environment=in_cluster(cluster))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: no slice of the cluster has a device of ")
    assert done.stderr.endswith("(no-devices)\n")


def test_class_that_the_cluster_lacks_is_a_warning(cluster: Cluster, sandbox: Sandbox) -> None:
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4)]))
    cluster.api.delete(cluster.api.get("resource.k8s.io/v1", "DeviceClass", "cpu.llmfit.ai"))
    try:
        _, said = chosen(cluster, "--device-class", "cpu.llmfit.ai")
    finally:
        (class_,) = [
            each for each in llmfit.device_classes() if each["metadata"]["name"] == "cpu.llmfit.ai"
        ]
        cluster.api.create(class_)
    assert said == (
        'Warning: the cluster has no DeviceClass "cpu.llmfit.ai"; pods with this claim would '
        "stay pending until it is made\n"
    )


def test_forbidden(cluster: Cluster, sandbox: Sandbox) -> None:
    """A ServiceAccount without any rights: the server's own sentence, and nothing printed."""
    kubeconfig = cluster.kubeconfig_for(sandbox.namespace, "default")
    done = run("render", MODEL, "--driver", "auto", environment=in_cluster(cluster, kubeconfig))
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot list resource" in done.stderr
    assert done.stderr.endswith("(cluster-forbidden)\n")
    assert done.stderr.count("\n") == 1


def test_no_cluster(tmp_path: Path) -> None:
    environment = {"KUBECONFIG": str(tmp_path / "none"), "HOME": str(tmp_path)}
    flags = ("--driver", "auto", "--server", "https://127.0.0.1:1", "--token", "none")
    done = run("render", MODEL, *flags, environment=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("(cluster-unreachable)\n")
    assert done.stderr.count("\n") == 1


def test_no_kubectl(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "KUBECTL": ""}
    done = run("render", MODEL, "--driver", "auto", environment=environment)
    assert done.returncode == 1
    assert "kubectl is not on PATH" in done.stderr
    assert done.stderr.endswith("(no-kubectl)\n")


@pytest.mark.parametrize("driver", ["llmfit.ai", "gpu.nvidia.com"])
def test_no_other_driver_asks_a_cluster(tmp_path: Path, driver: str) -> None:
    """A kubectl that would leave a trace is never called, whatever its global flags."""
    trace = tmp_path / "called"
    stub = tmp_path / "kubectl"
    stub.write_text(f"#!/bin/sh\ntouch {trace}\n")
    stub.chmod(0o755)
    environment = {"KUBECTL": str(stub)}
    done = run("render", MODEL, "--driver", driver, "--context", "x", environment=environment)
    assert done.returncode == 0
    assert not trace.exists()
    assert run("render", MODEL, "--driver", "auto", environment=environment).returncode == 1
    assert trace.exists()


def test_plugin_through_kubectl_and_piped_into_apply(
    cluster: Cluster, sandbox: Sandbox, tmp_path: Path
) -> None:
    """The promise of the README, as written: one shell line, kubectl on both ends."""
    # The entry point of the installed package, beside the Python that runs the tests.
    (tmp_path / "kubectl-llmfit").symlink_to(Path(sys.executable).with_name("kubectl-llmfit"))
    kubectl = "kubectl --namespace " + sandbox.namespace
    done = shell(cluster, tmp_path, f"kubectl llmfit render {MODEL} | {kubectl} apply -f -")
    assert done == "resourceclaim.resource.k8s.io/qwen-qwen2-5-7b-instruct-fit created\n"
    assert (
        render(MODEL, "-o", "name").strip()
        in sandbox.kubectl("get", "resourceclaims", "-o", "name").stdout
    )
