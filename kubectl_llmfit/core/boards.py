"""What is known of an accelerator board: the facts that a driver does not publish."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """A MIG profile: its name, the board's memory slices it takes, and its memory if known."""

    name: str
    memory_slices: int
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Board:
    """One board as its driver publishes it.

    Attributes:
        driver: the DRA driver that publishes it.
        name: product name (NVIDIA, AMD) or model (Intel), letter for letter.
        bandwidth_gbs: memory bandwidth in GB/s (1e9 bytes a second), rounded down; the lowest
            where boards of one name differ.
        source: where the bandwidth is from.
        memory_bytes: memory as the driver publishes it, or nominal; ``None`` when it publishes
            none. The lowest where boards of one name differ.
        name_published: whether the driver publishes ``name``; else only ``ids`` tell the board.
        ids: PCI device ids that tell the board, as the driver spells them.
        memory_slices: number of MIG memory slices; ``None`` for a board without MIG.
        profiles: its MIG profiles.
        partitions: into how many equal parts it can be partitioned (AMD); empty when it can't.
    """

    driver: str
    name: str
    bandwidth_gbs: int
    source: str
    memory_bytes: int | None = None
    name_published: bool = True
    ids: tuple[str, ...] = ()
    memory_slices: int | None = None
    profiles: tuple[Profile, ...] = ()
    partitions: tuple[int, ...] = ()

    @property
    def label(self) -> str | None:
        """The name as a node label spells it; ``None`` where the vendor labels no product.

        ``nvidia.com/gpu.product``: every space becomes a dash (NVIDIA/k8s-device-plugin,
        internal/lm/resource.go). ``amd.com/gpu.product-name``: as in our table
        (ROCm/k8s-device-plugin, cmd/k8s-node-labeller). Intel's rules label no product.
        """
        if self.driver == "gpu.nvidia.com":
            return self.name.replace(" ", "-")
        return self.name if self.driver == "gpu.amd.com" else None
