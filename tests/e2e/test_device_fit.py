"""The verdict over a claim's devices is the scheduler's: a pod is bound, or it stays pending."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.core import drivers
from kubectl_llmfit.core.claims.fit import missing_devices
from kubectl_llmfit.core.claims.objects import Metadata, claim_object
from kubectl_llmfit.core.claims.plan import ClaimPlan, Constraint, DeviceRequest
from kubectl_llmfit.core.claims.sized import Placement, size_claim
from kubectl_llmfit.core.drivers.devices import devices_of
from kubectl_llmfit.core.sizing.formula import ClaimTarget
from tests.controlplane import workloads
from tests.controlplane.client import Object
from tests.controlplane.devices import amd, intel, llmfit, nvidia, nvidia_mig
from tests.controlplane.devices.model import Taint
from tests.controlplane.devices.nvidia_mig import Partition
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for

Slices = Callable[[str], list[Object]]

# At 20 tok/s, 7.6B at Q4_K_M needs 5Gi and 161 GB/s, 72.7B needs 43Gi and 1534 GB/s.
SMALL = "Qwen/Qwen2.5-7B-Instruct"
LARGE = "Qwen/Qwen2.5-72B-Instruct"


def _publishing(slices: Callable[[str, Any], list[Object]], devices: Any) -> Slices:
    return lambda node: slices(node, devices)


def _nvidia() -> Iterator[Slices]:
    for board in (
        nvidia.T4, nvidia.L4, nvidia.L40S, nvidia.A100_40GB, nvidia.H100, nvidia.GB10,
        nvidia.UNLISTED, nvidia.NAMELESS,
    ):  # fmt: skip
        yield _publishing(nvidia.slices, [nvidia.Gpu(board)])
    ill = nvidia.Gpu(nvidia.H100, taints=(Taint("ill"),))
    yield _publishing(nvidia.slices, [ill])
    for profile in ("1g.10gb", "1g.20gb", "3g.40gb", "7g.80gb"):
        cut = [(nvidia.Gpu(nvidia.A100_80GB), [Partition(profile, 0)])]
        yield _publishing(nvidia_mig.static_slices, cut)


def _amd() -> Iterator[Slices]:
    for board in (amd.MI300X, amd.MI210, amd.NAMELESS, amd.UNREADABLE):
        yield _publishing(amd.slices, [amd.Gpu(board)])
    for parts in (2, 8):
        gpu = amd.Gpu(amd.MI300X, partitions=parts)
        yield _publishing(amd.slices, [gpu])


def _intel() -> Iterator[Slices]:
    gpus = [intel.Gpu(each) for each in (intel.B60, intel.B580, intel.INTEGRATED, intel.UNKNOWN)]
    for gpu in (*gpus, intel.Gpu(intel.B60, healthy=False)):
        yield _publishing(intel.slices, [gpu])


def _llmfit() -> Iterator[Slices]:
    for device in (
        llmfit.Gpu(memory_gib=5, bandwidth=161),
        llmfit.Gpu(memory_gib=4.9),
        llmfit.Gpu(bandwidth=160),
        llmfit.Gpu(memory_gib=43, bandwidth=1534),
        llmfit.Gpu(healthy=False),
        llmfit.Gpu(bandwidth=None),
        llmfit.Gpu(memory_gib=None),
        llmfit.RTX_4090,  # vendorManaged
        llmfit.Npu(),
        llmfit.Cpu(),
    ):
        yield _publishing(llmfit.slices, [device])


def sized(device_class: str, model: str, min_tps: float) -> ClaimPlan:
    driver = drivers.for_device_class(device_class)
    assert driver is not None
    target = ClaimTarget(min_tps=min_tps, device_class=device_class)
    placement = Placement(driver.name, boards=load_boards())
    return size_claim(Catalog.open().resolve(model), target, placement).plan


def verdicts(sandbox: Sandbox, plan: ClaimPlan, nodes: list[str]) -> list[bool]:
    """For each of ``nodes``, whether the scheduler binds a pod with the claim to it."""
    template = claim_object(plan, Metadata("claim"), template=True)
    sandbox.create(template)
    for node in nodes:
        pod = workloads.pod(node, "claim")
        pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
        sandbox.create(pod)

    def verdict(node: str) -> tuple[bool, ...]:
        """Empty as long as there is none."""
        pod = sandbox.pod(node)
        if pod["spec"].get("nodeName"):
            return (True,)
        for condition in pod.get("status", {}).get("conditions", ()):
            if condition["type"] == "PodScheduled":
                assert condition["reason"] == "Unschedulable"
                assert "cannot allocate all claims" in condition["message"]
                return (False,)
        return ()

    return [
        wait_for(partial(verdict, node), what=f"the scheduler's word on {node}")[0]
        for node in nodes
    ]


def ours(sandbox: Sandbox, plan: ClaimPlan, node: str) -> bool:
    """The same verdict without a scheduler; both forms of a slice have to lead to it."""
    said = []
    for version in ("v1", "v1beta1"):
        slices = sandbox.api.list(
            f"resource.k8s.io/{version}", "ResourceSlice", fieldSelector=f"spec.nodeName={node}"
        )
        assert slices
        said.append(missing_devices(plan, devices_of(slices)))
    assert said[0] == said[1]
    return said[0] is None


CLAIMS = [
    pytest.param(_nvidia, "gpu.nvidia.com", SMALL, 20, id="nvidia-small"),
    pytest.param(_nvidia, "gpu.nvidia.com", LARGE, 20, id="nvidia-large"),
    pytest.param(_nvidia, "mig.nvidia.com", SMALL, 20, id="mig"),
    pytest.param(_nvidia, "mig.nvidia.com", SMALL, 80, id="mig-fast"),
    pytest.param(_amd, "gpu.amd.com", SMALL, 20, id="amd-small"),
    pytest.param(_amd, "gpu.amd.com", SMALL, 87, id="amd-fast"),
    pytest.param(_amd, "gpu.amd.com", LARGE, 20, id="amd-large"),
    pytest.param(_intel, "gpu.intel.com", SMALL, 20, id="intel-small"),
    pytest.param(_intel, "gpu.intel.com", LARGE, 5, id="intel-large"),
    pytest.param(_llmfit, "llmfit.ai", SMALL, 20, id="llmfit"),
    pytest.param(_llmfit, "gpu.llmfit.ai", SMALL, 20, id="llmfit-gpu"),
    pytest.param(_llmfit, "gpu.llmfit.ai", LARGE, 20, id="llmfit-gpu-large"),
    pytest.param(_llmfit, "npu.llmfit.ai", SMALL, 20, id="llmfit-npu"),
    pytest.param(_llmfit, "cpu.llmfit.ai", SMALL, 20, id="llmfit-cpu"),
]


@pytest.mark.parametrize(("devices", "device_class", "model", "min_tps"), CLAIMS)
def test_each_device_alone(
    sandbox: Sandbox,
    devices: Callable[[], Iterator[Slices]],
    device_class: str,
    model: str,
    min_tps: float,
) -> None:
    plan = sized(device_class, model, min_tps)
    nodes = [sandbox.add_node(make, f"n{n}") for n, make in enumerate(devices())]
    scheduler = dict(zip(nodes, verdicts(sandbox, plan, nodes), strict=True))
    assert {node: ours(sandbox, plan, node) for node in nodes} == scheduler


def _gpus(*numa: int) -> Slices:
    boards = [nvidia.Gpu(nvidia.H100, n, numa_node=each) for n, each in enumerate(numa)]
    return lambda node: nvidia.slices(node, boards)


def _mixed(*boards: nvidia.Board) -> Slices:
    return lambda node: nvidia.slices(node, [nvidia.Gpu(each, n) for n, each in enumerate(boards)])


NODES = {
    "one": _gpus(0),
    "two-apart": _gpus(0, 1),
    "two-together": _gpus(1, 1),
    "three": _gpus(0, 1, 0),
    "one-too-small": _mixed(nvidia.T4, nvidia.H100),
    "one-of-two-too-small": _mixed(nvidia.T4, nvidia.H100, nvidia.H100),
}
PLAIN = DeviceRequest("gpu", "gpu.nvidia.com", ())


def _plan(count: int, *others: DeviceRequest, numa: bool = False) -> ClaimPlan:
    (request,) = sized("gpu.nvidia.com", LARGE, 20).requests
    model = DeviceRequest("model", request.device_class, request.selectors, count)
    same = Constraint(("model",), "resource.kubernetes.io/numaNode")
    return ClaimPlan((model, *others), (same,) if numa else ())


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(_plan(2), id="two"),
        pytest.param(_plan(2, numa=True), id="two-that-share"),
        pytest.param(_plan(1, PLAIN), id="and-any-other"),
        pytest.param(_plan(2, PLAIN), id="two-and-any-other"),
        pytest.param(_plan(2, PLAIN, numa=True), id="two-that-share-and-any-other"),
    ],
)
def test_several_devices(sandbox: Sandbox, plan: ClaimPlan) -> None:
    nodes = [sandbox.add_node(make, name) for name, make in NODES.items()]
    scheduler = dict(zip(nodes, verdicts(sandbox, plan, nodes), strict=True))
    assert {node: ours(sandbox, plan, node) for node in nodes} == scheduler
    assert len(set(scheduler.values())) == 2
