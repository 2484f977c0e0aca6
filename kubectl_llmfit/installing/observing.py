"""What the webhook's own objects say of its state."""

from __future__ import annotations

from dataclasses import dataclass

from kubectl_llmfit.cluster.api import Api, Object
from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.core.reasons import printable
from kubectl_llmfit.installing.manifests import NAME, NAMESPACE

CONFIGURATION_PATH = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{NAME}"
DEPLOYMENT_PATH = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{NAME}"
LEASE_PATH = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{NAME}"
PODS_PATH = f"/api/v1/namespaces/{NAMESPACE}/pods"


@dataclass(frozen=True)
class Rollout:
    """How far a Deployment is: replicas wanted, of the newest kind, and ready to serve."""

    wanted: int
    updated: int
    available: int
    observed: bool

    @property
    def done(self) -> bool:
        """Whether every replica is of the newest kind and serves."""
        return self.observed and self.updated == self.available == self.wanted

    def __str__(self) -> str:
        ready = min(self.updated, self.available)
        return f"deployment/{NAME}: {ready} of {self.wanted} replicas ready"


def rollout(api: Api) -> Rollout:
    """How far the webhook's Deployment is.

    Raises:
        ApiError: there is none, or it may not be read.
    """
    deployment = api.get(DEPLOYMENT_PATH)
    status = deployment.get("status", {})
    return Rollout(
        wanted=deployment["spec"].get("replicas", 1),
        updated=status.get("updatedReplicas", 0),
        available=status.get("availableReplicas", 0),
        observed=status.get("observedGeneration", 0) >= deployment["metadata"]["generation"],
    )


def waiting_because(api: Api) -> str:
    """Why the webhook's pods do not run, in parentheses; empty where they don't say."""
    try:
        pods = api.list_all(PODS_PATH)
    except ApiError:
        return ""
    reasons = dict.fromkeys(reason for pod in pods for reason in _why(pod))
    return f" ({'; '.join(map(printable, reasons))})" if reasons else ""


def ca_bundle(configuration: Object) -> str:
    """The base64 text of ``caBundle``; empty where nothing has filled it in."""
    webhooks = configuration.get("webhooks") or [{}]
    found: str = webhooks[0].get("clientConfig", {}).get("caBundle") or ""
    return found


def _why(pod: Object) -> list[str]:
    status = pod.get("status", {})
    found = [
        f"{state['reason']}: {state['message']}" if state.get("message") else state["reason"]
        for container in status.get("containerStatuses", ())
        if (state := container.get("state", {}).get("waiting", {})).get("reason")
    ]
    unscheduled = [
        each["message"]
        for each in status.get("conditions", ())
        if each["type"] == "PodScheduled" and each["status"] == "False" and each.get("message")
    ]
    return [*found, *unscheduled]
