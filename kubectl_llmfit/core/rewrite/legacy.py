"""The resource names that pods asked for accelerators with before DRA, and what each one means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.reasons import Reason

IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""What Kubernetes puts before a device class's name to make an extended resource of it."""

_MIG_RE = re.compile(
    r"nvidia\.com/mig-(?P<size>[1-9]g\.[0-9]+gb)(?:\.(?P<extra>me\.all|me|gfx))?(?P<shared>\.shared)?"
)
_NAMES: dict[str, tuple[str, str, bool]] = {
    # name: driver, device class, whether it is a share of a device
    "nvidia.com/gpu": ("gpu.nvidia.com", "gpu.nvidia.com", False),
    "nvidia.com/gpu.shared": ("gpu.nvidia.com", "gpu.nvidia.com", True),
    "amd.com/gpu": ("gpu.amd.com", "gpu.amd.com", False),
    "gpu.intel.com/i915": ("gpu.intel.com", "gpu.intel.com", False),
    "gpu.intel.com/xe": ("gpu.intel.com", "gpu.intel.com", False),
}

# Names of vendors' own schedulers: a share of a GPU that a claim of whole devices can't express.
_SHARES = (
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
    "nvidia.com/priority",
    "aliyun.com/gpu-mem",
    "aliyun.com/gpu-count",
    "tencent.com/vcuda-core",
    "tencent.com/vcuda-memory",
    "volcano.sh/vgpu-number",
    "volcano.sh/vgpu-memory",
    "volcano.sh/vgpu-cores",
    "volcano.sh/gpu-memory",
)
# Accelerators whose DRA drivers publish no memory; prefixes, since some have several names.
_UNSIZED = ("habana.ai/", "aws.amazon.com/neuron", "google.com/tpu")


@dataclass(frozen=True)
class Legacy:
    """What a legacy name asks for: a device of ``device_class``, perhaps a MIG ``profile``.

    ``shared`` marks time-slicing replicas: a share without a memory of its own.
    """

    name: str
    driver: str
    device_class: str
    profile: str | None = None
    shared: bool = False


@dataclass(frozen=True)
class Unusable:
    """A name that no claim can stand in for, with the reason and why, as part of a sentence."""

    name: str
    reason: Reason
    why: str


def classify(name: str) -> Legacy | Unusable | None:
    """What the resource ``name`` means; ``None`` for one that is no accelerator known here."""
    if name in _NAMES:
        driver, device_class, shared = _NAMES[name]
        return Legacy(name, driver, device_class, shared=shared)
    mig = _MIG_RE.fullmatch(name)
    if mig is not None:
        # A resource name can't hold the plus of 1g.10gb+me, so the device plugin writes a dot.
        profile = f"{mig['size']}+{mig['extra']}" if mig["extra"] else mig["size"]
        return Legacy(name, "gpu.nvidia.com", "mig.nvidia.com", profile, bool(mig["shared"]))
    if name.startswith(IMPLICIT):
        return _implicit(name)
    return _unusable(name)


def _unusable(name: str) -> Unusable | None:
    if name in _SHARES:
        why = (
            "is a share of a GPU that a vendor's scheduler gives out; a claim is for whole devices"
        )
        return Unusable(name, reasons.SHARED_DEVICE, why)
    if name.startswith(_UNSIZED):
        return Unusable(name, reasons.NO_MEMORY_PUBLISHED, "has a driver that publishes no memory")
    if name.startswith("gpu.intel.com/"):
        return Unusable(name, reasons.UNKNOWN_DRIVER, "is no GPU that gpu.intel.com publishes")
    return None


def _implicit(name: str) -> Legacy | Unusable:
    """The name that Kubernetes itself gives every device class as an extended resource."""
    device_class = name.removeprefix(IMPLICIT)
    driver = drivers.for_device_class(device_class)
    if driver is None:
        return Unusable(name, reasons.UNKNOWN_DEVICE_CLASS, "is a class that no known driver ships")
    return Legacy(name, driver.name, device_class)
