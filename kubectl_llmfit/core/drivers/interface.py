"""What every driver module offers: its classes, and its floors in CEL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kubectl_llmfit.core.claims.plan import Selector
from kubectl_llmfit.core.drivers.conditions import Condition
from kubectl_llmfit.core.sizing.floors import Floors

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board


@dataclass(frozen=True)
class Candidate:
    """A board, or a part of one, that meets the floors as far as the board table tells."""

    board: Board
    part: str = ""


@dataclass(frozen=True)
class Selection:
    """A driver's answer to floors.

    Attributes:
        selector: the CEL text.
        candidates: boards of the table that it matches; empty for a driver that publishes the
            bandwidth itself.
        known_boards: how many boards the table has to choose from; 0 for such a driver.
        kind: what these are called.
        notes: what a user might think otherwise, a sentence each.
    """

    selector: Selector
    candidates: tuple[Candidate, ...] = ()
    known_boards: int = 0
    kind: str = "boards"
    notes: tuple[str, ...] = ()


Select = Callable[[Floors, "Sequence[Board]"], Selection]


@dataclass(frozen=True)
class Driver:
    """A DRA driver.

    Attributes:
        name: its name in ``device.driver`` and the domain of its attributes.
        classes: the device classes that it ships, each with what says the floors for it; the
            first is the one for a whole accelerator.
        kinds: what the shipped classes themselves ask of a device of the driver; a class that is
            not named takes all of them.
        topology: attribute that devices have to share, by the word of ``--topology``.
        uses_boards: whether its selectors need the board table.
    """

    name: str
    classes: Mapping[str, Select]
    kinds: Mapping[str, tuple[Condition, ...]] = field(default_factory=dict)
    topology: Mapping[str, str] = field(default_factory=dict)
    uses_boards: bool = True

    @property
    def default_class(self) -> str:
        """The device class for a whole accelerator."""
        return next(iter(self.classes))
