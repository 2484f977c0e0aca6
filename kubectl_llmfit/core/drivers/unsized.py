"""Drivers whose devices publish no memory: known, so that they are refused with the reason.

Source: kubernetes-sigs/dra-driver-google-tpu README (attributes tpuGen, index; no capacity),
intel/intel-resource-drivers-for-kubernetes doc/gaudi/USAGE.md (model, healthy; no capacity), and
AWS's examples of neuron.aws.com, whose source is closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.drivers.interface import Driver, Select, Selection
from kubectl_llmfit.core.reasons import refuse
from kubectl_llmfit.core.sizing.floors import Floors

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board

_NAMES = ("gaudi.intel.com", "neuron.aws.com", "tpu.google.com")


def _refuse(name: str) -> Select:
    def select(floors: Floors, boards: Sequence[Board]) -> Selection:
        raise refuse(
            reasons.NO_MEMORY_PUBLISHED,
            f"driver {name} publishes no memory of its devices, so no memory floor can be "
            "checked; write the claim by hand, with the driver's own attributes",
        )

    return select


DRIVERS = tuple(
    Driver(name=name, classes={name: _refuse(name)}, uses_boards=False) for name in _NAMES
)
