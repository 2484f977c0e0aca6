"""How many devices a cluster publishes, kept as a few numbers a slice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.drivers.devices import devices_of, published
from webhook.kube.client import Object


@dataclass(frozen=True, slots=True)
class SliceCounts:
    """What is kept of a ResourceSlice.

    Attributes:
        pool: driver and pool.
        generation: of the pool; slices of an older one than the newest no longer count.
        counts: numbers of devices by (driver, kind).
    """

    pool: tuple[str, str]
    generation: int
    counts: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, resource_slice: Object) -> Self:
        """``resource_slice`` as the API server sends it, in any version."""
        spec = resource_slice["spec"]
        pool = spec.get("pool") or {}
        return cls(
            (spec.get("driver", ""), pool.get("name", "")),
            int(pool.get("generation") or 0),
            published(devices_of([resource_slice])).counts,
        )


def total(slices: Iterable[SliceCounts]) -> Published:
    """What all of a cluster's slices publish together."""
    known = list(slices)
    newest: dict[tuple[str, str], int] = {}
    for each in known:
        newest[each.pool] = max(newest.get(each.pool, 0), each.generation)
    counts: Counter[tuple[str, str]] = Counter()
    for each in known:
        if each.generation == newest[each.pool]:
            for kind, count in each.counts.items():
                counts[kind] += count
    return Published(dict(counts))
