"""Run a program that starts servers, and see which processes are left of it."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

REPOSITORY = Path(__file__).parents[2]


def processes() -> dict[int, int]:
    """Every living process with its group; one that only waits to be reaped is dead."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, group = path.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            found[int(path.parent.name)] = int(group)
    return found


class Running:
    """A Python program of a test.

    Its first line of output is JSON: the ids of its supervisor and servers, each the head
    of a process group, and their folder.
    """

    def __init__(self, program: str, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *args],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        (self.supervisor, *self.servers), folder = json.loads(self.process.stdout.readline())
        self.folder = Path(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """End the program; where a test has failed, all that is left of it as well."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()
        for pid in self.left():
            subprocess.run(["kill", "-KILL", str(pid)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def left(self) -> list[int]:
        """The living processes of the supervisor's and the servers' groups."""
        groups = {self.supervisor, *self.servers}
        return [pid for pid, group in processes().items() if group in groups]
