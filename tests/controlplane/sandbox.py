"""A part of the cluster for one test: a namespace, nodes of its own, and their removal."""

import re
import secrets
import subprocess
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.controlplane import barrier, workloads
from tests.controlplane.client import ApiClient, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import all_device_classes
from tests.controlplane.nodes import create_node, delete_node, node
from tests.controlplane.waiting import wait_for
from tests.controlplane.workloads import Allocated

OWNER_LABEL = "llmfit.test/namespace"
# Read by the API server's PodNodeSelector plugin: it puts this on every pod of the
# namespace, so that no test's pod ever lands on another test's node.
NODE_SELECTOR_ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"


def prepare(cluster: Cluster) -> None:
    """Create what all sandboxes share: the drivers' DeviceClasses and the barrier."""
    for item in all_device_classes():
        cluster.api.create(item)
    barrier.prepare(cluster.api)


class Sandbox:
    """One test's namespace and nodes; ``close`` removes both."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.api: ApiClient = cluster.api
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:28].strip("-")
        self.namespace = f"{slug}-{secrets.token_hex(3)}"
        self._undo = ExitStack()
        selector = {NODE_SELECTOR_ANNOTATION: f"{OWNER_LABEL}={self.namespace}"}
        meta = {"name": self.namespace, "annotations": selector}
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
        # No pod can be created before it.
        wait_for(
            lambda: self.api.find("v1", "ServiceAccount", "default", self.namespace),
            what=f"the ServiceAccount of namespace {self.namespace}",
        )

    def add_node(
        self,
        slices: Callable[[str], list[Object]] = lambda _name: [],
        name: str = "node",
        labels: Mapping[str, str] | None = None,
        extended_resources: Mapping[str, str] | None = None,
    ) -> str:
        """Create a node of this test's own, and return its full name.

        ``slices`` gets that name and makes what the node's drivers publish, say
        ``lambda node: nvidia.slices(node, nvidia.gpus(nvidia.H100))``. When this returns,
        the scheduler knows all of it.
        """
        full = f"{self.namespace}-{name}"
        made = node(full, {OWNER_LABEL: self.namespace} | dict(labels or {}), extended_resources)
        self._undo.callback(delete_node, self.api, full)
        create_node(self.api, made, slices(full))
        barrier.pass_barrier(self.api, full)
        return full

    def device_class(self, made: Object) -> None:
        """Create a DeviceClass, or change the one of that name, until the end of the test."""
        name = made["metadata"]["name"]
        before = self.api.find(made["apiVersion"], "DeviceClass", name)
        if before is None:
            self._undo.callback(self.api.delete, self.api.create(made))
        else:
            self._undo.callback(self._set_spec, made, before["spec"])
            self._set_spec(made, made["spec"])

    def create(self, obj: Object) -> Object:
        """Create an object in the namespace."""
        return self.api.create(obj, self.namespace)

    def kubectl(
        self,
        *args: str | Path,
        input: str | None = None,  # noqa: A002 - as subprocess.run names it
        check: bool = True,
        environment: Mapping[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run kubectl in the namespace."""
        return self.cluster.kubectl(
            "--namespace", self.namespace, *args, input=input, check=check, environment=environment
        )

    def claiming_pod(self, device_class: str, *selectors: str, count: int = 1) -> str:
        """Create a template and a pod that claims from it; the name of both."""
        name = f"pod-{secrets.token_hex(3)}"
        self.create(workloads.claim_template(name, device_class, *selectors, count=count))
        self.create(workloads.pod(name, name))
        return name

    def pod(self, name: str) -> Object:
        """The pod as it is now."""
        return self.api.get("v1", "Pod", name, self.namespace)

    def pod_scheduled(self, name: str, timeout: float = 20.0) -> Object:
        """Wait until the pod is bound, and return it."""
        return workloads.pod_scheduled(self.api, self.namespace, name, timeout)

    def pod_pending_reason(self, name: str, timeout: float = 20.0) -> str:
        """Wait until the scheduler has turned the pod down, and return why."""
        return workloads.pod_pending_reason(self.api, self.namespace, name, timeout)

    def allocated(self, name: str, timeout: float = 20.0) -> list[Allocated]:
        """Wait until the pod is bound, and return the devices of its claims."""
        return workloads.allocated(self.api, self.pod_scheduled(name, timeout))

    def close(self) -> None:
        """Remove everything of this test. The namespace itself goes a little later."""
        with self._undo:
            # In this order: a namespace that ends takes no new pods of a Deployment.
            namespace = {"name": self.namespace}
            self.api.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": namespace})
            # With no kubelet nobody would confirm the end of a bound pod.
            self.api.delete_all("v1", "Pod", self.namespace, grace_seconds=0)

    def _set_spec(self, named: Object, spec: Object) -> None:
        name = named["metadata"]["name"]
        now = self.api.get(named["apiVersion"], named["kind"], name)
        self.api.replace(now | {"spec": spec})
