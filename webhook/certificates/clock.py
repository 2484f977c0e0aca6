"""The API server's time, by which certificates are made and renewed.

It is the API server that checks them, so its clock is the one that counts: a replica whose own
clock is wrong makes certificates that are right all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from webhook.kube.client import Client
from webhook.kube.paths import path

# Two clocks drift apart by less than a second in this time.
FRESH_SECONDS = 600.0


class ServerClock:
    """What time it is at the API server, to about a second."""

    def __init__(
        self, client: Client, namespace: str, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._monotonic = monotonic
        self._seen: tuple[datetime, float] | None = None

    async def now(self) -> datetime:
        """The API server's time; it is asked once in ten minutes, in between time is measured.

        The server stamps what is created, also in a dry run that creates nothing. A Lease, because
        the leader may create these in any case.

        Raises:
            ApiError, Unavailable: the server did not say.
        """
        if self._seen is None or self._monotonic() - self._seen[1] > FRESH_SECONDS:
            metadata = {"generateName": "llmfit-webhook-clock-", "namespace": self._namespace}
            lease = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": metadata,
                "spec": {},
            }
            collection = path("coordination.k8s.io/v1", "leases", self._namespace)
            made = await self._client.create(collection, lease, dry_run=True)
            stamp = datetime.fromisoformat(made["metadata"]["creationTimestamp"])
            self._seen = (stamp, self._monotonic())
        stamp, at = self._seen
        return stamp + timedelta(seconds=self._monotonic() - at)
