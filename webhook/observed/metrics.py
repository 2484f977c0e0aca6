"""What Prometheus scrapes. Labels have few values each, none of them a user's."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from webhook.reviews.answer import Outcome

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """The metrics of one process, in a registry of their own that other parts add theirs to."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._reviews = Counter(
            "llmfit_webhook_reviews",
            "Admission reviews, by what became of them and the reason's token.",
            ("decision", "reason"),
            registry=self.registry,
        )
        self._counters: dict[tuple[Outcome, str], Counter] = {}
        self._seconds = Histogram(
            "llmfit_webhook_review_duration_seconds",
            "Time from a review's headers to its answer.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "llmfit_webhook_reviews_in_flight",
            "Reviews at hand.",
            registry=self.registry,
        )
        self.templates_made = Counter(
            "llmfit_webhook_templates_made",
            "ResourceClaimTemplates that this replica has made.",
            registry=self.registry,
        )
        self.templates = Gauge(
            "llmfit_webhook_templates",
            "ResourceClaimTemplates of the webhook that this replica knows of.",
            registry=self.registry,
        )
        self.leader = Gauge(
            "llmfit_webhook_leader",
            "Whether this replica leads: renews certificates, sweeps and remakes templates.",
            registry=self.registry,
        )
        self.certificate_expires = Gauge(
            "llmfit_webhook_certificate_expiry_timestamp_seconds",
            "When the served certificate ends (Unix time); 0 before there is one.",
            registry=self.registry,
        )
        self.catalog = Info(
            "llmfit_webhook_catalog",
            "What the catalog of models was built from, and how many it has.",
            registry=self.registry,
        )
        self.build = Info(
            "llmfit_webhook_build",
            "The version that runs.",
            registry=self.registry,
        )

    def reviewed(self, outcome: Outcome, token: str, seconds: float) -> None:
        """Counts one review."""
        counter = self._counters.get((outcome, token))
        if counter is None:
            counter = self._counters[outcome, token] = self._reviews.labels(outcome, token)
        counter.inc()
        self._seconds.observe(seconds)

    def page(self) -> bytes:
        """The text of ``/metrics``."""
        return generate_latest(self.registry)
