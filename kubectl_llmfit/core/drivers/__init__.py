"""DRA drivers: one module each, with the device classes it owns and its CEL for the floors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kubectl_llmfit.core.claims.plan import Selector
from kubectl_llmfit.core.drivers import llmfit_ai
from kubectl_llmfit.core.sizing.formula import FitBounds


@dataclass(frozen=True, slots=True)
class Driver:
    """A DRA driver: its name, the device classes that it ships, and its floors in CEL."""

    name: str
    device_classes: tuple[str, ...]
    selector: Callable[[FitBounds], Selector]


LLMFIT_AI = Driver(llmfit_ai.NAME, llmfit_ai.DEVICE_CLASSES, llmfit_ai.selector)

DRIVERS: tuple[Driver, ...] = (LLMFIT_AI,)


def for_device_class(device_class: str) -> Driver | None:
    """The driver that owns ``device_class``; ``None`` when no module here knows the class."""
    return next((driver for driver in DRIVERS if device_class in driver.device_classes), None)
