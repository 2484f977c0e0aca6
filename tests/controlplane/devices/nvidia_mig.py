"""gpu.nvidia.com: MIG devices, in the two forms that NVIDIA's driver publishes.

Static (the default). The administrator has made the partitions. A GPU with MIG mode on
is itself *not* published, only its partitions are
(kubernetes-sigs/dra-driver-nvidia-gpu cmd/gpu-kubelet-plugin/nvlib.go,
GetPerGpuAllocatableDevices). A partition has ``type: mig``, ``profile``, ``parentUUID``,
its own ``uuid``, the parent's product and place, and the capacities ``memory``,
``multiprocessors``, ``copyEngines``, ``decoders``, ``encoders``, ``jpegEngines``,
``ofaEngines`` and one ``memorySliceN`` for each slice it holds (mig.go,
CommonAttributesMig and CommonCapacitiesMig; deviceinfo.go, MigDeviceInfo.GetDevice).

Dynamic (feature gate DynamicMIG; Kubernetes 1.36 or later by default). Every profile at
every place is published beside the whole GPU, and shared counters keep overlapping ones
from being allocated together (partitions.go; driver.go, generateSplitResourceSlices: one
slice of counters, then one of devices for each GPU, its devices by name). Such a
partition has no ``uuid`` and no ``memorySliceN`` yet. The *whole* GPU then has the
largest partition's capacities: an H100 shows 81152Mi instead of 81559Mi. On Ampere with
MIG mode on, the whole GPU is not published (it can't leave that mode without a reset).

Sizes: A100 40GB, H100 and B200 as captured from nodes (aws/karpenter-provider-aws
pkg/providers/nvidiadra/zz_generated.nvidiadraresourceslices.go); A100 80GB as
``nvidia-smi mig -lgip`` lists it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.controlplane.devices import nvidia
from tests.controlplane.devices.model import (
    Attribute,
    Device,
    Object,
    Slice,
    resource_slices,
    stable_uuid,
)
from tests.controlplane.devices.nvidia import DRIVER, Gpu

MEMORY_SLICES = 8
# The driver makes counter names of capacity names (mig.go, camelToDNSName).
COUNTERS = {
    "copyEngines": "copy-engines",
    "decoders": "decoders",
    "encoders": "encoders",
    "jpegEngines": "jpeg-engines",
    "memory": "memory",
    "multiprocessors": "multiprocessors",
    "ofaEngines": "ofa-engines",
}


@dataclass(frozen=True)
class Profile:
    """A MIG profile of one board, its number, size and possible places."""

    name: str
    number: int
    memory_mib: int
    multiprocessors: int
    copy_engines: int
    decoders: int
    jpeg_engines: int
    ofa_engines: int
    slices: int
    starts: tuple[int, ...]

    def capacity(self) -> dict[str, str]:
        """The capacities of a partition, without its memory slices."""
        return {
            "copyEngines": str(self.copy_engines),
            "decoders": str(self.decoders),
            "encoders": "0",
            "jpegEngines": str(self.jpeg_engines),
            "memory": f"{self.memory_mib}Mi",
            "multiprocessors": str(self.multiprocessors),
            "ofaEngines": str(self.ofa_engines),
        }


SEVEN = (0, 1, 2, 3, 4, 5, 6)
PROFILES: dict[str | None, tuple[Profile, ...]] = {
    nvidia.A100_40GB.product: (
        Profile("1g.5gb", 19, 4864, 14, 1, 0, 0, 0, 1, SEVEN),
        Profile("1g.5gb+me", 20, 4864, 14, 1, 1, 1, 1, 1, SEVEN),
        Profile("1g.10gb", 15, 9984, 14, 1, 1, 0, 0, 2, (0, 2, 4, 6)),
        Profile("2g.10gb", 14, 9984, 28, 2, 1, 0, 0, 2, (0, 2, 4)),
        Profile("3g.20gb", 9, 20096, 42, 3, 2, 0, 0, 4, (0, 4)),
        Profile("4g.20gb", 5, 20096, 56, 4, 2, 0, 0, 4, (0,)),
        Profile("7g.40gb", 0, 40320, 98, 7, 5, 1, 1, 8, (0,)),
    ),
    nvidia.A100_80GB.product: (
        Profile("1g.10gb", 19, 9728, 14, 1, 0, 0, 0, 1, SEVEN),
        Profile("1g.10gb+me", 20, 9728, 14, 1, 1, 1, 1, 1, SEVEN),
        Profile("1g.20gb", 15, 19968, 14, 1, 1, 0, 0, 2, (0, 2, 4, 6)),
        Profile("2g.20gb", 14, 19968, 28, 2, 1, 0, 0, 2, (0, 2, 4)),
        Profile("3g.40gb", 9, 40192, 42, 3, 2, 0, 0, 4, (0, 4)),
        Profile("4g.40gb", 5, 40192, 56, 4, 2, 0, 0, 4, (0,)),
        Profile("7g.80gb", 0, 80896, 98, 7, 5, 1, 1, 8, (0,)),
    ),
    nvidia.H100.product: (
        Profile("1g.10gb", 19, 9984, 16, 1, 1, 1, 0, 1, SEVEN),
        Profile("1g.10gb+me", 20, 9984, 16, 1, 1, 1, 1, 1, SEVEN),
        Profile("1g.20gb", 15, 20096, 26, 1, 1, 1, 0, 2, (0, 2, 4, 6)),
        Profile("2g.20gb", 14, 20096, 32, 2, 2, 2, 0, 2, (0, 2, 4)),
        Profile("3g.40gb", 9, 40448, 60, 3, 3, 3, 0, 4, (0, 4)),
        Profile("4g.40gb", 5, 40448, 64, 4, 4, 4, 0, 4, (0,)),
        Profile("7g.80gb", 0, 81152, 132, 8, 7, 7, 1, 8, (0,)),
    ),
    nvidia.B200.product: (
        Profile("1g.23gb", 19, 20992, 18, 2, 1, 1, 0, 1, SEVEN),
        Profile("1g.23gb+me", 20, 20992, 18, 2, 1, 1, 1, 1, SEVEN),
        Profile("1g.45gb", 15, 45312, 30, 2, 1, 1, 0, 2, (0, 2, 4, 6)),
        Profile("2g.45gb", 14, 45312, 36, 4, 2, 2, 0, 2, (0, 2, 4)),
        Profile("3g.90gb", 9, 91136, 70, 6, 3, 3, 0, 4, (0, 4)),
        Profile("4g.90gb", 5, 91136, 72, 8, 4, 4, 0, 4, (0,)),
        Profile("7g.180gb", 0, 182784, 148, 16, 7, 7, 1, 8, (0,)),
    ),
}


@dataclass(frozen=True)
class Partition:
    """A partition that exists: a profile at a place, given by its first memory slice."""

    profile: str
    start: int


def partition_device(node: str, gpu: Gpu, partition: Partition) -> Device:
    """The published device of an existing partition (the static form)."""
    profile = profile_of(gpu, partition.profile)
    held = range(partition.start, partition.start + profile.slices)
    name = _device_name(gpu, profile, partition.start)
    attributes = _attributes(node, gpu, profile) | {"uuid": "MIG-" + stable_uuid(node, name)}
    capacity = profile.capacity() | {f"memorySlice{n}": "1" for n in held}
    return Device(name, attributes, capacity, taints=gpu.taints)


def static_slices(
    node: str,
    partitioned: Sequence[tuple[Gpu, Sequence[Partition]]],
    whole: Sequence[Gpu] = (),
    missing: int = 0,
) -> list[Object]:
    """The node's one slice: partitions, without their parents, then whole GPUs."""
    partitions = [
        partition_device(node, gpu, partition)
        for gpu, existing in partitioned
        for partition in existing
    ]
    devices = [*partitions, *(gpu.device(node) for gpu in whole)]
    return resource_slices(DRIVER, node, [Slice(devices)], missing)


def dynamic_slices(node: str, gpus: Sequence[Gpu], mig_mode_on: bool = False) -> list[Object]:
    """The node's slices under the DynamicMIG gate: shared counters, then one for each GPU."""
    counters = {
        _counter_set(gpu): _counters(_largest(gpu).capacity(), range(MEMORY_SLICES)) for gpu in gpus
    }
    contents = [Slice(_possible_devices(node, gpu, mig_mode_on)) for gpu in gpus]
    return resource_slices(DRIVER, node, [Slice(counter_sets=counters), *contents])


def profile_of(gpu: Gpu, name: str) -> Profile:
    """The profile of that name on the GPU's board."""
    return next(item for item in PROFILES[gpu.board.product] if item.name == name)


def _possible_devices(node: str, gpu: Gpu, mig_mode_on: bool) -> list[Device]:
    devices = [
        Device(
            _device_name(gpu, profile, start),
            _attributes(node, gpu, profile),
            profile.capacity(),
            {
                _counter_set(gpu): _counters(
                    profile.capacity(), range(start, start + profile.slices)
                )
            },
        )
        for profile in PROFILES[gpu.board.product]
        for start in profile.starts
    ]
    if not (mig_mode_on and gpu.board.architecture == "Ampere"):
        capacity = _largest(gpu).capacity()
        attributes = gpu.device(node).attributes
        consumed = {_counter_set(gpu): _counters(capacity, range(MEMORY_SLICES))}
        devices.append(Device(f"gpu-{gpu.minor}", attributes, capacity, consumed))
    return sorted(devices, key=lambda device: device.name)


def _largest(gpu: Gpu) -> Profile:
    return max(PROFILES[gpu.board.product], key=lambda profile: profile.slices)


def _attributes(node: str, gpu: Gpu, profile: Profile) -> dict[str, Attribute]:
    own: dict[str, Attribute] = {
        "type": "mig",
        "parentUUID": gpu.uuid(node),
        "profile": profile.name,
    }
    return own | gpu.place_and_board()


def _device_name(gpu: Gpu, profile: Profile, start: int) -> str:
    label = profile.name.replace(".", "").replace("+", "-")
    return f"gpu-{gpu.minor}-mig-{label}-{profile.number}-{start}"


def _counter_set(gpu: Gpu) -> str:
    return f"gpu-{gpu.minor}-counter-set"


def _counters(capacity: dict[str, str], held: range) -> dict[str, str]:
    counters = {COUNTERS[name]: value for name, value in capacity.items()}
    return counters | {f"memory-slice-{n}": "1" for n in held}
