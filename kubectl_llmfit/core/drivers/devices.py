"""The devices of ResourceSlices, as conditions look at them.

Source: k8s.io/api/resource v1 and v1beta1 (``basic`` wraps what later versions have beside the
name): a name without a domain is of the driver's own, and only the newest generation of a pool
counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.sizing.amounts import parse_quantity

Object = Mapping[str, Any]

# Types of attributes that conditions are put on.
_COMPARED = ("string", "int", "bool")
# Effects of a taint that keep a device from claims which do not tolerate it.
_KEEPS_AWAY = ("NoSchedule", "NoExecute")


@dataclass(frozen=True)
class Device:
    """A device of a slice.

    Attributes:
        driver: the driver that publishes it.
        name: its name in its pool.
        node: the node that it is on; ``None`` where several nodes, or all, can reach it.
        fields: what the slice says of it, without the name.
    """

    driver: str
    name: str
    node: str | None
    fields: Object

    def attribute(self, domain: str, name: str) -> Any:
        """A str, int or bool, a dict for any other type, ``None`` where it has none."""
        value = _qualified(self.fields.get("attributes"), self.driver, domain, name)
        if not isinstance(value, dict):
            return None
        return next((value[kind] for kind in _COMPARED if kind in value), value)

    def capacity(self, domain: str, name: str) -> Decimal | None:
        """The amount of a capacity; ``None`` where it has none."""
        entry = _qualified(self.fields.get("capacity"), self.driver, domain, name)
        return parse_quantity(entry.get("value")) if isinstance(entry, dict) else None

    @property
    def taints(self) -> tuple[str, ...]:
        """Keys of the taints that keep it from claims which do not tolerate them."""
        listed = self.fields.get("taints") or ()
        return tuple(str(each.get("key")) for each in listed if each.get("effect") in _KEEPS_AWAY)

    @property
    def is_shared(self) -> bool:
        """Whether it can be allocated more than once."""
        return self.fields.get("allowMultipleAllocations") is True

    @property
    def model(self) -> str:
        """What a person calls it: its board where the driver says it, else its own name."""
        for name in ("productName", "model"):
            value = self.attribute(self.driver, name)
            if isinstance(value, str) and value:
                return value
        return self.name


def devices_of(slices: Iterable[Object]) -> tuple[Device, ...]:
    """The devices of ``slices``, in their order."""
    specs = [spec for each in slices if isinstance(spec := each.get("spec"), dict)]
    newest: dict[tuple[Any, Any], int] = {}
    for spec in specs:
        pool = _pool(spec)
        newest[pool] = max(newest.get(pool, 0), _generation(spec))
    current = (spec for spec in specs if _generation(spec) == newest[_pool(spec)])
    return tuple(device for spec in current for device in _devices(spec))


def published(devices: Iterable[Device]) -> Published:
    """How many devices there are by driver and kind.

    The kind is what the driver says of a device: ``type`` (gpu.nvidia.com, gpu.amd.com), ``kind``
    (llmfit.ai; with ``vendorManaged`` where a vendor's own driver has the device), else empty.
    """
    return Published(Counter((each.driver, _kind(each)) for each in devices))


def _kind(device: Device) -> str:
    if device.attribute(device.driver, "vendorManaged"):
        return "vendorManaged"
    kinds = (device.attribute(device.driver, name) for name in ("type", "kind"))
    return next((kind for kind in kinds if isinstance(kind, str)), "")


def _devices(spec: Object) -> Iterator[Device]:
    driver = str(spec.get("driver", ""))
    for each in spec.get("devices") or ():
        fields = each.get("basic") or each
        # With perDeviceNodeSelection each device says where it is, and the slice does not.
        node = spec.get("nodeName") or fields.get("nodeName")
        yield Device(driver, str(each.get("name", "")), node, fields)


def _pool(spec: Object) -> tuple[Any, Any]:
    return spec.get("driver"), (spec.get("pool") or {}).get("name")


def _generation(spec: Object) -> int:
    return int((spec.get("pool") or {}).get("generation") or 0)


def _qualified(values: Any, driver: str, domain: str, name: str) -> Any:
    """What ``values`` hold under ``name`` of ``domain``."""
    if not isinstance(values, dict):
        return None
    if domain == driver and name in values:
        return values[name]
    return values.get(f"{domain}/{name}")
