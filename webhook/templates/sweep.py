"""Deleting what bare pods have left: templates that have no owner and that no pod names.

Only pods are looked at. A template is needed from the moment when a pod that names it is admitted
until its claim is made, and by nothing but that pod: whatever makes pods (a ReplicaSet, a Job)
holds them as they were before admission, and each new pod is admitted, and its template made, anew.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from webhook.kube.client import ApiError, Client, Unavailable
from webhook.kube.lease import Leadership
from webhook.kube.paths import path
from webhook.kube.watch import Key, Watched
from webhook.templates.known import PLURAL, KnownTemplate
from webhook.templates.pods import uses

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SweepTiming:
    """When leftovers go, in seconds.

    ``unused_seconds`` is how long a template has to be without owners, and unnamed at both ends of
    that time, as seen by this process: no clock of another machine counts. A request may take a
    minute from admission to the pod that others see, so less than that would be a race.
    """

    unused_seconds: float = 1800.0
    every_seconds: float = 300.0


class Sweeper:
    """Sweeps while this process leads."""

    def __init__(
        self,
        client: Client,
        templates: Watched[KnownTemplate],
        leadership: Leadership,
        timing: SweepTiming = SweepTiming(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._templates = templates
        self._leadership = leadership
        self._timing = timing
        self._clock = clock
        # uid → since when it is known to be without owners and unnamed.
        self._unused: dict[str, float] = {}

    async def run(self) -> None:
        """Sweeps until cancelled."""
        await self._templates.until_synced()
        while True:
            await self._leadership.acquired()
            await self.sweep()
            await asyncio.sleep(self._timing.every_seconds)

    async def sweep(self) -> None:
        """One look at all templates without owners."""
        candidates: defaultdict[str, dict[str, Key]] = defaultdict(dict)
        for key, known in self._templates.items():
            if not known.value.owners and not known.value.is_ending:
                candidates[key[0]][known.uid] = key
        present = {uid for each in candidates.values() for uid in each}
        self._unused = {uid: since for uid, since in self._unused.items() if uid in present}
        for namespace, templates in candidates.items():
            try:
                await self._sweep_namespace(namespace, templates)
            except (ApiError, Unavailable) as error:
                _log.warning("leftover templates of namespace %s: %s", namespace, error)

    async def _sweep_namespace(self, namespace: str, templates: dict[str, Key]) -> None:
        named = await uses(self._client, namespace)
        now = self._clock()
        for uid, key in templates.items():
            if key[1] in named:
                self._unused.pop(uid, None)
            elif now - self._unused.setdefault(uid, now) >= self._timing.unused_seconds:
                await self._delete(key, uid)

    async def _delete(self, key: Key, uid: str) -> None:
        known = self._templates.get(key)
        if known is None or known.uid != uid or known.value.owners:
            return
        namespace, name = key
        target = path(known.value.api_version, PLURAL, namespace, name)
        try:
            # Only as it was looked at: an owner that was added since keeps it.
            await self._client.delete(target, uid=uid, resource_version=str(known.version))
        except ApiError as error:
            if error.reason not in {"NotFound", "Conflict"}:
                raise
        else:
            _log.info("ResourceClaimTemplate %s/%s is swept: no pod names it", namespace, name)
