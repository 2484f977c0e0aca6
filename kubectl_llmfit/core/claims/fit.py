"""Whether a cluster has the devices that a claim asks for, before a pod waits for them.

Slices say which devices exist, not which are free, and nothing here asks where a pod may run. So
what is said to be missing is missing; what is there may still be taken, or out of reach.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubectl_llmfit.core import drivers
from kubectl_llmfit.core.claims.plan import ClaimPlan, Constraint, DeviceRequest
from kubectl_llmfit.core.drivers.conditions import Condition, Shortfall, distance
from kubectl_llmfit.core.drivers.devices import Device
from kubectl_llmfit.core.drivers.interface import Driver
from kubectl_llmfit.core.reasons import quoted

# A request's devices by its name, on one node.
_Choices = Mapping[str, Sequence[Device]]


@dataclass(frozen=True)
class _Wanted:
    """A request with everything that it asks of a device, its class's part included.

    A class that no module here knows is taken to select whatever the selectors do.
    """

    request: DeviceRequest
    driver: Driver | None
    conditions: tuple[Condition, ...]

    def meets(self, device: Device) -> bool:
        """Whether ``device`` will do."""
        if self.driver is not None and device.driver != self.driver.name:
            return False
        return not device.taints and all(each.holds(device) for each in self.conditions)

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """What keeps a ``device`` of the driver from it."""
        found = [each for condition in self.conditions for each in condition.shortfalls(device)]
        found += [Shortfall(1.0, f"is tainted {quoted(key)}") for key in device.taints]
        return tuple(dict.fromkeys(found))


def missing_devices(plan: ClaimPlan, devices: Sequence[Device]) -> str | None:
    """Why no node can ever satisfy ``plan`` with ``devices``, as a sentence; ``None`` if one can.

    Shared counters are not looked at: parts that exclude each other count as if they did not.
    """
    wanted = [_wanted(each) for each in plan.requests]
    most: dict[str, float] = dict.fromkeys((each.name for each in plan.requests), 0.0)
    for found in _by_node(devices):
        for choices in _choices(wanted, plan.constraints, found):
            if _is_enough(plan, choices):
                return None
            for name, usable in choices.items():
                most[name] = max(most[name], _number(usable))
    for each in wanted:
        if most[each.request.name] < each.request.count:
            return _sentence(each, plan, devices, most[each.request.name])
    return "no node has devices for all requests of the claim at the same time"


def _wanted(request: DeviceRequest) -> _Wanted:
    conditions = [each for selector in request.selectors for each in selector.conditions]
    driver = drivers.for_device_class(request.device_class)
    if driver is not None:
        conditions += driver.kinds.get(request.device_class, ())
    return _Wanted(request, driver, tuple(conditions))


def _by_node(devices: Sequence[Device]) -> Iterator[list[Device]]:
    """The devices that a pod on each node could have; all that several nodes can reach, on each."""
    nodes: dict[str | None, list[Device]] = defaultdict(list)
    for device in devices:
        nodes[device.node].append(device)
    anywhere = nodes.pop(None, [])
    yield from ([*own, *anywhere] for own in nodes.values())
    yield anywhere


def _choices(
    wanted: Sequence[_Wanted], constraints: Sequence[Constraint], devices: Sequence[Device]
) -> Iterator[_Choices]:
    """The devices that meet each request; once for every value that a constraint may settle on."""
    usable = {
        each.request.name: [device for device in devices if each.meets(device)] for each in wanted
    }
    if not constraints:
        yield usable
        return
    (constraint,) = constraints
    domain, _, name = constraint.match_attribute.partition("/")

    def value(device: Device) -> str:
        return repr(device.attribute(domain, name))

    bound = {each: usable[each] for each in constraint.requests}
    values = {value(device) for each in bound.values() for device in each}
    for settled in sorted(values - {repr(None)}):
        same = {
            each: [device for device in found if value(device) == settled]
            for each, found in bound.items()
        }
        yield {**usable, **same}


def _is_enough(plan: ClaimPlan, choices: _Choices) -> bool:
    """Whether every request can have its count, and no device is needed twice."""
    if any(_number(choices[each.name]) < each.count for each in plan.requests):
        return False
    slots = [each.name for each in plan.requests for _ in range(each.count)]
    taken: dict[int, int] = {}

    def place(slot: int, tried: set[int]) -> bool:
        """A device for ``slot``, if need be one whose holder can move to another."""
        for device in choices[slots[slot]]:
            if device.is_shared:
                return True
            if id(device) in tried:
                continue
            tried.add(id(device))
            holder = taken.get(id(device))
            if holder is None or place(holder, tried):
                taken[id(device)] = slot
                return True
        return False

    return all(place(slot, set()) for slot in range(len(slots)))


def _number(devices: Sequence[Device]) -> float:
    return math.inf if any(each.is_shared for each in devices) else len(devices)


def _sentence(wanted: _Wanted, plan: ClaimPlan, devices: Sequence[Device], most: float) -> str:
    who = wanted.driver.name if wanted.driver is not None else "the cluster"
    own = [each for each in devices if wanted.driver is None or each.driver == who]
    if not own:
        return f"{who} publishes no device"
    if not most and len(own) == 1:
        lead = f"the only device that {who} publishes does not meet the claim"
    elif not most:
        lead = f"no device of the {len(own)} that {who} publishes meets the claim"
    else:
        request = wanted.request
        shared = [
            each.match_attribute for each in plan.constraints if request.name in each.requests
        ]
        lead = (
            f"request {request.name} takes {request.count} devices of one node"
            f"{''.join(f' that share {attribute}' for attribute in shared)}, and no node has more "
            f"than {most:g} that meet it, of the {len(own)} that {who} publishes"
        )
    lacking = [(each, found) for each in own if (found := wanted.shortfalls(each))]
    if not lacking:
        return lead
    device, found = min(lacking, key=lambda pair: distance(pair[1]))
    shown = f"{device.model} on node {device.node}" if device.node else device.model
    why = " and ".join(each.words for each in found)
    if len(own) == 1:
        return f"{lead}; {shown} {why}"
    return f"{lead}; the nearest{' of the others' if most else ''}, {shown}, {why}"
