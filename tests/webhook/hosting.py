"""The webhook's ports in a thread of the test's process, over real TLS on loopback."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.core.drivers.auto import Published
from tests.webhook.pki import Pki
from webhook.certificates.files import FileCertificates
from webhook.observed.metrics import Metrics
from webhook.observed.probes import Probes, Readiness
from webhook.reviews.decisions import Decisions
from webhook.reviews.http import ReviewBounds, Reviews
from webhook.reviews.models import Models
from webhook.reviews.mutate import Mutator
from webhook.serving import Bounds, Listener

Object = dict[str, Any]
T = TypeVar("T")


@dataclass
class Cluster:
    """What the webhook knows of a cluster, and the templates that it had made there."""

    namespaces: dict[str, Object] = field(default_factory=dict)
    publishes: Published | None = None
    made: list[tuple[Object, Object | None]] = field(default_factory=list)
    refusal: Exception | None = None
    holds: bool = False
    without: set[str] = field(default_factory=set)
    unseen: dict[str, Object] = field(default_factory=dict)
    api_version: str = "resource.k8s.io/v1"

    def published(self) -> Published | None:
        return self.publishes

    def namespace(self, name: str) -> Object | None:
        return self.namespaces.get(name)

    async def learn_namespace(self, name: str) -> None:
        """Of ``unseen``, what the watch has not told yet."""
        if self.refusal is not None:
            raise self.refusal
        if name in self.unseen:
            self.namespaces[name] = self.unseen[name]

    def lacks(self, device_class: str) -> bool:
        return device_class in self.without

    def has(self, template: Object, owner: Object | None) -> bool:
        """So that each review is seen to ask for its template."""
        return False

    async def ensure(self, template: Object, owner: Object | None) -> None:
        while self.holds:
            await asyncio.sleep(0.005)
        if self.refusal is not None:
            raise self.refusal
        self.made.append((template, owner))


BOUNDS = ReviewBounds(review_bytes=4 * 1024 * 1024, in_flight=8, patience_s=20, deadline_s=20)


def mutator(cluster: Cluster, on_mistake: str = "deny") -> Mutator:
    """A mutator with the shipped catalog and boards."""
    decisions = Decisions(Models(Catalog()), load_boards([]), cluster, on_mistake)
    return Mutator(decisions, cluster, cluster)


class Hosted:
    """A running webhook, and a client that trusts it."""

    def __init__(
        self, pki: Pki, cluster: Cluster, on_mistake: str, bounds: ReviewBounds, connections: int
    ) -> None:
        self.cluster = cluster
        self.authority = pki.authority
        self.metrics = Metrics()
        self.readiness = Readiness()
        certificates = FileCertificates(str(pki.certificate), str(pki.key))
        certificates.load()
        reviews = Reviews(mutator(cluster, on_mistake), self.metrics, bounds)
        self.tls = Listener(
            reviews.handle,
            Bounds(bounds.review_bytes, connections, bounds.patience_s),
            "127.0.0.1",
            0,
            certificates.ssl_context,
        )
        probes = Probes(self.readiness, self.metrics)
        self.plain = Listener(probes.handle, Bounds(1024, 32, bounds.patience_s), "127.0.0.1", 0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.client: httpx.Client

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs ``work`` in the webhook's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def start(self) -> None:
        self._thread.start()
        self.do(self.tls.start())
        self.do(self.plain.start())
        self.client = httpx.Client(
            base_url=f"https://127.0.0.1:{self.tls.port}",
            verify=ssl.create_default_context(cafile=str(self.authority)),
            trust_env=False,
        )

    def stop(self) -> None:
        self.client.close()
        self.do(self.tls.stop(5))
        self.do(self.plain.stop(5))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def release(self) -> None:
        """Lets the reviews go on that the cluster holds."""
        self.cluster.holds = False

    def send(self, body: Any, **parameters: str) -> httpx.Response:
        """Sends a review, or whatever else."""
        return self.client.post("/mutate", json=body, params=parameters)

    def ask(self, body: Any) -> Object:
        """The response to a review; it has to be one."""
        answered = self.send(body)
        assert answered.status_code == 200, answered.text
        said = answered.json()
        assert (said["apiVersion"], said["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
        response: Object = said["response"]
        return response

    def page(self, path: str) -> httpx.Response:
        """A page of the plain port."""
        return httpx.get(f"http://127.0.0.1:{self.plain.port}{path}", trust_env=False)

    def count(self, decision: str, reason: str = "") -> float:
        """How many reviews had this end."""
        name = "llmfit_webhook_reviews_total"
        labels = {"decision": decision, "reason": reason}
        return self.metrics.registry.get_sample_value(name, labels) or 0.0


@contextmanager
def hosted(
    folder: Path,
    cluster: Cluster | None = None,
    on_mistake: str = "deny",
    bounds: ReviewBounds = BOUNDS,
    connections: int = 32,
) -> Iterator[Hosted]:
    """A running webhook."""
    made = Hosted(Pki(folder), cluster or Cluster(), on_mistake, bounds, connections)
    made.start()
    try:
        yield made
    finally:
        made.stop()
