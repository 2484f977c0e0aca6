"""Runs programs as a user's shell would: with an environment that holds only what is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Finished = subprocess.CompletedProcess[str]
Word = str | Path

SYSTEM_FOLDERS = ("/usr/bin", "/bin")
# The Python under the virtual environment that runs the tests: it has no library of theirs.
BASE_PYTHON = Path(sys.executable).resolve()
# Linux lets root write anywhere; without these two capabilities it is held to the modes of files.
_UNPRIVILEGED = ("--bounding-set", "-dac_override,-dac_read_search", "--")


def environment(path: Iterable[Word], home: Path | None, **more: str) -> dict[str, str]:
    """The whole environment of a child: PATH, HOME unless it is ``None``, and ``more``."""
    variables = {"PATH": os.pathsep.join(map(str, path)), "LANG": "C.UTF-8", **more}
    return variables if home is None else {**variables, "HOME": str(home)}


def inherited(*without: str, **more: str) -> dict[str, str]:
    """The tests' own environment, for tools that need its proxies and caches."""
    # Where the tests run in a virtual environment, its variables would steer the child's.
    dropped = {*without, "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"}
    return {name: value for name, value in os.environ.items() if name not in dropped} | more


def run(command: Sequence[Word], env: Mapping[str, str], cwd: Path | None = None) -> Finished:
    """The finished process; its output is text, and its standard input is empty."""
    return subprocess.run(
        [str(word) for word in command],
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def succeed(command: Sequence[Word], env: Mapping[str, str], cwd: Path | None = None) -> str:
    """Standard output of a command that has to succeed."""
    finished = run(command, env, cwd)
    assert finished.returncode == 0, f"{command}\n{finished.stdout}\n{finished.stderr}"
    return finished.stdout


def bound_by_modes(command: Sequence[Word]) -> list[Word]:
    """``command`` as a user for whom a read-only folder is read-only, also where root runs it."""
    if os.geteuid() != 0:
        return list(command)
    setpriv = shutil.which("setpriv")
    assert setpriv, "root can write anywhere; setpriv (of util-linux) is needed to test otherwise"
    return [setpriv, *_UNPRIVILEGED, *command]


def in_ci() -> bool:
    """Whether a missing tool is a failure and not a reason to do with less."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")
