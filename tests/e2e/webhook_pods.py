"""What stands in for the webhook's pods, since no kubelet runs here.

The pods that the Deployment makes are real; a thread says that they are ready, and confirms their
end. Reviews reach a process on loopback: the Service is of type ExternalName before the
installation comes, which leaves that as it is.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kubectl_llmfit.installing.manifests import NAME, NAMESPACE
from tests.controlplane.client import ApiClient, ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.waiting import wait_for

CONFIGURATIONS = ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
LEASE = ("coordination.k8s.io/v1", "Lease")
TEMPLATE = f"{NAME}-0123456789ab"
WARNING = "llmfit: claims 1 device of gpu.nvidia.com (claim-added)"
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


class Answers:
    """A webhook on loopback that gives each pod a claim and a warning, behind its own CA."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._api = cluster.api
        self.authority, chain = _certificates(folder)
        self._server = ThreadingHTTPServer(("localhost", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        claim = {"name": "llmfit", "resourceClaimTemplateName": TEMPLATE}
        resources = "/spec/containers/0/resources"
        patch = [
            {"op": "add", "path": "/spec/resourceClaims", "value": [claim]},
            {"op": "add", "path": f"{resources}/claims", "value": [{"name": "llmfit"}]},
        ]
        response: dict[str, Any] = {
            "uid": review["request"]["uid"],
            "allowed": True,
            "warnings": [WARNING],
            "patchType": "JSONPatch",
            "patch": base64.b64encode(json.dumps(patch).encode()).decode(),
        }
        head = {"apiVersion": review["apiVersion"], "kind": review["kind"]}
        body = json.dumps(head | {"response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: Any) -> None:
        """Says nothing: the test's output is for the test."""


def _certificates(folder: Path) -> tuple[bytes, Path]:
    """A CA in PEM, and a file with a serving certificate and its key."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "the tests' webhook CA")])
    now = dt.datetime.now(dt.UTC)

    def builder(subject: x509.Name, public_key: ec.EllipticCurvePublicKey) -> Any:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=30))
        )

    is_ca = x509.BasicConstraints(ca=True, path_length=None)
    ca = builder(name, ca_key.public_key()).add_extension(is_ca, True).sign(ca_key, hashes.SHA256())
    host = x509.SubjectAlternativeName([x509.DNSName(f"{NAME}.{NAMESPACE}.svc")])
    leaf = builder(x509.Name([]), key.public_key())
    leaf = leaf.add_extension(host, True).sign(ca_key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = folder / "serving.pem"
    path.write_bytes(leaf.public_bytes(serialization.Encoding.PEM) + private)
    authority: bytes = ca.public_bytes(serialization.Encoding.PEM)
    return authority, path


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
