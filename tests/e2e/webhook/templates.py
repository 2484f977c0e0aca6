"""Templates as the webhook makes them, their owners, and the pods that name them."""

from __future__ import annotations

import secrets
from typing import Any

from kubectl_llmfit.core.claims.objects import Metadata, claim_object
from kubectl_llmfit.core.claims.plan import ClaimPlan, DeviceRequest, Selector
from kubectl_llmfit.core.drivers.domain import Domain
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.workloads import pod
from webhook.templates.known import OWN

API_VERSION = "resource.k8s.io/v1"
Object = dict[str, Any]


def template(namespace: str, name: str = "llmfit-webhook-0123456789ab", count: int = 1) -> Object:
    """As the core writes it, with the label of the webhook."""
    key, _, value = OWN.partition("=")
    is_whole = Domain("gpu.nvidia.com").is_("type", "gpu")
    plan = ClaimPlan((DeviceRequest("model", "gpu.nvidia.com", (Selector((is_whole,)),), count),))
    return claim_object(plan, Metadata(name, namespace, {key: value}), template=True)


def stored(sandbox: Sandbox, name: str = "llmfit-webhook-0123456789ab") -> Object | None:
    return sandbox.api.find(API_VERSION, "ResourceClaimTemplate", name, sandbox.namespace)


def spec_of(sandbox: Sandbox) -> Object:
    """What of the stored template's spec is not empty, as it always has a ``metadata``."""
    found = stored(sandbox)
    assert found is not None
    return {name: value for name, value in found["spec"].items() if value}


def owner_uids(sandbox: Sandbox, name: str = "llmfit-webhook-0123456789ab") -> list[str]:
    found = stored(sandbox, name)
    assert found is not None
    return [each["uid"] for each in found["metadata"].get("ownerReferences", [])]


def replica_set(sandbox: Sandbox, name: str, claims_from: str = "") -> Object:
    """A real ReplicaSet, of no pods; they would claim from the template ``claims_from``."""
    labels = {"app": name}
    pod_template = {"metadata": {"labels": labels}, "spec": pod("any", claims_from)["spec"]}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod_template}
    return sandbox.create(
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": spec}
    )


def controller(owner: Object) -> Object:
    """The reference to its controller that a pod of ``owner`` carries."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def nobody() -> Object:
    """A reference to a controller that does not exist."""
    uid = f"00000000-0000-4000-8000-{secrets.token_hex(6)}"
    names = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"gone-{uid[-12:]}"}
    return {**names, "uid": uid, "controller": True}
