"""What a cluster means for a claim: one consequence for each thing that is known of it."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_llmfit.core.drivers.devices import Device
from kubectl_llmfit.core.rewrite.surroundings import Surroundings, surrounding_consequences
from tests.unit.drivers import boards
from tests.unit.rewrite.pods import Object, container, pod
from tests.unit.rewrite.test_decide import deployment, injected, vllm

NAME = "gpu.nvidia.com"
CLASSES: dict[str, str | None] = {NAME: None, "mig.nvidia.com": None}
KARPENTER = {"karpenter.sh/nodepool": "default"}


def board(node: str, name: str = boards.BIG.name, memory: str = "80Gi") -> Device:
    attributes = {"type": {"string": "gpu"}, "productName": {"string": name}}
    fields: Object = {"attributes": attributes, "capacity": {"memory": {"value": memory}}}
    return Device(NAME, "gpu-0", node, fields)


def node(name: str, labels: Object | None = None, **allocatable: Any) -> Object:
    names = {"gpu": "nvidia.com/gpu", "mig": "nvidia.com/mig-1g.10gb", "amd": "amd.com/gpu"}
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "status": {"allocatable": {names[each]: amount for each, amount in allocatable.items()}},
    }


def asking(limit: str) -> Object:
    return {**container("vllm", **{limit: 1}), "command": ["vllm", "serve", "acme/ten"]}


def told(around: Surroundings, workload: Object | None = None) -> dict[str, str]:
    """Sentences by their tokens; the workload asks for 24Gi and 728 GB/s of NVIDIA's driver."""
    inject = injected(workload or deployment(pod(vllm())))
    found = list(surrounding_consequences([inject], around))
    assert len({each.token for each in found}) == len(found)
    return {each.token: each.sentence for each in found}


def test_what_is_not_known_is_not_told() -> None:
    assert told(Surroundings()) == {}


def test_nothing_to_tell() -> None:
    around = Surroundings(CLASSES, (board("a"),), (node("a", gpu="0", amd="8"), node("b", gpu="8")))
    assert told(around) == {}


def test_class_that_is_missing() -> None:
    said = told(Surroundings({"other": None}))
    assert list(said) == ["device-class-missing"]
    assert 'no DeviceClass "gpu.nvidia.com"' in said["device-class-missing"]


def test_no_device_that_fits() -> None:
    said = told(Surroundings(devices=(board("a", boards.FAST.name, "23Gi"), board("b", "?"))))
    assert said == {
        "no-device-fits": "no device of the 2 that gpu.nvidia.com publishes meets the claim; the "
        f"nearest, {boards.FAST.name} on node a, has 23Gi of 24Gi memory; its pods pend until one "
        "does"
    }


@pytest.mark.parametrize(
    ("nodes", "shown"),
    [
        pytest.param([node("a", gpu="4")], 'node "a" has nvidia.com/gpu', id="one"),
        pytest.param([node("a", mig=1)], 'node "a" has nvidia.com/mig-1g.10gb', id="partitions"),
        pytest.param(
            [node(each, gpu="4") for each in "abcde"],
            'nodes "a", "b", "c" and 2 more have nvidia.com/gpu',
            id="many",
        ),
    ],
)
def test_device_plugin_beside_the_driver(nodes: list[Object], shown: str) -> None:
    devices = tuple(board(each) for each in "abcde")
    said = told(Surroundings(CLASSES, devices, tuple(nodes)))
    assert list(said) == ["device-plugin-beside-driver"]
    assert said["device-plugin-beside-driver"].startswith(f"{shown} of a device plugin")


@pytest.mark.parametrize(
    ("limit", "classes", "serving"),
    [
        pytest.param("gpu", {NAME: "nvidia.com/gpu"}, NAME, id="named"),
        pytest.param("gpu", {"x": "nvidia.com/gpu"}, "x", id="another-class"),
        pytest.param(
            f"deviceclass.resource.kubernetes.io/{NAME}", {NAME: None}, NAME, id="implicit"
        ),
        pytest.param("gpu", {NAME: "example.com/gpu"}, None, id="another-name"),
    ],
)
def test_limit_that_the_cluster_makes_claims_of(
    limit: str, classes: dict[str, str | None], serving: str | None
) -> None:
    said = told(Surroundings(classes), deployment(pod(asking(limit))))
    assert ("allocated-through-dra-already" in said) == (serving is not None)
    assert serving is None or f'"{serving}"' in said["allocated-through-dra-already"]


@pytest.mark.parametrize(
    ("devices", "nodes", "is_told"),
    [
        pytest.param([board("a")], [node("a", KARPENTER)], True, id="it-has-devices"),
        pytest.param([board("b")], [node("a", KARPENTER, gpu="8"), node("b")], True, id="a-plugin"),
        pytest.param([board("b")], [node("a", KARPENTER), node("b")], False, id="only-others"),
        pytest.param([], [node("a", KARPENTER)], True, id="none-yet"),
        pytest.param([board("a")], [node("a")], False, id="no-karpenter"),
    ],
)
def test_autoscaler(devices: list[Device], nodes: list[Object], is_told: bool) -> None:
    said = told(Surroundings(CLASSES, tuple(devices), tuple(nodes)))
    assert ("autoscaler-ignores-claims" in said) == is_told


@pytest.mark.parametrize("garbage", [None, [], "x", {"allocatable": {"nvidia.com/gpu": "many"}}])
def test_garbage_in_a_node_says_nothing(garbage: Any) -> None:
    around = Surroundings(CLASSES, (board("a"),), ({"metadata": {"name": "a"}, "status": garbage},))
    assert told(around) == {}


@pytest.mark.parametrize("where", ["workload", "template", None])
def test_queue_of_kueue(where: str | None) -> None:
    workload = deployment(pod(vllm()))
    labels = {"kueue.x-k8s.io/queue-name": "team-a"}
    if where == "workload":
        workload["metadata"]["labels"] = labels
    elif where == "template":
        workload["spec"]["template"]["metadata"]["labels"] = labels
    said = {each.token: each.sentence for each in injected(workload).consequences}
    assert ("kueue-counts-otherwise" in said) == (where is not None)
    assert where is None or 'queue "team-a"' in said["kueue-counts-otherwise"]
