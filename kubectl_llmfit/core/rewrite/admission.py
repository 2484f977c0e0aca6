"""Deciding what becomes of a pod at admission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.rewrite import annotated, effects
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decide import QUEUE, decide
from kubectl_llmfit.core.rewrite.decision import Finish, Inject, Skip
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.core.rewrite.survey import mapping
from kubectl_llmfit.core.sizing.quantity import GI


def decide_pod(
    pod: Mapping[str, Any], wishes: Wishes, knowledge: Knowledge
) -> Inject | Finish | Skip:
    """What becomes of ``pod``: only one that asks for a model by annotation is looked at.

    Anything else is not ours to change: its engine may be known, but nobody asked for a claim.

    Raises:
        Refused: everything that stands in the way.
    """
    if annotated.model(pod.get("metadata")) is None:
        return Skip(reasons.NOT_ANNOTATED, f"the pod has no annotation {annotated.MODEL}")
    return decide(pod, (), wishes, knowledge)


def essence(pod: Mapping[str, Any]) -> dict[str, Any]:
    """``pod`` without what no decision looks at and what differs between pods of one workload.

    What is decided of the essence is decided of the pod: names, foreign annotations and labels,
    volumes, and the names of mounted ones are left out, and every list keeps its indexes.
    """
    metadata, spec = mapping(pod.get("metadata")), mapping(pod.get("spec"))
    annotations, labels = mapping(metadata.get("annotations")), mapping(metadata.get("labels"))
    kept = {key: value for key, value in spec.items() if key != "volumes"}
    for section in ("containers", "initContainers"):
        if isinstance(kept.get(section), list):
            kept[section] = [_container(each) for each in kept[section]]
    return {
        "metadata": {
            "annotations": {k: v for k, v in annotations.items() if k.startswith(annotated.PREFIX)},
            "labels": {k: v for k, v in labels.items() if k == QUEUE},
        },
        "spec": kept,
    }


def _container(container: Any) -> Any:
    mounts = mapping(container).get("volumeMounts")
    if not isinstance(mounts, list):
        return container
    paths = [{"mountPath": mapping(each).get("mountPath")} for each in mounts]
    return {**container, "volumeMounts": paths}


def claimed(inject: Inject) -> Consequence:
    """What the pod got, for the person who looks at the answer."""
    sized = inject.sized
    count = sized.placement.count
    devices = "1 device" if count == 1 else f"{count} devices"
    return Consequence(
        effects.CLAIM_ADDED,
        f"claims {devices} of {sized.target.device_class}, each with "
        f"{sized.floors.memory_bytes // GI}Gi and {sized.floors.bandwidth_gbs} GB/s, "
        f"for {sized.model.name}",
    )
