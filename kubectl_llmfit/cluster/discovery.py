"""What a cluster offers for claims: versions, device classes, and which drivers publish what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.cluster.api import Api
from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims.objects import API_VERSIONS
from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.reasons import refuse

_GROUP = "resource.k8s.io"


@dataclass(frozen=True)
class Offer:
    """A cluster as claims see it.

    Attributes:
        api_version: the best served version that we can write.
        device_classes: name → extended resource name that the class also serves, or ``None``;
            ``None`` in its whole where the user may not list them.
    """

    api_version: str
    device_classes: dict[str, str | None] | None

    def lacks(self, device_class: str) -> bool:
        """Whether the cluster is known to have no such DeviceClass."""
        return self.device_classes is not None and device_class not in self.device_classes


def discover(api: Api) -> Offer:
    """Asks the cluster for what every user of it may know; one request where it serves the best.

    Raises:
        Refused: ``no-dra`` where the cluster serves no version that we can write; or why the
            cluster could not be asked.
    """
    best = API_VERSIONS[0]
    try:
        return Offer(best, _device_classes(api, best))
    except ApiError as error:
        # Rights are asked for before the version is looked at: neither says what is served.
        if error.status not in ("NotFound", "Forbidden"):
            raise
    version = _served(api)
    try:
        return Offer(version, _device_classes(api, version))
    except ApiError as error:
        # Classes belong to the cluster: who works in one namespace may not see them.
        if error.status != "Forbidden":
            raise
    return Offer(version, None)


def published_devices(api: Api, offer: Offer) -> Published:
    """What the cluster's slices publish.

    Raises:
        Refused: why they could not be listed.
    """
    return published(api.list_all(f"/apis/{offer.api_version}/resourceslices"))


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


def _device_classes(api: Api, version: str) -> dict[str, str | None]:
    return {
        each["metadata"]["name"]: each.get("spec", {}).get("extendedResourceName")
        for each in api.list_all(f"/apis/{version}/deviceclasses")
    }


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
