"""What a user asks for, merged from its sources, every field with its origin.

Flags, annotations and defaults all hold text; this module reads it once, so that a wrong number
gets the same sentence wherever it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims.names import subdomain_problems
from kubectl_llmfit.core.reasons import Problem, Refused, quoted
from kubectl_llmfit.core.sizing import quantization
from kubectl_llmfit.core.sizing.formula import (
    DEFAULT_EFFICIENCY_PCT,
    DEFAULT_MIN_TPS,
    ClaimTarget,
    efficiency_problems,
    min_tps_problems,
)

T = TypeVar("T")

DEFAULT_ORIGIN = "default"

# Narrower than float() and int(), which take "1_0" and digits of other scripts, and refuse
# thousands of digits with an error of their own.
_FLOAT_RE = re.compile(
    r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
)
_INT_RE = re.compile(r"[+-]?[0-9]{1,20}")


@dataclass(frozen=True, slots=True)
class Sourced(Generic[T]):
    """A value and where it was stated: a flag, an annotation, a container's argument, a default."""

    value: T
    origin: str


Layer = Mapping[str, Sourced[str]]
"""One source's statements: text by field name of ``ClaimRequest``; fields it is silent on are
left out."""


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """A merged request. Fields that nobody stated and that have no default are ``None``."""

    min_tps: Sourced[float]
    efficiency_pct: Sourced[int]
    device_class: Sourced[str]
    quant: Sourced[str] | None = None
    name: Sourced[str] | None = None

    def target(self, *, template: bool = False) -> ClaimTarget:
        """The claim target without the origins."""
        return ClaimTarget(
            min_tps=self.min_tps.value,
            efficiency_pct=self.efficiency_pct.value,
            device_class=self.device_class.value,
            template=template,
            quant=self.quant.value if self.quant else None,
            name=self.name.value if self.name else None,
        )


DEFAULTS: Layer = {
    "min_tps": Sourced(f"{DEFAULT_MIN_TPS:g}", DEFAULT_ORIGIN),
    "efficiency_pct": Sourced(str(DEFAULT_EFFICIENCY_PCT), DEFAULT_ORIGIN),
    "device_class": Sourced("llmfit.ai", DEFAULT_ORIGIN),
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
    min_tps = _read(stated["min_tps"], _min_tps, problems)
    efficiency_pct = _read(stated["efficiency_pct"], _efficiency_pct, problems)
    device_class = _read(stated["device_class"], _device_class, problems)
    quant = _read_optional(stated.get("quant"), _quant, problems)
    name = _read_optional(stated.get("name"), _name, problems)
    if problems or min_tps is None or efficiency_pct is None or device_class is None:
        raise Refused(problems)
    return ClaimRequest(min_tps, efficiency_pct, device_class, quant, name)


def _read(
    stated: Sourced[str], reader: Callable[[Sourced[str]], T], problems: list[Problem]
) -> Sourced[T] | None:
    try:
        return Sourced(reader(stated), stated.origin)
    except Refused as refused:
        problems += refused.problems
        return None


def _read_optional(
    stated: Sourced[str] | None, reader: Callable[[Sourced[str]], T], problems: list[Problem]
) -> Sourced[T] | None:
    return None if stated is None else _read(stated, reader, problems)


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


def _device_class(stated: Sourced[str]) -> str:
    return _accept(stated.value, subdomain_problems(stated.value, stated.origin))


def _name(stated: Sourced[str]) -> str:
    return _accept(stated.value, subdomain_problems(stated.value, stated.origin))


def _accept(value: T, problems: list[Problem]) -> T:
    if problems:
        raise Refused(problems)
    return value


def _no_number(stated: Sourced[str], wanted: str) -> Refused:
    sentence = f"{stated.origin}: {quoted(stated.value)} is not {wanted}"
    return Refused((Problem(reasons.INVALID_VALUE, sentence),))
