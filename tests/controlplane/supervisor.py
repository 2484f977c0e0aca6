"""The process that owns a cluster's servers, so that none of them outlives it.

``processes.py`` starts this program and talks to it over standard input and output, one
JSON object a line: ``start`` a server, ``stop`` one by name, ask which have ``exited``.
When standard input ends — the cluster was stopped, or the test run died in whatever way
— or on SIGTERM or SIGINT, every server is killed with its whole process group and the
cluster's folder is removed. On Linux the kernel also kills the servers when this process
is itself killed.

It is a process of its own, apart from the terminal, because a test run can die without
running any of its own code, and because Ctrl-C reaches all of the terminal's foreground
processes at once.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _die_with_parent() -> None:
    """Run in the new process before its program: have the kernel kill it with its parent.

    The request is bound to the parent's thread, and this program has only one.
    """
    if sys.platform == "linux":
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Supervisor:
    """Starts, watches and stops servers by name."""

    def __init__(self) -> None:
        self._servers: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, name: str, command: list[str], environment: dict[str, str], log: str, folder: str
    ) -> int:
        """Start a server in a process group of its own, with its output added to ``log``."""
        with open(log, "ab") as output:
            server = subprocess.Popen(
                command,
                cwd=folder,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - there is one thread
            )
        self._servers[name] = server
        return server.pid

    def exited(self) -> dict[str, int]:
        """The exit status of each server that has ended by itself."""
        statuses = {name: server.poll() for name, server in self._servers.items()}
        return {name: status for name, status in statuses.items() if status is not None}

    def stop(self, name: str) -> None:
        """Kill one server's process group and wait for its end.

        Nothing is flushed or drained: its data is thrown away in the next moment.
        """
        server = self._servers.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()

    def stop_all(self) -> None:
        """Stop every server, the last one started first."""
        for name in reversed(list(self._servers)):
            self.stop(name)


def _answer(supervisor: Supervisor, request: dict[str, Any]) -> object:
    match request:
        case {"do": "start", **arguments}:
            return supervisor.start(**arguments)
        case {"do": "stop", "name": name}:
            supervisor.stop(name)
            return None
        case {"do": "exited"}:
            return supervisor.exited()
    raise ValueError(f"unknown request {request}")


def _stop_on_signal(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Answer requests until standard input ends, then clean up."""
    folder, keep = Path(sys.argv[1]), sys.argv[2] == "keep"
    signal.signal(signal.SIGTERM, _stop_on_signal)
    signal.signal(signal.SIGINT, _stop_on_signal)
    supervisor = Supervisor()
    try:
        for line in sys.stdin:
            try:
                answer = {"result": _answer(supervisor, json.loads(line))}
            except (OSError, LookupError, ValueError) as error:
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    finally:
        # A second signal must not interrupt the cleaning up.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        supervisor.stop_all()
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
