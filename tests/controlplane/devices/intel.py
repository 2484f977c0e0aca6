"""gpu.intel.com: Intel's driver (github.com/intel/intel-resource-drivers-for-kubernetes).

- Devices: cmd/kubelet-gpu-plugin/node_state.go (GetResources). Strings ``model``,
  ``family``, ``driver`` (i915 or xe), ``pciId``, ``pciAddress``, ``pciRoot``, ``health``
  ("Healthy", "Unhealthy"); bool ``sriov``; the standard pciBusID and pcieRoot. Capacities
  ``memory`` and ``millicores`` (always 1k). An unhealthy device has a NoExecute taint
  whose key names the sensors.
- ``model`` and ``family`` come from pkg/gpu/device/models.go by PCI id and are "Unknown"
  for any other; an integrated GPU has a ``memory`` of 0.
- Class: charts/intel-gpu-resource-driver/templates/device-class.yaml. It tests the driver
  only; an extended resource is an option of the chart, off by default.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.controlplane.devices.model import (
    PCI_BUS_ID,
    PCIE_ROOT,
    Attribute,
    Device,
    Object,
    Slice,
    Taint,
    device_class,
    resource_slices,
)

DRIVER = "gpu.intel.com"


@dataclass(frozen=True)
class Board:
    """A board by PCI id."""

    pci_id: str
    model: str
    family: str
    memory_mib: int
    kernel_driver: str = "xe"


B60 = Board("0xe211", "B60", "Arc Pro B-Series", 24480)
B580 = Board("0xe20b", "B580", "Arc B-Series", 12216)
INTEGRATED = Board("0x7d67", "Arrow Lake-S", "Intel Graphics", 0, "i915")
UNKNOWN = Board("0xe2ff", "Unknown", "Unknown", 24480)


@dataclass(frozen=True)
class Gpu:
    """One GPU of a node."""

    board: Board
    pci: str = "0000:04:00.0"
    pcie_root: str = "pci0000:00"
    healthy: bool = True

    def device(self) -> Device:
        """The published device."""
        board = self.board
        attributes: dict[str, Attribute] = {
            "model": board.model,
            "family": board.family,
            "driver": board.kernel_driver,
            "sriov": True,
            "pciId": board.pci_id,
            "pciAddress": self.pci,
            "pciRoot": self.pcie_root.split(":")[-1],
            "health": "Healthy" if self.healthy else "Unhealthy",
            PCIE_ROOT: self.pcie_root,
            PCI_BUS_ID: self.pci,
        }
        name = self.pci.replace(":", "-").replace(".", "-") + "-" + board.pci_id
        memory = f"{board.memory_mib}Mi" if board.memory_mib else "0"
        taints = [] if self.healthy else [Taint("HealthIssues-coretemperature", effect="NoExecute")]
        return Device(name, attributes, {"memory": memory, "millicores": "1k"}, taints=taints)


def slices(node: str, devices: Sequence[Gpu], missing: int = 0) -> list[Object]:
    """The node's one ResourceSlice, whose true order differs from start to start."""
    return resource_slices(DRIVER, node, [Slice([gpu.device() for gpu in devices])], missing)


def device_classes(extended_resource_name: str = "") -> list[Object]:
    """The class of the driver's chart."""
    return [device_class(DRIVER, f'device.driver == "{DRIVER}"', extended_resource_name)]
