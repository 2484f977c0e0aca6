"""What a cluster means for a claim: classes and devices that are missing, and who else acts.

What could not be read is not known, and nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kubectl_llmfit.core.claims.fit import missing_devices
from kubectl_llmfit.core.drivers import DEFAULT
from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.drivers.devices import Device, published
from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.counts import device_count
from kubectl_llmfit.core.rewrite.decision import Inject
from kubectl_llmfit.core.rewrite.legacy import IMPLICIT, Legacy, classify
from kubectl_llmfit.core.rewrite.survey import mapping

# Set by Karpenter on every node that it brings up; source: karpenter.sh/docs/concepts/nodepools.
_KARPENTER = "karpenter.sh/nodepool"
_SHOWN_NODES = 3


@dataclass(frozen=True)
class Surroundings:
    """What is known of a cluster; ``None`` where the user may not read it.

    Attributes:
        device_classes: name → extended resource name that the class also serves, or ``None``.
        devices: what drivers publish.
        nodes: Node objects.
    """

    device_classes: Mapping[str, str | None] | None = None
    devices: tuple[Device, ...] | None = None
    nodes: tuple[Mapping[str, Any], ...] | None = None

    def lacks(self, device_class: str) -> bool:
        """Whether the cluster is known to have no such DeviceClass."""
        return self.device_classes is not None and device_class not in self.device_classes

    @cached_property
    def published(self) -> Published | None:
        """How many devices there are by driver and kind."""
        return None if self.devices is None else published(self.devices)


def surrounding_consequences(
    injected: Sequence[Inject], around: Surroundings
) -> Iterator[Consequence]:
    """What the cluster means for the claims of ``injected``."""
    for inject in injected:
        missing = None if around.devices is None else missing_devices(inject.plan, around.devices)
        yield from _classes(inject, around)
        if missing is not None:
            yield Consequence(effects.NO_DEVICE_FITS, f"{missing}; its pods pend until one does")
        yield from _extended(inject, around)
        yield from _nodes(inject, around, is_missing=missing is not None)


def _classes(inject: Inject, around: Surroundings) -> Iterator[Consequence]:
    for name in dict.fromkeys(each.device_class for each in inject.plan.requests):
        if around.lacks(name):
            yield Consequence(
                effects.DEVICE_CLASS_MISSING,
                f"the cluster has no DeviceClass {quoted(name)}; the pods pend until it is made",
            )


def _extended(inject: Inject, around: Surroundings) -> Iterator[Consequence]:
    """Limits that the cluster makes claims of by itself."""
    classes = around.device_classes or {}
    serving = {extended: name for name, extended in classes.items() if extended}
    serving |= {f"{IMPLICIT}{name}": name for name in classes}
    for name in inject.replaced:
        if name in serving:
            yield Consequence(
                effects.ALLOCATED_THROUGH_DRA_ALREADY,
                f"the cluster makes claims of {name} by itself (DeviceClass "
                f"{quoted(serving[name])}), without the model's floors; this claim takes their "
                "place, and a limit that comes back beside it takes another device",
            )


def _nodes(inject: Inject, around: Surroundings, *, is_missing: bool) -> Iterator[Consequence]:
    driver = inject.sized.driver.name
    published_on = {each.node for each in around.devices or () if each.driver == driver}
    twice: dict[str, list[str]] = {}
    grown = is_missing
    has_karpenter = False
    for node in around.nodes or ():
        metadata = mapping(node.get("metadata"))
        name = str(metadata.get("name", ""))
        plugins = _device_plugins(node, driver)
        if name in published_on:
            for resource in plugins:
                twice.setdefault(resource, []).append(name)
        if _KARPENTER in mapping(metadata.get("labels")):
            has_karpenter = True
            grown = grown or bool(plugins) or name in published_on
    for resource, names in twice.items():
        yield Consequence(
            effects.DEVICE_PLUGIN_BESIDE_DRIVER,
            f"{_listed(names)} {'has' if len(names) == 1 else 'have'} {resource} of a device "
            f"plugin beside the devices of {driver}, and neither knows what the other gives away: "
            "one device can go to two pods",
        )
    if has_karpenter and grown:
        yield Consequence(
            effects.AUTOSCALER_IGNORES_CLAIMS,
            "Karpenter brings nodes up here, but by default none for pods with claims "
            "(--ignore-dra-requests); they wait for nodes that are there",
        )


def _device_plugins(node: Mapping[str, Any], driver: str) -> list[str]:
    """The resources by which a device plugin offers what ``driver`` has on ``node``.

    llmfit.ai publishes the devices of every vendor.
    """
    found = []
    for name, amount in mapping(mapping(node.get("status")).get("allocatable")).items():
        legacy = classify(str(name))
        is_driven = isinstance(legacy, Legacy) and driver in (legacy.driver, DEFAULT.name)
        if is_driven and _is_some(amount):
            found.append(str(name))
    return found


def _is_some(amount: Any) -> bool:
    try:
        return device_count(amount) > 0
    except ValueError:
        return False


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(quoted(name) for name in names[:_SHOWN_NODES])
    more = len(names) - _SHOWN_NODES
    nodes = "node" if len(names) == 1 else "nodes"
    return f"{nodes} {shown} and {more} more" if more > 0 else f"{nodes} {shown}"
