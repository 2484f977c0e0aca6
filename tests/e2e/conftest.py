"""End-to-end tests run against a real control plane; tests/controlplane makes it."""

from tests.controlplane.fixtures import cluster, pytest_runtest_makereport, sandbox

__all__ = ["cluster", "pytest_runtest_makereport", "sandbox"]
