"""What a cluster offers for claims: versions, device classes, published devices and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_llmfit.cluster.api import Api, Object
from kubectl_llmfit.cluster.kubectl import NO_SUCH_TYPE, ApiError
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims.objects import API_VERSIONS
from kubectl_llmfit.core.reasons import Problem, refuse

if TYPE_CHECKING:
    # The answer is asked for before what reads it is loaded, so that kubectl starts the sooner.
    from kubectl_llmfit.core.rewrite.surroundings import Surroundings

_GROUP = "resource.k8s.io"
CLASSES, SLICES, NODES = "deviceclasses", "resourceslices", "nodes"


@dataclass(frozen=True)
class Offer:
    """A cluster as claims see it.

    Attributes:
        api_version: the best served version that we can write.
        has: what could be read of it.
        unread: why other things could not.
    """

    api_version: str
    has: Surroundings
    unread: tuple[Problem, ...] = ()


def discover(api: Api, kinds: Sequence[str] = (CLASSES, SLICES)) -> Offer:
    """Asks the cluster for all objects of ``kinds``; what may not be read is not known.

    Classes, slices and nodes belong to the cluster: who works in one namespace may see none.

    Raises:
        Refused: ``no-dra`` where the cluster serves no version that we can write; or why the
            cluster could not be asked.
    """
    best = API_VERSIONS[0]
    try:
        found, unread = api.read_kinds([_typed(kind, best) for kind in kinds])
    except ApiError as error:
        if error.status != NO_SUCH_TYPE:
            raise
        return _one_by_one(api, _served(api), kinds)
    by_kind = {
        kind: [each for each in found if kind.startswith(each["kind"].lower())]
        for kind in kinds
        if not any(problem.sentence.startswith(kind) for problem in unread)
    }
    return Offer(best, _surroundings(by_kind), unread)


def _typed(kind: str, version: str) -> str:
    """``kind`` as kubectl takes it, in no other than ``version``."""
    return kind if kind == NODES else f"{kind}.{version.rpartition('/')[2]}.{_GROUP}"


def _one_by_one(api: Api, version: str, kinds: Sequence[str]) -> Offer:
    """The same by plain requests: another version, or kubectl's list of types is old."""
    by_kind: dict[str, Sequence[Object]] = {}
    unread: list[Problem] = []
    for kind in kinds:
        path = f"/api/v1/{kind}" if kind == NODES else f"/apis/{version}/{kind}"
        try:
            by_kind[kind] = api.list_all(path)
        except ApiError as error:
            if error.status != "Forbidden":
                raise
            unread += error.problems
    return Offer(version, _surroundings(by_kind), tuple(unread))


def _surroundings(by_kind: Mapping[str, Sequence[Object]]) -> Surroundings:
    from kubectl_llmfit.core.drivers.devices import devices_of
    from kubectl_llmfit.core.rewrite.surroundings import Surroundings

    classes, slices, nodes = (by_kind.get(kind) for kind in (CLASSES, SLICES, NODES))
    return Surroundings(
        device_classes=None if classes is None else _device_classes(classes),
        devices=None if slices is None else devices_of(slices),
        nodes=None if nodes is None else tuple(nodes),
    )


def _served(api: Api) -> str:
    """The best version that the cluster serves and that we can write."""
    served = {
        version["groupVersion"]
        for group in api.get("/apis").get("groups", ())
        if group.get("name") == _GROUP
        for version in group.get("versions", ())
    }
    for version in API_VERSIONS:
        if version in served:
            return version
    release = api.get("/version").get("gitVersion", "of unknown version")
    raise refuse(
        reasons.NO_DRA,
        f"the cluster ({release}) serves no version of {_GROUP} that claims can be written for "
        f"({', '.join(API_VERSIONS)}); it needs Kubernetes 1.34, or its feature "
        "DynamicResourceAllocation",
    )


def _device_classes(classes: Iterable[Object]) -> dict[str, str | None]:
    return {
        each["metadata"]["name"]: each.get("spec", {}).get("extendedResourceName")
        for each in classes
    }
