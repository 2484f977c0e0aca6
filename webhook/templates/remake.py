"""Making a template again that was deleted while a pod still waits for its claim.

It happens when someone deletes it, when the garbage collector does because the last owner is gone
while a bare pod uses it, and when a review was answered in the moment before its deletion was heard
of. The pod would wait for ever: the controller that makes claims has nothing to make one from.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from webhook.kube.client import ApiError, Client, Object, Unavailable
from webhook.kube.lease import Leadership
from webhook.kube.watch import Key, Known, Watched
from webhook.templates.keeper import Keeper
from webhook.templates.known import OWN, OWNERS_MAX, KnownTemplate
from webhook.templates.pods import PENDING, Use, uses

_log = logging.getLogger(__name__)

LOOKS_SECONDS = (1.0, 3.0, 10.0, 30.0, 90.0)
"""When, after a deletion, pods are looked at: one may be admitted after it was deleted, by a
replica that has not heard of it, and is there only when all other webhooks have answered."""

REMEMBERED_SECONDS = 600.0
REMEMBERED_MAX = 1000
_TICK_SECONDS = 0.5


@dataclass(frozen=True)
class _Gone:
    """A deleted template, when that was heard of, and how many looks at pods there have been."""

    template: KnownTemplate
    seen_at: float
    looks: int = 0


class Remaker:
    """Remembers deleted templates in every replica; the leader looks at pods, and makes again."""

    def __init__(
        self,
        client: Client,
        templates: Watched[KnownTemplate],
        keeper: Keeper,
        leadership: Leadership,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._templates = templates
        self._keeper = keeper
        self._leadership = leadership
        self._clock = clock
        self._gone: OrderedDict[Key, _Gone] = OrderedDict()
        templates.listen(self._hear)

    async def run(self) -> None:
        """Looks after deleted templates until cancelled."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self._forget_old()
            if self._leadership.is_leader:
                await self.look()

    async def look(self) -> None:
        """Looks at pods where it is time to, and makes again what they wait for."""
        due: defaultdict[str, list[Key]] = defaultdict(list)
        for key, gone in self._gone.items():
            if self._is_due(gone):
                due[key[0]].append(key)
        for namespace, keys in due.items():
            try:
                found = await uses(self._client, namespace, PENDING)
                for key in keys:
                    await self._look_at(key, found.get(key[1], Use()))
            except Unavailable as error:
                _log.warning("deleted templates of namespace %s: %s", namespace, error)
            except ApiError as error:
                _log.warning("deleted templates of namespace %s: %s", namespace, error)
                self._count_look(keys)
            else:
                self._count_look(keys)

    def _is_due(self, gone: _Gone) -> bool:
        looks = LOOKS_SECONDS[gone.looks :]
        return bool(looks) and self._clock() >= gone.seen_at + looks[0]

    def _count_look(self, keys: Iterable[Key]) -> None:
        for key in keys:
            if gone := self._gone.get(key):
                self._gone[key] = replace(gone, looks=gone.looks + 1)

    async def _look_at(self, key: Key, use: Use) -> None:
        gone = self._gone.get(key)
        if gone is None or not use.is_awaited:
            return
        owners = list(use.controllers.values())[:OWNERS_MAX]
        for owner in owners or (None,):
            await self._keeper.ensure(_template(key, gone.template), owner)
        _log.info("ResourceClaimTemplate %s/%s is made again: a pod waits for it", *key)

    def _hear(
        self, key: Key, before: Known[KnownTemplate] | None, now: Known[KnownTemplate] | None
    ) -> None:
        if now is not None:
            self._gone.pop(key, None)
        elif before is not None and before.value.spec:
            self._gone[key] = _Gone(before.value, self._clock())
            self._gone.move_to_end(key)
            if len(self._gone) > REMEMBERED_MAX:
                self._gone.popitem(last=False)

    def _forget_old(self) -> None:
        while self._gone:
            key, oldest = next(iter(self._gone.items()))
            if self._clock() < oldest.seen_at + REMEMBERED_SECONDS:
                return
            del self._gone[key]


def _template(key: Key, known: KnownTemplate) -> Object:
    label, _, value = OWN.partition("=")
    namespace, name = key
    return {
        "apiVersion": known.api_version,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace, "labels": {label: value}},
        "spec": json.loads(known.spec),
    }
