"""Counts of devices: every spelling of a whole number, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_llmfit.core.rewrite.counts import device_count

# Spellings that the API server takes for extended resources; source: resource.Quantity.
WHOLE = [
    (1, 1), ("1", 1), ("1000m", 1), ("1e0", 1), ("1E0", 1), ("1k", 1000), ("8", 8), (8.0, 8),
    ("+2", 2), ("2.0", 2), ("0.008k", 8), ("1Ki", 1024), ("0", 0), (0, 0), (None, 0),
    ("8000000u", 8), ("3e2", 300), ("300e-2", 3), (".5k", 500),
]  # fmt: skip


@pytest.mark.parametrize(("value", "count"), WHOLE, ids=repr)
def test_whole(value: Any, count: int) -> None:
    assert device_count(value) == count


REFUSED = [
    ("500m", "is a part of a device"), (0.5, "is a part of a device"),
    ("1.5", "is a part of a device"), ("1n", "is a part of a device"),
    ("-1", "is negative"), (-1, "is negative"),
    ("one", "is no quantity"), ("", "is no quantity"), ("1 ", "is no quantity"),
    ("1ki", "is no quantity"), ("1_0", "is no quantity"), ("٣", "is no quantity"),
    ("0x1", "is no quantity"), (True, "is no quantity"), ([1], "is no quantity"),
    ({}, "is no quantity"), ("1e999", "is no quantity"), ("9" * 400, "is no quantity"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "why"), REFUSED, ids=lambda each: repr(each)[:40])
def test_refused(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        device_count(value)
