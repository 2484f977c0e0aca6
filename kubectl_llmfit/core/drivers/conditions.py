"""What a device has to be: one structure that is CEL for the scheduler and a test for us.

A missing attribute is a runtime error in CEL, which ends the scheduling of the pod on every node
instead of passing over the device. So every look-up of a value stands behind a ``Has`` of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kubectl_llmfit.core.drivers import cel
from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.core.sizing.quantity import memory_quantity

if TYPE_CHECKING:
    # Only for types: what no slice is read for need not load it.
    from kubectl_llmfit.core.drivers.devices import Device


class Shortfall(NamedTuple):
    """What a device lacks: how far it is from the condition, and why, as a verb's phrase.

    ``distance`` is the missing share for amounts (0 to 1), 1 for other properties, and more for
    what makes it another kind of device.
    """

    distance: float
    words: str


_OTHER_KIND = 4.0


class Condition:
    """One condition on a device."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        raise NotImplementedError

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """What ``device`` lacks; nothing where it meets the condition."""
        raise NotImplementedError

    def holds(self, device: Device) -> bool:
        """Whether ``device`` meets the condition, as the scheduler would find."""
        return not self.shortfalls(device)


@dataclass(frozen=True)
class _OfName(Condition):
    """A condition on what a device publishes as ``name`` in ``domain``.

    One record for all, since each more would cost every start of the program: ``wanted`` is what
    the value is held against, and ``words`` say what that is, where a class needs them.
    """

    domain: str
    name: str
    wanted: Any = None
    words: str = ""


class _OfAttribute(_OfName):
    """A condition on an attribute."""

    @property
    def _has(self) -> str:
        return f"{cel.literal(self.name)} in {cel.attributes(self.domain)}"

    @property
    def _value(self) -> str:
        return f"{cel.attributes(self.domain)}.{self.name}"


class Has(_OfAttribute):
    """The device has the attribute."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return self._has

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """That it publishes none."""
        if device.attribute(self.domain, self.name) is None:
            return (Shortfall(1.0, f"publishes no {self.name}"),)
        return ()


class Lacks(_OfAttribute):
    """The device does not have the attribute."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return f"!({self._has})"

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """That it has one."""
        if device.attribute(self.domain, self.name) is None:
            return ()
        return (Shortfall(2 * _OTHER_KIND, f"carries {self.name}"),)


class _OfValue(Has):
    """A condition on the value of an attribute, which has to be there."""

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """The one thing that it lacks."""
        missing = super().shortfalls(device)
        if missing:
            return missing
        found = self._shortfall(device.attribute(self.domain, self.name))
        return () if found is None else (found,)

    def _shortfall(self, value: Any) -> Shortfall | None:
        raise NotImplementedError


class IsTrue(_OfValue):
    """The attribute, which has to be there, is true."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return self._value

    def _shortfall(self, value: Any) -> Shortfall | None:
        return None if value is True else Shortfall(1.0, f"is not {self.name}")


class Is(_OfValue):
    """The attribute, which has to be there, is the text ``wanted``: what kind of device it is."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return f"{self._value} == {cel.literal(self.wanted)}"

    def _shortfall(self, value: Any) -> Shortfall | None:
        if value == self.wanted:
            return None
        return Shortfall(_OTHER_KIND, f"has {self.name} {_shown(value)} and not {self.wanted}")


class IsNot(Is):
    """The attribute, which has to be there, is anything but the text ``wanted``."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return f"{self._value} != {cel.literal(self.wanted)}"

    def _shortfall(self, value: Any) -> Shortfall | None:
        return Shortfall(1.0, f"has {self.name} {self.wanted}") if value == self.wanted else None


class OneOf(_OfValue):
    """The attribute, which has to be there, is one of a tuple of texts, which ``words`` name."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return f"{self._value} in {cel.listed(self.wanted)}"

    def _shortfall(self, value: Any) -> Shortfall | None:
        if value in self.wanted:
            return None
        if len(self.wanted) == 1:
            return Shortfall(1.0, f"has {self.name} {_shown(value)}, not {quoted(self.wanted[0])}")
        return Shortfall(1.0, f"is none of the {len(self.wanted)} {self.words}")


class AtLeast(_OfValue):
    """The attribute, which has to be there, is an int of ``wanted`` or more; ``words`` the unit."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return f"{self._value} >= {self.wanted}"

    def _shortfall(self, value: Any) -> Shortfall | None:
        if isinstance(value, bool) or not isinstance(value, int):
            return Shortfall(1.0, f"publishes no number as {self.name}")
        if value >= self.wanted:
            return None
        return Shortfall(
            1 - max(value, 0) / self.wanted, f"has {value} of {self.wanted} {self.words}"
        )


class HasCapacity(_OfName):
    """The device has the capacity."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return f"{cel.literal(self.name)} in {cel.capacity(self.domain)}"

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """That it publishes none."""
        if device.capacity(self.domain, self.name) is None:
            return (Shortfall(1.0, f"publishes no {self.name}"),)
        return ()


class BytesAtLeast(HasCapacity):
    """The capacity, which has to be there, is ``wanted`` bytes or more."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        quantity = cel.literal(memory_quantity(self.wanted))
        return f"{cel.capacity(self.domain)}.{self.name}.compareTo(quantity({quantity})) >= 0"

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """How much is missing."""
        has = device.capacity(self.domain, self.name)
        if has is None:
            return super().shortfalls(device)
        if has >= self.wanted:
            return ()
        shown, needed = memory_quantity(int(has)), memory_quantity(self.wanted)
        return (Shortfall(1 - float(has) / self.wanted, f"has {shown} of {needed} {self.name}"),)


@dataclass(frozen=True)
class _OfParts(Condition):
    """A condition made of others, looked at in their order."""

    parts: tuple[Condition, ...]


class All(_OfParts):
    """Every one of ``parts``."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return " && ".join(each.cel for each in self.parts)

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """What any of the parts misses, each thing once."""
        found = (each for part in self.parts for each in part.shortfalls(device))
        return tuple(dict.fromkeys(found))

    def holds(self, device: Device) -> bool:
        """Whether all hold; the first that does not ends it."""
        return all(each.holds(device) for each in self.parts)


class AnyOf(_OfParts):
    """At least one of ``parts``."""

    @property
    def cel(self) -> str:
        """The CEL text."""
        return f"({' || '.join(each.cel for each in self.parts)})"

    def shortfalls(self, device: Device) -> tuple[Shortfall, ...]:
        """What the part misses that the device comes nearest to."""
        return min((each.shortfalls(device) for each in self.parts), key=distance, default=())

    def holds(self, device: Device) -> bool:
        """Whether one holds."""
        return any(each.holds(device) for each in self.parts)


def distance(shortfalls: Iterable[Shortfall]) -> float:
    """How far ``shortfalls`` are from nothing at all."""
    return sum(each.distance for each in shortfalls)


def _shown(value: Any) -> str:
    """An attribute's value for a sentence."""
    if isinstance(value, dict):
        return "of another type"
    return quoted(str(value))
