"""Kubernetes objects in the forms of ``-o``, as kubectl's own write commands print them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_llmfit.cluster.names import object_name
from kubectl_llmfit.console import formats
from kubectl_llmfit.core.claims import yaml


def text(objects: Sequence[Mapping[str, Any]], output: str) -> str:
    """``objects`` in one of ``formats.OBJECT_FORMATS``; keys sorted, as kubectl has them.

    Several are documents of one stream in YAML, a List in JSON, and lines of TYPE/NAME. None at
    all are a List without items in JSON.
    """
    if output == "name":
        return "".join(f"{object_name(each)}\n" for each in objects)
    ordered = [_ordered(each) for each in objects]
    if output == "yaml":
        return yaml.dump_all([formats.as_yaml(each) for each in ordered])
    if len(ordered) == 1:
        return formats.as_json(ordered[0])
    return formats.as_json({"apiVersion": "v1", "items": ordered, "kind": "List"})


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    return value
