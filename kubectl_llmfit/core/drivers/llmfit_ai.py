"""The driver llmfit.ai (llmfit-dra): publishes memory, memory bandwidth and health itself.

Source: sympozium-ai/llmfit-dra, internal/publisher/publisher.go (attributes
``memoryBandwidthGBs`` int, absent where unknown; ``healthy`` bool; capacity ``memory``; the
standard ``resource.kubernetes.io/pcieRoot`` of GPUs and NPUs; no NUMA node) and
charts/llmfit-dra/templates/deviceclasses.yaml (llmfit.ai tests no kind; it and gpu.llmfit.ai
leave out devices that carry ``vendorManaged``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_llmfit.core.claims.plan import Selector
from kubectl_llmfit.core.drivers.conditions import AtLeast, IsTrue
from kubectl_llmfit.core.drivers.domain import Domain
from kubectl_llmfit.core.drivers.interface import Driver, Selection
from kubectl_llmfit.core.sizing.floors import Floors

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board

NAME = "llmfit.ai"
_DOMAIN = Domain(NAME)


def select(floors: Floors, boards: Sequence[Board]) -> Selection:
    """The floors in CEL, term for term llmfit's; the board table is not needed."""
    bandwidth = "memoryBandwidthGBs"
    conditions = (
        *_DOMAIN.memory(floors.memory_bytes),
        _DOMAIN.has(bandwidth),
        AtLeast(NAME, bandwidth, floors.bandwidth_gbs, "GB/s of memory bandwidth"),
        _DOMAIN.has("healthy"),
        IsTrue(NAME, "healthy"),
    )
    return Selection(Selector(conditions))


_UNMANAGED = _DOMAIN.lacks("vendorManaged")

DRIVER = Driver(
    name=NAME,
    classes=dict.fromkeys(("llmfit.ai", "gpu.llmfit.ai", "npu.llmfit.ai", "cpu.llmfit.ai"), select),
    kinds={
        "llmfit.ai": (_UNMANAGED,),
        "gpu.llmfit.ai": (_DOMAIN.is_("kind", "gpu"), _UNMANAGED),
        "npu.llmfit.ai": (_DOMAIN.is_("kind", "npu"),),
        "cpu.llmfit.ai": (_DOMAIN.is_("kind", "cpu"),),
    },
    topology={"pcie": "resource.kubernetes.io/pcieRoot"},
    uses_boards=False,
)
