"""Whether any node's devices satisfy a claim, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_llmfit.core.claims.fit import missing_devices
from kubectl_llmfit.core.claims.plan import ClaimPlan, Constraint, DeviceRequest, Selector
from kubectl_llmfit.core.drivers.devices import Device
from kubectl_llmfit.core.drivers.domain import Domain
from kubectl_llmfit.core.sizing.quantity import GI

NVIDIA = "gpu.nvidia.com"
SIZED = (Selector(Domain(NVIDIA).memory(24 * GI)),)


def gpu(node: str | None, memory_gi: int = 40, numa: int | None = None, **fields: Any) -> Device:
    attributes: dict[str, Any] = {
        "type": {"string": fields.pop("kind", "gpu")},
        "productName": {"string": f"G{memory_gi}"},
    }
    if numa is not None:
        attributes["resource.kubernetes.io/numaNode"] = {"int": numa}
    capacity = {"memory": {"value": f"{memory_gi}Gi"}}
    return Device(NVIDIA, "gpu-0", node, {"attributes": attributes, "capacity": capacity} | fields)


def request(name: str = "model", count: int = 1, **changes: Any) -> DeviceRequest:
    given = {"device_class": NVIDIA, "selectors": SIZED} | changes
    return DeviceRequest(name, count=count, **given)


PLAIN = request("gpu", selectors=())
NUMA = (Constraint(("model",), "resource.kubernetes.io/numaNode"),)
TAINT = [{"key": "ill", "effect": "NoSchedule"}]

FITS = [
    pytest.param((request(),), [gpu("a", 15), gpu("b")], id="one"),
    pytest.param((request(count=2),), [gpu("a"), gpu("a")], id="two-on-a-node"),
    pytest.param((request(count=2),), [gpu("a"), gpu(None)], id="one-from-anywhere"),
    pytest.param((request(),), [gpu(None)], id="only-anywhere"),
    pytest.param((request(), PLAIN), [gpu("a", 15), gpu("a")], id="the-small-one-for-the-other"),
    pytest.param((PLAIN, request()), [gpu("a"), gpu("a", 15)], id="whatever-their-order"),
    pytest.param(
        (request(count=2),),
        [gpu("a", allowMultipleAllocations=True)],
        id="a-shared-one-counts-twice",
    ),
    pytest.param(
        (request(),), [gpu("a", taints=[{"key": "k", "effect": "None"}])], id="taint-without-effect"
    ),
    pytest.param(
        (request(device_class="fast", selectors=()),),
        [gpu("a", kind="any")],
        id="class-of-ones-own",
    ),
]


@pytest.mark.parametrize(("requests", "devices"), FITS)
def test_fits(requests: tuple[DeviceRequest, ...], devices: list[Device]) -> None:
    assert missing_devices(ClaimPlan(requests), devices) is None


MISSING = [
    pytest.param((request(),), [], "gpu.nvidia.com publishes no device", id="nothing"),
    pytest.param(
        (request(),),
        [gpu("b", 8), gpu("a", 15), gpu("a", 12)],
        "no device of the 3 that gpu.nvidia.com publishes meets the claim; the nearest, G15 on "
        "node a, has 15Gi of 24Gi memory",
        id="the-nearest",
    ),
    pytest.param(
        (request(),),
        [gpu("a", kind="mig"), gpu("a", 2)],
        "no device of the 2 that gpu.nvidia.com publishes meets the claim; the nearest, G2 on "
        "node a, has 2Gi of 24Gi memory",
        id="another-kind-is-farther",
    ),
    pytest.param(
        (request(),),
        [gpu("a", taints=TAINT)],
        "the only device that gpu.nvidia.com publishes does not meet the claim; G40 on node a "
        'is tainted "ill"',
        id="tainted",
    ),
    pytest.param(
        (request(count=2),),
        [gpu("a"), gpu("b"), gpu("b", 15)],
        "request model takes 2 devices of one node, and no node has more than 1 that meet it, of "
        "the 3 that gpu.nvidia.com publishes; the nearest of the others, G15 on node b, has 15Gi "
        "of 24Gi memory",
        id="two-nodes-are-not-one",
    ),
    pytest.param(
        (request(count=3),),
        [gpu("a"), gpu("a")],
        "request model takes 3 devices of one node, and no node has more than 2 that meet it, of "
        "the 2 that gpu.nvidia.com publishes",
        id="all-of-them-are-too-few",
    ),
    pytest.param(
        (request(), PLAIN),
        [gpu("a"), gpu("b", 15), gpu("b", 15)],
        "no node has devices for all requests of the claim at the same time",
        id="each-alone-but-not-together",
    ),
    pytest.param(
        (request(), PLAIN),
        [gpu("a")],
        "no node has devices for all requests of the claim at the same time",
        id="one-device-for-two-requests",
    ),
    pytest.param(
        (request(device_class="fast"),),
        [],
        "the cluster publishes no device",
        id="class-of-ones-own",
    ),
    pytest.param(
        (request(device_class="gpu.amd.com", selectors=()),),
        [gpu("a")],
        "gpu.amd.com publishes no device",
        id="of-another-driver",
    ),
]


@pytest.mark.parametrize(("requests", "devices", "said"), MISSING)
def test_missing(requests: tuple[DeviceRequest, ...], devices: list[Device], said: str) -> None:
    assert missing_devices(ClaimPlan(requests), devices) == said


@pytest.mark.parametrize(
    ("numa", "fits"),
    [
        pytest.param((0, 1, 0), True, id="two-of-three"),
        pytest.param((0, 1), False, id="apart"),
        pytest.param((None, None), False, id="not-published"),
    ],
)
def test_constraint(numa: tuple[int | None, ...], fits: bool) -> None:
    plan = ClaimPlan((request(count=2),), NUMA)
    assert (missing_devices(plan, [gpu("a", numa=each) for each in numa]) is None) == fits


def test_constraint_is_said() -> None:
    plan = ClaimPlan((request(count=2),), NUMA)
    assert missing_devices(plan, [gpu("a", numa=0), gpu("a", numa=1)]) == (
        "request model takes 2 devices of one node that share resource.kubernetes.io/numaNode, and "
        "no node has more than 1 that meet it, of the 2 that gpu.nvidia.com publishes"
    )
