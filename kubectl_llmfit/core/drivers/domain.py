"""The conditions that a driver's module builds its selectors from."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_llmfit.core.drivers.conditions import (
    All,
    AnyOf,
    BytesAtLeast,
    Condition,
    Has,
    HasCapacity,
    Is,
    Lacks,
    OneOf,
)


class Domain:
    """The conditions on attributes and capacities that a driver publishes in its own domain."""

    def __init__(self, driver: str) -> None:
        self.name = driver

    def has(self, attribute: str) -> Has:
        """The device has ``attribute``."""
        return Has(self.name, attribute)

    def lacks(self, attribute: str) -> Lacks:
        """The device does not have ``attribute``."""
        return Lacks(self.name, attribute)

    def is_(self, attribute: str, text: str) -> Is:
        """``attribute``, which has to be there, is ``text``."""
        return Is(self.name, attribute, text)

    def named(self, attribute: str, texts: Iterable[str]) -> OneOf:
        """``attribute``, which has to be there, names one of the boards ``texts``."""
        return OneOf(self.name, attribute, tuple(texts), "boards known to be fast enough")

    def has_named(self, attribute: str, texts: Iterable[str]) -> All:
        """The device has ``attribute``, and it names one of the boards ``texts``."""
        return All((self.has(attribute), self.named(attribute, texts)))

    def lacks_or(self, attribute: str, condition: Condition) -> AnyOf:
        """The device lacks ``attribute``, or ``condition`` on it holds."""
        return AnyOf((self.lacks(attribute), condition))

    def memory(self, memory_bytes: int) -> tuple[HasCapacity, BytesAtLeast]:
        """The guarded memory floor, as two conditions."""
        return HasCapacity(self.name, "memory"), self.memory_at_least(memory_bytes)

    def memory_at_least(self, memory_bytes: int) -> BytesAtLeast:
        """The memory, which has to be there, is ``memory_bytes`` or more."""
        return BytesAtLeast(self.name, "memory", memory_bytes)
