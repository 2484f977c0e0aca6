"""Keeping templates: what a pod refers to is there before the pod is."""

from __future__ import annotations

from typing import Protocol

from webhook.kube.client import Object


class Keeper(Protocol):
    """Makes sure of templates."""

    async def ensure(self, template: Object, owner: Object | None) -> None:
        """Makes ``template`` where it is absent, and ``owner`` (an owner reference) one of its own.

        Raises:
            Unavailable: the API server did not answer.
            ApiError: it refused.
        """
