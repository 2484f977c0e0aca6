"""The tolerations that came with the limits, made the pod's own.

A cluster with the admission plugin ExtendedResourceToleration gives every pod that asks for an
extended resource a toleration of the taint of that name. Without the limit it no longer does, and
tainted nodes would turn the pod away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation
from kubectl_llmfit.core.rewrite.survey import Container, mapping

# Names of Kubernetes' own are no extended resources to the plugin.
_NATIVE = "kubernetes.io/"


def tolerations_missing(
    pod_spec: Mapping[str, Any], containers: Sequence[Container]
) -> tuple[str, ...]:
    """The legacy names of ``containers`` whose taint the pod does not tolerate by itself."""
    listed = pod_spec.get("tolerations")
    entries = listed if isinstance(listed, list) else []
    # The empty key stands for all.
    tolerated = {str(mapping(entry).get("key") or "") for entry in entries}
    if "" in tolerated:
        return ()
    names = dict.fromkeys(want.legacy.name for each in containers for want in each.wants)
    return tuple(name for name in names if name not in tolerated and _NATIVE not in name)


def tolerations_in(
    pod_spec: Mapping[str, Any], containers: Sequence[Container]
) -> tuple[Operation, ...]:
    """The operations that add what is missing, as the plugin would; paths from the pod's spec.

    Source of the form: k8s.io/kubernetes, plugin/pkg/admission/extendedresourcetoleration.
    """
    listed = pod_spec.get("tolerations", ABSENT)
    added = [
        {"key": name, "operator": "Exists", "effect": "NoSchedule"}
        for name in tolerations_missing(pod_spec, containers)
    ]
    if not added:
        return ()
    if not isinstance(listed, list):
        return (Operation(("tolerations",), listed, added),)
    return tuple(
        Operation(("tolerations", len(listed) + offset), ABSENT, each)
        for offset, each in enumerate(added)
    )
