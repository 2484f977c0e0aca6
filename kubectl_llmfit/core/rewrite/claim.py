"""One claim for a pod: its requests, and which containers use which of them.

An extended resource of an init container is given back before the main containers start, so the
scheduler counts the larger of the two. A claim's devices stay with the pod to its end, so an init
container uses requests that are there for others, and only what they lack becomes a request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kubectl_llmfit.core.claims.plan import ClaimPlan, DeviceRequest, Selector
from kubectl_llmfit.core.drivers.conditions import All, Has, OneOf
from kubectl_llmfit.core.rewrite.legacy import Legacy
from kubectl_llmfit.core.rewrite.operations import Path
from kubectl_llmfit.core.rewrite.survey import Container, Role, Want

MODEL_REQUEST = "model"

ClassOf = Callable[[Legacy], str]


@dataclass(frozen=True)
class PodClaim:
    """The plan of a pod's claim, and the requests that each container uses, by its path."""

    plan: ClaimPlan
    uses: Mapping[Path, tuple[str, ...]]


@dataclass(frozen=True)
class _Request:
    """A request in the making, and the container that it is for."""

    owner: int
    role: Role
    want: Want
    request: DeviceRequest


def claim_for(
    containers: Sequence[Container],
    model_container: str | None,
    model_selectors: Sequence[Selector],
    class_of: ClassOf,
) -> PodClaim:
    """The claim for ``containers`` (in the order in which they start).

    The container called ``model_container`` gets a request with ``model_selectors``, the others
    plain ones; ``class_of`` gives the device class that stands in for a legacy resource. A MIG
    partition keeps its profile.
    """
    made: list[_Request] = []
    for position, container in enumerate(containers):
        if container.role is not Role.INIT:
            for want in _positive(container):
                is_model = container.name == model_container
                selectors = tuple(model_selectors) if is_model else ()
                name = MODEL_REQUEST if is_model else "gpu"
                made.append(_made(made, position, container, want, name, selectors, class_of))
    uses: dict[Path, list[str]] = {}
    for position, container in enumerate(containers):
        for want in _positive(container):
            if container.role is Role.INIT:
                used = _borrowed(made, position, container, want, class_of)
            else:
                used = [
                    each.request.name
                    for each in made
                    if each.owner == position and each.want is want
                ]
            uses.setdefault(container.path, []).extend(used)
    plan = ClaimPlan(tuple(each.request for each in made))
    return PodClaim(plan, {path: tuple(names) for path, names in uses.items()})


def _positive(container: Container) -> list[Want]:
    return [want for want in container.wants if want.count > 0]


def _borrowed(
    made: list[_Request], position: int, container: Container, want: Want, class_of: ClassOf
) -> list[str]:
    """Requests for an init container: others' of the same kind, and a new one for the rest.

    Sidecars that start earlier run beside it and keep theirs.
    """
    used: list[str] = []
    missing = want.count
    for each in made:
        is_free = each.role is not Role.SIDECAR or each.owner > position
        if missing > 0 and is_free and _kind(each.want.legacy) == _kind(want.legacy):
            used.append(each.request.name)
            missing -= each.request.count
    if missing > 0:
        rest = Want(want.legacy, missing)
        made.append(_made(made, position, container, rest, "init", (), class_of))
        used.append(made[-1].request.name)
    return used


def _made(
    made: Sequence[_Request],
    position: int,
    container: Container,
    want: Want,
    name: str,
    selectors: tuple[Selector, ...],
    class_of: ClassOf,
) -> _Request:
    taken = {each.request.name for each in made}
    numbered = (f"{name}-{number}" for number in range(1, len(taken) + 2))
    free = name if name not in taken else next(each for each in numbered if each not in taken)
    request = DeviceRequest(
        name=free,
        device_class=class_of(want.legacy),
        selectors=(*selectors, *_profile(want.legacy)),
        count=want.count,
    )
    return _Request(position, container.role, want, request)


def _kind(legacy: Legacy) -> tuple[str, str | None]:
    """What makes the devices of two legacy names interchangeable."""
    return legacy.device_class, legacy.profile


def _profile(legacy: Legacy) -> tuple[Selector, ...]:
    if legacy.profile is None:
        return ()
    has = Has(legacy.driver, "profile")
    is_it = OneOf(legacy.driver, "profile", (legacy.profile,), "profiles asked for")
    return (Selector((All((has, is_it)),)),)
