"""Another mutating webhook: it adds a container with a GPU to every pod that it is sent."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.controlplane.client import Object
from tests.controlplane.sandbox import Sandbox
from tests.webhook.pki import Pki

ADDED: Object = {
    "name": "added",
    "image": "none.invalid/none",
    "resources": {"limits": {"nvidia.com/gpu": "1"}},
}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        review = json.loads(self.rfile.read(length))
        response = {"uid": review["request"]["uid"], "allowed": True}
        containers = review["request"]["object"]["spec"]["containers"]
        if ADDED["name"] not in [each["name"] for each in containers]:
            patch = json.dumps([{"op": "add", "path": "/spec/containers/-", "value": ADDED}])
            encoded = base64.b64encode(patch.encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": encoded}
        body = json.dumps({**review, "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing."""


class Neighbour:
    """The other webhook, registered for a sandbox's pods under ``configuration``."""

    def __init__(self, sandbox: Sandbox, folder: Path, configuration: str) -> None:
        self._api = sandbox.api
        pki = Pki(folder, "localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki.certificate, pki.key)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        selector = {"matchLabels": {"kubernetes.io/metadata.name": sandbox.namespace}}
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
        self._configuration: Object = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": configuration},
            "webhooks": [{
                "name": "neighbour.llmfit.test",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {
                    "url": f"https://localhost:{self._server.server_port}/",
                    "caBundle": base64.b64encode(pki.authority.read_bytes()).decode(),
                },
                "rules": [{**rule, "operations": ["CREATE"]}],
                "namespaceSelector": selector,
                "sideEffects": "None",
                "failurePolicy": "Fail",
            }],
        }  # fmt: skip

    def __enter__(self) -> Self:
        self._thread.start()
        self._api.create(self._configuration)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._api.delete(self._configuration)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
