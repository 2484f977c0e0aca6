"""How an engine splits a model over the devices of its container."""

from __future__ import annotations

from fractions import Fraction

from kubectl_llmfit.core.engines.facts import LAYERS, ONE_DEVICE, TENSOR, EngineFacts
from kubectl_llmfit.core.sizing.floors import Shards

_PARALLEL = (
    "arguments",
    "config",
    "data_parallel",
    "data_parallel_local",
    "environment",
    "nodes",
    "pipeline_parallel",
    "split",
    "tensor_parallel",
)


def shards(facts: EngineFacts, device_count: int) -> Shards:
    """How ``facts``' engine splits the model when its container has ``device_count`` devices.

    A stated split counts as stated. The number of devices divides something only where the engine
    uses all of them untold. What can't be known divides nothing.
    """
    tensor, pipeline = facts.tensor_parallel, facts.pipeline_parallel
    count = max(1, device_count)
    if facts.split == ONE_DEVICE or tensor is not None or pipeline is not None:
        return Shards(tensor.value if tensor else 1, pipeline.value if pipeline else 1)
    if facts.is_unknown("tensor_parallel") or facts.is_unknown("split"):
        return Shards()
    if facts.proportions:
        # Floors are the same for every device, so the largest share counts.
        used = facts.proportions[:count]
        largest = Fraction(max(used)) / Fraction(sum(used)) if any(used) else Fraction(1)
        count = int(1 / largest)
    if facts.is_unknown("proportions"):
        return Shards()
    return Shards(count, 1) if facts.split == TENSOR else Shards(1, count)


def count_warning(facts: EngineFacts, device_count: int) -> str | None:
    """What is wrong with ``device_count`` devices for this engine; ``None`` when nothing is.

    Nothing is said where a part of the split can't be known.
    """
    if any(unknown.what in _PARALLEL for unknown in facts.unknown) or device_count < 1:
        return None
    stated = facts.tensor_parallel or facts.pipeline_parallel or facts.data_parallel
    if facts.uses_all_devices and stated is None:
        return _proportions_warning(facts, device_count)
    used, words = _used(facts)
    nodes = facts.nodes.value if facts.nodes is not None else 1
    here = -(-used // nodes)
    if here == device_count:
        return None
    asked = f"{_devices(device_count)} {'is' if device_count == 1 else 'are'} asked for"
    start = (
        f"container {facts.container}: {facts.engine} uses {_devices(here)} ({words}), but {asked}"
    )
    if here < device_count:
        return f"{start}; it leaves the others idle"
    if facts.split == ONE_DEVICE and facts.nodes is None and here % device_count == 0:
        return f"{start}; it starts only as a part of {here // device_count} such pods"
    return f"{start}; it can't start"


def _used(facts: EngineFacts) -> tuple[int, str]:
    used, words = 1, []
    for name, size in (
        ("tensor", facts.tensor_parallel),
        ("pipeline", facts.pipeline_parallel),
        ("data", facts.data_parallel_local or facts.data_parallel),
    ):
        if size is not None:
            used *= size.value
            words.append(f"{name} parallel {size.value}")
    if facts.nodes is not None:
        words.append(f"{facts.nodes.value} nodes")
    return used, " x ".join(words) or "nothing says more"


def _proportions_warning(facts: EngineFacts, device_count: int) -> str | None:
    shares = len(facts.proportions)
    if not shares or shares == device_count or facts.split != LAYERS:
        return None
    return (
        f"container {facts.container}: {facts.engine} is given shares for {_devices(shares)}, but "
        f"the container has {device_count}"
    )


def _devices(count: int) -> str:
    return f"{count} device" if count == 1 else f"{count} devices"
