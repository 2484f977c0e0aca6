"""Pieces of CEL text that driver modules are built from; every value is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_llmfit.core.sizing.quantity import memory_quantity


def literal(text: str) -> str:
    """``text`` as a CEL string literal in single quotes, so that it can't end the literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + "'"


def one_of(value: str, texts: Iterable[str]) -> str:
    """Whether the CEL ``value`` is one of ``texts``."""
    return f"{value} in [{', '.join(literal(text) for text in texts)}]"


class Domain:
    """The attributes and capacities of a driver, each look-up guarded.

    A missing attribute is a runtime error in CEL, which ends the scheduling of the pod on every
    node instead of passing over the device.
    """

    def __init__(self, driver: str) -> None:
        self.attributes = f"device.attributes[{literal(driver)}]"
        self.capacity = f"device.capacity[{literal(driver)}]"

    def has(self, attribute: str) -> str:
        """Whether the device has ``attribute``."""
        return f"{literal(attribute)} in {self.attributes}"

    def value(self, attribute: str) -> str:
        """The value of ``attribute``; an error where the device lacks it."""
        return f"{self.attributes}.{attribute}"

    def is_one_of(self, attribute: str, texts: Iterable[str]) -> str:
        """Whether the device has ``attribute`` and its value is one of ``texts``."""
        return f"{self.has(attribute)} && {one_of(self.value(attribute), texts)}"

    def lacks_or(self, attribute: str, condition: str) -> str:
        """Whether the device lacks ``attribute`` or ``condition`` holds."""
        return f"(!({self.has(attribute)}) || {condition})"

    def memory_terms(self, memory_bytes: int) -> tuple[str, str]:
        """The guarded memory floor, as two terms."""
        return f"'memory' in {self.capacity}", self.memory_at_least(memory_bytes)

    def memory_at_least(self, memory_bytes: int) -> str:
        """Whether the memory capacity, which must be there, is ``memory_bytes`` or more."""
        quantity = literal(memory_quantity(memory_bytes))
        return f"{self.capacity}.memory.compareTo(quantity({quantity})) >= 0"
