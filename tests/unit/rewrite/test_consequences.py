"""What a rewrite has to say: one consequence for each thing, and none where there is nothing."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_llmfit.core.rewrite.consequences import consequences
from kubectl_llmfit.core.rewrite.survey import survey
from tests.unit.rewrite.pods import Object, container, pod

TOLERATES = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}


def tokens(spec: Object) -> set[str]:
    return {each.token for each in consequences(spec, survey(spec))}


def gpu(**more: Any) -> Object:
    return {**container("main", gpu=1), **more}


def test_pod_without_devices_has_none() -> None:
    assert tokens(pod(container("main", cpu=1), container("zero", gpu=0))) == set()


def test_quota_and_toleration_are_said_of_every_pod() -> None:
    assert tokens(pod(gpu())) == {"quota-key-changes", "toleration-added"}


@pytest.mark.parametrize(
    "tolerations",
    [
        pytest.param([{"key": "nvidia.com/gpu", "operator": "Exists"}], id="by-key"),
        pytest.param([{"operator": "Exists"}], id="of-everything"),
    ],
)
def test_toleration_that_is_there(tolerations: list[Object]) -> None:
    assert tokens({**pod(gpu()), "tolerations": tolerations}) == {"quota-key-changes"}


CASES = [
    pytest.param(
        gpu(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]),
        {"environment-removed"}, id="all-devices",
    ),
    pytest.param(
        gpu(env=[{"name": "CUDA_VISIBLE_DEVICES", "value": "0"}]),
        {"environment-removed"}, id="one-device",
    ),
    pytest.param(
        gpu(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]), set(), id="void",
    ),
    pytest.param(gpu(env=[{"name": "NVIDIA_VISIBLE", "value": "all"}]), set(), id="other"),
    pytest.param(
        gpu(env=[{"name": "CUDA_MPS_PIPE_DIRECTORY", "value": "/x"}]),
        {"environment-removed"}, id="mps",
    ),
    pytest.param(
        gpu(
            env=[{"name": "CUDA_VISIBLE_DEVICES", "value": "0"}],
            args=["--devices=$(CUDA_VISIBLE_DEVICES)"],
        ),
        {"environment-overrides-claim"}, id="used-in-an-argument",
    ),
    pytest.param(
        gpu(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"fieldRef": {}}}]),
        {"environment-overrides-claim"}, id="value-from-elsewhere",
    ),
    pytest.param(
        gpu(securityContext={"privileged": True}), {"privileged-sees-all-devices"}, id="privileged"
    ),
    pytest.param(gpu(securityContext={"privileged": False}), set(), id="not-privileged"),
    pytest.param(
        gpu(volumeMounts=[{"mountPath": "/dev/"}]), {"devices-are-mounted"}, id="dev"
    ),
    pytest.param(gpu(volumeMounts=[{"mountPath": "/dev/shm"}]), set(), id="shared-memory"),
    pytest.param(
        {"name": "main", "resources": {"limits": {"nvidia.com/gpu.shared": 1}}},
        {"share-becomes-whole", "toleration-added"}, id="time-slice",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("only", "expected"), CASES)
def test_container(only: Object, expected: set[str]) -> None:
    assert tokens({**pod(only), **TOLERATES}) == {"quota-key-changes"} | expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param({"runtimeClassName": "nvidia"}, {"runtime-class-stays"}, id="runtime-class"),
        pytest.param(
            {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-L4", "zone": "a"}},
            {"node-label-selects-devices"},
            id="node-label",
        ),
        pytest.param({"nodeSelector": {"zone": "a"}}, set(), id="other-label"),
    ],
)
def test_pod(more: Object, expected: set[str]) -> None:
    assert tokens({**pod(gpu()), **TOLERATES, **more}) == {"quota-key-changes"} | expected


@pytest.mark.parametrize("field", ["env", "volumeMounts", "securityContext"])
@pytest.mark.parametrize("value", [None, "x", [None], [1], {}, [{}]])
def test_garbage_says_nothing(field: str, value: Any) -> None:
    assert tokens({**pod(gpu(**{field: value})), **TOLERATES}) == {"quota-key-changes"}
