"""A pod's spec rewritten: legacy resources out, references to the claim in, nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kubectl_llmfit.core.rewrite.claim import PodClaim
from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation, Path
from kubectl_llmfit.core.rewrite.survey import SECTIONS, Container, mapping

CLAIM_NAME = "llmfit"
"""Name of the claim in the pod: short, since the generated claim's name carries it."""


def operations_for(
    pod_spec: Mapping[str, Any],
    containers: Sequence[Container],
    claim: PodClaim,
    template_name: str,
) -> tuple[Operation, ...]:
    """The operations that give ``containers`` their part of ``claim``; paths from the pod's spec.

    ``containers`` are those that name a legacy resource. Parents are made only where they are
    absent, and lists are appended to.
    """
    claims = pod_spec.get("resourceClaims")
    name = _free_name(claims)
    operations: list[Operation] = []
    for container in containers:
        used = claim.uses.get(container.path, ())
        operations += _container(container, _references(name, used, claim))
    if claim.plan.requests:
        entry = {"name": name, "resourceClaimTemplateName": template_name}
        operations += _appended(("resourceClaims",), pod_spec, "resourceClaims", [entry])
    return tuple(operations)


def limits_out(containers: Sequence[Container]) -> tuple[Operation, ...]:
    """The operations that take the legacy resources of ``containers`` out, and nothing else."""
    return tuple(each for container in containers for each in _container(container, ()))


def _container(
    container: Container, references: Sequence[Mapping[str, str]]
) -> Iterable[Operation]:
    resources = container.resources
    where = (*container.path, "resources")
    names = {want.legacy.name for want in container.wants}
    for section in SECTIONS:
        values = mapping(resources.get(section))
        if not names & set(values):
            continue
        if names >= set(values):
            # An empty map would say nothing; nor is it what a person would leave.
            yield Operation((*where, section), values, ABSENT)
        else:
            for each in values:
                if each in names:
                    yield Operation((*where, section, each), values[each], ABSENT)
    if references:
        yield from _appended((*where, "claims"), resources, "claims", references)


def _appended(
    path: Path, parent: Mapping[str, Any], key: str, items: Sequence[Mapping[str, str]]
) -> Iterable[Operation]:
    """Appends ``items`` to the list at ``path``, which may be absent or null."""
    listed = parent.get(key, ABSENT)
    if not isinstance(listed, list):
        yield Operation(path, listed, [dict(item) for item in items])
        return
    for offset, item in enumerate(items):
        yield Operation((*path, len(listed) + offset), ABSENT, dict(item))


def _references(name: str, used: Sequence[str], claim: PodClaim) -> list[dict[str, str]]:
    """A container's references; the request is named only where there is a choice."""
    if len(claim.plan.requests) == 1:
        return [{"name": name}] if used else []
    return [{"name": name, "request": request} for request in used]


def _free_name(claims: Any) -> str:
    """``CLAIM_NAME``, numbered where another claim of the pod has it."""
    listed = claims if isinstance(claims, list) else []
    taken = {claim.get("name") for claim in listed if isinstance(claim, Mapping)}
    if CLAIM_NAME not in taken:
        return CLAIM_NAME
    numbered = (f"{CLAIM_NAME}-{number}" for number in range(1, len(taken) + 2))
    return next(each for each in numbered if each not in taken)
