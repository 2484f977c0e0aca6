"""A claim plan as the object of each resource.k8s.io version, keys in the order we print them.

Source: the API types of k8s.io/api/resource v1, v1beta2 and v1beta1. Only v1beta1 has the flat
request; v1beta2 and v1 nest it under ``exactly``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kubectl_llmfit.core.claims.plan import ClaimPlan, DeviceRequest

V1 = "resource.k8s.io/v1"
V1BETA2 = "resource.k8s.io/v1beta2"
V1BETA1 = "resource.k8s.io/v1beta1"
API_VERSIONS = (V1, V1BETA2, V1BETA1)

CLAIM = "ResourceClaim"
TEMPLATE = "ResourceClaimTemplate"


@dataclass(frozen=True)
class Metadata:
    """The metadata of a generated object."""

    name: str
    namespace: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The object's ``metadata``, without the fields that are not set."""
        metadata: dict[str, Any] = {"name": self.name}
        if self.namespace is not None:
            metadata["namespace"] = self.namespace
        if self.labels:
            metadata["labels"] = dict(self.labels)
        return metadata


def claim_object(
    plan: ClaimPlan, metadata: Metadata, *, template: bool = False, api_version: str = V1
) -> dict[str, Any]:
    """The ResourceClaim (or ResourceClaimTemplate) for ``plan`` in ``api_version``.

    Raises:
        ValueError: ``api_version`` is none of ``API_VERSIONS``.
    """
    if api_version not in API_VERSIONS:
        raise ValueError(f"no such API version: {api_version}")
    devices: dict[str, Any] = {
        "requests": [_request(request, api_version) for request in plan.requests]
    }
    if plan.constraints:
        devices["constraints"] = [
            {"requests": list(each.requests), "matchAttribute": each.match_attribute}
            for each in plan.constraints
        ]
    spec: dict[str, Any] = {"devices": devices}
    return {
        "apiVersion": api_version,
        "kind": TEMPLATE if template else CLAIM,
        "metadata": metadata.as_dict(),
        "spec": {"spec": spec} if template else spec,
    }


def _request(request: DeviceRequest, api_version: str) -> dict[str, Any]:
    exactly: dict[str, Any] = {"deviceClassName": request.device_class}
    if request.selectors:
        exactly["selectors"] = [
            {"cel": {"expression": each.expression}} for each in request.selectors
        ]
    # Explicit, because the defaults of a later version may differ from those of today.
    exactly |= {"allocationMode": "ExactCount", "count": request.count}
    if api_version == V1BETA1:
        return {"name": request.name, **exactly}
    return {"name": request.name, "exactly": exactly}
