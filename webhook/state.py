"""What the webhook knows of its cluster: devices, classes, namespaces, its own templates."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.rewrite.annotated import MAX_LENGTH, PREFIX
from webhook.devices import SliceCounts, total
from webhook.kube.client import ApiError, Client, Object
from webhook.kube.paths import path
from webhook.kube.served import ServedVersion
from webhook.kube.watch import Key, Known, Source, Watched
from webhook.templates.known import OWN, KnownTemplate

# A page is in memory as a whole. A slice may hold 128 devices, some 80 KB of JSON; templates and
# namespaces are small, but others write them, too, and an object may have 1.5 MB.
_OBJECTS_A_PAGE = 50
# The webhook reads a handful of annotations; nobody's namespace takes more memory than these.
ANNOTATIONS_MAX = 32

Annotations = Mapping[str, str]
_NONE: Annotations = {}


class ClusterState:
    """Watches a cluster while ``run`` runs. Everything asked of it is answered from memory."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._served = ServedVersion(client)
        self.templates = Watched(
            client,
            Source(
                "templates of the webhook",
                lambda: self._served.collection("resourceclaimtemplates"),
                lambda each: KnownTemplate.of(each, self._served.known),
                {"labelSelector": OWN},
                page_size=_OBJECTS_A_PAGE,
                selects=lambda template: template.is_own,
            ),
        )
        self.slices = Watched(
            client,
            Source(
                "resource slices",
                lambda: self._served.collection("resourceslices"),
                SliceCounts.of,
                page_size=_OBJECTS_A_PAGE,
            ),
        )
        self.device_classes = Watched(
            client,
            Source(
                "device classes",
                lambda: self._served.collection("deviceclasses"),
                lambda each: (each.get("spec") or {}).get("extendedResourceName"),
            ),
        )
        self.namespaces = Watched(
            client,
            Source("namespaces", _namespaces, _annotations, page_size=_OBJECTS_A_PAGE),
        )
        self._published: Published | None = None
        self.slices.listen(self._recount)

    async def run(self) -> None:
        """Watches until cancelled."""
        async with asyncio.TaskGroup() as group:
            for each in self._all():
                group.create_task(each.run())

    @property
    def synced(self) -> bool:
        """Whether everything has been read once, so that nothing is decided in ignorance."""
        return all(each.synced for each in self._all())

    def problems(self) -> list[str]:
        """Why any part of it can't be brought up to date at the moment."""
        return [each.problem for each in self._all() if each.problem]

    @property
    def api_version(self) -> str:
        """The best version of resource.k8s.io that the cluster serves, for templates."""
        return self._served.known

    def published(self) -> Published | None:
        """What the cluster's slices publish; ``None`` before they have been read."""
        if not self.slices.synced:
            return None
        if self._published is None:
            self._published = total(known.value for _, known in self.slices.items())
        return self._published

    def namespace(self, name: str) -> Object | None:
        """The namespace, with its llmfit annotations alone; ``None`` where it is not known."""
        known = self.namespaces.get(("", name))
        if known is None:
            return None
        return {"metadata": {"name": name, "annotations": dict(known.value)}}

    async def learn_namespace(self, name: str) -> None:
        """Asks for a namespace that is not known: it may be newer than what the watch has told.

        Raises:
            ApiError: the server refused, but for ``NotFound``.
            Unavailable: the API server did not answer.
        """
        if self.namespaces.get(("", name)) is None:
            try:
                self.namespaces.put(await self._client.get(path("v1", "namespaces", name=name)))
            except ApiError as error:
                if error.reason != "NotFound":
                    raise

    def lacks(self, device_class: str) -> bool:
        """Whether the cluster is known to have no such DeviceClass."""
        return self.device_classes.synced and self.device_classes.get(("", device_class)) is None

    def _all(self) -> Sequence[Watched[Any]]:
        return self.templates, self.slices, self.device_classes, self.namespaces

    def _recount(
        self, _key: Key, before: Known[SliceCounts] | None, now: Known[SliceCounts] | None
    ) -> None:
        # Most changes of a slice are to the health of a device. The sum is made when it is asked
        # for: a driver that starts publishes many slices at once.
        if before is None or now is None or before.value != now.value:
            self._published = None


async def _namespaces() -> str:
    return path("v1", "namespaces")


def _annotations(namespace: Object) -> Annotations:
    """The llmfit annotations, bounded; what is too long keeps enough to be refused for it."""
    found = namespace["metadata"].get("annotations") or {}
    ours = [name for name in found if name.startswith(PREFIX)]
    if not ours:
        return _NONE
    return {name: str(found[name])[: MAX_LENGTH + 1] for name in sorted(ours)[:ANNOTATIONS_MAX]}
