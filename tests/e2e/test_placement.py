"""What render prints puts a pod on the device that fits, and on no other beside it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import amd, intel, llmfit, nvidia, nvidia_mig
from tests.controlplane.devices.nvidia_mig import Partition
from tests.controlplane.samples import PARTITIONABLE
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.versions import minor
from tests.e2e.plugin import claiming_pod

MakeSlices = Callable[[str], list[Object]]

# 7.6B: Q4_K_M 5Gi and 161 GB/s at 20 tok/s; 72.7B: Q4_K_M 43Gi and 1534 GB/s (oracle's numbers).
SMALL = "Qwen/Qwen2.5-7B-Instruct"
LARGE = "Qwen/Qwen2.5-72B-Instruct"


def _llmfit(node: str) -> list[Object]:
    """Every GPU that must not be taken stands before the one that fits."""
    return llmfit.slices(
        node,
        [
            llmfit.Cpu(),  # holds any model, but nobody knows its bandwidth
            llmfit.Gpu(model="too small", memory_gib=4, pci="0000:06:00.0"),
            llmfit.Gpu(model="too slow", memory_gib=24, bandwidth=160, pci="0000:02:00.0"),
            llmfit.Gpu(
                model="ill", memory_gib=192, bandwidth=5300, healthy=False, pci="0000:03:00.0"
            ),
            llmfit.Gpu(model="of unknown speed", memory_gib=24, bandwidth=None, pci="0000:04:00.0"),
            llmfit.Gpu(model="of unknown size", memory_gib=None, pci="0000:05:00.0"),
            llmfit.RTX_4090,  # vendorManaged
            llmfit.Gpu(model="fits small", memory_gib=5, bandwidth=161, pci="0000:08:00.0"),
            llmfit.Gpu(model="fits large", memory_gib=43, bandwidth=1534, pci="0000:09:00.0"),
        ],
    )


def _nvidia(node: str) -> list[Object]:
    return nvidia.slices(
        node,
        [
            nvidia.Gpu(nvidia.UNLISTED, 0),
            nvidia.Gpu(nvidia.NAMELESS, 1),
            nvidia.Gpu(nvidia.GB10, 2),
            nvidia.Gpu(nvidia.T4, 3),  # 15 GiB, 320 GB/s
            nvidia.Gpu(nvidia.L40S, 4),  # 45 GiB, 864 GB/s: big enough for the large one, too slow
            nvidia.Gpu(nvidia.H100, 5),
        ],
    )


def _amd(node: str) -> list[Object]:
    return amd.slices(
        node,
        [
            amd.Gpu(amd.UNREADABLE, 0),
            amd.Gpu(amd.NAMELESS, 1, "0000:06:00.0"),  # RX 7900: 24 GiB, 576 GB/s
            amd.Gpu(amd.MI210, 2, "0000:07:00.0"),  # 64 GiB, 1638 GB/s
        ],
    )


def _intel(node: str) -> list[Object]:
    return intel.slices(
        node,
        [
            intel.Gpu(intel.INTEGRATED, "0000:00:02.0"),
            intel.Gpu(intel.UNKNOWN, "0000:01:00.0"),
            intel.Gpu(intel.B60, "0000:02:00.0", healthy=False),
            intel.Gpu(intel.B580, "0000:03:00.0"),  # 12 GiB, 456 GB/s
            intel.Gpu(intel.B60, "0000:04:00.0"),  # 24 GiB, 456 GB/s
        ],
    )


FITTING = [
    pytest.param("llmfit.ai", _llmfit, (SMALL,), "gpu-0000-08-00-0", id="llmfit.ai-small"),
    pytest.param("gpu.llmfit.ai", _llmfit, (SMALL,), "gpu-0000-08-00-0", id="gpu.llmfit.ai-small"),
    pytest.param("llmfit.ai", _llmfit, (LARGE,), "gpu-0000-09-00-0", id="llmfit.ai-large"),
    pytest.param("gpu.nvidia.com", _nvidia, (SMALL,), "gpu-3", id="nvidia-small"),
    pytest.param("gpu.nvidia.com", _nvidia, (LARGE,), "gpu-5", id="nvidia-large"),
    pytest.param(
        "gpu.nvidia.com", _nvidia, (SMALL, "--quant", "BF16"), "gpu-4", id="nvidia-16-bit"
    ),
    pytest.param("gpu.amd.com", _amd, (SMALL,), "gpu-8-136", id="amd-small"),
    pytest.param("gpu.amd.com", _amd, (LARGE,), "gpu-16-144", id="amd-large"),
    pytest.param("gpu.intel.com", _intel, (SMALL,), "0000-03-00-0-0xe20b", id="intel-small"),
    pytest.param(
        "gpu.intel.com",
        _intel,
        (SMALL, "--quant", "F16", "--min-tps", "12"),
        "0000-04-00-0-0xe211",
        id="intel-16-bit",
    ),
]


@pytest.mark.parametrize(("device_class", "slices", "arguments", "expected"), FITTING)
def test_takes_the_device_that_fits(
    sandbox: Sandbox,
    device_class: str,
    slices: MakeSlices,
    arguments: tuple[str, ...],
    expected: str,
) -> None:
    node = sandbox.add_node(slices)
    name = claiming_pod(sandbox, "fits", *arguments, "--device-class", device_class)
    (got,) = sandbox.allocated(name)
    assert (got.pool, got.device) == (node, expected)


NOTHING_FITS = [
    pytest.param("llmfit.ai", _llmfit, (LARGE, "--min-tps", "40"), id="llmfit.ai"),
    pytest.param("gpu.nvidia.com", _nvidia, (LARGE, "--min-tps", "50"), id="nvidia"),
    pytest.param("gpu.amd.com", _amd, (LARGE, "--min-tps", "40"), id="amd"),
    pytest.param("gpu.intel.com", _intel, (LARGE, "--min-tps", "5"), id="intel"),
    pytest.param("mig.nvidia.com", _nvidia, (SMALL,), id="mig-without-partitions"),
]


@pytest.mark.parametrize(("device_class", "slices", "arguments"), NOTHING_FITS)
def test_pends_without_an_error_where_nothing_fits(
    sandbox: Sandbox, device_class: str, slices: MakeSlices, arguments: tuple[str, ...]
) -> None:
    """Missing attributes are passed over: no CEL runtime error ends the scheduling."""
    sandbox.add_node(slices)
    name = claiming_pod(sandbox, "pends", *arguments, "--device-class", device_class)
    reason = sandbox.pod_pending_reason(name)
    assert reason.startswith("Unschedulable: 0/")
    assert "cannot allocate all claims" in reason
    assert "CEL" not in reason
    assert "error" not in reason.lower()


def test_incomplete_pool_is_not_used(sandbox: Sandbox, cluster: Cluster) -> None:
    """Kubernetes 1.34 still takes what it sees of a pool; newer ones wait for all of it."""
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.H100)], missing=1))
    name = claiming_pod(sandbox, "waits", SMALL, "--driver", "gpu.nvidia.com")
    if minor(cluster.version) == 34:
        assert len(sandbox.allocated(name)) == 1
    else:
        assert sandbox.pod_pending_reason(name).startswith("Unschedulable: 0/")


def _partitions(node: str) -> list[Object]:
    """An A100 80GB (2039 GB/s, 8 slices) cut up, the small parts first, and a whole one."""
    cut = [Partition("1g.10gb", 0), Partition("1g.20gb", 2), Partition("3g.40gb", 4)]
    return nvidia_mig.static_slices(
        node, [(nvidia.Gpu(nvidia.A100_80GB), cut)], [nvidia.Gpu(nvidia.A100_80GB, 1)]
    )


PARTITIONS = [
    # An eighth of 2039 GB/s is 254: enough for 161.
    pytest.param((SMALL,), "gpu-0-mig-1g10gb-19-0", id="the-smallest-suffices"),
    # 322 GB/s needs two slices of eight (509), which 1g.20gb has.
    pytest.param((SMALL, "--min-tps", "40"), "gpu-0-mig-1g20gb-15-2", id="two-slices-for-speed"),
    # 643 GB/s needs three slices, which come in fours.
    pytest.param((SMALL, "--min-tps", "80"), "gpu-0-mig-3g40gb-9-4", id="four-slices-for-speed"),
    # 19Gi of weights and headroom: 1g.20gb has 19968Mi = 19.5Gi; 2 tok/s needs no bandwidth.
    pytest.param(
        (SMALL, "--quant", "BF16", "--min-tps", "2"), "gpu-0-mig-1g20gb-15-2", id="memory-decides"
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), PARTITIONS)
def test_mig_partition_that_suffices(
    sandbox: Sandbox, arguments: tuple[str, ...], expected: str
) -> None:
    sandbox.add_node(_partitions)
    name = claiming_pod(sandbox, "part", *arguments, "--device-class", "mig.nvidia.com")
    (got,) = sandbox.allocated(name)
    assert got.device == expected


def test_mig_pends_where_every_partition_is_too_slow(sandbox: Sandbox) -> None:
    """A third of the board's speed is more than any of the partitions has."""
    sandbox.add_node(_partitions)
    flags = ("--min-tps", "150", "--device-class", "mig.nvidia.com")
    assert sandbox.pod_pending_reason(claiming_pod(sandbox, "part", SMALL, *flags))


def test_whole_gpu_is_never_the_partitioned_parent(sandbox: Sandbox) -> None:
    """Two pods: one gets the whole GPU, the other waits; no partition and no parent serves."""
    sandbox.add_node(_partitions)
    first = claiming_pod(sandbox, "first", SMALL, "--driver", "gpu.nvidia.com")
    (got,) = sandbox.allocated(first)
    assert got.device == "gpu-1"
    second = claiming_pod(sandbox, "second", SMALL, "--driver", "gpu.nvidia.com")
    assert sandbox.pod_pending_reason(second).startswith("Unschedulable: 0/")


def test_dynamic_mig_counts_parent_and_partitions_once(sandbox: Sandbox, cluster: Cluster) -> None:
    """Where shared counters guard the parts, a GPU that is cut is not given out whole as well."""
    if minor(cluster.version) < PARTITIONABLE:
        # Partitionable devices are off by default there, and the driver then publishes no such.
        assert minor(cluster.version) == 34
        return
    sandbox.add_node(lambda node: nvidia_mig.dynamic_slices(node, [nvidia.Gpu(nvidia.H100)]))
    part = claiming_pod(sandbox, "part", SMALL, "--device-class", "mig.nvidia.com")
    (got,) = sandbox.allocated(part)
    assert got.device.startswith("gpu-0-mig-")
    whole = claiming_pod(sandbox, "whole", SMALL, "--driver", "gpu.nvidia.com")
    assert sandbox.pod_pending_reason(whole).startswith("Unschedulable: 0/")


def test_two_boards_where_only_one_is_fast_enough(sandbox: Sandbox) -> None:
    """L40S and A100 40GB both hold it; only the A100 reads it fast enough (1555 of 1005 GB/s)."""
    boards = [nvidia.Gpu(nvidia.L40S, 0), nvidia.Gpu(nvidia.A100_40GB, 1)]
    sandbox.add_node(lambda node: nvidia.slices(node, boards))
    flags = ("--min-tps", "125", "--driver", "gpu.nvidia.com")
    (got,) = sandbox.allocated(claiming_pod(sandbox, "fast", SMALL, *flags))
    assert got.device == "gpu-1"


def test_four_gpus_on_one_numa_node(sandbox: Sandbox) -> None:
    """The GPUs stand so that the first four of the slice lie on both nodes."""
    nodes = (0, 1, 0, 1, 1, 1)
    boards = [
        nvidia.Gpu(nvidia.H100, n, f"0000:{n:02x}:00.0", f"pci0000:{n:02x}", numa)
        for n, numa in enumerate(nodes)
    ]
    sandbox.add_node(lambda node: nvidia.slices(node, boards))
    flags = ("--driver", "gpu.nvidia.com", "--count", "4", "--topology", "numa")
    got = sandbox.allocated(claiming_pod(sandbox, "numa", LARGE, *flags))
    assert {each.device for each in got} == {"gpu-1", "gpu-3", "gpu-4", "gpu-5"}


def test_floors_are_divided_by_the_devices_of_a_tensor_parallel_model(sandbox: Sandbox) -> None:
    """42.17 GB and 1534 GB/s over four: 11Gi and 384 GB/s, which L4s (300 GB/s) lack."""
    boards = [*nvidia.gpus(nvidia.L4, 4), nvidia.Gpu(nvidia.L40S, 4)]
    boards += [nvidia.Gpu(nvidia.L40S, n) for n in (5, 6, 7)]
    sandbox.add_node(lambda node: nvidia.slices(node, boards))
    flags = ("--driver", "gpu.nvidia.com", "--count", "4")
    got = sandbox.allocated(claiming_pod(sandbox, "tp", LARGE, *flags))
    assert {each.device for each in got} == {"gpu-4", "gpu-5", "gpu-6", "gpu-7"}


def _amd_partitions(parts: int) -> MakeSlices:
    return lambda node: amd.slices(node, [amd.Gpu(amd.MI300X, partitions=parts)])


def test_amd_partition_that_suffices(sandbox: Sandbox) -> None:
    """An eighth of an MI300X has 24574Mi and 662 GB/s: enough for the small model."""
    sandbox.add_node(_amd_partitions(8))
    (got,) = sandbox.allocated(claiming_pod(sandbox, "part", SMALL, "--driver", "gpu.amd.com"))
    assert got.device == "gpu-0-128"


def test_amd_partition_that_is_too_slow(sandbox: Sandbox) -> None:
    """700 GB/s are more than an eighth has, and less than a half."""
    flags = ("--min-tps", "87", "--driver", "gpu.amd.com")
    sandbox.add_node(_amd_partitions(8), "eighths")
    name = claiming_pod(sandbox, "part", SMALL, *flags)
    assert sandbox.pod_pending_reason(name).startswith("Unschedulable: 0/")
    halves = sandbox.add_node(_amd_partitions(2), "halves")
    (got,) = sandbox.allocated(name)
    assert got.pool == halves


def test_amd_device_that_stands_for_several_partitions(sandbox: Sandbox, cluster: Cluster) -> None:
    """It shows the memory of all of them and gives a claim one: only the whole GPU will do."""
    if minor(cluster.version) < PARTITIONABLE:
        # The driver's gate needs the counters that are off by default there.
        assert minor(cluster.version) == 34
        return
    sandbox.add_node(lambda node: amd.auto_partition_slices(node, [amd.Gpu(amd.MI300X)]))
    (got,) = sandbox.allocated(claiming_pod(sandbox, "auto", LARGE, "--driver", "gpu.amd.com"))
    assert got.device == "gpu-0-spx-nps1"
