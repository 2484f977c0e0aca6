"""Taking the webhook away: its configuration first, so that no pod waits for what is gone."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from kubectl_llmfit.cluster.api import Api, Object
from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.installing import manifests
from kubectl_llmfit.installing.install import served

SETTLE_SECONDS = 2.0
"""An API server learns by its watch that the configuration is gone, and there may be several."""

MANAGED_BY = "app.kubernetes.io/managed-by"


@dataclass(frozen=True)
class Removed:
    """What is gone, as kubectl names it, and the templates that stay as ``NAMESPACE/NAME``.

    Attributes:
        templates_unread: why the templates could not be looked at; all of them stay.
    """

    names: tuple[str, ...]
    kept_templates: tuple[str, ...]
    templates_unread: str | None = None


def uninstall(api: Api, *, dry_run: bool = False) -> Removed:
    """Takes away the webhook's configuration, then the rest; what is missing already is no error.

    ResourceClaimTemplates of the webhook go too, but for those that a pod still names: its claim
    may still have to be made from it.

    Raises:
        Refused: why the cluster refused. Where the configuration could not be deleted, nothing
            else was touched.
    """
    everything = manifests.every_object()
    configuration = [each for each in everything if each["kind"] == manifests.CONFIGURATION]
    names = api.delete_all(configuration, dry_run=dry_run)
    if names and not dry_run:
        time.sleep(SETTLE_SECONDS)
    rest = [each for each in everything if each["kind"] != manifests.CONFIGURATION]
    # The namespace is made first, so it goes last, and the server before the rights it uses.
    rest.sort(key=lambda each: (each["kind"] == "Namespace", each["kind"] != "Deployment"))
    names += api.delete_all(served(api, rest), dry_run=dry_run)
    try:
        unneeded, kept = _templates(api)
    except ApiError as error:
        return Removed(tuple(names), (), error.problems[0].sentence)
    if unneeded:
        names += api.delete_all(unneeded, dry_run=dry_run)
    return Removed(tuple(names), tuple(kept))


def _templates(api: Api) -> tuple[list[Object], list[str]]:
    """The webhook's templates: those that no pod names, and the names of the others."""
    selector = f"--selector={MANAGED_BY}={manifests.NAME}"
    found = api.read("resourceclaimtemplates.resource.k8s.io", "--all-namespaces", selector)
    if not found:
        return [], []
    named = set(_named(api.list_all("/api/v1/pods")))
    places = [(each["metadata"]["namespace"], each["metadata"]["name"]) for each in found]
    unneeded = [each for each, place in zip(found, places, strict=True) if place not in named]
    return unneeded, ["/".join(place) for place in places if place in named]


def _named(pods: Iterable[Object]) -> Iterable[tuple[str, str]]:
    """Namespace and name of every template that ``pods`` name."""
    for pod in pods:
        for claim in pod["spec"].get("resourceClaims") or ():
            if template := claim.get("resourceClaimTemplateName"):
                yield pod["metadata"]["namespace"], template
