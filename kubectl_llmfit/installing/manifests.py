"""The webhook's manifests as ``kubectl kustomize`` builds them, and overlays put together.

``data/webhook/`` holds what the base and each overlay of the repository's ``manifests/`` build to,
so that an installed plugin has them. Several overlays at once are a three-way merge of these: each
changes other fields than the rest, which a test holds against kustomize's own components.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_llmfit.catalog import safeyaml
from kubectl_llmfit.cluster.api import Object

BASE = "base"
OVERLAYS = (
    "cert-manager",
    "fail-closed",
    "monitoring",
    "network-policy",
    "opt-in",
    "single-replica",
)
NAMESPACE = "llmfit-system"
NAME = "llmfit-webhook"
CONFIGURATION = "MutatingWebhookConfiguration"
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data/webhook")

Key = tuple[str, str, str, str]
"""What tells objects apart: apiVersion, kind, namespace, name."""

_ABSENT: Any = object()


def objects(
    overlays: Iterable[str] = (), *, image: str | None = None, replicas: int | None = None
) -> list[Object]:
    """The objects of the base with ``overlays`` (names of ``OVERLAYS``), in their order of making.

    The webhook's configuration is the last one. ``image`` and ``replicas`` change the Deployment.
    """
    base = _built(BASE)
    result = base
    for overlay in overlays:
        result = _merged(base, result, _built(overlay))
    made = [copy.deepcopy(each) for each in result.values()]
    made.sort(key=lambda each: each["kind"] == CONFIGURATION)
    spec = next(each for each in made if each["kind"] == "Deployment")["spec"]
    if image is not None:
        spec["template"]["spec"]["containers"][0]["image"] = image
    if replicas is not None:
        spec["replicas"] = replicas
    return made


def every_object() -> list[Object]:
    """The objects of the base and of all overlays, each once: all that an installation may be."""
    found = {key: each for name in (BASE, *OVERLAYS) for key, each in _built(name).items()}
    return list(found.values())


def key(item: Mapping[str, Any]) -> Key:
    """What tells ``item`` from other objects."""
    metadata = item["metadata"]
    return (item["apiVersion"], item["kind"], metadata.get("namespace", ""), metadata["name"])


def documents(text: str) -> list[Object]:
    """The objects of a stream of YAML documents as kustomize writes it."""
    return [safeyaml.load(each) for each in text.split("\n---\n")]


def _built(name: str) -> dict[Key, Object]:
    with open(os.path.join(FOLDER, f"{name}.yaml"), encoding="utf-8") as file:
        return {key(each): each for each in documents(file.read())}


def _merged(base: Any, ours: Any, theirs: Any) -> Any:
    """``ours`` with what ``theirs`` changes in ``base``; lists of one length item by item.

    Raises:
        ValueError: both change one value, each in its own way.
    """
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    sides = (base, ours, theirs)
    if all(isinstance(each, list) for each in sides) and len(base) == len(ours) == len(theirs):
        return [_merged(*items) for items in zip(*sides, strict=True)]
    if not all(isinstance(each, dict) for each in sides):
        raise ValueError(f"two overlays change one value: {base!r} to {ours!r} and to {theirs!r}")
    merged = {
        name: _merged(base.get(name, _ABSENT), ours.get(name, _ABSENT), theirs.get(name, _ABSENT))
        for name in dict.fromkeys((*ours, *theirs))
    }
    return {name: value for name, value in merged.items() if value is not _ABSENT}
