"""What each legacy resource name means."""

from __future__ import annotations

import pytest

from kubectl_llmfit.core.rewrite.legacy import Legacy, Unusable, classify

NVIDIA, MIG = "gpu.nvidia.com", "mig.nvidia.com"

MEANING = [
    ("nvidia.com/gpu", Legacy("nvidia.com/gpu", NVIDIA, NVIDIA)),
    ("nvidia.com/gpu.shared", Legacy("nvidia.com/gpu.shared", NVIDIA, NVIDIA, shared=True)),
    ("nvidia.com/mig-1g.10gb", Legacy("nvidia.com/mig-1g.10gb", NVIDIA, MIG, "1g.10gb")),
    ("nvidia.com/mig-1g.10gb.me", Legacy("nvidia.com/mig-1g.10gb.me", NVIDIA, MIG, "1g.10gb+me")),
    (
        "nvidia.com/mig-1g.5gb.shared",
        Legacy("nvidia.com/mig-1g.5gb.shared", NVIDIA, MIG, "1g.5gb", shared=True),
    ),
    ("amd.com/gpu", Legacy("amd.com/gpu", "gpu.amd.com", "gpu.amd.com")),
    ("gpu.intel.com/xe", Legacy("gpu.intel.com/xe", "gpu.intel.com", "gpu.intel.com")),
    (
        "deviceclass.resource.kubernetes.io/mig.nvidia.com",
        Legacy("deviceclass.resource.kubernetes.io/mig.nvidia.com", NVIDIA, MIG),
    ),
    ("cpu", None),
    ("memory", None),
    ("rdma/ib", None),
    ("vpc.amazonaws.com/efa", None),
    ("nvidia.com/gpus", None),
    ("requests.nvidia.com/gpu", None),
]


@pytest.mark.parametrize(("name", "meaning"), MEANING, ids=lambda each: str(each)[:50])
def test_meaning(name: str, meaning: Legacy | None) -> None:
    assert classify(name) == meaning


UNUSABLE = [
    ("nvidia.com/gpumem", "shared-device"),
    ("nvidia.com/gpucores", "shared-device"),
    ("aliyun.com/gpu-mem", "shared-device"),
    ("habana.ai/gaudi", "no-memory-published"),
    ("aws.amazon.com/neurondevice", "no-memory-published"),
    ("google.com/tpu", "no-memory-published"),
    ("gpu.intel.com/dxg", "unknown-driver"),
    ("deviceclass.resource.kubernetes.io/fast", "unknown-device-class"),
]


@pytest.mark.parametrize(("name", "token"), UNUSABLE)
def test_unusable(name: str, token: str) -> None:
    meaning = classify(name)
    assert isinstance(meaning, Unusable)
    assert meaning.reason.token == token
