"""What a user asks for, merged from its sources, every field with its origin.

Flags, annotations and defaults all hold text; this module reads it once, so that a wrong number
gets the same sentence wherever it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.claims.names import subdomain_problems
from kubectl_llmfit.core.claims.sized import MAX_DEVICES, Placement
from kubectl_llmfit.core.reasons import Problem, Refused, quoted
from kubectl_llmfit.core.sizing import quantization
from kubectl_llmfit.core.sizing.floors import Shards
from kubectl_llmfit.core.sizing.formula import (
    DEFAULT_EFFICIENCY_PCT,
    DEFAULT_MIN_TPS,
    ClaimTarget,
    efficiency_problems,
    min_tps_problems,
)

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board

T = TypeVar("T")

DEFAULT_ORIGIN = "default"
TOPOLOGIES = ("pcie", "numa")

# Narrower than float() and int(), which take "1_0" and digits of other scripts, and refuse
# thousands of digits with an error of their own.
_FLOAT_RE = re.compile(
    r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
)
_INT_RE = re.compile(r"[+-]?[0-9]{1,20}")


@dataclass(frozen=True)
class Sourced(Generic[T]):
    """A value and where it was stated: a flag, an annotation, a container's argument, a default."""

    value: T
    origin: str


Layer = Mapping[str, Sourced[str]]
"""One source's statements: text by field name of ``ClaimRequest``; fields it is silent on are
left out."""


@dataclass(frozen=True)
class ClaimRequest:
    """A merged request. Fields that nobody stated and that have no default are ``None``."""

    min_tps: Sourced[float]
    efficiency_pct: Sourced[int]
    driver: Sourced[str] | None = None
    device_class: Sourced[str] | None = None
    quant: Sourced[str] | None = None
    name: Sourced[str] | None = None
    count: Sourced[int] | None = None
    tensor_parallel: Sourced[int] | None = None
    pipeline_parallel: Sourced[int] | None = None
    topology: Sourced[str] | None = None

    def target(self, *, template: bool = False) -> ClaimTarget:
        """The claim target without the origins.

        Raises:
            Refused: driver and device class do not go together.
        """
        _, device_class = drivers.choose(_value(self.driver), _value(self.device_class))
        return ClaimTarget(
            min_tps=self.min_tps.value,
            efficiency_pct=self.efficiency_pct.value,
            device_class=device_class,
            template=template,
            quant=_value(self.quant),
            name=_value(self.name),
        )

    def placement(self, boards: tuple[Board, ...] = ()) -> Placement:
        """On which and how many devices; a count without shards is tensor parallelism."""
        pipeline = self.pipeline_parallel.value if self.pipeline_parallel else 1
        if self.tensor_parallel is not None:
            tensor = self.tensor_parallel.value
        elif self.count is not None and self.count.value % pipeline == 0:
            tensor = self.count.value // pipeline
        else:
            tensor = 1
        shards = Shards(tensor, pipeline)
        return Placement(
            driver=_value(self.driver),
            count=self.count.value if self.count is not None else shards.devices,
            shards=shards,
            topology=_value(self.topology),
            boards=boards,
        )


DEFAULTS: Layer = {
    "min_tps": Sourced(f"{DEFAULT_MIN_TPS:g}", DEFAULT_ORIGIN),
    "efficiency_pct": Sourced(str(DEFAULT_EFFICIENCY_PCT), DEFAULT_ORIGIN),
}


def merge(*layers: Layer) -> ClaimRequest:
    """The request that ``layers`` state, the first that names a field winning, defaults last.

    Raises:
        Refused: every field that cannot be read, each named by its origin.
    """
    stated: dict[str, Sourced[str]] = {}
    for layer in (*layers, DEFAULTS):
        for field, sourced in layer.items():
            stated.setdefault(field, sourced)
    problems: list[Problem] = []

    def read(field: str, reader: Callable[[Sourced[str]], T]) -> Sourced[T] | None:
        return _read(stated.get(field), reader, problems)

    min_tps = read("min_tps", _min_tps)
    efficiency_pct = read("efficiency_pct", _efficiency_pct)
    driver, device_class = read("driver", _driver), read("device_class", _subdomain)
    quant, name = read("quant", _quant), read("name", _subdomain)
    topology, count = read("topology", _topology), read("count", _count)
    tensor, pipeline = read("tensor_parallel", _count), read("pipeline_parallel", _count)
    if problems or min_tps is None or efficiency_pct is None:
        raise Refused(problems)
    return ClaimRequest(
        min_tps=min_tps,
        efficiency_pct=efficiency_pct,
        driver=driver,
        device_class=device_class,
        quant=quant,
        name=name,
        count=count,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        topology=topology,
    )


def _value(sourced: Sourced[T] | None) -> T | None:
    return sourced.value if sourced is not None else None


def _read(
    stated: Sourced[str] | None, reader: Callable[[Sourced[str]], T], problems: list[Problem]
) -> Sourced[T] | None:
    if stated is None:
        return None
    try:
        return Sourced(reader(stated), stated.origin)
    except Refused as refused:
        problems += refused.problems
        return None


def _min_tps(stated: Sourced[str]) -> float:
    text = stated.value.strip()
    if not _FLOAT_RE.fullmatch(text):
        raise _no_number(stated, "a number of tokens a second")
    value = float(text)
    return _accept(value, min_tps_problems(value, stated.origin))


def _efficiency_pct(stated: Sourced[str]) -> int:
    text = stated.value.strip()
    if not _INT_RE.fullmatch(text):
        raise _no_number(stated, "a whole percentage from 1 to 100")
    value = int(text)
    return _accept(value, efficiency_problems(value, stated.origin))


def _quant(stated: Sourced[str]) -> str:
    return quantization.get(stated.value, stated.origin).name


def _subdomain(stated: Sourced[str]) -> str:
    return _accept(stated.value, subdomain_problems(stated.value, stated.origin))


def _driver(stated: Sourced[str]) -> str:
    if stated.value in drivers.BY_NAME:
        return stated.value
    known = ", ".join(drivers.BY_NAME)
    sentence = f"{stated.origin}: {quoted(stated.value)} is no known driver; known are {known}"
    raise Refused((Problem(reasons.UNKNOWN_DRIVER, sentence),))


def _topology(stated: Sourced[str]) -> str:
    if stated.value in TOPOLOGIES:
        return stated.value
    sentence = f"{stated.origin}: {quoted(stated.value)} is not one of {', '.join(TOPOLOGIES)}"
    raise Refused((Problem(reasons.INVALID_VALUE, sentence),))


def _count(stated: Sourced[str]) -> int:
    text = stated.value.strip()
    if _INT_RE.fullmatch(text) and 1 <= int(text) <= MAX_DEVICES:
        return int(text)
    raise _no_number(stated, f"a whole number from 1 to {MAX_DEVICES}")


def _accept(value: T, problems: list[Problem]) -> T:
    if problems:
        raise Refused(problems)
    return value


def _no_number(stated: Sourced[str], wanted: str) -> Refused:
    sentence = f"{stated.origin}: {quoted(stated.value)} is not {wanted}"
    return Refused((Problem(reasons.INVALID_VALUE, sentence),))
