"""What is different about a workload in a cluster: who else changes it, and what cannot change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Problem, quoted
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.survey import mapping

# Kinds whose pods stay as they were made, whatever the API server would take.
_FIXED = {
    "Pod": "a pod's resources cannot be changed",
    "Job": "a job's pod template cannot be changed",
    "JobSet": "a job set's pod templates cannot be changed",
}

# Labels and annotations by which the tools that keep objects as they want them mark their own.
_MANAGERS = (
    ("argocd.argoproj.io/tracking-id", "Argo CD"),
    ("argocd.argoproj.io/instance", "Argo CD"),
    ("kustomize.toolkit.fluxcd.io/name", "Flux"),
    ("helm.toolkit.fluxcd.io/name", "Flux"),
    ("meta.helm.sh/release-name", "Helm"),
)
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def live_problems(workload: Mapping[str, Any], name: str) -> list[Problem]:
    """Why ``workload`` cannot be patched in the cluster, with where to patch instead."""
    kind = str(workload.get("kind", ""))
    owner = _controller(workload)
    where = (
        f"patch its owner {owner} instead"
        if owner
        else f"change its file instead (-f), delete {name} and create it anew"
    )
    if kind in _FIXED:
        return [Problem(reasons.IMMUTABLE_WORKLOAD, f"{name}: {_FIXED[kind]}; {where}")]
    if owner:
        sentence = f"{name}: {owner} would undo the change; {where}"
        return [Problem(reasons.OWNED_WORKLOAD, sentence)]
    return []


def live_consequences(workload: Mapping[str, Any]) -> tuple[Consequence, ...]:
    """What will happen to the change, or because of it, in the cluster."""
    return (*_managers(workload), *rollout_consequences(workload))


def _controller(workload: Mapping[str, Any]) -> str:
    """The object that controls ``workload``, as ``kind/name``; empty where none does."""
    owners = mapping(workload.get("metadata")).get("ownerReferences")
    for owner in owners if isinstance(owners, list) else ():
        if mapping(owner).get("controller") is True:
            return f"{str(owner.get('kind', '')).lower()}/{owner.get('name', '')}"
    return ""


def _managers(workload: Mapping[str, Any]) -> Iterator[Consequence]:
    metadata = mapping(workload.get("metadata"))
    marks = {**mapping(metadata.get("labels")), **mapping(metadata.get("annotations"))}
    found = dict.fromkeys(manager for mark, manager in _MANAGERS if mark in marks)
    for manager in found:
        yield Consequence(
            effects.MANAGED_ELSEWHERE,
            f"{manager} manages it and may put the limit back beside the claim, which takes two "
            "devices; change its source as well",
        )
    if _LAST_APPLIED in marks and not found:
        yield Consequence(
            effects.LAST_APPLIED_REMEMBERS_LIMITS,
            "it was made by kubectl apply: applying the old file again puts the limit back beside "
            "the claim; change the file with `kubectl llmfit patch -f`",
        )


def rollout_consequences(workload: Mapping[str, Any]) -> Iterator[Consequence]:
    """What new pods of ``workload`` need before the old ones end."""
    spec = mapping(workload.get("spec"))
    if workload.get("kind") != "Deployment" or spec.get("replicas") == 0:
        return
    strategy = mapping(spec.get("strategy"))
    update = mapping(strategy.get("rollingUpdate"))
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return
    if str(update.get("maxSurge", "25%")) in ("0", "0%"):
        return
    surge = quoted(str(update.get("maxSurge", "25%")))
    yield Consequence(
        effects.ROLLOUT_NEEDS_FREE_DEVICES,
        f"its rolling update (maxSurge {surge}) starts a new pod before it ends an old one, and "
        "waits where no device is free; maxSurge 0 with maxUnavailable 1 needs none",
    )
