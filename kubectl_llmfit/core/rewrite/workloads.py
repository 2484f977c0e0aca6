"""Where the pod templates of each kind of workload are, and what may be changed there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core.rewrite.operations import Path, value_at

EVERY = "*"
"""Stands for every index of a list in a template path."""


@dataclass(frozen=True)
class Kind:
    """A kind of workload: its API group and the paths of its pod templates.

    A pod template is what holds ``metadata`` and ``spec`` of the pods; for a Pod it is the object
    itself, at the empty path.
    """

    group: str
    name: str
    templates: tuple[Path, ...]

    @property
    def resource(self) -> str:
        """Its type as kubectl takes it: ``deployments.apps``."""
        return f"{self.name.lower()}s.{self.group}".rstrip(".")


_TEMPLATE: Path = ("spec", "template")

KINDS: tuple[Kind, ...] = (
    Kind("", "Pod", ((),)),
    Kind("", "ReplicationController", (_TEMPLATE,)),
    Kind("apps", "Deployment", (_TEMPLATE,)),
    Kind("apps", "StatefulSet", (_TEMPLATE,)),
    Kind("apps", "DaemonSet", (_TEMPLATE,)),
    Kind("apps", "ReplicaSet", (_TEMPLATE,)),
    Kind("batch", "Job", (_TEMPLATE,)),
    Kind("batch", "CronJob", (("spec", "jobTemplate", "spec", "template"),)),
    Kind("jobset.x-k8s.io", "JobSet", (("spec", "replicatedJobs", EVERY, "template", *_TEMPLATE),)),
    Kind(
        "leaderworkerset.x-k8s.io",
        "LeaderWorkerSet",
        (
            ("spec", "leaderWorkerTemplate", "leaderTemplate"),
            ("spec", "leaderWorkerTemplate", "workerTemplate"),
        ),
    ),
)


def kind_of(workload: Mapping[str, Any]) -> Kind | None:
    """The kind of ``workload``; ``None`` for one whose pod templates are not known."""
    version, name = str(workload.get("apiVersion", "")), workload.get("kind")
    group = version.rpartition("/")[0]
    return next((kind for kind in KINDS if (kind.group, kind.name) == (group, name)), None)


def pod_templates(workload: Mapping[str, Any], paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """The paths of the pod templates that ``workload`` really has, of those that it may have."""
    return tuple(found for path in paths for found in _expanded(workload, path))


def _expanded(workload: Mapping[str, Any], path: Path) -> tuple[Path, ...]:
    if EVERY in path:
        at = path.index(EVERY)
        listed = value_at(workload, path[:at])
        count = len(listed) if isinstance(listed, list) else 0
        return tuple(
            found
            for index in range(count)
            for found in _expanded(workload, (*path[:at], index, *path[at + 1 :]))
        )
    return (path,) if isinstance(value_at(workload, (*path, "spec")), Mapping) else ()
