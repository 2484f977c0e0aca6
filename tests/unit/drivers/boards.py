"""Boards for the drivers' tests: made up, so that the shipped table can change freely."""

from __future__ import annotations

from kubectl_llmfit.core.boards import Board, Profile
from kubectl_llmfit.core.sizing.floors import Floors
from kubectl_llmfit.core.sizing.quantity import GI, MI


def nvidia(
    name: str, bandwidth_gbs: int, memory_mib: int | None, slices: int | None = None
) -> Board:
    """A board of NVIDIA's driver."""
    return Board(
        driver="gpu.nvidia.com",
        name=name,
        bandwidth_gbs=bandwidth_gbs,
        source="made up",
        memory_bytes=None if memory_mib is None else memory_mib * MI,
        memory_slices=slices,
        profiles=(
            (Profile("1g.10gb", 1, 9728 * MI), Profile("7g.80gb", 8, 80896 * MI)) if slices else ()
        ),
    )


SLOW = nvidia("NVIDIA Slow 24GB", 300, 23034)
FAST = nvidia("NVIDIA Fast 24GB", 1000, 24564)
BIG = nvidia("NVIDIA Big 80GB", 2000, 81920, slices=8)
MEMORYLESS = nvidia("NVIDIA Unified", 273, None)
NVIDIA = (SLOW, FAST, BIG, MEMORYLESS)

AMD = (
    Board(
        "gpu.amd.com", "AMD_Instinct_X_OAM", 4000, "made up", 196592 * MI,
        ids=("0x0001",), partitions=(1, 2, 8),
    ),
    Board("gpu.amd.com", "AMD_Radeon_Y", 500, "made up", 24560 * MI, False, ("0x0002", "0x0003")),
)  # fmt: skip

INTEL = (
    Board("gpu.intel.com", "B60", 456, "made up", 24480 * MI, ids=("0xe211",)),
    Board("gpu.intel.com", "B50", 224, "made up", 16384 * MI),
)


def floors(memory_gi: int, bandwidth_gbs: int) -> Floors:
    """Floors in the units of the default formula."""
    return Floors(memory_gi * GI, bandwidth_gbs)
