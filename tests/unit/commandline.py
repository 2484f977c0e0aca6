"""Running the command line in tests: inside this process, or as a whole process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

REPOSITORY = Path(__file__).resolve().parents[2]
MODEL = "Qwen/Qwen2.5-7B-Instruct"
"""A model of the shipped catalog: 7,615,616,512 parameters, Q4_K_M, a VRAM floor of 3.9 GB."""


@dataclass(frozen=True)
class Finished:
    """How a command line ended."""

    code: int
    out: str
    err: str

    def stdout(self) -> str:
        """What a command that must have succeeded without a word on stderr printed."""
        assert (self.code, self.err) == (0, "")
        return self.out

    def errors(self) -> list[str]:
        """The lines on stderr of a command that must have failed with nothing on stdout."""
        assert (self.code, self.out) == (1, "")
        return self.err.splitlines()

    def error(self) -> str:
        """The only line on stderr of a command that must have failed."""
        lines = self.errors()
        assert len(lines) == 1, lines
        return lines[0]


class Run(Protocol):
    """Runs one command line."""

    def __call__(self, *arguments: str) -> Finished: ...


def environment(**changes: str | None) -> dict[str, str]:
    """This process's environment without what changes Python's streams, and with ``changes``.

    ``None`` takes a variable away.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    merged: dict[str, str | None] = {**kept, "LC_ALL": "C.UTF-8", **changes}
    return {key: value for key, value in merged.items() if value is not None}


def whole_process(
    *arguments: str,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """``python -m kubectl_llmfit`` with ``arguments``, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "kubectl_llmfit", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        env=environment() if env is None else env,
        cwd=REPOSITORY,
        check=False,
        timeout=60,
    )
