"""Devices, counters and slices as frozen records, and their form in the API.

The form is resource.k8s.io/v1. What all drivers have in common comes from the helper
that they are built with (kubernetes/dynamic-resource-allocation, resourceslice/
resourceslicecontroller.go): one pool a node with the node's name, slices owned by the
Node and named after node and driver.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
API_VERSION = "resource.k8s.io/v1"
PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
PCI_BUS_ID = "resource.kubernetes.io/pciBusID"
NUMA_NODE = "resource.kubernetes.io/numaNode"


class Version(str):
    """A string that is published as a semantic version attribute."""


Attribute = str | int | bool | Version


@dataclass(frozen=True)
class Capacity:
    """A capacity that several claims can share: what each takes when it names no amount."""

    value: str
    default: str
    valid_values: tuple[str, ...] = ()

    def to_api(self) -> Object:
        """The API form."""
        policy: Object = {"default": self.default}
        if self.valid_values:
            policy["validValues"] = list(self.valid_values)
        return {"value": self.value, "requestPolicy": policy}


@dataclass(frozen=True)
class Taint:
    """A device taint, as drivers set for unhealthy devices."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"

    def to_api(self) -> Object:
        """The API form."""
        taint = {"key": self.key, "value": self.value, "effect": self.effect}
        return {name: value for name, value in taint.items() if value}


@dataclass(frozen=True)
class Device:
    """One device of a slice. ``consumes`` maps counter set to counter to amount."""

    name: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    capacity: Mapping[str, str | Capacity] = field(default_factory=dict)
    consumes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    taints: Sequence[Taint] = ()
    shared: bool = False

    def to_api(self) -> Object:
        """The API form; empty parts are left out, as Go leaves them out."""
        device: Object = {"name": self.name}
        if self.attributes:
            attributes = self.attributes.items()
            device["attributes"] = {name: _attribute(value) for name, value in attributes}
        if self.capacity:
            device["capacity"] = {
                name: value.to_api() if isinstance(value, Capacity) else {"value": value}
                for name, value in self.capacity.items()
            }
        if self.consumes:
            device["consumesCounters"] = [
                {"counterSet": name, "counters": _counters(counters)}
                for name, counters in self.consumes.items()
            ]
        if self.taints:
            device["taints"] = [taint.to_api() for taint in self.taints]
        if self.shared:
            device["allowMultipleAllocations"] = True
        return device


@dataclass(frozen=True)
class Slice:
    """The content of one ResourceSlice: devices, or counter sets that devices draw from."""

    devices: Sequence[Device] = ()
    counter_sets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def resource_slices(
    driver: str, node: str, slices: Sequence[Slice], missing: int = 0
) -> list[Object]:
    """One pool for ``node``. With ``missing`` it says that it has so many slices more.

    Newer schedulers take no device from a pool whose slices are not all there; that of
    1.34 takes what it sees, except for a request for all devices.
    """
    count = len(slices) + missing
    return [_resource_slice(driver, node, content, n, count) for n, content in enumerate(slices)]


def _resource_slice(driver: str, node: str, content: Slice, number: int, count: int) -> Object:
    spec: Object = {
        "driver": driver,
        "nodeName": node,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": count},
    }
    if content.devices:
        spec["devices"] = [device.to_api() for device in content.devices]
    if content.counter_sets:
        spec["sharedCounters"] = [
            {"name": name, "counters": _counters(counters)}
            for name, counters in content.counter_sets.items()
        ]
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceSlice",
        # The helper has the server make up the end of the name; a fixed one is easier to
        # read in a failed test.
        "metadata": {"name": f"{node}-{driver}-{number}"},
        "spec": spec,
    }


def device_class(name: str, expression: str, extended_resource_name: str = "") -> Object:
    """A DeviceClass with one CEL selector."""
    spec: Object = {"selectors": [{"cel": {"expression": expression}}]}
    if extended_resource_name:
        spec["extendedResourceName"] = extended_resource_name
    return {
        "apiVersion": API_VERSION,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": spec,
    }


def stable_uuid(*parts: object) -> str:
    """The same UUID for the same parts, so that a failed test can be read again."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, "/".join(str(part) for part in parts)))


def _attribute(value: Attribute) -> Object:
    match value:
        case bool():
            return {"bool": value}
        case int():
            return {"int": value}
        case Version():
            return {"version": str(value)}
    return {"string": value}


def _counters(counters: Mapping[str, str]) -> Object:
    return {name: {"value": value} for name, value in counters.items()}
