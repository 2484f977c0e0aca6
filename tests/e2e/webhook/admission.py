"""The webhook beside the API server under test, and a configuration that sends pods to it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.controlplane.client import ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.webhook.pki import Pki

ROOT = Path(__file__).parents[3]
WEBHOOK = "pods.llmfit.ai"
MATCH = "has(object.metadata.annotations) && 'llmfit.ai/model' in object.metadata.annotations"


class Admission:
    """A webhook process behind a Service, so that TLS is checked as in production.

    With a ``folder`` its certificate is made there, in files; else it makes its own.
    """

    def __init__(self, cluster: Cluster, folder: Path | None) -> None:
        self.cluster = cluster
        self._id = secrets.token_hex(3)
        self._namespace = f"webhook-{self._id}"
        self._name = f"webhook-{self._id}"
        self._pki = Pki(folder, f"llmfit-webhook.{self._namespace}.svc") if folder else None
        self._expose()
        command = [
            sys.executable, "-m", "webhook", "--bind-address=127.0.0.1", "--tls-port=0",
            "--plain-port=0", "--drain-seconds=0.5", f"--namespace={self._namespace}",
        ]  # fmt: skip
        if self._pki is not None:
            command.append(f"--tls-cert-file={self._pki.certificate}")
            command.append(f"--tls-key-file={self._pki.key}")
        cluster.run(self._name, command, {"PYTHONPATH": str(ROOT)})
        cluster.group.wait_ready(self._name, self._is_ready, "the webhook is ready")
        (listening,) = self.lines("listening")
        self._port: int = listening["tls_port"]

    def page(self, path: str) -> httpx.Response:
        """A page of the plain port."""
        (line,) = self.lines("listening")
        return httpx.get(f"http://127.0.0.1:{line['plain_port']}{path}", trust_env=False)

    def metric(self, name: str) -> float:
        """A metric of the webhook that has no labels."""
        (value,) = re.findall(rf"^{name} (\S+)$", self.page("/metrics").text, re.MULTILINE)
        return float(value)

    def _is_ready(self) -> bool:
        return bool(self.lines("listening")) and self.page("/readyz").status_code == 200

    def lines(self, message: str) -> list[Object]:
        """The lines of the webhook's log with that message."""
        return [each for each in self._log() if each["message"] == message]

    def errors(self) -> list[Object]:
        """The lines of the webhook's log that are of an error."""
        return [each for each in self._log() if each["level"] == "error"]

    def reviews(self, namespace: str) -> list[Object]:
        """The log's lines of reviews from a namespace, but for the first ones of ``sending``."""
        found = [each for each in self.lines("review") if each.get("namespace") == namespace]
        return [each for each in found if each.get("name") != _PROBE["metadata"]["name"]]

    def requests(self) -> float:
        """How many pods the API server has sent to any webhook of this name, by its metrics."""
        page = self.cluster.api.request("GET", "/metrics")
        pattern = rf'^apiserver_admission_webhook_request_total{{.*name="{WEBHOOK}".*}} (\S+)$'
        return sum(float(count) for count in re.findall(pattern, page, re.MULTILINE))

    @contextmanager
    def sending(self, sandbox: Sandbox, **changes: object) -> Iterator[None]:
        """Sends the annotated pods of a sandbox to the webhook for the time of the block."""
        webhook: Object = {
            "name": WEBHOOK,
            "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "service": {
                    "name": "llmfit-webhook", "namespace": self._namespace, "path": "/mutate",
                    "port": self._port,
                },
            },
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["pods"], "scope": "Namespaced",
            }],
            "matchConditions": [{"name": "names-a-model", "expression": MATCH}],
            "namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": sandbox.namespace},
            },
            "sideEffects": "NoneOnDryRun",
            "reinvocationPolicy": "IfNeeded",
            "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            **changes,
        }  # fmt: skip
        name = "llmfit-webhook"
        if self._pki is not None:
            name = f"llmfit-webhook-{sandbox.namespace}"
            authority = base64.b64encode(self._pki.authority.read_bytes()).decode()
            webhook["clientConfig"]["caBundle"] = authority
        configuration = self.cluster.api.create({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [webhook],
        })  # fmt: skip
        try:
            # The API server learns of the configuration by a watch.
            wait_for(lambda: self._is_asked(sandbox), what="a pod is sent to the webhook")
            yield
        finally:
            self.cluster.api.delete(configuration)

    def _log(self) -> list[Object]:
        text = self.cluster.group.log(self._name).read_text()
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def _is_asked(self, sandbox: Sandbox) -> bool:
        with contextlib.suppress(ApiError):
            # It may know of the webhook before it knows of the Service.
            sandbox.api.dry_run(_PROBE, sandbox.namespace)
        found = [
            each for each in self.lines("review") if each.get("namespace") == sandbox.namespace
        ]
        return bool(found)

    def _expose(self) -> None:
        api = self.cluster.api
        metadata = {"name": self._namespace}
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        api.create(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "llmfit-webhook", "namespace": self._namespace},
                "spec": {"type": "ExternalName", "externalName": "localhost"},
            }
        )

    def end(self) -> None:
        """Asks the process to end, and waits until it says that it has."""
        os.kill(self.cluster.group.pids[self._name], signal.SIGTERM)
        wait_for(lambda: self.lines("ended"), what="the webhook ends")

    def stop(self) -> None:
        """Ends the process and takes the Service away."""
        self.cluster.group.stop(self._name)
        metadata = {"name": self._namespace}
        self.cluster.api.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})


_PROBE: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "is-anyone-there", "annotations": {"llmfit.ai/model": "x"}},
    "spec": {"containers": [{"name": "main", "image": "none.invalid/none"}]},
}
