"""Sample nodes of every driver, for a person to play with and for the harness' own tests."""

from tests.controlplane.client import Object
from tests.controlplane.devices import amd, intel, llmfit, nvidia, nvidia_mig
from tests.controlplane.devices.nvidia_mig import Partition
from tests.controlplane.versions import minor

# The first minor release with partitionable devices (shared counters) on by default.
PARTITIONABLE = 36


def sample_slices(version: str) -> dict[str, list[Object]]:
    """The slices of each sample node, by the node's name."""
    half_cut = [Partition("3g.40gb", 0), Partition("2g.20gb", 4), Partition("1g.10gb", 6)]
    samples = {
        "llmfit-apu": llmfit.slices(
            "llmfit-apu", [llmfit.STRIX_HALO, llmfit.Npu(), llmfit.Cpu(memory_gib=64)]
        ),
        "llmfit-cards": llmfit.slices(
            "llmfit-cards", [llmfit.Gpu(), llmfit.ARC_PRO_B60, llmfit.RTX_4090, llmfit.Cpu()]
        ),
        "nvidia-h100": nvidia.slices("nvidia-h100", nvidia.gpus(nvidia.H100)),
        "nvidia-a100": nvidia.slices("nvidia-a100", nvidia.gpus(nvidia.A100_40GB)),
        "nvidia-l4": nvidia.slices("nvidia-l4", nvidia.gpus(nvidia.L4, 2)),
        "nvidia-mig": nvidia_mig.static_slices(
            "nvidia-mig", [(nvidia.Gpu(nvidia.A100_80GB), half_cut)], [nvidia.Gpu(nvidia.H200, 1)]
        ),
        "amd-mi300x": amd.slices("amd-mi300x", amd.gpus(amd.MI300X)),
        "amd-partitioned": amd.slices("amd-partitioned", [amd.Gpu(amd.MI300X, partitions=8)]),
        "intel": intel.slices(
            "intel", [intel.Gpu(intel.B60), intel.Gpu(intel.INTEGRATED, "0000:00:02.0")]
        ),
    }
    if minor(version) >= PARTITIONABLE:
        gpus = nvidia.gpus(nvidia.H100, 2)
        samples["nvidia-dynamic-mig"] = nvidia_mig.dynamic_slices("nvidia-dynamic-mig", gpus)
    return samples
