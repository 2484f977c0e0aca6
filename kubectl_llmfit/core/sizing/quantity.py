"""Amounts of memory as Kubernetes quantities."""

from __future__ import annotations

MI = 1 << 20
GI = 1 << 30


def memory_quantity(memory_bytes: int) -> str:
    """``memory_bytes`` as a quantity: whole Gi where it is, else Mi, rounded up."""
    if memory_bytes % GI == 0:
        return f"{memory_bytes // GI}Gi"
    return f"{-(-memory_bytes // MI)}Mi"
