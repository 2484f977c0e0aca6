"""What a claim asks for, before it takes the shape of an API version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Only for types: the drivers, which these belong to, need this module themselves.
    from kubectl_llmfit.core.drivers.conditions import Condition


@dataclass(frozen=True)
class Selector:
    """A selector as conditions that all have to hold."""

    conditions: tuple[Condition, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """The CEL of each condition, kept apart so that YAML can show one a line."""
        return tuple(each.cel for each in self.conditions)

    @property
    def expression(self) -> str:
        """The CEL text that the scheduler evaluates."""
        return " && ".join(self.terms)


@dataclass(frozen=True)
class DeviceRequest:
    """One request: ``count`` devices of ``device_class`` that match every selector."""

    name: str
    device_class: str
    selectors: tuple[Selector, ...]
    count: int = 1


@dataclass(frozen=True)
class Constraint:
    """All devices of ``requests`` have the same value of ``match_attribute``."""

    requests: tuple[str, ...]
    match_attribute: str


@dataclass(frozen=True)
class ClaimPlan:
    """The requests and constraints of one claim, in the order in which they are written."""

    requests: tuple[DeviceRequest, ...]
    constraints: tuple[Constraint, ...] = ()
