"""Who makes templates, and which containers hold a generated claim already, so that none is asked
for a second time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Maker:
    """Who makes templates: the start of their names, and the value of their managed-by label.

    Each maker manages its own and leaves the other's alone.
    """

    prefix: str
    label: str


PATCH = Maker("llmfit-", "kubectl-llmfit")
WEBHOOK = Maker("llmfit-webhook-", "llmfit-webhook")
MAKERS = (PATCH, WEBHOOK)

TEMPLATE_DIGITS = 12
"""Hexadecimal digits of the content behind the prefix of a generated template's name."""

_PREFIXES = "|".join(re.escape(maker.prefix) for maker in MAKERS)
_GENERATED = re.compile(f"(?:{_PREFIXES})[0-9a-f]{{{TEMPLATE_DIGITS}}}")


def claims_held(pod_spec: Mapping[str, Any], container: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the claims that ``container`` refers to and that are of generated templates."""
    generated = {
        claim.get("name")
        for claim in _entries(pod_spec.get("resourceClaims"))
        if is_generated(str(claim.get("resourceClaimTemplateName", "")))
    }
    return tuple(name for name in claims_named(container) if name in generated)


def is_generated(template: str) -> bool:
    """Whether ``template`` is the name of a generated template."""
    return _GENERATED.fullmatch(template) is not None


def claims_named(container: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the claims that ``container`` refers to, each once."""
    resources = container.get("resources")
    listed = resources.get("claims") if isinstance(resources, Mapping) else None
    return tuple(dict.fromkeys(str(entry.get("name", "")) for entry in _entries(listed)))


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    return (
        each for each in (value if isinstance(value, list) else ()) if isinstance(each, Mapping)
    )
