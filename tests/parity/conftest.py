"""Where the command line itself is compared, it runs as in the unit tests."""

from __future__ import annotations

from tests.unit.conftest import isolated, run

__all__ = ["isolated", "run"]
