"""Output formats: the check of ``-o``, and JSON and YAML text of plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.reasons import quoted, refuse

OBJECT_FORMATS = ("yaml", "json", "name")
"""What -o takes where Kubernetes objects are printed."""


def check(output: str | None, formats: Sequence[str]) -> None:
    """Raises ``Refused`` (``invalid-value``) unless ``output`` is empty or one of ``formats``."""
    if output:
        check_one_of("--output", output, formats)


def check_one_of(flag: str, value: str, choices: Sequence[str]) -> None:
    """Raises ``Refused`` (``invalid-value``) unless ``value`` is one of ``choices``."""
    if value not in choices:
        sentence = f"{flag}: {quoted(value)} is not one of {', '.join(choices)}"
        raise refuse(reasons.INVALID_VALUE, sentence)


def as_json(data: Any) -> str:
    """``data`` as indented JSON that ends with a newline; ASCII, keys in their own order."""
    return json.dumps(data, indent=4) + "\n"


def as_yaml(data: dict[str, Any]) -> str:
    """``data`` as block-style YAML that ends with a newline, keys in their own order."""
    return yaml.dump(data)
