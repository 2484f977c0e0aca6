"""Decisions over pods, remembered: the pods of a workload are all alike where it counts."""

from __future__ import annotations

import asyncio
import hashlib
import json
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
    """Decides over pods by ``models``, ``boards`` and ``surroundings``. Belongs to one loop."""

    def __init__(self, models: Models, boards: Sequence[Board], surroundings: Surroundings) -> None:
        self._models = models
        self._boards = tuple(boards)
        self._surroundings = surroundings
        self._published: Published | None = None
        self._remembered: OrderedDict[bytes, Answer | Refused] = OrderedDict()
        # One slow search of the catalog at a time, so that they can't starve the rest.
        self._searching = asyncio.Semaphore(1)

    async def over(self, pod: Mapping[str, Any], namespace: str) -> Answer:
        """What becomes of ``pod`` in ``namespace``.

        Raises:
            Refused: everything that stands in the way.
        """
        wishes = self._wishes(namespace)
        pod = essence(pod)
        key = self._key(pod, wishes)
        found = self._remembered.get(key)
        if found is None:
            published = self._published
            found = await self._made(pod, wishes, published)
            if key and self._published is published:
                self._remember(key, found)
        if isinstance(found, Refused):
            # An exception that is raised again would hold on to the frames of every caller.
            raise Refused(found.problems)
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

    def _key(self, pod: Mapping[str, Any], wishes: Wishes) -> bytes:
        """What the decision depends on, in short; empty where it is not to be remembered."""
        published = self._surroundings.published()
        if published != self._published:
            self._published = published
            self._remembered.clear()
        defaults = {field: sourced.value for field, sourced in wishes.defaults.items()}
        text = json.dumps([pod, wishes.namespace, wishes.api_version, defaults])
        if len(text) > LARGEST_BYTES:
            return b""
        return hashlib.blake2b(text.encode(), digest_size=16).digest()

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

    def _remember(self, key: bytes, answer: Answer | Refused) -> None:
        self._remembered[key] = answer
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
