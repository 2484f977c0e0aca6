"""Counting slice by slice gives what the core counts of all slices at once."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_llmfit.core.drivers.devices import devices_of, published
from tests.controlplane.samples import sample_slices
from tests.controlplane.versions import DEFAULT_VERSION
from webhook.devices import SliceCounts, total


def gpus(name: str, generation: int, count: int, driver: str = "gpu.nvidia.com") -> dict[str, Any]:
    devices = [
        {"name": f"gpu-{n}", "attributes": {"type": {"string": "gpu"}}} for n in range(count)
    ]
    pool = {"name": name, "generation": generation, "resourceSliceCount": 1}
    return {"spec": {"driver": driver, "pool": pool, "devices": devices}}


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        ([], 0),
        ([gpus("a", 1, 2), gpus("b", 1, 3)], 5),
        ([gpus("a", 1, 2), gpus("a", 1, 3)], 5),
        ([gpus("a", 1, 2), gpus("a", 2, 3), gpus("b", 1, 1)], 4),
        ([gpus("a", 2, 1), gpus("a", 1, 8, "gpu.amd.com")], 1),
        ([{"spec": {"driver": "gpu.nvidia.com"}}], 0),
    ],
    ids=["none", "pools", "slices-of-a-pool", "older-generation", "another-driver", "bare"],
)
def test_counts(slices: list[dict[str, Any]], expected: int) -> None:
    counted = total(map(SliceCounts.of, slices))
    assert counted.of("gpu.nvidia.com", ("gpu",)) == expected
    assert counted == published(devices_of(slices))


def test_every_drivers_slices() -> None:
    slices = [each for node in sample_slices(DEFAULT_VERSION).values() for each in node]
    assert len(slices) > 5
    assert total(map(SliceCounts.of, slices)) == published(devices_of(slices))
