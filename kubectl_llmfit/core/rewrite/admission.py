"""Deciding what becomes of a pod at admission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.rewrite import annotated
from kubectl_llmfit.core.rewrite.decide import Knowledge, Wishes, decide
from kubectl_llmfit.core.rewrite.decision import Finish, Inject, Skip


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
