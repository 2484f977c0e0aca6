"""A group of server processes with their logs, all gone when the group is stopped."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.controlplane.waiting import WaitTimeoutError, wait_for

KEEP_VARIABLE = "LLMFIT_CONTROLPLANE_KEEP"


class ServerFailedError(Exception):
    """A server ended or did not become ready; the message has the end of its log."""


class ProcessGroup:
    """Servers under one supervisor process (``supervisor.py``), and their folder.

    The folder is removed at the end, unless LLMFIT_CONTROLPLANE_KEEP is set: then it
    stays, with the logs, for a person to read.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="llmfit-controlplane-"))
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        self.pids: dict[str, int] = {}
        self._commands: dict[str, tuple[list[str], dict[str, str]]] = {}
        keep = "keep" if os.environ.get(KEEP_VARIABLE) else "remove"
        # Not -m: the module's package would be imported too, which takes its time.
        program = Path(__file__).with_name("supervisor.py")
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(program), str(self.folder), keep],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        self._requests, self._answers = self._supervisor.stdin, self._supervisor.stdout
        self._lock = threading.Lock()

    @property
    def supervisor_pid(self) -> int:
        """The process id of the supervisor."""
        return self._supervisor.pid

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
    ) -> int:
        """Start a server; its output goes to the log of that name. Returns its process id."""
        self._commands[name] = [str(part) for part in command], dict(environment or {})
        pid = self._ask(
            do="start",
            name=name,
            command=self._commands[name][0],
            environment=self._commands[name][1],
            log=str(self.log(name)),
            folder=str(self.folder),
        )
        self.pids[name] = int(pid)
        return self.pids[name]

    def stop(self, name: str) -> None:
        """Kill one server."""
        self._ask(do="stop", name=name)
        del self.pids[name]

    def start_again(self, name: str) -> int:
        """Start a server that was stopped, with the same command. Returns its process id."""
        return self.start(name, *self._commands[name])

    def stop_all(self) -> None:
        """Kill all servers and remove the folder. Safe to call twice."""
        if self._requests.closed:
            return
        self._requests.close()
        self._answers.close()
        if self._supervisor.wait() != 0:
            # It was itself killed. The kernel has ended the servers with it, but what they
            # have started may be left, and the folder.
            for pid in self.pids.values():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            if not os.environ.get(KEEP_VARIABLE):
                shutil.rmtree(self.folder, ignore_errors=True)

    def wait_ready(
        self, name: str, ready: Callable[[], object], what: str, timeout: float = 60.0
    ) -> None:
        """Wait until ``ready``; fail at once, with its log, when a server has ended."""

        def ready_or_ended() -> bool:
            self.check()
            return bool(ready())

        try:
            wait_for(ready_or_ended, timeout, what)
        except WaitTimeoutError as error:
            raise ServerFailedError(f"{error}\n{self.tail(name)}") from error

    def check(self) -> None:
        """Raise ServerFailedError when a server has ended by itself."""
        for name, status in self._ask(do="exited").items():
            raise ServerFailedError(f"{name} ended with status {status}\n{self.tail(name)}")

    def log(self, name: str) -> Path:
        """The log file of a server."""
        return self.logs / f"{name}.log"

    def tail(self, name: str, lines: int = 40) -> str:
        """The last lines of a server's log, with a heading."""
        path = self.log(name)
        text = path.read_text(errors="replace") if path.exists() else ""
        end = "\n".join(text.splitlines()[-lines:])
        return f"--- the end of {path.name}\n{end}"

    def _ask(self, **request: Any) -> Any:
        with self._lock:
            try:
                print(json.dumps(request), file=self._requests, flush=True)
                line = self._answers.readline()
            except (BrokenPipeError, ValueError):
                line = ""
        if not line:
            raise ServerFailedError("the cluster is stopped, or its supervisor process was killed")
        answer = json.loads(line)
        if "error" in answer:
            raise ServerFailedError(answer["error"])
        return answer["result"]
