"""Replicas with certificates of their own, registered at a real API server; load and watchers."""

from __future__ import annotations

import base64
import json
import os
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from cryptography import x509

from tests.controlplane.client import ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.servers import free_port
from tests.controlplane.waiting import wait_for
from tests.e2e.webhook.tls_replica import SEEN_LABEL

ROOT = Path(__file__).parents[3]
SERVICE_ACCOUNT = "llmfit-webhook"
SECRET = "llmfit-webhook-tls"
WEBHOOK = "pods.llmfit.ai"
CONFIGURATION = ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")

# A month in some seconds. A replica that takes over from one that was killed does so after about
# 3.5 s, and has 8 left.
FAST = {
    "authority_seconds": 18,
    "serving_seconds": 12,
    "renew_at": 0.3,
    "backdate_seconds": 3,
    "poll_seconds": 0.3,
    "settle_seconds": 1.0,
}
CALM = FAST | {"authority_seconds": 3600, "serving_seconds": 600}


def rules(configuration: str) -> tuple[list[Object], list[Object]]:
    """The rights that certificates and their leader need: in the namespace, in the cluster."""
    secrets = {"apiGroups": [""], "resources": ["secrets"]}
    leases = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    configurations = {
        "apiGroups": ["admissionregistration.k8s.io"],
        "resources": ["mutatingwebhookconfigurations"],
        "resourceNames": [configuration],
    }
    return [
        secrets | {"verbs": ["create"]},
        secrets | {"resourceNames": [SECRET], "verbs": ["get", "update"]},
        leases | {"verbs": ["create"]},
        leases | {"resourceNames": ["llmfit-webhook"], "verbs": ["get", "update"]},
    ], [configurations | {"verbs": ["get", "patch", "watch"]}]


def grant(sandbox: Sandbox, namespaced: list[Object], cluster_wide: list[Object]) -> None:
    """A ServiceAccount with exactly these rights, anew."""
    name = sandbox.namespace
    subject = {"kind": "ServiceAccount", "name": SERVICE_ACCOUNT, "namespace": name}
    sandbox.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": SERVICE_ACCOUNT}}
    )
    for prefix, granted in (("", namespaced), ("Cluster", cluster_wide)):
        kind = f"{prefix}Role"
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
        meta = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name}}
        sandbox.create(meta | {"kind": kind, "rules": granted})
        sandbox.create(
            meta | {"kind": f"{kind}Binding", "roleRef": reference, "subjects": [subject]}
        )


@dataclass
class Replica:
    """A running replica, as a client of its own port sees it."""

    name: str
    own_port: int

    @property
    def served(self) -> x509.Certificate | None:
        """The certificate of a new handshake; ``None`` when nothing listens."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        try:
            with (
                socket.create_connection(("127.0.0.1", self.own_port), timeout=10) as plain,
                context.wrap_socket(plain) as tls,
            ):
                return x509.load_der_x509_certificate(tls.getpeercert(binary_form=True) or b"")
        except (ConnectionError, TimeoutError, ssl.SSLError):
            return None


class Installed:
    """Service, configuration and rights in a sandbox; replicas are added by a test."""

    def __init__(self, cluster: Cluster, sandbox: Sandbox, undo: ExitStack) -> None:
        self.cluster = cluster
        self.sandbox = sandbox
        self.api = sandbox.api
        self.namespace = self.configuration = sandbox.namespace
        self.port = free_port()
        self._undo = undo
        grant(sandbox, *rules(self.configuration))
        for kind in ("ClusterRole", "ClusterRoleBinding"):
            made = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind}
            undo.callback(self.api.delete, made | {"metadata": {"name": self.namespace}})
        # The API server dials localhost, and checks the certificate for the Service's name.
        spec: Object = {"type": "ExternalName", "externalName": "localhost"}
        ports = [{"port": 443, "targetPort": self.port}]
        meta = {"name": "llmfit-webhook"}
        sandbox.create(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": meta,
                "spec": {**spec, "ports": ports},
            }
        )
        self.kubeconfig = cluster.kubeconfig_for(self.namespace, SERVICE_ACCOUNT)

    def register(self) -> None:
        """Create the configuration: every pod of the namespace, and a failure refuses it."""
        service: Object = {"name": "llmfit-webhook", "namespace": self.namespace}
        service |= {"path": "/mutate", "port": self.port}
        selector = {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}
        webhook: Object = {
            "name": WEBHOOK,
            "clientConfig": {"service": service},
            "rules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "resources": ["pods"],
                    "operations": ["CREATE"],
                }
            ],
            "namespaceSelector": selector,
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 10,
        }
        # Another one before ours: it is told by its name, not by its place.
        other = webhook | {
            "name": "other.llmfit.test",
            "failurePolicy": "Ignore",
            "objectSelector": {"matchLabels": {"llmfit.test/never": "matches"}},
        }
        made: Object = {"apiVersion": CONFIGURATION[0], "kind": CONFIGURATION[1]}
        made |= {"metadata": {"name": self.configuration}}
        self._undo.callback(self.api.delete, made)
        self.api.create(made | {"webhooks": [other, webhook]})

    def start(self, name: str, pace: dict[str, Any]) -> Replica:
        """Start a replica; it listens once it is ready."""
        replica = Replica(f"{self.namespace}-{name}", free_port())
        given = pace | {
            "namespace": self.namespace,
            "configuration": self.configuration,
            "identity": name,
            "port": self.port,
            "own_port": replica.own_port,
        }
        command = [sys.executable, "-m", "tests.e2e.webhook.tls_replica", json.dumps(given)]
        environment = {"KUBECONFIG": str(self.kubeconfig), "PYTHONPATH": str(ROOT)}
        environment["PATH"] = os.environ.get("PATH", os.defpath)
        self.cluster.run(replica.name, command, environment)
        self._undo.callback(self._stop, replica)
        return replica

    def kill(self, replica: Replica) -> None:
        """End a replica as by ``kill -9``."""
        self.cluster.group.stop(replica.name)

    def log(self, replica: Replica) -> str:
        """What a replica has logged."""
        return self.cluster.group.log(replica.name).read_text()

    def ready(self, *replicas: Replica) -> None:
        """Wait until replicas serve one chain and the configuration trusts it."""

        def agreed() -> bool:
            served = {each.served for each in replicas}
            return len(served) == 1 and None not in served and signers(served, self.trusted())

        wait_for(agreed, what=lambda: "\n".join(self.log(each) for each in replicas))

    def leader(self, *replicas: Replica) -> Replica:
        """The replica that holds the Lease."""
        lease = self.api.get("coordination.k8s.io/v1", "Lease", "llmfit-webhook", self.namespace)
        holder = lease["spec"]["holderIdentity"]
        (found,) = (each for each in replicas if each.name == f"{self.namespace}-{holder}")
        return found

    def bundle(self) -> bytes:
        """The caBundle as it is now."""
        found = self.api.get(*CONFIGURATION, self.configuration)["webhooks"]
        (mine,) = (each for each in found if each["name"] == WEBHOOK)
        return base64.b64decode(mine["clientConfig"].get("caBundle", ""))

    def trusted(self) -> list[x509.Certificate]:
        """The CAs in the caBundle."""
        bundle = self.bundle()
        return x509.load_pem_x509_certificates(bundle) if bundle else []

    def set_bundle(self, bundle: bytes) -> None:
        """Overwrite the caBundle by hand."""
        found = self.api.get(*CONFIGURATION, self.configuration)
        (mine,) = (each for each in found["webhooks"] if each["name"] == WEBHOOK)
        mine["clientConfig"]["caBundle"] = base64.b64encode(bundle).decode()
        self.api.replace(found)

    def secret(self) -> Object | None:
        """The Secret as it is now."""
        return self.api.find("v1", "Secret", SECRET, self.namespace)

    def delete_secret(self) -> None:
        """Delete the Secret by hand."""
        meta = {"name": SECRET, "namespace": self.namespace}
        self.api.delete({"apiVersion": "v1", "kind": "Secret", "metadata": meta})

    def _stop(self, replica: Replica) -> None:
        if replica.name in self.cluster.group.pids:
            self.cluster.group.stop(replica.name)


@contextmanager
def installed(cluster: Cluster, sandbox: Sandbox) -> Iterator[Installed]:
    """Everything but replicas and the registration."""
    with ExitStack() as undo:
        yield Installed(cluster, sandbox, undo)


def signers(served: set[x509.Certificate | None], trusted: list[x509.Certificate]) -> bool:
    """Whether each served certificate is signed by one of the trusted CAs."""

    def signed(certificate: x509.Certificate) -> bool:
        for each in trusted:
            with suppress(Exception):
                certificate.verify_directly_issued_by(each)
                return True
        return False

    return all(signed(each) for each in served if each is not None)


@dataclass
class Load:
    """A steady load: pods created one after the other, each an admission with a handshake."""

    installed: Installed
    pause_seconds: float = 0.03
    created: int = 0
    failures: list[str] = field(default_factory=list)

    def create(self) -> None:
        """One pod. It is for no scheduler, so nothing but admission happens to it."""
        container = {"name": "main", "image": "registry.k8s.io/pause"}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"generateName": "load-"},
            "spec": {"schedulerName": "none", "containers": [container]},
        }
        try:
            made = self.installed.sandbox.create(pod)
        except (ApiError, httpx.HTTPError) as error:
            self.failures.append(str(error))
            return
        assert SEEN_LABEL in made["metadata"]["labels"]
        self.created += 1

    def run(self, stop: threading.Event) -> None:
        """Until told to stop."""
        while not stop.wait(self.pause_seconds):
            self.create()


@dataclass
class Watcher:
    """Looks whether the API server's trust and what each replica serves agree, all the time."""

    installed: Installed
    replicas: tuple[Replica, ...]
    authorities: set[x509.Certificate] = field(default_factory=set)
    served: set[x509.Certificate] = field(default_factory=set)
    most_trusted: int = 0
    disagreements: list[str] = field(default_factory=list)

    def look(self) -> None:
        """One look, with the trust before and after it."""
        before = self.installed.trusted()
        seen = {each.name: each.served for each in self.replicas}
        after = self.installed.trusted()
        for name, certificate in seen.items():
            if certificate is None:
                continue
            self.served.add(certificate)
            if not (signers({certificate}, before) and signers({certificate}, after)):
                self.disagreements.append(f"{name} serves {certificate.issuer.rfc4514_string()}")
        self.authorities |= set(after)
        self.most_trusted = max(self.most_trusted, len(after))

    def run(self, stop: threading.Event) -> None:
        """Until told to stop."""
        while not stop.wait(0.05):
            self.look()


@contextmanager
def in_background(*parts: Load | Watcher) -> Iterator[None]:
    """Run load and watchers while the block runs; their errors are the test's."""
    stop = threading.Event()
    errors: list[BaseException] = []

    def guarded(part: Load | Watcher) -> None:
        try:
            part.run(stop)
        except BaseException as error:  # noqa: BLE001 - raised below, in the test
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
