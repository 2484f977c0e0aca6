"""A cluster in the background for a person to play with: one for each user."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import all_device_classes
from tests.controlplane.nodes import create_node, node
from tests.controlplane.samples import sample_slices
from tests.controlplane.waiting import WaitTimeoutError, wait_for

REPOSITORY = Path(__file__).parents[2]
START_TIMEOUT = 120.0


@dataclass(frozen=True)
class State:
    """What is known of the running cluster."""

    pid: int
    version: str
    kubeconfig: str
    bin: str
    log: str


def _folder() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "kubectl-llmfit" / "controlplane"


def running() -> State | None:
    """The running cluster, or None."""
    try:
        return State(**json.loads((_folder() / "state.json").read_text())) if _is_served() else None
    except FileNotFoundError:  # it is starting or ending
        return None


def start(version: str) -> State:
    """Start a cluster in the background and wait until it is ready."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "serve.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.controlplane", "serve", version],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def ready_or_ended() -> State | bool:
        return running() or server.poll() is not None

    try:
        state = wait_for(ready_or_ended, START_TIMEOUT, "the cluster to be ready")
    except (WaitTimeoutError, KeyboardInterrupt):
        server.terminate()
        raise
    if not isinstance(state, State):
        raise RuntimeError(f"the cluster did not start:\n{log.read_text()}")
    return state


def stop(timeout: float = 30.0) -> State | None:
    """Stop the running cluster and wait until all of it is gone; None when there is none."""
    state = running()
    if state:
        os.kill(state.pid, signal.SIGTERM)
        wait_for(lambda: not _is_served(), timeout, "the cluster to end")
    return state


def serve(version: str, show: Callable[[State], None]) -> None:
    """Run a cluster with sample nodes, ``show`` what it is, and wait for SIGTERM or Ctrl-C."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (folder / "lock").open("w") as lock:
        wait_for(lambda: _lock(lock), 2, "the lock: another cluster is up or starting")
        with Cluster.start(version) as cluster:
            for item in all_device_classes():
                cluster.api.create(item)
            for name, slices in sample_slices(version).items():
                create_node(cluster.api, node(name), slices)
            state = State(
                pid=os.getpid(),
                version=version,
                kubeconfig=str(cluster.kubeconfig),
                bin=str(cluster.bin),
                log=str(cluster.group.logs),
            )
            path = folder / "state.json"
            try:
                made = path.with_suffix(".new")
                made.write_text(json.dumps(asdict(state)))
                made.rename(path)
                show(state)
                signal.pause()
            finally:
                path.unlink(missing_ok=True)


def _is_served() -> bool:
    """Whether a serving process lives: it holds the file lock until its cluster is gone.

    So a state file that a crash has left behind, or a process id used anew, is never taken
    for a cluster.
    """
    try:
        with (_folder() / "lock").open("r") as lock:
            return not _lock(lock)
    except FileNotFoundError:
        return False


def _lock(file: TextIO) -> bool:
    """Take the file lock, unless another process has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
