"""What stands in for the webhook's pods, since no kubelet runs here.

The pods that the Deployment makes are real; a thread says that they are ready, and confirms their
end. Reviews reach a real webhook on loopback: the Service is of type ExternalName before the
installation comes, which leaves that as it is.
"""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from kubectl_llmfit.installing.manifests import NAME, NAMESPACE
from tests.controlplane.client import ApiClient, ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.waiting import wait_for

ROOT = Path(__file__).parents[3]
CONFIGURATIONS = ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
LEASE = ("coordination.k8s.io/v1", "Lease")
_CONFIGURATION: Object = {
    "apiVersion": CONFIGURATIONS[0],
    "kind": CONFIGURATIONS[1],
    "metadata": {"name": NAME},
}
_PAUSE = 0.05


class Kubelets:
    """Says that pods are ready, and confirms their end, for as long as it is open.

    The pods are the webhook's, or those of ``namespaces``.
    """

    def __init__(
        self, cluster: Cluster, *, ready: bool = True, namespaces: Sequence[str] = (NAMESPACE,)
    ) -> None:
        self._api: ApiClient = cluster.api.as_token(cluster.token)
        self._namespaces = namespaces
        self._ready = ready
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.also: list[Callable[[ApiClient], None]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._api.close()

    def _run(self) -> None:
        while not self._ended.wait(_PAUSE):
            try:
                for namespace in self._namespaces:
                    for pod in self._api.list("v1", "Pod", namespace):
                        self._look_after({"apiVersion": "v1", "kind": "Pod", **pod})
                for each in self.also:
                    each(self._api)
            except ApiError as error:
                # Objects come and go under our hands, and nothing is made in a namespace that ends.
                if error.code not in (403, 404, 409):
                    raise

    def _look_after(self, pod: Object) -> None:
        if "deletionTimestamp" in pod["metadata"]:
            self._api.delete(pod, grace_seconds=0)
        elif self._ready and not pod.get("status", {}).get("podIP"):
            ready = {"type": "Ready", "status": "True"}
            address = {"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]}
            self._api.patch_status(pod, {"phase": "Running", "conditions": [ready], **address})


class Replica:
    """The webhook as a process on loopback, with the rights of the ServiceAccount as installed."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._name = f"webhook-{secrets.token_hex(3)}"
        self._runs = False

    def __enter__(self) -> Self:
        """Makes the namespace and a Service that leads to loopback, before the installation."""
        api = self.cluster.api
        meta = {"name": NAME, "namespace": NAMESPACE}
        spec = {"type": "ExternalName", "externalName": "localhost"}
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        api.create({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._runs:
            self.cluster.group.stop(self._name)

    @property
    def log(self) -> list[Object]:
        """The lines of its log."""
        text = self.cluster.group.log(self._name).read_text()
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def tend(self, api: ApiClient) -> None:
        """Starts the process once its ServiceAccount is there, and leads the API server to it."""
        if not self._runs and api.find("v1", "ServiceAccount", NAME, NAMESPACE) is not None:
            self._start()
        if self._runs and (port := self._port()):
            lead_to(api, port)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.cluster.group.pids[self._name]

    def _start(self) -> None:
        self.cluster.run(self._name, self.command(), self.environment())
        self._runs = True

    def command(self) -> list[str]:
        """As in its container, but on ports of loopback that are free."""
        flags = ("--bind-address=127.0.0.1", "--tls-port=0", "--plain-port=0")
        return [sys.executable, "-m", "webhook", *flags]

    def environment(self) -> dict[str, str]:
        """With the identity of the webhook's ServiceAccount."""
        kubeconfig = self.cluster.kubeconfig_for(NAMESPACE, NAME)
        return {"PYTHONPATH": str(ROOT), "KUBECONFIG": str(kubeconfig)}

    def _port(self) -> int | None:
        lines = [line for line in self.log if line["message"] == "listening"]
        return lines[0]["tls_port"] if lines else None


def lead_to(api: ApiClient, port: int) -> None:
    """Has the configuration, if there is one, name the port on which a webhook really listens."""
    found = api.find(*CONFIGURATIONS, NAME)
    if found is not None and found["webhooks"][0]["clientConfig"]["service"]["port"] != port:
        change = {"op": "replace", "path": "/webhooks/0/clientConfig/service/port", "value": port}
        api.patch(_CONFIGURATION, [change], "json")


def trust(api: ApiClient, authority: Path) -> None:
    """Has the configuration trust another CA."""
    bundle = base64.b64encode(authority.read_bytes()).decode()
    change = {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}
    api.patch(_CONFIGURATION, [change], "json")


# Whatever the webhook's namespace may hold, owners before what they own.
_CONTENTS = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("v1", "Pod"),
    ("v1", "Service"),
    ("discovery.k8s.io/v1", "EndpointSlice"),
    ("v1", "ServiceAccount"),
    ("v1", "Secret"),
    ("v1", "ConfigMap"),
    ("v1", "Event"),
    ("policy/v1", "PodDisruptionBudget"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    LEASE,
)


def remove_everything(cluster: Cluster) -> None:
    """Takes away all that an installation may have left.

    The namespace is emptied and let go by hand: the namespace controller waits five seconds
    before it begins.
    """
    api = cluster.api
    ours = "app.kubernetes.io/part-of=kubectl-llmfit"
    api.delete_all(*CONFIGURATIONS, labelSelector=ours)
    for role in ("ClusterRole", "ClusterRoleBinding"):
        api.delete_all("rbac.authorization.k8s.io/v1", role, labelSelector=ours)
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    api.delete(namespace)
    for version, kind in _CONTENTS:
        if api.find("v1", "Namespace", NAMESPACE) is None:
            return
        for each in api.list(version, kind, NAMESPACE):
            api.delete({"apiVersion": version, "kind": kind, **each}, grace_seconds=0)
    path = api.path("v1", "Namespace", NAMESPACE)
    with contextlib.suppress(ApiError):
        # Unless the controller was faster after all.
        api.request("PUT", f"{path}/finalize", namespace | {"spec": {"finalizers": []}})
    wait_for(lambda: api.find("v1", "Namespace", NAMESPACE) is None, what="the namespace's end")
