"""gpu.nvidia.com: whole GPUs of NVIDIA's driver (github.com/kubernetes-sigs/dra-driver-nvidia-gpu,
before that NVIDIA/k8s-dra-driver-gpu).

- Devices: cmd/gpu-kubelet-plugin/deviceinfo.go (GpuInfo.Attributes, GetDevice): strings
  ``type``, ``uuid``, ``productName``, ``brand``, ``architecture``, ``addressingMode``
  (only where the platform has one); versions ``cudaComputeCapability``,
  ``driverVersion``, ``cudaDriverVersion``; the standard pciBusID, pcieRoot (when found)
  and numaNode (newer releases; an int).
- Memory: partitions.go (fullGpuCapacity): NVML's total, left out where NVML has none
  (GB10). nvlib.go (getGpuInfo) has the sources of all of it.
- No bandwidth is published. MIG devices: ``nvidia_mig.py``.
- Classes: deployments/helm/…/templates/deviceclass-{gpu,mig,vfio}.yaml; with
  resource.k8s.io/v1 the chart sets ``extendedResourceName: nvidia.com/gpu`` on the first.
- Board memory: aws/karpenter-provider-aws pkg/providers/nvidiadra/
  zz_generated.nvidiadraresourceslices.go (A100, H100: captured from nodes), and what
  nvidia-smi prints for the others, which is the same NVML figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.controlplane.devices.model import (
    NUMA_NODE,
    PCI_BUS_ID,
    PCIE_ROOT,
    Attribute,
    Device,
    Object,
    Slice,
    Taint,
    Version,
    device_class,
    resource_slices,
    stable_uuid,
)

DRIVER = "gpu.nvidia.com"
EXTENDED_RESOURCE = "nvidia.com/gpu"
DRIVER_VERSION = Version("580.126.20")
CUDA_VERSION = Version("13.0.0")


@dataclass(frozen=True)
class Board:
    """What NVML says of a board; ``product=None`` is a device without a productName."""

    product: str | None
    memory_mib: int | None
    architecture: str
    compute_capability: str
    brand: str = "Nvidia"
    addressing_mode: str | None = "HMM"


A100_40GB = Board("NVIDIA A100-SXM4-40GB", 40960, "Ampere", "8.0.0")
A100_80GB = Board("NVIDIA A100-SXM4-80GB", 81920, "Ampere", "8.0.0")
L4 = Board("NVIDIA L4", 23034, "Ada Lovelace", "8.9.0")
L40S = Board("NVIDIA L40S", 46068, "Ada Lovelace", "8.9.0")
RTX_4090 = Board("NVIDIA GeForce RTX 4090", 24564, "Ada Lovelace", "8.9.0", "GeForce")
H100 = Board("NVIDIA H100 80GB HBM3", 81559, "Hopper", "9.0.0")
H200 = Board("NVIDIA H200", 143771, "Hopper", "9.0.0")
B200 = Board("NVIDIA B200", 183359, "Blackwell", "10.0.0")
GB200 = Board("NVIDIA GB200", 189471, "Blackwell", "10.0.0", addressing_mode="ATS")
GB300 = Board("NVIDIA GB300", 284208, "Blackwell", "10.3.0", addressing_mode="ATS")
T4 = Board("Tesla T4", 15360, "Turing", "7.5.0", "Tesla", addressing_mode=None)
# NVML knows no memory of its own for this one: it shares the system's.
GB10 = Board("NVIDIA GB10", None, "Blackwell", "12.1.0", addressing_mode="ATS")
UNLISTED = Board("NVIDIA X999 96GB", 97887, "Blackwell", "10.0.0")
NAMELESS = replace(H100, product=None)


@dataclass(frozen=True)
class Gpu:
    """One GPU of a node. ``numa_node=None`` is an older release, which publishes none."""

    board: Board
    minor: int = 0
    pci: str = "0000:17:00.0"
    pcie_root: str | None = "pci0000:15"
    numa_node: int | None = 0
    taints: Sequence[Taint] = field(default=())

    def uuid(self, node: str) -> str:
        """The GPU's UUID on ``node``."""
        return "GPU-" + stable_uuid(node, self.minor)

    def place_and_board(self) -> dict[str, Attribute]:
        """The attributes that a GPU has in common with its MIG devices."""
        board = self.board
        attributes: dict[str, Attribute | None] = {
            "productName": board.product,
            "brand": board.brand,
            "architecture": board.architecture,
            "cudaComputeCapability": Version(board.compute_capability),
            "driverVersion": DRIVER_VERSION,
            "cudaDriverVersion": CUDA_VERSION,
            "addressingMode": board.addressing_mode,
            PCI_BUS_ID: self.pci,
            PCIE_ROOT: self.pcie_root,
            NUMA_NODE: self.numa_node,
        }
        return {name: value for name, value in attributes.items() if value is not None}

    def device(self, node: str) -> Device:
        """The published device, with MIG mode off."""
        memory = self.board.memory_mib
        return Device(
            f"gpu-{self.minor}",
            {"type": "gpu", "uuid": self.uuid(node)} | self.place_and_board(),
            {} if memory is None else {"memory": f"{memory}Mi"},
            taints=self.taints,
        )


def gpus(board: Board, count: int = 8) -> list[Gpu]:
    """The GPUs of a usual server: each at a PCIe root of its own, half on each NUMA node."""
    roots = (0x15, 0x37, 0x48, 0x59, 0x97, 0xB7, 0xC7, 0xD7)
    return [
        Gpu(board, n, f"0000:{roots[n] + 2:02x}:00.0", f"pci0000:{roots[n]:02x}", n * 2 // count)
        for n in range(count)
    ]


def slices(node: str, devices: Sequence[Gpu], missing: int = 0) -> list[Object]:
    """The node's one ResourceSlice.

    The driver walks a Go map here, so the true order differs from start to start; the
    allocator takes the first device that fits, and a test gives the order it needs.
    """
    return resource_slices(DRIVER, node, [Slice([gpu.device(node) for gpu in devices])], missing)


def device_classes(extended_resource_name: str = EXTENDED_RESOURCE) -> list[Object]:
    """The three classes; an empty name makes those of a chart before resource.k8s.io/v1."""

    def selector(kind: str) -> str:
        return f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == '{kind}'"

    return [
        device_class(DRIVER, selector("gpu"), extended_resource_name),
        device_class("mig.nvidia.com", selector("mig")),
        device_class("vfio.gpu.nvidia.com", selector("vfio")),
    ]
