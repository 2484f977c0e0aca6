"""Make sure that the scheduler has seen a node and its slices before a test goes on.

A pod that is looked at too early is pending for the wrong reason, and a test that
expects it to be pending would pass by accident. So: once everything of the node has been
created, publish one more device on it and have a pod claim that. The scheduler receives
slices in the order of their creation, so when that pod is bound, all slices before it
are known as well.
"""

from tests.controlplane.client import ApiClient, Object
from tests.controlplane.devices.model import (
    API_VERSION,
    Device,
    Slice,
    device_class,
    resource_slices,
)
from tests.controlplane.waiting import wait_for

DRIVER = "barrier.llmfit.test"
NAMESPACE = "llmfit-barrier"


def prepare(api: ApiClient) -> None:
    """Create what ``pass_barrier`` needs, once for a cluster."""
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    api.create(device_class(DRIVER, f"device.driver == '{DRIVER}'"))
    wait_for(
        lambda: api.find("v1", "ServiceAccount", "default", NAMESPACE), what="a ServiceAccount"
    )


def pass_barrier(api: ApiClient, node: str, timeout: float = 20.0) -> None:
    """Wait until the scheduler knows ``node`` and every slice that exists by now."""
    (barrier,) = resource_slices(DRIVER, node, [Slice([Device("barrier")])])
    claim = _claim(node)
    pod = _pod(node)
    try:
        for obj in (barrier, claim, pod):
            api.create(obj)
        wait_for(
            lambda: api.get("v1", "Pod", node, NAMESPACE)["spec"].get("nodeName"),
            timeout,
            f"the scheduler to see node {node}",
        )
    finally:
        api.delete(pod, grace_seconds=0)
        api.delete(claim)
        api.delete(barrier)


def _claim(node: str) -> Object:
    request = {"name": "barrier", "exactly": {"deviceClassName": DRIVER}}
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceClaim",
        "metadata": {"name": node, "namespace": NAMESPACE},
        "spec": {"devices": {"requests": [request]}},
    }


def _pod(node: str) -> Object:
    container = {
        "name": "none",
        "image": "none.invalid/none",
        "resources": {"claims": [{"name": "barrier"}]},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": node, "namespace": NAMESPACE},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
            "resourceClaims": [{"name": "barrier", "resourceClaimName": node}],
        },
    }
