"""What a claim asks for, before it takes the shape of an API version."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Selector:
    """A CEL selector as terms that are ANDed; kept apart so that YAML can show one a line."""

    terms: tuple[str, ...]

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
