"""Who makes templates, and which containers hold a generated claim already, so that none is asked
for a second time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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


ClaimReader = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""An entry of a pod's ``resourceClaims`` → the spec of its claim, or ``None`` where it is not
known."""


def no_claims_known(entry: Mapping[str, Any]) -> None:
    """Knows no claim."""


def claim_named_by(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Kind and name of what an entry of a pod's ``resourceClaims`` refers to."""
    template = entry.get("resourceClaimTemplateName")
    if template is not None:
        return "ResourceClaimTemplate", str(template)
    return "ResourceClaim", str(entry.get("resourceClaimName", ""))


def claim_spec(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The spec of the claim that ``item``, a ResourceClaim or a template of it, stands for."""
    spec = item.get("spec")
    if item.get("kind") == "ResourceClaimTemplate" and isinstance(spec, Mapping):
        spec = spec.get("spec")
    return spec if isinstance(spec, Mapping) else None


def devices_held(
    pod_spec: Mapping[str, Any], container: Mapping[str, Any], read: ClaimReader
) -> Iterator[tuple[str, float]]:
    """Device class and count of every request that ``container`` uses of claims that are known."""
    by_name = {each.get("name"): each for each in _entries(pod_spec.get("resourceClaims"))}
    resources = container.get("resources")
    used = resources.get("claims") if isinstance(resources, Mapping) else None
    for reference in _entries(used):
        entry = by_name.get(reference.get("name"))
        spec = read(entry) if entry is not None else None
        devices = spec.get("devices") if spec is not None else None
        requests = devices.get("requests") if isinstance(devices, Mapping) else None
        for request in _entries(requests):
            if reference.get("request") in (None, request.get("name")):
                yield _requested(request)


def _requested(request: Mapping[str, Any]) -> tuple[str, float]:
    """A request's class and count; of alternatives the first stands for all."""
    first = next(_entries(request.get("firstAvailable")), None)
    exactly = request.get("exactly")
    # v1beta1 wraps nothing.
    wanted = first or (exactly if isinstance(exactly, Mapping) else request)
    if wanted.get("allocationMode") == "All":
        return str(wanted.get("deviceClassName", "")), float("inf")
    count = wanted.get("count", 1)
    return str(wanted.get("deviceClassName", "")), count if isinstance(count, int) else 0


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
