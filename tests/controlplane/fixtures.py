"""pytest fixtures: one cluster a test run, one sandbox a test, logs with each failure.

A conftest.py imports them by name; the hook belongs with them.
"""

import os
from collections.abc import Generator, Iterator

import pytest

from tests.controlplane import sandbox as sandboxes
from tests.controlplane.build import BuildError, GoMissingError
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.versions import asked_for

__all__ = ["cluster", "pytest_runtest_makereport", "sandbox"]

LOG_LINES = 60
_running = pytest.StashKey[Cluster]()
_log_ends = pytest.StashKey[dict[str, int]]()


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster of the version in LLMFIT_K8S_VERSION, with every driver's DeviceClasses.

    Where the programs are not there and can't be built for want of Go, the tests are
    skipped; where CI is set they fail.
    """
    try:
        started = Cluster.start(asked_for())
    except GoMissingError as error:
        if os.environ.get("CI", "").lower() in ("", "0", "false"):
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)
    except BuildError as error:
        pytest.fail(str(error), pytrace=False)
    with started:
        sandboxes.prepare(started)
        request.config.stash[_running] = started
        yield started
        del request.config.stash[_running]


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Sandbox]:
    """A namespace of the test's own, to which it adds nodes; both are removed after it."""
    logs = cluster.group.logs.glob("*.log")
    request.node.stash[_log_ends] = {path.name: path.stat().st_size for path in logs}
    made = Sandbox(cluster, request.node.name.removeprefix("test_"))
    try:
        yield made
    finally:
        made.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the servers have logged since the test began to the report of a failure."""
    report = yield
    running = item.config.stash.get(_running, None)
    if report.failed and running is not None and "cluster" in getattr(item, "fixturenames", ()):
        ends = item.stash.get(_log_ends, {})
        for path in sorted(running.group.logs.glob("*.log")):
            with path.open("rb") as log:
                log.seek(ends.get(path.name, 0))
                lines = log.read().decode(errors="replace").splitlines()[-LOG_LINES:]
            if lines:
                report.sections.append((f"Log of {path.stem}", "\n".join(lines)))
    return report
