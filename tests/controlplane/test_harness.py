"""The parts of the harness that need no cluster: processes that end, programs that are missing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane import versions
from tests.controlplane.binaries import find_programs
from tests.controlplane.build import BuildError, GoMissingError
from tests.controlplane.leftovers import REPOSITORY, Running
from tests.controlplane.processes import ProcessGroup, ServerFailedError
from tests.controlplane.waiting import WaitTimeoutError, wait_for

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

# Starts a server with children of its own, says what it has started, waits for a line.
PROGRAM = """
import json, sys
from tests.controlplane.processes import ProcessGroup
group = ProcessGroup()
group.start("parent", ["sh", "-c", "sleep 1000 & sleep 1000; true"])
print(json.dumps([[group.supervisor_pid, *group.pids.values()], str(group.folder)]), flush=True)
sys.stdin.readline()
group.stop_all()
"""
FAMILY = 4  # the supervisor, sh, and its two children


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_killed_program_leaves_nothing(number: signal.Signals) -> None:
    """Not even when it has no chance to clean up, and what its servers started included."""
    with Running(PROGRAM) as running:
        wait_for(lambda: len(running.left()) == FAMILY, what="the family")
        running.process.send_signal(number)
        wait_for(lambda: not running.left() and not running.folder.exists(), what="nothing left")


@linux
def test_killed_supervisor_takes_its_servers_along() -> None:
    """The kernel ends the servers with their supervisor; stopping clears the rest away."""
    with Running(PROGRAM) as running:
        wait_for(lambda: len(running.left()) == FAMILY, what="the family")
        os.kill(running.supervisor, signal.SIGKILL)
        gone = {running.supervisor, *running.servers}
        wait_for(lambda: not gone & set(running.left()), what="no server left")
        running.process.communicate("stop\n", timeout=10)
        assert running.left() == []
        assert not running.folder.exists()


def test_ended_server_is_reported_with_its_log() -> None:
    """A server that ends by itself fails the wait for it at once."""
    group = ProcessGroup()
    try:
        group.start("brief", ["sh", "-c", "echo no such flag; exit 3"])
        with pytest.raises(ServerFailedError, match=r"(?s)brief ended with status 3.*no such flag"):
            group.wait_ready("brief", lambda: False, "never", timeout=10)
        with pytest.raises(ServerFailedError, match="No such file"):
            group.start("none", ["/does/not/exist"])
    finally:
        group.stop_all()
    with pytest.raises(ServerFailedError, match="stopped"):
        group.check()


def test_wait_for_says_what_it_waited_for() -> None:
    """With the last assertion that was not met."""

    def never() -> bool:
        raise AssertionError("0 of 1")

    with pytest.raises(WaitTimeoutError, match="a pod") as raised:
        wait_for(never, timeout=0.05, what=lambda: "a pod")
    assert str(raised.value.__cause__) == "0 of 1"


def test_versions() -> None:
    """Short forms mean the newest patch; an unknown one is an error that says what to do."""
    assert versions.DEFAULT_VERSION in versions.supported()
    assert versions.resolve("1.37") == versions.resolve("v1.37") == "v1.37.2"
    assert versions.asked_for({}) == versions.DEFAULT_VERSION
    assert versions.asked_for({"LLMFIT_K8S_VERSION": "1.34"}) == "v1.34.4"
    with pytest.raises(ValueError, match=r"newversion v1\.3$"):
        versions.resolve("1.3")


def test_named_program_is_checked(tmp_path: Path) -> None:
    """A program named by the environment has to be there and of the right version."""
    with pytest.raises(BuildError, match="no executable file"):
        find_programs("v1.37.2", {"LLMFIT_CONTROLPLANE": str(tmp_path / "none")})
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho Kubernetes v1.36.0\n")
    program.chmod(0o755)
    with pytest.raises(BuildError, match=r"leads to Kubernetes v1\.36\.0"):
        find_programs("v1.37.2", {"LLMFIT_CONTROLPLANE": str(program)})
    assert find_programs("v1.36.0", {"LLMFIT_CONTROLPLANE": str(program)}).paths["etcd"] == program


def test_folder_of_programs_is_used(tmp_path: Path) -> None:
    """KUBEBUILDER_ASSETS counts when it has all five; one without a scheduler is passed over."""
    for name in ("etcd", "kube-apiserver", "kubectl", "kube-controller-manager"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho Kubernetes v1.37.2\n")
        program.chmod(0o755)
    environment = {"KUBEBUILDER_ASSETS": str(tmp_path)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        with pytest.raises(GoMissingError, match="no `go` command on PATH"):
            find_programs("v1.37.2", environment)
    (tmp_path / "kube-scheduler").symlink_to(tmp_path / "etcd")
    assert find_programs("v1.37.2", environment).origin == "KUBEBUILDER_ASSETS"


@pytest.mark.parametrize(
    ("ci", "status", "outcome"), [("true", 1, "1 error"), ("", 0, "1 skipped")]
)
def test_without_go(tmp_path: Path, ci: str, status: int, outcome: str) -> None:
    """Where the programs are missing a test is skipped with the reason; in CI it fails."""
    (tmp_path / "conftest.py").write_text("from tests.controlplane.fixtures import cluster\n")
    (tmp_path / "test_it.py").write_text("def test_it(cluster): pass\n")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={
            "PATH": "/nowhere",
            "PYTHONPATH": str(REPOSITORY),
            "XDG_CACHE_HOME": str(tmp_path),
            "CI": ci,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == status, result.stdout
    assert outcome in result.stdout
    assert "no `go` command on PATH" in result.stdout
