"""gpu.amd.com: AMD's driver (github.com/ROCm/k8s-gpu-dra-driver).

- Devices: cmd/gpu-kubeletplugin/deviceinfo.go. A whole GPU has ``type: amdgpu``, a
  partition ``type: amdgpu-partition``. Strings ``productName``, ``deviceID``,
  ``partitionProfile`` (only on boards that can be partitioned), ``driverVersionFull``;
  version ``driverVersion``; int ``numaNode`` — in the driver's own domain, not the
  standard one; the standard pciBusID and pcieRoot. Capacities ``memory``,
  ``computeUnits``, ``simdUnits``. Release 1.0 had ``family``, ``pciAddr``,
  ``cardIndex`` and more instead of pciBusID and numaNode.
- ``productName`` is the kernel's product_name with ``_`` for spaces and without
  parentheses, and empty where the kernel has none: pkg/amdgpu/amdgpu.go (GetAMDGPUs).
- ``memory`` is ``0`` where it can't be read: docs/driver-attributes.md.
- AutoPartition (feature gate; Kubernetes 1.36 or later): every mode of a GPU is a device,
  a mutex counter lets one be active. A device of n partitions can be allocated n times
  and shows the memory of *all* n; each allocation gets the policy's default, 1/n of it:
  deviceinfo.go (SyntheticPartitionDevice).
- Class: helm-charts-k8s/templates/deviceclass.yaml and values.yaml. It tests the driver
  only, so partitions answer to it as well.
- The MI300X figures: docs/installation.md of the driver; a cpx partition is an eighth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.controlplane.devices.model import (
    PCI_BUS_ID,
    PCIE_ROOT,
    Attribute,
    Capacity,
    Device,
    Object,
    Slice,
    Version,
    device_class,
    resource_slices,
)

DRIVER = "gpu.amd.com"
EXTENDED_RESOURCE = "amd.com/gpu"
DRIVER_VERSION = "6.12.12"
MODES = {"cpx-nps1": 8, "cpx-nps4": 8, "dpx-nps2": 2, "spx-nps1": 1}


@dataclass(frozen=True)
class Board:
    """A board as the kernel describes it; an empty ``product`` is one without a name."""

    product: str
    memory_mib: int
    compute_units: int
    device_id: str
    partitionable: bool = True


MI300X = Board("AMD_Instinct_MI300X_OAM", 196592, 304, "0x74a1")
MI210 = Board("AMD_Instinct_MI210", 65520, 104, "0x740f", partitionable=False)
NAMELESS = Board("", 24560, 96, "0x744c", partitionable=False)
UNREADABLE = Board("AMD_Instinct_MI300X_OAM", 0, 304, "0x74a1")


@dataclass(frozen=True)
class Gpu:
    """One GPU of a node. ``partitions`` is 1, or 2 (dpx) or 8 (cpx) partitions beforehand."""

    board: Board
    index: int = 0
    pci: str = "0000:05:00.0"
    pcie_root: str = "pci0000:00"
    numa_node: int = 0
    partitions: int = 1

    def devices(self) -> list[Device]:
        """The published devices: the whole GPU, or its partitions and not the GPU."""
        whole = self.partitions == 1
        mode = {1: "spx_nps1", 2: "dpx_nps2", 8: "cpx_nps4"}[self.partitions]
        attributes = self._attributes("amdgpu" if whole else "amdgpu-partition")
        if self.board.partitionable:
            attributes["partitionProfile"] = mode
        capacity = self._capacity(self.partitions)
        first = self.index * 8
        return [
            Device(f"gpu-{first + n}-{128 + first + n}", attributes, capacity)
            for n in range(self.partitions)
        ]

    def modes(self) -> list[Device]:
        """The published devices under the AutoPartition gate: one for each mode."""
        return [self._mode(mode, count) for mode, count in MODES.items()]

    def _mode(self, mode: str, count: int) -> Device:
        compute, memory = mode.split("-")
        attributes = self._attributes("amdgpu" if count == 1 else "amdgpu-partition")
        attributes |= {
            "computePartition": compute,
            "memoryPartition": memory,
            "gpuIndex": self.index,
            "pciAddr": self.pci,
        }
        total = self._capacity(1) | {"partitions": str(count)}
        capacity: dict[str, str | Capacity] = dict(total)
        if count > 1:
            share = self._capacity(count) | {"partitions": "1"}
            capacity = {
                name: Capacity(value, share[name], (share[name],)) for name, value in total.items()
            }
        mutex = {f"gpu-{self.index}-mutex": {"partition-mode": "1"}}
        return Device(f"gpu-{self.index}-{mode}", attributes, capacity, mutex, shared=count > 1)

    def _attributes(self, kind: str) -> dict[str, Attribute]:
        return {
            "type": kind,
            "productName": self.board.product,
            "numaNode": self.numa_node,
            "driverVersion": Version(DRIVER_VERSION),
            "driverVersionFull": DRIVER_VERSION,
            "deviceID": self.board.device_id,
            PCI_BUS_ID: self.pci,
            PCIE_ROOT: self.pcie_root,
        }

    def _capacity(self, parts: int) -> dict[str, str]:
        memory = self.board.memory_mib // parts
        return {
            "memory": f"{memory}Mi" if memory else "0",
            "computeUnits": str(self.board.compute_units // parts),
            "simdUnits": str(self.board.compute_units * 4 // parts),
        }


def gpus(board: Board, count: int = 8, partitions: int = 1) -> list[Gpu]:
    """The GPUs of a usual server: each at a PCIe root of its own, half on each NUMA node."""
    return [
        Gpu(board, n, f"{n:04x}:00:02.0", f"pci{n:04x}:00", n * 2 // count, partitions)
        for n in range(count)
    ]


def slices(node: str, devices: Sequence[Gpu], missing: int = 0) -> list[Object]:
    """The node's one ResourceSlice."""
    published = [device for gpu in devices for device in gpu.devices()]
    return resource_slices(DRIVER, node, [Slice(published)], missing)


def auto_partition_slices(node: str, devices: Sequence[Gpu]) -> list[Object]:
    """The node's slices under the AutoPartition gate: counters, then devices."""
    counters = {f"gpu-{gpu.index}-mutex": {"partition-mode": "1"} for gpu in devices}
    published = [device for gpu in devices for device in gpu.modes()]
    return resource_slices(DRIVER, node, [Slice(counter_sets=counters), Slice(published)])


def device_classes(extended_resource_name: str = EXTENDED_RESOURCE) -> list[Object]:
    """The class of the driver's chart."""
    return [device_class(DRIVER, f"device.driver == '{DRIVER}'", extended_resource_name)]
