"""Decisions over pods, remembered: the pods of a workload are all alike where it counts."""

from __future__ import annotations

import asyncio
import hashlib
import marshal
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kubectl_llmfit.core.boards import Board
from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.rewrite import annotated
from kubectl_llmfit.core.rewrite.admission import decide_pod, essence
from kubectl_llmfit.core.rewrite.decision import Finish, Inject, Skip
from kubectl_llmfit.core.rewrite.held import WEBHOOK
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from webhook.kube.client import Object
from webhook.reviews.models import Models
from webhook.reviews.verdicts import DENY, Decided, concluded

Answer = Inject | Finish | Skip

REMEMBERED = 512
LARGEST_BYTES = 32 * 1024
"""Decisions over larger pods are made anew each time, so that what is kept stays small."""


class Surroundings(Protocol):
    """What the caches know of the cluster."""

    @property
    def api_version(self) -> str:
        """The version of resource.k8s.io that templates are written in."""

    def published(self) -> Published | None:
        """What the cluster's slices publish; ``None`` where they are not watched."""

    def namespace(self, name: str) -> Object | None:
        """The namespace; ``None`` where it is not known."""

    async def learn_namespace(self, name: str) -> None:
        """Asks for a namespace that is not known: it may be newer than what the watch has told.

        Raises:
            Unavailable: the API server did not answer.
            ApiError: it refused.
        """

    def lacks(self, device_class: str) -> bool:
        """Whether the cluster is known to have no such DeviceClass."""


class Decisions:
    """Decides over pods by ``models``, ``boards`` and ``surroundings``. Belongs to one loop.

    ``on_mistake``: ``deny`` refuses a pod that has one, ``warn`` lets it pass unchanged.
    """

    def __init__(
        self,
        models: Models,
        boards: Sequence[Board],
        surroundings: Surroundings,
        on_mistake: str = DENY,
    ) -> None:
        self._models = models
        self._boards = tuple(boards)
        self._surroundings = surroundings
        self._on_mistake = on_mistake
        self._published: Published | None = None
        self._remembered: OrderedDict[bytes, Decided] = OrderedDict()
        # One slow search of the catalog at a time, so that they can't starve the rest.
        self._searching = asyncio.Semaphore(1)

    def remembered(self, pod: Mapping[str, Any], namespace: str) -> Decided | None:
        """What becomes of ``pod``, where ``namespace`` is known and one like it was decided."""
        known = self._surroundings.namespace(namespace)
        if known is None:
            return None
        return self._remembered.get(self._key(essence(pod), namespace, known))

    async def over(self, pod: Mapping[str, Any], namespace: str) -> Decided:
        """What becomes of ``pod`` in ``namespace``."""
        pod = essence(pod)
        key = self._key(pod, namespace, self._surroundings.namespace(namespace))
        found = self._remembered.get(key)
        if found is None:
            published = self._published
            decision = await self._made(pod, self._wishes(namespace), published)
            found = concluded(decision, self._on_mistake)
            if key and self._published is published:
                self._remember(key, found)
        return found

    def _wishes(self, namespace: str) -> Wishes:
        known = self._surroundings.namespace(namespace) or {}
        return Wishes(
            layer={},
            api_version=self._surroundings.api_version,
            namespace=namespace,
            defaults=annotated.defaults(known.get("metadata")),
            maker=WEBHOOK,
        )

    def _key(self, pod: Mapping[str, Any], namespace: str, known: Object | None) -> bytes:
        """What the decision depends on, in short; empty where it is not to be remembered."""
        surroundings = self._surroundings
        published = surroundings.published()
        if published != self._published:
            self._published = published
            self._remembered.clear()
        # A form without references, in a third of the time of JSON; it is never read.
        text = marshal.dumps([pod, namespace, surroundings.api_version, known], 2)
        if len(text) > LARGEST_BYTES:
            return b""
        return hashlib.blake2b(text, digest_size=16).digest()

    async def _made(
        self, pod: Mapping[str, Any], wishes: Wishes, published: Published | None
    ) -> Answer | Refused:
        named = annotated.model(pod["metadata"])
        if named is None or self._models.is_quick(named.value):
            return self._decide(pod, wishes, published)
        async with self._searching:
            return await asyncio.to_thread(self._decide, pod, wishes, published)

    def _decide(
        self, pod: Mapping[str, Any], wishes: Wishes, published: Published | None
    ) -> Answer | Refused:
        knowledge = Knowledge(
            self._models.resolve, self._models.exact, lambda: self._boards, published=published
        )
        try:
            return decide_pod(pod, wishes, knowledge)
        except Refused as refused:
            return Refused(refused.problems)

    def _remember(self, key: bytes, decided: Decided) -> None:
        self._remembered[key] = decided
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
