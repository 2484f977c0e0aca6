"""Which driver a flag, a class or a cluster comes to."""

from __future__ import annotations

import pytest

from kubectl_llmfit.core import drivers
from kubectl_llmfit.core.drivers.auto import Published, choose_from
from kubectl_llmfit.core.reasons import Refused

STATED = [
    pytest.param(None, None, ("llmfit.ai", "llmfit.ai"), id="nothing"),
    pytest.param("gpu.nvidia.com", None, ("gpu.nvidia.com", "gpu.nvidia.com"), id="driver"),
    pytest.param(None, "mig.nvidia.com", ("gpu.nvidia.com", "mig.nvidia.com"), id="class"),
    pytest.param(None, "gpu.llmfit.ai", ("llmfit.ai", "gpu.llmfit.ai"), id="class-of-llmfit"),
    pytest.param("gpu.amd.com", "fast", ("gpu.amd.com", "fast"), id="own-class-with-driver"),
    pytest.param(
        "gpu.nvidia.com", "mig.nvidia.com", ("gpu.nvidia.com", "mig.nvidia.com"), id="both"
    ),
]


@pytest.mark.parametrize(("driver", "device_class", "expected"), STATED)
def test_choice(driver: str | None, device_class: str | None, expected: tuple[str, str]) -> None:
    chosen, name = drivers.choose(driver, device_class)
    assert (chosen.name, name) == expected


REFUSED = [
    pytest.param("gpu.example.com", None, "unknown-driver", id="unknown-driver"),
    pytest.param(None, "fast", "unknown-device-class", id="own-class-alone"),
    pytest.param("gpu.amd.com", "mig.nvidia.com", "invalid-value", id="of-another-driver"),
]


@pytest.mark.parametrize(("driver", "device_class", "token"), REFUSED)
def test_refused(driver: str | None, device_class: str | None, token: str) -> None:
    with pytest.raises(Refused) as caught:
        drivers.choose(driver, device_class)
    assert [each.reason.token for each in caught.value.problems] == [token]


CLUSTERS = [
    pytest.param({("gpu.nvidia.com", "gpu"): 1}, "gpu.nvidia.com", id="one-gpu"),
    pytest.param(
        {("gpu.nvidia.com", "gpu"): 1, ("gpu.nvidia.com", "mig"): 70},
        "gpu.nvidia.com",
        id="whole-before-parts",
    ),
    pytest.param({("gpu.nvidia.com", "mig"): 7}, "mig.nvidia.com", id="parts-only"),
    pytest.param(
        {("gpu.nvidia.com", "gpu"): 2, ("gpu.amd.com", "amdgpu"): 8}, "gpu.amd.com", id="most"
    ),
    pytest.param({("gpu.intel.com", ""): 1}, "gpu.intel.com", id="intel-without-a-kind"),
    pytest.param(
        {("llmfit.ai", "gpu"): 3, ("llmfit.ai", "cpu"): 9}, "gpu.llmfit.ai", id="llmfit-gpus"
    ),
    pytest.param(
        {("llmfit.ai", "gpu"): 30, ("gpu.intel.com", "gpu"): 1},
        "gpu.intel.com",
        id="vendor-before-llmfit",
    ),
]


@pytest.mark.parametrize(("counts", "expected"), CLUSTERS)
def test_choice_from_a_cluster(counts: dict[tuple[str, str], int], expected: str) -> None:
    choice = choose_from(Published(counts))
    assert choice.device_class == expected
    assert drivers.for_device_class(expected) is choice.driver


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param({}, id="empty"),
        pytest.param({("llmfit.ai", "cpu"): 4, ("llmfit.ai", "npu"): 4}, id="no-gpu"),
        pytest.param({("llmfit.ai", "vendorManaged"): 8}, id="managed-by-a-vendor"),
        pytest.param({("tpu.google.com", ""): 8}, id="driver-without-memory"),
        pytest.param({("gpu.nvidia.com", "vfio"): 8}, id="passed-through"),
    ],
)
def test_no_choice_from_a_cluster(counts: dict[tuple[str, str], int]) -> None:
    with pytest.raises(Refused) as caught:
        choose_from(Published(counts))
    assert [each.reason.token for each in caught.value.problems] == ["no-devices"]
