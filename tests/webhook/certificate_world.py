"""A model of the cluster around certificates: an API server, a clock, replicas that may fail.

The real API server sees a changed configuration after milliseconds and never crashes a leader
between two given calls. Here it takes as long as is promised to be tolerated, and any call may be
the last one.
"""

from __future__ import annotations

import base64
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeVar, cast

from cryptography import x509

from webhook.certificates.authority import Lifetimes, service_names, signed_by
from webhook.certificates.clock import ServerClock
from webhook.certificates.material import Material
from webhook.certificates.rotation import Rotation
from webhook.certificates.secret import SecretStore
from webhook.certificates.trust import WebhookTrust
from webhook.kube.client import ApiError, Client, Object, Unavailable

NAMES = service_names("llmfit-webhook", "llmfit-system")
LIVES = Lifetimes(timedelta(seconds=600), timedelta(seconds=180), 2 / 3, timedelta(seconds=10))
SETTLE_SECONDS = 5.0
START = datetime(2026, 1, 1, tzinfo=UTC)
WEBHOOK = "pods.llmfit.ai"

Value = TypeVar("Value")


@dataclass
class World:
    """The objects, the time in seconds since the start, and every caBundle with its beginning."""

    now: float = 0.0
    secret: Object | None = None
    bundles: list[tuple[float, str]] = field(default_factory=lambda: [(0.0, "")])
    calls_left: int | None = None
    version: int = 0

    def put(self, secret: Object) -> None:
        """Store the Secret as a new version."""
        self.version += 1
        meta = {**secret["metadata"], "resourceVersion": str(self.version)}
        self.secret = {**secret, "metadata": meta}

    def seen_bundles(self) -> list[tuple[x509.Certificate, ...]]:
        """What some API server may trust now: what was in force at any time since the lag."""
        ends = [at for at, _ in self.bundles[1:]] + [float("inf")]
        lag = SETTLE_SECONDS - 1
        seen = [
            bundle
            for (_, bundle), end in zip(self.bundles, ends, strict=True)
            if end > self.now - lag
        ]
        return [certificates(each) for each in seen]


@cache
def certificates(bundle: str) -> tuple[x509.Certificate, ...]:
    """The CAs of a caBundle."""
    return tuple(x509.load_pem_x509_certificates(base64.b64decode(bundle))) if bundle else ()


def finished(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """The value of a coroutine that never waits, at a fraction of an event loop's cost."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        value: Value = stop.value
        return value
    raise AssertionError("it waits for something")


class ModelClient:
    """The API server's answers in the world; after ``calls_left`` calls it answers no more."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def get(self, path: str) -> Object:
        """The Secret or the configuration."""
        self._count()
        if "/secrets/" in path:
            if self._world.secret is None:
                raise ApiError(404, "NotFound", "no Secret")
            return self._world.secret
        bundle = self._world.bundles[-1][1]
        client = {"caBundle": bundle} if bundle else {}
        return {"webhooks": [{"name": WEBHOOK, "clientConfig": client}]}

    async def create(self, path: str, obj: Object, *, dry_run: bool = False) -> Object:
        """The Secret, or the dry run that tells the time."""
        self._count()
        if dry_run:
            stamp = (START + timedelta(seconds=int(self._world.now))).isoformat()
            return {"metadata": {"creationTimestamp": stamp}}
        if self._world.secret is not None:
            raise ApiError(409, "AlreadyExists", "there is one")
        self._world.put(obj)
        return obj

    async def replace(self, path: str, obj: Object) -> Object:
        """The Secret, if it is still as it was read."""
        self._count()
        current = self._world.secret
        stated = obj["metadata"]["resourceVersion"]
        if current is None or current["metadata"]["resourceVersion"] != stated:
            raise ApiError(409, "Conflict", "it has changed")
        self._world.put(obj)
        return obj

    async def json_patch(self, path: str, operations: list[Object]) -> Object:
        """The caBundle, if it is still as it was read."""
        self._count()
        bundle = self._world.bundles[-1][1]
        *tests, change = operations
        for each in tests:
            if each["path"].endswith("caBundle") and each["value"] != bundle:
                raise ApiError(422, "Invalid", "test failed")
        self._world.bundles.append((self._world.now, change["value"]))
        return {}

    def _count(self) -> None:
        if self._world.calls_left is not None:
            if self._world.calls_left == 0:
                raise Unavailable("no answer")
            self._world.calls_left -= 1


class ModelReplica:
    """A replica: it serves the Secret's chain and, when told that it leads, renews."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.leads = False
        self.served: x509.Certificate | None = None
        client = cast("Client", ModelClient(world))
        self._store = SecretStore(client, "llmfit-system", "llmfit-webhook-tls")
        self._rotation = Rotation(
            self._store,
            WebhookTrust(client, "llmfit-webhook", WEBHOOK),
            ServerClock(client, "llmfit-system", self._time),
            NAMES,
            lambda: self.leads,
            LIVES,
            SETTLE_SECONDS,
            self._time,
        )

    def look(self) -> None:
        """One look, as ``OwnCertificates`` takes it."""
        finished(self._look())

    async def _look(self) -> None:
        try:
            stored = await self._store.read()
            if stored is not None and stored.material is not None:
                self.served = stored.material.serving.certificate
            if self.leads:
                await self._rotation.step(stored)
        except (ApiError, Unavailable):
            return

    def _time(self) -> float:
        return self._world.now


def material(world: World) -> Material:
    """What the Secret holds."""
    store = SecretStore(cast("Client", ModelClient(world)), "llmfit-system", "llmfit-webhook-tls")
    stored = finished(store.read())
    assert stored is not None
    assert stored.material is not None
    return stored.material


def agreed(world: World, replica: ModelReplica) -> bool:
    """Whether every API server takes what a replica serves, at this moment."""
    served = replica.served
    if served is None:
        return True
    now = START + timedelta(seconds=world.now)
    return served.not_valid_before_utc <= now < served.not_valid_after_utc and all(
        any(_signed_by(served, each) and now < each.not_valid_after_utc for each in trusted)
        for trusted in world.seen_bundles()
    )


_signed_by = cache(signed_by)
