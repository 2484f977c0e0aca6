"""llmfit.ai: the llmfit project's own driver (github.com/sympozium-ai/llmfit-dra).

- Devices: internal/publisher/publisher.go (BuildDevices). Attributes ``kind``,
  ``healthy``, ``healthReason``, ``vendor``, ``model``, ``driver``, ``source``,
  ``indexed``, ``backend``, ``memoryBandwidthGBs`` (int), ``computeTFLOPS`` (int),
  ``unifiedMemory``, ``vendorManaged`` (only ever true), ``pciAddress``, ``pcieRoot``, the
  standard pcieRoot; capacity ``memory``. Each of bandwidth, compute, unifiedMemory and
  memory is left out when no source knows it.
- Names: pkg/probe/probe.go (Name): ``gpu-0000-c3-00-0``, ``npu-…``, and ``cpu0``.
- ``vendorManaged``: internal/publisher/coexist.go, and GPUs whose kernel driver is none
  of amdgpu, xe and i915, so every GPU with NVIDIA's own kernel driver.
- Classes: deploy/deviceclass.yaml and charts/llmfit-dra/templates/deviceclasses.yaml.
  Newer releases test ``healthy`` in every class but the CPU's; the first ones did not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tests.controlplane.devices.model import (
    PCIE_ROOT,
    Attribute,
    Device,
    Object,
    Slice,
    device_class,
    resource_slices,
)

DRIVER = "llmfit.ai"
GIB = 1024**3
# Kernel drivers whose GPUs the driver can prepare; it marks all others vendorManaged.
PREPARABLE = ("amdgpu", "xe", "i915")


@dataclass(frozen=True)
class Gpu:
    """A GPU as llmfit sees it; None is what llmfit does not know.

    ``vendor_managed=None`` leaves the answer to the driver's own rule: a kernel driver
    whose devices it can't hand to a container. True stands for a vendor's DRA driver on
    the same node.
    """

    KIND: ClassVar = "gpu"

    model: str = "AMD Radeon RX 7900 XTX"
    memory_gib: float | None = 23.984375
    bandwidth: int | None = 960
    compute: int | None = None
    vendor: str = "amd"
    kernel_driver: str = "amdgpu"
    pci: str = "0000:03:00.0"
    pcie_root: str = "pci0000:00"
    unified: bool | None = False
    healthy: bool = True
    vendor_managed: bool | None = None

    def device(self) -> Device:
        """The published device."""
        name = f"{self.KIND}-" + self.pci.replace(":", "-").replace(".", "-")
        memory = {} if self.memory_gib is None else {"memory": str(int(self.memory_gib * GIB))}
        attributes: dict[str, Attribute | None] = {
            "kind": self.KIND,
            "healthy": self.healthy,
            "healthReason": None if self.healthy else "uncorrectableEcc",
            "vendor": self.vendor,
            "driver": self.kernel_driver,
            "pciAddress": self.pci,
            "pcieRoot": self.pcie_root,
            PCIE_ROOT: self.pcie_root,
            "indexed": True,
            "source": "index",
            "model": self.model,
            "memoryBandwidthGBs": self.bandwidth,
            "computeTFLOPS": self.compute,
            "unifiedMemory": self.unified,
            "vendorManaged": self._is_vendor_managed() or None,
        }
        known = {name: value for name, value in attributes.items() if value is not None}
        return Device(name, known, memory)

    def _is_vendor_managed(self) -> bool:
        if self.vendor_managed is None:
            return self.KIND == "gpu" and self.kernel_driver not in PREPARABLE
        return self.vendor_managed


@dataclass(frozen=True)
class Npu(Gpu):
    """A neural processing unit, which shares the system's memory."""

    KIND: ClassVar = "npu"

    model: str = "AMD XDNA 2 NPU (Strix Halo)"
    memory_gib: float | None = 62.5
    bandwidth: int | None = 256
    kernel_driver: str = "amdxdna"
    pci: str = "0000:c4:00.1"
    unified: bool | None = True


@dataclass(frozen=True)
class Cpu:
    """The node's CPU: system memory, no bandwidth. Mostly bigger than any model."""

    model: str = "AMD EPYC 9654 96-Core Processor"
    memory_gib: float = 2048

    def device(self) -> Device:
        """The published device."""
        attributes: dict[str, Attribute] = {
            "kind": "cpu",
            "healthy": True,
            "vendor": "cpu",
            "unifiedMemory": True,
            "source": "llmfit",
            "model": self.model,
        }
        return Device("cpu0", attributes, {"memory": str(int(self.memory_gib * GIB))})


def slices(node: str, devices: Sequence[Gpu | Cpu], missing: int = 0) -> list[Object]:
    """The node's one ResourceSlice, by kind and then in the order given."""
    published = sorted((item.device() for item in devices), key=lambda item: item.name[:3])
    return resource_slices(DRIVER, node, [Slice(published)], missing)


def device_classes(test_healthy: bool = True) -> list[Object]:
    """The four classes; ``test_healthy=False`` makes those of the first releases."""
    attributes = f'device.attributes["{DRIVER}"]'
    driver = f'device.driver == "{DRIVER}"'
    unmanaged = f"!('vendorManaged' in {attributes})"
    healthy = [f"{attributes}.healthy"] if test_healthy else []

    def kind(name: str) -> str:
        return f'{attributes}.kind == "{name}"'

    return [
        device_class(DRIVER, " && ".join([driver, unmanaged, *healthy])),
        device_class("gpu.llmfit.ai", " && ".join([driver, kind("gpu"), unmanaged, *healthy])),
        device_class("npu.llmfit.ai", " && ".join([driver, kind("npu"), *healthy])),
        device_class("cpu.llmfit.ai", " && ".join([driver, kind("cpu")])),
    ]


STRIX_HALO = Gpu(
    model="AMD Radeon 8060S (Strix Halo)",
    memory_gib=62.5,
    bandwidth=256,
    pci="0000:c3:00.0",
    unified=True,
)
ARC_PRO_B60 = Gpu(
    model="Intel Arc Pro B60",
    memory_gib=23.90625,
    bandwidth=456,
    vendor="intel",
    kernel_driver="xe",
    pci="0000:04:00.0",
)
RTX_4090 = Gpu(
    model="NVIDIA GeForce RTX 4090",
    memory_gib=23.98828125,
    bandwidth=1008,
    vendor="nvidia",
    kernel_driver="nvidia",
    pci="0000:01:00.0",
)
