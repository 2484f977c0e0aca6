"""Machine-readable output: JSON and YAML text of plain data."""

from __future__ import annotations

import json
from typing import Any

from kubectl_llmfit.core.claims import yaml


def as_json(data: Any) -> str:
    """``data`` as indented JSON that ends with a newline; ASCII, keys in their own order."""
    return json.dumps(data, indent=4) + "\n"


def as_yaml(data: dict[str, Any]) -> str:
    """``data`` as block-style YAML that ends with a newline, keys in their own order."""
    return yaml.dump(data)
