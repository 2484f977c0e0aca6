"""These tests run the command line as the unit tests do."""

from __future__ import annotations

from tests.unit.conftest import isolated, run

__all__ = ["isolated", "run"]
