"""What is decided: a claim goes in, or only limits out, or all of it back, or nothing changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core.claims.plan import ClaimPlan
from kubectl_llmfit.core.claims.sized import SizedClaim
from kubectl_llmfit.core.reasons import Reason
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.operations import Operation


@dataclass(frozen=True)
class Inject:
    """The workload gets a claim.

    Attributes:
        operations: from the workload's root.
        template: the ResourceClaimTemplate that they refer to.
        plan: what the template says, before it took the shape of an API version.
        sized: the model's part of the claim, with its numbers.
        replaced: the legacy resources that go out for it, those with a count of 0 left out.
        sources: what was used, by field, each value with its origin.
        consequences: what else changes.
    """

    operations: tuple[Operation, ...]
    template: Mapping[str, Any]
    plan: ClaimPlan
    sized: SizedClaim
    replaced: tuple[str, ...]
    sources: Mapping[str, Sourced[str]]
    consequences: tuple[Consequence, ...]

    @property
    def identity(self) -> tuple[str | None, str]:
        """Namespace and name of the template; its content follows from the name."""
        metadata = self.template["metadata"]
        return metadata.get("namespace"), metadata["name"]


@dataclass(frozen=True)
class Finish:
    """The workload has its claim already, and the limits that stand beside it go out.

    Attributes:
        operations: from the workload's root.
        consequences: what else changes.
    """

    operations: tuple[Operation, ...]
    consequences: tuple[Consequence, ...]


@dataclass(frozen=True)
class Restore:
    """The workload goes back to what it was before it was patched.

    Attributes:
        operations: from the workload's root.
        consequences: what could not be put back, and what stays.
        templates: names of the generated templates that the patch made it name.
    """

    operations: tuple[Operation, ...]
    consequences: tuple[Consequence, ...]
    templates: tuple[str, ...]


@dataclass(frozen=True)
class Skip:
    """There is nothing to do, and why."""

    reason: Reason
    sentence: str


Decision = Inject | Finish | Restore | Skip
