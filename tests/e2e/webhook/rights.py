"""The shipped ServiceAccount's rights one by one, and the webhook run with its token."""

from __future__ import annotations

import json
import re
import secrets
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from kubectl_llmfit.installing.manifests import CONFIGURATION, NAME, NAMESPACE, objects
from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.servers import free_port
from tests.controlplane.waiting import wait_for
from tests.e2e.webhook.pods import CONFIGURATIONS, LEASE

ROOT = Path(__file__).parents[3]
SECRET = "llmfit-webhook-tls"
# A month of a certificate and half an hour of the sweeper, in seconds.
PACE = {
    "authority_seconds": 60,
    "serving_seconds": 20,
    "renew_at": 0.2,
    "backdate_seconds": 3,
    "poll_seconds": 0.3,
    "settle_seconds": 0.5,
    "lease": [3, 2, 0.4],
    "sweep": [0.3, 0.2],
}
_ROLES = ("ClusterRole", "Role")
# They need nodes that run the image; a process stands for its replicas.
_RUNNING = ("Deployment", "PodDisruptionBudget")


@dataclass(frozen=True)
class Right:
    """One verb on one resource by a rule of a shipped role; ``name`` is empty for all objects."""

    group: str
    resource: str
    name: str
    namespace: str
    verb: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"

    @property
    def refusal(self) -> str:
        """How the API server words its lack, in a log of JSON lines."""
        return f'cannot {self.verb} resource "{self.resource}"'

    def is_granted(self, cluster: Cluster) -> bool:
        """Whether the ServiceAccount has it, as the API server's authorizer says."""
        names = (self.group, self.resource, *([self.name] if self.name else []))
        return allowed(cluster, "/".join(names), self.namespace, self.verb)


def allowed(cluster: Cluster, resource: str, namespace: str, verb: str) -> bool:
    """Whether the ServiceAccount may; ``resource`` is GROUP/RESOURCE or GROUP/RESOURCE/NAME."""
    group, kind, *names = resource.split("/")
    attributes = {"group": group, "resource": kind, "namespace": namespace, "verb": verb}
    if names:
        attributes["name"] = names[0]
    user = f"system:serviceaccount:{NAMESPACE}:{NAME}"
    spec = {"user": user, "resourceAttributes": attributes}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    return bool(cluster.api.create(review)["status"]["allowed"])


def roles() -> list[Object]:
    """The roles of the base, as shipped."""
    return [each for each in objects() if each["kind"] in _ROLES]


def shipped_rights() -> list[Right]:
    """Every right that the roles of the base give, in their order."""
    return [
        Right(group, resource, name, role["metadata"].get("namespace", ""), verb)
        for role in roles()
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
        for verb in rule["verbs"]
    ]


@contextmanager
def without(cluster: Cluster, right: Right) -> Iterator[None]:
    """Takes one right away from the shipped roles for the time of the block."""
    for role in roles():
        cluster.api.patch(role, {"rules": _without(role["rules"], right)})
    wait_for(lambda: not right.is_granted(cluster), what=f"no right to {right}")
    try:
        yield
    finally:
        for role in roles():
            cluster.api.patch(role, {"rules": role["rules"]})
        wait_for(lambda: right.is_granted(cluster), what=f"the right to {right}")


def _without(rules: list[Object], right: Right) -> list[Object]:
    left: list[Object] = []
    for rule in rules:
        for resource in rule["resources"]:
            same = (resource, rule.get("resourceNames", [""])) == (right.resource, [right.name])
            verbs = [verb for verb in rule["verbs"] if not (same and verb == right.verb)]
            if verbs:
                left.append({**rule, "resources": [resource], "verbs": verbs})
    return left


def install(cluster: Cluster) -> None:
    """The base as shipped, but for what runs it and for the configuration."""
    kinds = (*_RUNNING, CONFIGURATION, "Service")
    for each in objects():
        if each["kind"] not in kinds:
            cluster.api.create(each)
    metadata = {"name": NAME, "namespace": NAMESPACE}
    spec = {"type": "ExternalName", "externalName": "localhost"}
    cluster.api.create({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    wait_for(lambda: all(each.is_granted(cluster) for each in shipped_rights()), what="every right")


class Process:
    """The webhook with the shipped ServiceAccount's token, registered as shipped but for the port.

    It begins without Lease, Secret and caBundle, as after an installation.
    """

    def __init__(self, cluster: Cluster, *flags: str) -> None:
        self.cluster = cluster
        self._name = f"webhook-{secrets.token_hex(3)}"
        port = free_port()
        self.url = f"https://127.0.0.1:{port}"
        self._register(port)
        command = [
            sys.executable, "-m", "tests.e2e.webhook.production_replica",
            "--bind-address=127.0.0.1", f"--tls-port={port}", "--plain-port=0", *flags,
        ]  # fmt: skip
        kubeconfig = cluster.kubeconfig_for(NAMESPACE, NAME)
        environment = {"PYTHONPATH": str(ROOT), "KUBECONFIG": str(kubeconfig)}
        cluster.run(self._name, command, environment | {"LLMFIT_TEST_PACE": json.dumps(PACE)})

    def _register(self, port: int) -> None:
        api = self.cluster.api
        configuration = objects()[-1]
        assert configuration["kind"] == CONFIGURATION
        configuration["webhooks"][0]["clientConfig"]["service"]["port"] = port
        api.delete(configuration)
        for version, kind, name in ((*LEASE, NAME), ("v1", "Secret", SECRET)):
            metadata = {"name": name, "namespace": NAMESPACE}
            api.delete({"apiVersion": version, "kind": kind, "metadata": metadata})
        api.create(configuration)

    def stop(self) -> None:
        """Ends the process, as by ``kill -9``."""
        self.cluster.group.stop(self._name)
        self.cluster.api.delete(objects()[-1])

    def log(self) -> str:
        """What it has logged, with the quotes of its JSON lines as they were."""
        return self.cluster.group.log(self._name).read_text().replace('\\"', '"')

    def refused(self) -> list[str]:
        """What the API server did not let it do, in the server's own words."""
        return re.findall(r'cannot [a-z]+ [a-z]+ "[^"]*"', self.log())

    def is_ready(self) -> bool:
        """Whether it says that it may be asked, and the configuration trusts it."""
        found = re.search(r'"plain_port": ?(\d+)', self.log())
        if found is None:
            return False
        page = httpx.get(f"http://127.0.0.1:{found[1]}/readyz", trust_env=False)
        client = self.cluster.api.get(*CONFIGURATIONS, NAME)["webhooks"][0]["clientConfig"]
        return page.status_code == 200 and bool(client.get("caBundle"))

    def ask(self, review: Object) -> httpx.Response:
        """Its answer to a review that no API server sends."""
        # Whose certificate it is does not matter here.
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        headers = {"Content-Type": "application/json"}
        with httpx.Client(verify=context, trust_env=False, headers=headers) as client:
            return client.post(f"{self.url}/mutate", content=json.dumps(review))
