"""The webhook as it is shipped, fail-closed, with two replicas.

The manifests are installed by the plugin, and each replica has the token of their ServiceAccount.
Of what is installed two things are changed, since nobody serves a Service's address here: the
Service leads to loopback, and the configuration names the port there.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from cryptography import x509

from kubectl_llmfit.installing.manifests import NAME, NAMESPACE
from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.servers import free_port
from tests.controlplane.waiting import wait_for
from tests.e2e.plugin import in_cluster, llmfit
from tests.e2e.webhook.load import is_admitted
from tests.e2e.webhook.pods import CONFIGURATIONS, LEASE, Kubelets, lead_to, remove_everything
from tests.e2e.webhook.tls import CALM as CALM_CERTIFICATES
from tests.e2e.webhook.tls import FAST as FAST_CERTIFICATES

ROOT = Path(__file__).parents[3]
LEASE_SECONDS = 3.0
"""After it another may lead; a leader that can't renew stops after two seconds."""
RENEW_SECONDS = 2.0

_LEASE = {"lease": [LEASE_SECONDS, RENEW_SECONDS, 0.4]}
CALM = CALM_CERTIFICATES | _LEASE | {"every_review_a_handshake": False}
FAST = FAST_CERTIFICATES | _LEASE | {"every_review_a_handshake": True}


@dataclass(frozen=True)
class Replica:
    """A process of the webhook, by its name in the cluster's process group."""

    cluster: Cluster
    name: str

    @property
    def pid(self) -> int:
        return self.cluster.group.pids[self.name]

    @property
    def log(self) -> list[Object]:
        """Its log; a line that is still being written is left out."""
        text = self.cluster.group.log(self.name).read_text()
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def said(self, message: str) -> list[Object]:
        """The lines of its log whose messages match."""
        return [line for line in self.log if re.match(message, line["message"])]

    def is_ready(self) -> bool:
        """Whether ``/readyz`` says so."""
        return self._page("/readyz") is not None

    @property
    def leads(self) -> bool:
        """Whether it says so in its metrics."""
        return "\nllmfit_webhook_leader 1.0\n" in (self._page("/metrics") or "")

    @property
    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
        assert found
        return int(found[1]) * 1024

    def _page(self, path: str) -> str | None:
        for line in self.said("listening$"):
            with suppress(httpx.HTTPError):
                page = f"http://127.0.0.1:{line['plain_port']}{path}"
                answer = httpx.get(page, trust_env=False)
                return answer.text if answer.is_success else None
        return None


class Production:
    """An installation, and the replicas that a test has started."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.api = cluster.api
        self.port = free_port()
        self.started: list[Replica] = []

    def install(self, pace: dict[str, Any]) -> None:
        """Installs the manifests, and starts two replicas as soon as their account is there."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.api.create(namespace)
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": NAME}}
        external = {"type": "ExternalName", "externalName": "localhost"}
        self.api.create(service | {"spec": external}, NAMESPACE)
        with ThreadPoolExecutor() as pool:
            installing = pool.submit(self.plugin, "install", "--overlay", "fail-closed")

            def account_is_there() -> bool:
                if installing.done():
                    installing.result()
                return self.api.find("apps/v1", "Deployment", NAME, NAMESPACE) is not None

            wait_for(account_is_there, what="the Deployment")
            self.start("a", "b", pace=pace)
            with Kubelets(self.cluster):
                installing.result()
        lead_to(self.api, self.port)
        (webhook,) = self.api.get(*CONFIGURATIONS, NAME)["webhooks"]
        assert webhook["failurePolicy"] == "Fail"

    def plugin(self, *arguments: str) -> str:
        """What ``kubectl llmfit webhook ARGUMENTS`` says; it must succeed."""
        done = llmfit("webhook", *arguments, environment=in_cluster(self.cluster))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, *names: str, pace: dict[str, Any]) -> list[Replica]:
        """Starts replicas, and returns when they are ready."""
        kubeconfig = self.cluster.kubeconfig_for(NAMESPACE, NAME)
        environment = {
            "KUBECONFIG": str(kubeconfig),
            "PYTHONPATH": str(ROOT),
            "LLMFIT_TEST_PACE": json.dumps(pace),
        }
        made = [Replica(self.cluster, f"replica-{each}-{secrets.token_hex(3)}") for each in names]
        for each in made:
            command = [
                sys.executable, "-m", "tests.e2e.webhook.production_replica",
                "--bind-address=127.0.0.1", f"--tls-port={self.port}", "--plain-port=0",
            ]  # fmt: skip
            self.cluster.run(each.name, command, environment)
            self.started.append(each)
        for each in made:
            self.cluster.group.wait_ready(each.name, each.is_ready, "/readyz")
        return made

    def kill(self, replica: Replica) -> None:
        """Ends a replica as by ``kill -9``."""
        self.cluster.group.stop(replica.name)

    def alive(self) -> list[Replica]:
        """The replicas that have not been killed."""
        return [each for each in self.started if each.name in self.cluster.group.pids]

    def leader(self) -> Replica | None:
        """The replica that leads by the Lease, by its log and by its metrics."""
        lease = self.api.find(*LEASE, NAME, NAMESPACE)
        holder = lease["spec"].get("holderIdentity") or "" if lease else ""
        for each in self.started:
            if each.said(f"{re.escape(holder)} leads by lease ") and each.leads:
                return each
        return None

    def wait_leader(self) -> Replica:
        """The leader, as soon as there is one."""
        found = wait_for(self.leader, 30, "a leader")
        assert found
        return found

    def wait_admitting(self, sandbox: Sandbox) -> None:
        """Returns when one of the replicas leads, and the API server can call them."""
        self.wait_leader()
        wait_for(lambda: is_admitted(sandbox), 30, "a pod that is admitted")

    def trusted(self) -> list[x509.Certificate]:
        """The CAs in the caBundle."""
        found = self.api.get(*CONFIGURATIONS, NAME)["webhooks"][0]["clientConfig"]
        bundle = base64.b64decode(found.get("caBundle", ""))
        return x509.load_pem_x509_certificates(bundle) if bundle else []

    def served(self) -> set[str]:
        """Serial numbers of all certificates that any replica has served with."""
        said = [line for each in self.started for line in each.said("serving certificate ")]
        return {line["message"].split()[2] for line in said}

    def faults(self, excused: tuple[datetime, datetime] | None = None) -> list[Object]:
        """Lines of the logs with a traceback or a lack of rights.

        An API server that has just started knows no roles yet, and says Forbidden to everybody:
        ``excused`` is from when to when that was so.
        """
        found = []
        for line in (line for each in self.started for line in each.log):
            forbidden = "forbidden" in json.dumps(line).lower()
            if excused and excused[0] <= datetime.fromisoformat(line["time"]) <= excused[1]:
                forbidden = False
            if "traceback" in line or forbidden:
                found.append(line)
        return found

    def remove(self) -> None:
        """Ends the replicas and takes away what is left of the installation."""
        for each in self.alive():
            self.kill(each)
        remove_everything(self.cluster)
