"""Pieces of CEL text that conditions are built from; every value is escaped."""

from __future__ import annotations

from collections.abc import Iterable


def literal(text: str) -> str:
    """``text`` as a CEL string literal in single quotes, so that it can't end the literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    if escaped.isprintable():
        return f"'{escaped}'"
    return "'" + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + "'"


def listed(texts: Iterable[str]) -> str:
    """``texts`` as a CEL list of string literals."""
    return f"[{', '.join(literal(text) for text in texts)}]"


def attributes(domain: str) -> str:
    """The attributes that a device has in ``domain``."""
    return f"device.attributes[{literal(domain)}]"


def capacity(domain: str) -> str:
    """The capacities that a device has in ``domain``."""
    return f"device.capacity[{literal(domain)}]"
