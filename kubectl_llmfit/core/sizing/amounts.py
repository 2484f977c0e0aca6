"""Kubernetes quantities read as numbers.

Source: k8s.io/apimachinery/pkg/api/resource, Quantity: a decimal number with a binary suffix
(Ki … Ei), a decimal one (n, u, m, k … E) or an exponent.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_QUANTITY_RE = re.compile(
    r"(?P<number>[+-]?(?:[0-9]{1,19}(?:\.[0-9]{0,19})?|\.[0-9]{1,19}))"
    r"(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]{1,2}))?"
)
_SUFFIXES = {
    "n": Decimal(10) ** -9, "u": Decimal(10) ** -6, "m": Decimal(10) ** -3,
    "k": Decimal(10) ** 3, "M": Decimal(10) ** 6, "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12, "P": Decimal(10) ** 15, "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10, "Mi": Decimal(2) ** 20, "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40, "Pi": Decimal(2) ** 50, "Ei": Decimal(2) ** 60,
}  # fmt: skip


def parse_quantity(value: Any) -> Decimal | None:
    """The number that ``value`` (a string or a number) is; ``None`` where it is no quantity."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    match = _QUANTITY_RE.fullmatch(str(value))
    if match is None:
        return None
    number = Decimal(match["number"])
    if match["suffix"]:
        return number * _SUFFIXES[match["suffix"]]
    return number.scaleb(int(match["exponent"] or 0))
