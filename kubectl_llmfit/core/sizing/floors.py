"""What one device has to offer when a model is split over several."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kubectl_llmfit.core.sizing.formula import Demand
from kubectl_llmfit.core.sizing.quantity import GI


@dataclass(frozen=True)
class Shards:
    """How an engine splits a model over devices.

    Tensor parallelism splits every layer, so a device holds and reads a share of the weights.
    Pipeline parallelism gives whole layers to devices that take turns: it divides memory, but a
    token still waits for the reading of all of them.
    """

    tensor: int = 1
    pipeline: int = 1

    @property
    def devices(self) -> int:
        """The devices that one copy of the model takes."""
        return self.tensor * self.pipeline


@dataclass(frozen=True)
class Floors:
    """Floors of one device: memory in bytes, memory bandwidth in GB/s (1e9 bytes a second)."""

    memory_bytes: int
    bandwidth_gbs: int


def device_floors(demand: Demand, shards: Shards = Shards()) -> Floors:
    """The floors of each device for ``demand`` split as ``shards`` say.

    Memory is divided by tensor x pipeline, bandwidth by tensor alone; each is rounded up to
    whole Gi and whole GB/s. For one device they equal ``fit_bounds``.
    """
    return Floors(
        memory_bytes=math.ceil(demand.memory_gb / shards.devices) * GI,
        bandwidth_gbs=math.ceil(demand.bandwidth_gbs / shards.tensor),
    )
