"""What a cluster offers for claims: versions, device classes, and which drivers publish what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.cluster.api import Api
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims.objects import API_VERSIONS
from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.reasons import refuse

_GROUP = "resource.k8s.io"


@dataclass(frozen=True)
class Offer:
    """A cluster as claims see it.

    Attributes:
        server_version: such as ``v1.37.2``.
        api_versions: served versions that we can write, the best first.
        device_classes: name → extended resource name that the class also serves, or ``None``.
        published: devices by driver and kind.
    """

    server_version: str
    api_versions: tuple[str, ...]
    device_classes: dict[str, str | None]
    published: Published


def discover(api: Api) -> Offer:
    """Asks the cluster.

    Raises:
        Refused: ``no-dra`` where the cluster serves no version that we can write; or why the
            cluster could not be asked.
    """
    server_version = str(api.get("/version").get("gitVersion", "unknown"))
    served = {
        version["groupVersion"]
        for group in api.get("/apis").get("groups", ())
        if group.get("name") == _GROUP
        for version in group.get("versions", ())
    }
    versions = tuple(version for version in API_VERSIONS if version in served)
    if not versions:
        raise refuse(
            reasons.NO_DRA,
            f"the cluster ({server_version}) serves no version of {_GROUP} that claims can be "
            f"written for ({', '.join(API_VERSIONS)}); it needs Kubernetes 1.34, or its feature "
            "DynamicResourceAllocation",
        )
    classes = api.list_all(f"/apis/{versions[0]}/deviceclasses")
    return Offer(
        server_version=server_version,
        api_versions=versions,
        device_classes={
            each["metadata"]["name"]: each.get("spec", {}).get("extendedResourceName")
            for each in classes
        },
        published=published(api.list_all(f"/apis/{versions[0]}/resourceslices")),
    )


def published(slices: Iterable[dict[str, Any]]) -> Published:
    """Counts the devices of ``slices`` by driver and kind.

    The kind is what the driver says of a device: ``type`` (gpu.nvidia.com, gpu.amd.com), ``kind``
    (llmfit.ai; with ``vendorManaged`` where a vendor's own driver has the device), else empty.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for each in slices:
        spec = each.get("spec") or {}
        driver = spec.get("driver", "")
        for device in spec.get("devices") or ():
            # v1beta1 wraps what later versions have beside the name.
            attributes = (device.get("basic") or device).get("attributes") or {}
            counts[driver, _kind(driver, attributes)] += 1
    return Published(dict(counts))


def _kind(driver: str, attributes: dict[str, Any]) -> str:
    def text(name: str) -> str:
        value = attributes.get(name) or attributes.get(f"{driver}/{name}") or {}
        return str(value.get("string", ""))

    if attributes.get("vendorManaged") or attributes.get(f"{driver}/vendorManaged"):
        return "vendorManaged"
    return text("type") or text("kind")
