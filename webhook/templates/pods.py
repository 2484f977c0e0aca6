"""Which templates the pods of a namespace name, and which of those they still wait for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from webhook.kube.client import Client, Object, Query
from webhook.kube.paths import path

_ENDED = ("Succeeded", "Failed")
# A page is in memory as a whole. A pod is some 10 KB, and at most 1.5 MB if someone likes.
_PODS_A_PAGE = 25


@dataclass
class Use:
    """How the pods of a namespace use one template.

    Attributes:
        is_awaited: whether a pod names it that has no claim of it yet, and may still start.
        controllers: owner references of the pods' controllers, by uid.
    """

    is_awaited: bool = False
    controllers: dict[str, Object] = field(default_factory=dict)


PENDING = {"fieldSelector": "status.phase=Pending"}
"""Selects the pods that may wait for a claim: one that has started has had it."""


async def uses(client: Client, namespace: str, query: Query | None = None) -> dict[str, Use]:
    """Every template that a pod of ``namespace`` (of those that ``query`` selects) names now.

    Raises:
        ApiError, Unavailable: the pods could not be listed in full.
    """
    found: dict[str, Use] = {}
    async for pod in _pods(client, namespace, query):
        for name, awaited in _named(pod):
            use = found.setdefault(name, Use())
            use.is_awaited |= awaited
            for owner in pod["metadata"].get("ownerReferences") or ():
                if owner.get("controller"):
                    use.controllers[owner["uid"]] = owner
    return found


async def _pods(client: Client, namespace: str, query: Query | None) -> AsyncIterator[Object]:
    pages = client.list_pages(path("v1", "pods", namespace), query, page_size=_PODS_A_PAGE)
    async with aclosing(pages):
        async for page in pages:
            for pod in page.get("items") or ():
                yield pod


def _named(pod: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The templates that ``pod`` names, each with whether it waits for a claim of it."""
    status = pod.get("status") or {}
    # An entry without a claim's name says that none is needed.
    served = {each["name"] for each in status.get("resourceClaimStatuses") or ()}
    may_start = "deletionTimestamp" not in pod["metadata"] and status.get("phase") not in _ENDED
    for claim in pod["spec"].get("resourceClaims") or ():
        if template := claim.get("resourceClaimTemplateName"):
            yield template, may_start and claim["name"] not in served
