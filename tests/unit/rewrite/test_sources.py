"""Every value that a workload was sized with is listed, with where it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_llmfit.core.request import Sourced
from tests.unit.rewrite.pods import Object, pod
from tests.unit.rewrite.test_decide import deployment, injected, vllm

DEFAULTS = {
    "model": ("acme/ten", "container vllm, command[2]"),
    "quant": ("BF16", "vLLM's default: the checkpoint's precision, BF16"),
    "min-tps": ("20", "default"),
    "efficiency": ("55", "default"),
    "devices": ("1", "container vllm, nvidia.com/gpu"),
    "driver": ("gpu.nvidia.com", "container vllm, nvidia.com/gpu"),
    "device-class": ("gpu.nvidia.com", "container vllm, nvidia.com/gpu"),
}
MIG = "nvidia.com/mig-7g.80gb"
PARTITION: Object = {MIG: 1}

# Workload, flags by field, and what is listed otherwise than above.
CASES = [
    pytest.param(deployment(pod(vllm())), {}, {}, id="nothing-said"),
    pytest.param(
        deployment(pod(vllm("--tensor-parallel-size=2", "-pp", "2", gpu=4))),
        {},
        {
            "devices": ("4", "container vllm, nvidia.com/gpu"),
            "tensor-parallel": ("2", "container vllm, command[3]"),
            "pipeline-parallel": ("2", "container vllm, command[5]"),
        },
        id="parallelism-of-the-command-line",
    ),
    pytest.param(
        deployment(pod(vllm("--dtype=float16"))),
        {},
        {"quant": ("F16", "container vllm, command[3]")},
        id="precision-of-the-command-line",
    ),
    pytest.param(
        deployment(pod(vllm("-tp=2", gpu=2)), min_tps="40", efficiency="70", topology="numa"),
        {},
        {
            "min-tps": ("40", "annotation llmfit.ai/min-tps"),
            "efficiency": ("70", "annotation llmfit.ai/efficiency"),
            "devices": ("2", "container vllm, nvidia.com/gpu"),
            "tensor-parallel": ("2", "container vllm, command[3]"),
            "topology": ("numa", "annotation llmfit.ai/topology"),
        },
        id="annotations",
    ),
    pytest.param(
        deployment(pod(vllm()), quant="FP8"),
        {},
        {"quant": ("FP8", "annotation llmfit.ai/quant")},
        id="precision-of-an-annotation",
    ),
    pytest.param(
        deployment(pod(vllm())),
        {"driver": "llmfit.ai", "min_tps": "10"},
        {
            "min-tps": ("10", "--min_tps"),
            "driver": ("llmfit.ai", "--driver"),
            "device-class": ("gpu.llmfit.ai", "--driver"),
        },
        id="driver-that-has-a-class",
    ),
    pytest.param(
        deployment(pod(vllm())),
        {"driver": "gpu.nvidia.com"},
        {"driver": ("gpu.nvidia.com", "--driver")},
        id="driver-of-the-limit",
    ),
    pytest.param(
        deployment(pod(vllm()), device_class="gpu.llmfit.ai"),
        {},
        {
            "driver": ("llmfit.ai", "annotation llmfit.ai/device-class"),
            "device-class": ("gpu.llmfit.ai", "annotation llmfit.ai/device-class"),
        },
        id="class-that-names-its-driver",
    ),
    pytest.param(
        deployment(pod(vllm(**PARTITION))),
        {},
        {
            "devices": ("1", f"container vllm, {MIG}"),
            "driver": ("gpu.nvidia.com", f"container vllm, {MIG}"),
            "device-class": ("mig.nvidia.com", f"container vllm, {MIG}"),
        },
        id="partition",
    ),
]


@pytest.mark.parametrize(("workload", "layer", "other"), CASES)
def test_sources(workload: Object, layer: dict[str, str], other: dict[str, Any]) -> None:
    sources = injected(workload, layer=layer).sources
    assert sources == {
        field: Sourced(value, origin) for field, (value, origin) in (DEFAULTS | other).items()
    }


def test_engine_that_uses_all_devices_untold() -> None:
    """TGI splits over what it sees, and nothing on its command line says so."""
    tgi = {
        **vllm(gpu=2),
        "name": "tgi",
        "command": ["text-generation-launcher", "--model-id", "acme/ten"],
    }
    sources = injected(deployment(pod(tgi))).sources
    assert sources["devices"].value == "2"
    assert sources["tensor-parallel"] == Sourced("2", "TGI's default: all devices of its container")
    assert "pipeline-parallel" not in sources
