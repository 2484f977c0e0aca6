"""DRA drivers: one module each, with the device classes it owns and its CEL for the floors."""

from __future__ import annotations

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.drivers import (
    gpu_amd_com,
    gpu_intel_com,
    gpu_nvidia_com,
    llmfit_ai,
    unsized,
)
from kubectl_llmfit.core.drivers.interface import Driver
from kubectl_llmfit.core.reasons import quoted, refuse

DEFAULT = llmfit_ai.DRIVER

DRIVERS: tuple[Driver, ...] = (
    llmfit_ai.DRIVER,
    gpu_nvidia_com.DRIVER,
    gpu_amd_com.DRIVER,
    gpu_intel_com.DRIVER,
    *unsized.DRIVERS,
)

BY_NAME: dict[str, Driver] = {driver.name: driver for driver in DRIVERS}


def for_device_class(device_class: str) -> Driver | None:
    """The driver that ships ``device_class``; ``None`` when no module here knows the class."""
    return next((driver for driver in DRIVERS if device_class in driver.classes), None)


def choose(driver: str | None, device_class: str | None) -> tuple[Driver, str]:
    """The driver and the device class that two statements, each perhaps silent, come to.

    A class names its driver, a driver has a class of its own, neither means llmfit.ai. A class
    that no module knows goes with the driver that is named beside it.

    Raises:
        Refused: ``unknown-driver``, ``unknown-device-class`` or ``invalid-value``.
    """
    named = BY_NAME.get(driver) if driver is not None else None
    if driver is not None and named is None:
        raise refuse(
            reasons.UNKNOWN_DRIVER,
            f"driver {quoted(driver)} is not known; the drivers are {', '.join(BY_NAME)}",
        )
    if device_class is None:
        chosen = named or DEFAULT
        return chosen, chosen.default_class
    owner = for_device_class(device_class)
    if owner is None and named is None:
        raise refuse(
            reasons.UNKNOWN_DEVICE_CLASS,
            f"device class {quoted(device_class)} is none that a known driver ships; say with "
            f"--driver whose devices it selects ({', '.join(BY_NAME)})",
        )
    if owner is not None and named is not None and owner is not named:
        raise refuse(
            reasons.INVALID_VALUE,
            f"device class {device_class} is driver {owner.name}'s, not {named.name}'s; "
            "leave one of the two out",
        )
    chosen = owner or named or DEFAULT
    return chosen, device_class
