"""A namespace's defaults below what a pod states and what its engine does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kubectl_llmfit.core.request import ClaimRequest, Layer, Sourced, merge

# A driver and a class of its devices are one choice, so who makes a part of it makes the whole.
_CHOICE = ("driver", "device_class")


@dataclass(frozen=True)
class Fallback:
    """Defaults that hold only where the workload itself leaves them open.

    An engine's own precision goes before ``quant``; ``topology`` is for pods of several devices,
    since one has nothing to share it with.
    """

    quant: Sourced[str] | None = None
    topology: Sourced[str] | None = None


def merged(layers: Sequence[Layer], defaults: Layer) -> tuple[ClaimRequest, Fallback]:
    """The request that ``layers`` state over ``defaults``, and what of those may yet yield.

    Raises:
        Refused: every field that cannot be read, each named by its origin.
    """
    named = {field for layer in layers for field in layer}
    if named & set(_CHOICE):
        named |= set(_CHOICE)
    open_to = {field: sourced for field, sourced in defaults.items() if field not in named}
    request = merge(*layers, open_to)
    quant = request.quant if "quant" in open_to else None
    topology = request.topology if "topology" in open_to else None
    stated = replace(
        request,
        quant=None if quant else request.quant,
        topology=None if topology else request.topology,
    )
    return stated, Fallback(quant, topology)
