"""What stands in for the webhook's pods, since no kubelet runs here.

The pods that the Deployment makes are real; a thread says that they are ready, and confirms their
end. Reviews reach a real webhook on loopback that reads its certificate from files: the Service is
of type ExternalName before the installation comes, which leaves that as it is.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import json
import secrets
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from kubectl_llmfit.installing.manifests import NAME, NAMESPACE
from tests.controlplane.client import ApiClient, ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.waiting import wait_for
from tests.webhook.pki import Pki

ROOT = Path(__file__).parents[2]
CONFIGURATIONS = ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
LEASE = ("coordination.k8s.io/v1", "Lease")
LEADER = "llmfit-webhook-5f7d9-x2v4q"
_PAUSE = 0.05


class Kubelets:
    """Says that the webhook's pods are ready, and confirms their end, for as long as it is open."""

    def __init__(self, cluster: Cluster, *, ready: bool = True) -> None:
        self._api: ApiClient = cluster.api.as_token(cluster.token)
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
                for pod in self._api.list("v1", "Pod", NAMESPACE):
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
    """The webhook as a process on loopback, with a certificate from files."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster = cluster
        self._api = cluster.api
        self._name = f"webhook-{secrets.token_hex(3)}"
        pki = Pki(folder, f"{NAME}.{NAMESPACE}.svc")
        self.authority = pki.authority.read_bytes()
        command = [
            sys.executable, "-m", "webhook", "--bind-address=127.0.0.1", "--tls-port=0",
            "--plain-port=0", f"--tls-cert-file={pki.certificate}", f"--tls-key-file={pki.key}",
        ]  # fmt: skip
        cluster.run(self._name, command, {"PYTHONPATH": str(ROOT)})
        cluster.group.wait_ready(self._name, self._listening, "the webhook listens")
        self.port: int = self._listening()[0]["tls_port"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._cluster.group.stop(self._name)

    def _listening(self) -> list[Object]:
        """The line of its log that says on which ports it listens."""
        lines = self._cluster.group.log(self._name).read_text().split("\n")[:-1]
        return [line for line in map(json.loads, lines) if line["message"] == "listening"]

    def redirect(self) -> None:
        """Makes the namespace and a Service that leads to loopback, before the installation."""
        meta = {"name": NAME, "namespace": NAMESPACE}
        spec = {"type": "ExternalName", "externalName": "localhost"}
        self._api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        self._api.create({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})

    def trust(self, api: ApiClient) -> None:
        """Fills in caBundle and the real port, as soon as there is a configuration."""
        found = api.find(*CONFIGURATIONS, NAME)
        if found is not None and "caBundle" not in found["webhooks"][0]["clientConfig"]:
            set_trust(api, self.authority, self.port)

    def lead(self, api: ApiClient) -> None:
        """Holds the Lease, as one of the replicas would."""
        meta = {"name": NAME, "namespace": NAMESPACE}
        lease: Object = {"apiVersion": LEASE[0], "kind": LEASE[1], "metadata": meta}
        now = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        spec = {"holderIdentity": LEADER, "leaseDurationSeconds": 15, "renewTime": now}
        if api.find(*LEASE, NAME, NAMESPACE) is None:
            api.create({**lease, "spec": spec})
        else:
            api.patch(lease, {"spec": spec})


def set_trust(api: ApiClient, authority: bytes, port: int) -> None:
    """Changes the configuration's caBundle and port."""
    client = "/webhooks/0/clientConfig"
    named = {"apiVersion": CONFIGURATIONS[0], "kind": CONFIGURATIONS[1], "metadata": {"name": NAME}}
    bundle = base64.b64encode(authority).decode()
    operations = [
        {"op": "add", "path": f"{client}/caBundle", "value": bundle},
        {"op": "replace", "path": f"{client}/service/port", "value": port},
    ]
    api.patch(named, operations, "json")


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
