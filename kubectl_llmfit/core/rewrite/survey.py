"""What a pod asks for in legacy resources: who wants how many devices of what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.drivers import DEFAULT, for_device_class
from kubectl_llmfit.core.reasons import Problem, Refused, quoted
from kubectl_llmfit.core.rewrite.counts import device_count
from kubectl_llmfit.core.rewrite.held import (
    ClaimReader,
    claims_held,
    devices_held,
    no_claims_known,
)
from kubectl_llmfit.core.rewrite.legacy import Legacy, Unusable, classify
from kubectl_llmfit.core.rewrite.operations import Path

SECTIONS = ("limits", "requests")


class Role(Enum):
    """When a container runs: beside the others, all along beside them, or before them."""

    MAIN = "container"
    SIDECAR = "sidecar"
    INIT = "init container"


@dataclass(frozen=True)
class Want:
    """``count`` devices that a container asks for under one legacy name; 0 takes the name out."""

    legacy: Legacy
    count: int


@dataclass(frozen=True)
class Container:
    """A container of a pod: where it is, its role, and what it wants.

    One that holds a generated claim, or another one for the same devices, has its devices: its
    limits count 0 and only go out.
    """

    path: Path
    name: str
    role: Role
    spec: Mapping[str, Any]
    wants: tuple[Want, ...] = ()
    holds_claim: bool = False

    @property
    def resources(self) -> Mapping[str, Any]:
        """Its ``resources``; empty where there are none."""
        return mapping(self.spec.get("resources"))


@dataclass(frozen=True)
class Survey:
    """A pod's containers in the order in which they start, and what they want of one driver."""

    driver: str | None
    containers: tuple[Container, ...]
    notes: tuple[str, ...] = ()

    @property
    def wanting(self) -> tuple[Container, ...]:
        """Containers that name a legacy resource of the driver, be it with a count of 0."""
        return tuple(each for each in self.containers if each.wants)

    @property
    def with_devices(self) -> tuple[Container, ...]:
        """Those of them that have devices: a count above 0, or a generated claim already."""
        return tuple(
            each
            for each in self.wanting
            if each.holds_claim or any(want.count for want in each.wants)
        )


def survey(
    pod_spec: Mapping[str, Any],
    driver: str | None = None,
    read_claim: ClaimReader = no_claims_known,
) -> Survey:
    """Reads the legacy resources of ``pod_spec`` that become devices of ``driver``.

    ``driver`` is the one that the caller wants; ``None`` takes the vendor's of the legacy names.
    llmfit.ai stands in for every vendor. Names of other vendors, and of other kinds of devices,
    are not looked at. ``read_claim`` tells what claims that others made ask for.

    Raises:
        Refused: every name that no claim can stand in for, every count that is none, or
            ``several-drivers``.
    """
    containers = list(_containers(pod_spec))
    problems: list[Problem] = []
    notes: list[str] = []
    read = [
        _without_held(_read(each, driver, problems, notes), pod_spec, read_claim)
        for each in containers
    ]
    found = list(dict.fromkeys(want.legacy.driver for each in read for want in each.wants))
    if driver is None and len(found) > 1:
        sentence = f"the pod asks for devices of {' and '.join(found)}; name one with --driver"
        problems.append(Problem(reasons.SEVERAL_DRIVERS, sentence))
    if problems:
        raise Refused(problems)
    return Survey(driver or next(iter(found), None), tuple(read), tuple(notes))


def names_devices(value: Any) -> bool:
    """Whether any limits or requests below ``value`` name an accelerator."""
    return any(
        classify(str(name))
        for each in mappings_in(value)
        for key in SECTIONS
        for name in mapping(each.get(key))
    )


def mappings_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """``value`` and everything below it that is a mapping, however deep."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, Mapping):
            waiting += each.values()
            yield each


def mapping(value: Any) -> Mapping[str, Any]:
    """``value`` if it is a mapping, else an empty one: absent, null and {} are alike."""
    # What comes of JSON is a dict, which is told at once; of an abstract class it takes a while.
    return value if isinstance(value, dict | Mapping) else {}


def _containers(pod_spec: Mapping[str, Any]) -> Iterator[Container]:
    """Init containers and sidecars in their order, then the main containers."""
    for field in ("initContainers", "containers"):
        listed = pod_spec.get(field)
        for index, spec in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(spec, Mapping):
                continue
            role = Role.MAIN
            if field == "initContainers":
                role = Role.SIDECAR if spec.get("restartPolicy") == "Always" else Role.INIT
            holds_claim = bool(claims_held(pod_spec, spec))
            name = str(spec.get("name", ""))
            yield Container((field, index), name, role, spec, holds_claim=holds_claim)


def _read(
    container: Container, driver: str | None, problems: list[Problem], notes: list[str]
) -> Container:
    names = dict.fromkeys(
        str(name) for section in SECTIONS for name in mapping(container.resources.get(section))
    )
    wants = []
    for name in names:
        meaning = classify(name)
        where = f"container {quoted(container.name)}: {name}"
        if isinstance(meaning, Unusable):
            if driver is None or driver == DEFAULT.name or name.startswith(_vendor(driver)):
                problems.append(Problem(meaning.reason, f"{where} {meaning.why}"))
        elif meaning is not None and driver in (None, DEFAULT.name, meaning.driver):
            count = _count(container, name, where, problems, notes)
            wants.append(Want(meaning, 0 if container.holds_claim else count))
    return replace(container, wants=tuple(wants))


def _without_held(
    container: Container, pod_spec: Mapping[str, Any], read_claim: ClaimReader
) -> Container:
    """The container as one that holds a claim, if the claims that it uses cover what it wants."""
    if container.holds_claim or not any(want.count for want in container.wants):
        return container
    held = list(devices_held(pod_spec, container.spec, read_claim))
    for want in container.wants:
        if sum(count for name, count in held if _stands_for(name, want.legacy)) < want.count:
            return container
    wants = tuple(Want(want.legacy, 0) for want in container.wants)
    return replace(container, wants=wants, holds_claim=True)


def _stands_for(device_class: str, legacy: Legacy) -> bool:
    """Whether devices of ``device_class`` are those that ``legacy`` names."""
    return device_class == legacy.device_class or for_device_class(device_class) is DEFAULT


def _count(
    container: Container, name: str, where: str, problems: list[Problem], notes: list[str]
) -> int:
    """The limit, else the request; Kubernetes refuses a pod where they differ."""
    counts: dict[str, int] = {}
    for section in SECTIONS:
        values = mapping(container.resources.get(section))
        if name in values:
            try:
                counts[section] = device_count(values[name])
            except ValueError as error:
                shown = quoted(str(values[name]), 40)
                sentence = f"{where}: {shown} in {section} {error}; write a whole number of devices"
                problems.append(Problem(reasons.BAD_QUANTITY, sentence))
    if len(set(counts.values())) > 1:
        notes.append(
            f"{where} is {counts['limits']} in limits and {counts['requests']} in requests; "
            "the limit counts"
        )
    return counts.get("limits", counts.get("requests", 0))


def _vendor(driver: str) -> str:
    """Start of the resource names of a driver's vendor, such as ``nvidia.com/``."""
    return driver.removeprefix("gpu.") + "/"
