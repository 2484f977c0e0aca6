"""Pods and claims: how to write the plain ones, and what became of any of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.controlplane.client import ApiClient, Object
from tests.controlplane.devices.model import API_VERSION
from tests.controlplane.waiting import wait_for


@dataclass(frozen=True, order=True)
class Allocated:
    """A device that a claim got."""

    request: str
    driver: str
    pool: str
    device: str


class PodBoundError(Exception):
    """A pod was bound that a test expected to stay pending."""


def claim_template(name: str, device_class: str, *selectors: str, count: int = 1) -> Object:
    """A ResourceClaimTemplate with one request, named ``gpu``."""
    exactly: Object = {
        "deviceClassName": device_class,
        "allocationMode": "ExactCount",
        "count": count,
    }
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": selector}} for selector in selectors]
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }


def pod(name: str, template: str = "", limits: Mapping[str, str] | None = None) -> Object:
    """A pod with one container; it claims from a template, or has limits, or neither."""
    resources: Object = {}
    spec: Object = {"containers": [{"name": "main", "image": "none.invalid/none"}]}
    if template:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": template}]
        resources["claims"] = [{"name": "gpu"}]
    if limits:
        resources["limits"] = dict(limits)
    spec["containers"][0]["resources"] = resources
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def pod_scheduled(api: ApiClient, namespace: str, name: str, timeout: float = 20.0) -> Object:
    """Wait until the pod is bound to a node, and return it."""

    def bound() -> Object | None:
        found = api.get("v1", "Pod", name, namespace)
        return found if found["spec"].get("nodeName") else None

    def reached() -> str:
        return f"pod {name} bound; it is: {_condition(api.get('v1', 'Pod', name, namespace))}"

    found = wait_for(bound, timeout, reached)
    assert found is not None
    return found


def pod_pending_reason(api: ApiClient, namespace: str, name: str, timeout: float = 20.0) -> str:
    """Wait until the scheduler has turned the pod down; its reason and message.

    A reason of ``Unschedulable`` is the usual one; ``SchedulerError`` means that the
    attempt itself failed, say by a CEL runtime error. A pod that is bound instead raises
    PodBoundError at once.
    """

    def turned_down() -> str:
        found = api.get("v1", "Pod", name, namespace)
        if node := found["spec"].get("nodeName"):
            claims = allocated(api, found)
            raise PodBoundError(f"pod {name} was to stay pending and is bound to {node}: {claims}")
        return _condition(found)

    return wait_for(turned_down, timeout, f"a reason why pod {name} is pending")


def claims_of(api: ApiClient, found: Object) -> list[Object]:
    """The pod's claims: named by it, made from its templates, made for its limits."""
    status = found.get("status", {})
    names = [
        claim["resourceClaimName"]
        for claim in found["spec"].get("resourceClaims", [])
        if claim.get("resourceClaimName")
    ]
    names += [
        claim["resourceClaimName"]
        for claim in status.get("resourceClaimStatuses") or []
        if claim.get("resourceClaimName")
    ]
    if extended := status.get("extendedResourceClaimStatus"):
        names.append(extended["resourceClaimName"])
    namespace = found["metadata"]["namespace"]
    return [api.get(API_VERSION, "ResourceClaim", name, namespace) for name in names]


def allocated(api: ApiClient, found: Object) -> list[Allocated]:
    """The devices of all of the pod's claims, in the order of requests."""
    return [
        Allocated(result["request"], result["driver"], result["pool"], result["device"])
        for claim in claims_of(api, found)
        for result in claim.get("status", {})
        .get("allocation", {})
        .get("devices", {})
        .get("results", [])
    ]


def is_reserved_for(claim: Object, found: Object) -> bool:
    """Whether a claim is reserved for the pod, the last step before it is bound."""
    consumers = claim.get("status", {}).get("reservedFor", [])
    return found["metadata"]["uid"] in [consumer["uid"] for consumer in consumers]


def _condition(found: Object) -> str:
    for condition in found.get("status", {}).get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return f"{condition['reason']}: {condition['message']}"
    return ""
