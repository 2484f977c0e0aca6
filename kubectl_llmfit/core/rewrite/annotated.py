"""The annotations that workloads, their pods and namespaces may carry, and what they state of a
request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_llmfit.core.request import Layer, Sourced
from kubectl_llmfit.core.rewrite.survey import mapping

PREFIX = "llmfit.ai/"
INJECT = f"{PREFIX}inject"
MODEL = f"{PREFIX}model"
KEEP_ENV = f"{PREFIX}keep-env"

MAX_LENGTH = 500
"""Longest value that is read: anything longer is no name or number."""

# Field of ClaimRequest by the annotation that states it.
FIELDS: dict[str, str] = {
    f"{PREFIX}quant": "quant",
    f"{PREFIX}min-tps": "min_tps",
    f"{PREFIX}efficiency": "efficiency_pct",
    f"{PREFIX}driver": "driver",
    f"{PREFIX}device-class": "device_class",
    f"{PREFIX}topology": "topology",
}


def stated(metadata: Any) -> Layer:
    """What the annotations of ``metadata`` state of a request, each with its own name as origin."""
    return _layer(metadata, "annotation")


def defaults(metadata: Any) -> Layer:
    """What a namespace's ``metadata`` states for pods that do not say it themselves."""
    return _layer(metadata, "namespace annotation")


def _layer(metadata: Any, kind: str) -> Layer:
    annotations = mapping(mapping(metadata).get("annotations"))
    return {
        field: Sourced(value[:MAX_LENGTH], f"{kind} {name}")
        for name, field in FIELDS.items()
        if isinstance(value := annotations.get(name), str)
    }


def model(metadata: Any) -> Sourced[str] | None:
    """The model that the annotations of ``metadata`` name."""
    value = mapping(mapping(metadata).get("annotations")).get(MODEL)
    if not isinstance(value, str):
        return None
    return Sourced(value[: MAX_LENGTH + 1], f"annotation {MODEL}")


def opts_out(metadata: Mapping[str, Any] | Any) -> bool:
    """Whether the annotations say that the pod stays as it is."""
    return _is(metadata, INJECT, "false")


def keeps_env(metadata: Any) -> bool:
    """Whether the annotations say that variables which defeat a claim stay."""
    return _is(metadata, KEEP_ENV, "true")


def _is(metadata: Any, name: str, word: str) -> bool:
    value = mapping(mapping(metadata).get("annotations")).get(name)
    return isinstance(value, str) and value.lower() == word
