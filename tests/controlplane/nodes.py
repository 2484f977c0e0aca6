"""Nodes without a kubelet: ready from the moment that they are created."""

from collections.abc import Mapping, Sequence

from tests.controlplane.client import ApiClient, Object

HEARTBEAT = "2026-01-01T00:00:00Z"


def node(
    name: str,
    labels: Mapping[str, str] | None = None,
    extended_resources: Mapping[str, str] | None = None,
) -> Object:
    """A Ready Node with room for many pods.

    ``extended_resources`` are what device plugins report, say ``{"nvidia.com/gpu": "8"}``.
    """
    capacity = {"cpu": "192", "memory": "2Ti", "ephemeral-storage": "4Ti", "pods": "250"}
    capacity |= extended_resources or {}
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "there is no kubelet",
        "lastHeartbeatTime": HEARTBEAT,
        "lastTransitionTime": HEARTBEAT,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name} | dict(labels or {})},
        "status": {"capacity": capacity, "allocatable": capacity, "conditions": [ready]},
    }


def create_node(api: ApiClient, made: Object, slices: Sequence[Object]) -> Object:
    """Create a Node and the slices that its drivers publish, owned by it."""
    created = api.create(made)
    owner = {
        "apiVersion": "v1",
        "kind": "Node",
        "name": created["metadata"]["name"],
        "uid": created["metadata"]["uid"],
        "controller": True,
    }
    for item in slices:
        meta = item["metadata"] | {"ownerReferences": [owner]}
        api.create(item | {"metadata": meta})
    return created


def delete_node(api: ApiClient, name: str) -> None:
    """Remove a Node and all slices for it."""
    version = "resource.k8s.io/v1"
    api.delete_all(version, "ResourceSlice", fieldSelector=f"spec.nodeName={name}")
    api.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
