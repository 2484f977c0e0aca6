"""Choosing a driver from what a cluster's slices publish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.drivers import (
    DRIVERS,
    gpu_amd_com,
    gpu_intel_com,
    gpu_nvidia_com,
    llmfit_ai,
)
from kubectl_llmfit.core.drivers.interface import Driver
from kubectl_llmfit.core.reasons import refuse


@dataclass(frozen=True)
class _Candidate:
    """A device class that may be chosen, and the kinds of devices that it selects."""

    driver: Driver
    device_class: str
    kinds: tuple[str, ...]


_WHOLE = (
    _Candidate(gpu_nvidia_com.DRIVER, "gpu.nvidia.com", ("gpu",)),
    _Candidate(gpu_amd_com.DRIVER, "gpu.amd.com", ("amdgpu", "amdgpu-partition")),
    # Older releases tell no kind.
    _Candidate(gpu_intel_com.DRIVER, "gpu.intel.com", ("gpu", "")),
)
_PARTS = (_Candidate(gpu_nvidia_com.DRIVER, "mig.nvidia.com", ("mig",)),)
_LAST = _Candidate(llmfit_ai.DRIVER, "gpu.llmfit.ai", ("gpu",))


@dataclass(frozen=True)
class Published:
    """Numbers of devices in a cluster's slices by (driver, kind)."""

    counts: Mapping[tuple[str, str], int]

    def of(self, driver: str, kinds: tuple[str, ...]) -> int:
        """How many devices of ``kinds`` the driver publishes."""
        return sum(self.counts.get((driver, kind), 0) for kind in kinds)

    def by(self, driver: str) -> int:
        """How many devices the driver publishes, of whatever kind."""
        return sum(count for (name, _), count in self.counts.items() if name == driver)


@dataclass(frozen=True)
class Choice:
    """The driver and device class to use, and one sentence that says why."""

    driver: Driver
    device_class: str
    why: str


def stands_in(published: Published, vendors: str) -> bool:
    """Whether llmfit.ai has to stand in for ``vendors`` driver: that one publishes nothing, and
    llmfit.ai has GPUs that no vendor's driver manages."""
    has_gpus = published.of(_LAST.driver.name, _LAST.kinds) > 0
    return has_gpus and not published.by(vendors)


def choose_from(published: Published) -> Choice:
    """The vendor's driver where one publishes devices, else llmfit.ai where it publishes GPUs.

    Among several vendors the one with the most devices; whole GPUs go before MIG partitions.
    llmfit.ai comes last because a vendor's driver prepares its devices itself, and its GPUs that
    a vendor's driver manages do not count.

    Raises:
        Refused: ``no-devices``.
    """
    for choices in (_WHOLE, _PARTS):
        found = [(published.of(each.driver.name, each.kinds), each) for each in choices]
        present = [(count, each) for count, each in found if count]
        if not present:
            continue
        count, best = max(present, key=lambda pair: pair[0])
        others = [each.device_class for _, each in present if each is not best]
        beside = f", and no fewer than {' or '.join(others)}" if others else ""
        devices = "1 device" if count == 1 else f"{count} devices"
        why = f"{best.driver.name} publishes {devices} for it{beside}"
        return Choice(best.driver, best.device_class, why)
    count = published.of(_LAST.driver.name, _LAST.kinds)
    if count:
        gpus = "1 GPU" if count == 1 else f"{count} GPUs"
        why = f"no vendor's driver publishes devices, and {_LAST.driver.name} publishes {gpus}"
        return Choice(_LAST.driver, _LAST.device_class, why)
    known = ", ".join(each.name for each in DRIVERS if each.uses_boards)
    raise refuse(
        reasons.NO_DEVICES,
        f"no slice of the cluster has a device of {known}, or a GPU of {_LAST.driver.name} that "
        "no vendor's driver manages; install a DRA driver, or name one with --driver",
    )
