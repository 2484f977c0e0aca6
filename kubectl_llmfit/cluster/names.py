"""How kubectl names an object in its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def object_name(item: Mapping[str, Any]) -> str:
    """As kubectl names an object in its messages: ``deployment.apps/vllm``."""
    group = str(item.get("apiVersion", "")).rpartition("/")[0]
    kind = str(item.get("kind", "")).lower()
    metadata = item.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName") or ""
    return f"{kind}.{group}/{name}" if group else f"{kind}/{name}"
