"""The documented differences from llmfit are those that have a test, and no others."""

from __future__ import annotations

from importlib import import_module

from tests.docs.blocks import ROOT


def _documented() -> list[str]:
    """The first cells of the table whose first column is headed ``id``."""
    lines = (ROOT / "docs" / "differences.md").read_text("utf-8").splitlines()
    cells = [line.split("|")[1].strip(" `") for line in lines if line.startswith("|")]
    start = cells.index("id")
    return cells[start + 2 :]


def test_documented_differences_are_the_tested_ones() -> None:
    documented = _documented()
    tested = import_module("tests.parity.test_differences").DIFFERENCES
    assert len(documented) == len(set(documented))
    assert sorted(documented) == sorted(tested)
