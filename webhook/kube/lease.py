"""Leader election by a Lease: one replica at a time does what only one should do.

The algorithm is that of client-go's ``leaderelection``. No clock of another machine is ever
believed: a holder's lease counts as over when this process, by its own monotonic clock, has seen no
change of the Lease for as long as the Lease says that it lasts. The times that are written into it
are for people.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from webhook.kube.client import ApiError, Client, Object, Unavailable
from webhook.kube.paths import path

_log = logging.getLogger(__name__)

API_VERSION = "coordination.k8s.io/v1"
PLURAL = "leases"


@dataclass(frozen=True)
class Timing:
    """How long a lease lasts, in seconds; the defaults are those of Kubernetes' own controllers.

    A leader that has not renewed for ``renew_seconds`` leads no more; others may take over after
    ``lease_seconds``. The difference is what the speeds of two machines' clocks may differ by in
    that time.
    """

    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.retry_seconds < self.renew_seconds < self.lease_seconds:
            raise ValueError("a lease lasts longer than its renewal may take, and that than a try")


@dataclass(frozen=True)
class _Observed:
    """A Lease as last read, and when its spec was first seen so, by this process's clock."""

    lease: Object
    seen_at: float

    @property
    def holder(self) -> str:
        return str(self.lease["spec"].get("holderIdentity") or "")

    def held_at(self, now: float, default_seconds: float) -> bool:
        """Whether someone holds it: a renewal since ``seen_at`` would have been seen."""
        seconds = self.lease["spec"].get("leaseDurationSeconds") or default_seconds
        return bool(self.holder) and now < self.seen_at + seconds


class Leadership:
    """Takes part in the election for one Lease while ``run`` runs.

    ``identity`` must be this process's alone: a pod's name and a random part.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        name: str,
        identity: str,
        timing: Timing = Timing(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._path = path(API_VERSION, PLURAL, namespace, name)
        self._identity = identity
        self._timing = timing
        self._clock = clock
        self._observed: _Observed | None = None
        self._leads_until = -math.inf
        self._won = asyncio.Event()

    @property
    def is_leader(self) -> bool:
        """Whether this process leads at this moment.

        It is a comparison of times, so a process that was stopped and goes on much later knows at
        once that it leads no more.
        """
        return self._clock() < self._leads_until

    async def acquired(self) -> None:
        """Returns when this process leads, at once where it does already."""
        while not self.is_leader:
            self._won.clear()
            await self._won.wait()

    async def run(self) -> None:
        """Stands for election until cancelled, and then lets another take over at once."""
        try:
            while True:
                await self._try_once()
                # Spread, so that replicas don't ask in step.
                await asyncio.sleep(self._timing.retry_seconds * random.uniform(0.9, 1.3))  # noqa: S311
        finally:
            await self._release()

    async def _try_once(self) -> None:
        led = self.is_leader
        try:
            async with asyncio.timeout(self._timing.renew_seconds):
                await self._acquire_or_renew()
        except TimeoutError:
            _log.warning("lease %s/%s: no answer in time", self._namespace, self._name)
        except (ApiError, Unavailable) as error:
            _log.warning("lease %s/%s: %s", self._namespace, self._name, error)
        if self.is_leader:
            self._won.set()
        if led != self.is_leader:
            what = "leads" if self.is_leader else "leads no more"
            _log.info("%s %s by lease %s/%s", self._identity, what, self._namespace, self._name)

    async def _acquire_or_renew(self) -> None:
        asked_at = self._clock()
        try:
            lease = await self._client.get(self._path)
        except ApiError as error:
            if error.reason != "NotFound":
                raise
            await self._create(asked_at)
            return
        observed = self._observe(lease)
        own = observed.holder == self._identity
        if not own:
            self._leads_until = -math.inf
            if observed.held_at(self._clock(), self._timing.lease_seconds):
                return
        try:
            # By its resourceVersion: of several that try, one succeeds.
            renewed = await self._client.replace(self._path, self._mine(lease, renewal=own))
        except ApiError as error:
            if error.reason == "Conflict":
                return
            raise
        self._holds(renewed, asked_at)

    def _observe(self, lease: Object) -> _Observed:
        lease["spec"] = lease.get("spec") or {}
        known = self._observed
        # What others write beside the spec is no sign of life of the holder.
        same = known is not None and known.lease["spec"] == lease["spec"]
        seen_at = known.seen_at if known is not None and same else self._clock()
        self._observed = _Observed(lease, seen_at)
        return self._observed

    def _holds(self, lease: Object, asked_at: float) -> None:
        """The Lease is ours. Its time counts from before the request, not from the answer."""
        self._observe(lease)
        self._leads_until = asked_at + self._timing.renew_seconds

    async def _create(self, asked_at: float) -> None:
        metadata = {"name": self._name, "namespace": self._namespace}
        empty = {"apiVersion": API_VERSION, "kind": "Lease", "metadata": metadata, "spec": {}}
        collection = path(API_VERSION, PLURAL, self._namespace)
        try:
            lease = await self._client.create(collection, self._mine(empty, renewal=False))
        except ApiError as error:
            # Another replica that has just started was faster.
            if error.reason != "AlreadyExists":
                raise
            return
        self._holds(lease, asked_at)

    def _mine(self, lease: Object, *, renewal: bool) -> Object:
        """``lease`` with this process as its holder from now on."""
        now = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        spec = dict(lease["spec"])
        if not renewal:
            spec["acquireTime"] = now
            # A first holder is no transition.
            if "holderIdentity" in spec:
                spec["leaseTransitions"] = (spec.get("leaseTransitions") or 0) + 1
        spec |= {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._timing.lease_seconds)),
            "renewTime": now,
        }
        return {**lease, "spec": spec}

    async def _release(self) -> None:
        if not self.is_leader or self._observed is None:
            return
        self._leads_until = -math.inf
        lease = self._observed.lease
        freed = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
        try:
            async with asyncio.timeout(self._timing.retry_seconds):
                await self._client.replace(self._path, {**lease, "spec": freed})
        except (ApiError, Unavailable, TimeoutError) as error:
            _log.warning("lease %s/%s is not released: %s", self._namespace, self._name, error)
