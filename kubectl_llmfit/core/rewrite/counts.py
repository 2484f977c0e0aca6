"""Counts of devices as Kubernetes quantities: any spelling of a whole number, nothing else."""

from __future__ import annotations

from typing import Any

from kubectl_llmfit.core.sizing.amounts import parse_quantity


def device_count(value: Any) -> int:
    """The whole number that ``value`` (a string, a number, or ``None`` for nothing) stands for.

    Raises:
        ValueError: it is no quantity, negative, or not whole; the message says which.
    """
    if value is None:
        return 0
    quantity = parse_quantity(value)
    if quantity is None:
        raise ValueError("is no quantity")
    if quantity < 0:
        raise ValueError("is negative")
    if quantity != quantity.to_integral_value():
        raise ValueError("is a part of a device")
    return int(quantity)
