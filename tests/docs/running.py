"""Runs documented commands as a reader would type them, and compares what they print."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.docs.blocks import ANYTHING, ROOT, Step

# Where the sources lie, whatever is installed; -P, since the working folder is the reader's.
_PLUGIN = '#!/bin/sh\nPYTHONPATH={root} exec {python} -P -m kubectl_llmfit "$@"\n'


@dataclass(frozen=True)
class Shell:
    """A reader's shell: a working folder, and an environment with the plugin on PATH."""

    folder: Path
    env: Mapping[str, str]

    def run(self, command: str) -> tuple[int, str]:
        """The exit code and all output of ``command``, errors included, as a terminal shows it."""
        finished = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            # Unbuffered, so that output and errors come in the order in which they are written.
            env={**self.env, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return finished.returncode, finished.stdout

    def check(self, step: Step) -> None:
        """Runs ``step``; fails where its output is not the documented one, or its code is not 0.

        A command whose documented output has a line that starts with ``error: `` has to fail, and
        ``--diff`` tells of differences by the code 1.
        """
        code, output = self.run(step.command)
        expected = step.expected
        fails = expected is not None and any(line.startswith("error: ") for line in expected)
        differs = " --diff" in step.command
        assert code == (1 if fails or differs else 0), (
            f"$ {step.command}\nexit code {code}\n{output}"
        )
        if expected is not None and not matches(expected, output):
            difference = difflib.unified_diff(
                expected, output.splitlines(), "documented", "printed", lineterm=""
            )
            raise AssertionError("\n".join([f"$ {step.command}", *difference]))


def open_shell(folder: Path, kubectl: Path, files: Mapping[str, str]) -> Shell:
    """A shell in an empty folder that holds ``files``, with ``kubectl`` and the plugin on PATH."""
    programs, home, work = folder / "bin", folder / "home", folder / "work"
    for each in (programs, home / ".local" / "bin", work):
        each.mkdir(parents=True)
    # As krew installs it, so that completion is there once it is put there.
    plugin = programs / "kubectl-llmfit"
    plugin.write_text(_PLUGIN.format(root=_quoted(ROOT), python=_quoted(sys.executable)))
    plugin.chmod(0o755)
    for name, content in files.items():
        (work / name).write_text(content, "utf-8")
    path = [str(programs), str(kubectl.parent), os.defpath]
    env = {"PATH": os.pathsep.join(path), "HOME": str(home), "LANG": "C.UTF-8"}
    return Shell(work, env)


def matches(expected: Sequence[str], output: str) -> bool:
    """Whether ``output`` has exactly the ``expected`` lines; ``...`` stands for any number."""
    pattern = "".join(
        "(?:.*\n)*" if line == ANYTHING else re.escape(f"{line}\n") for line in expected
    )
    return re.fullmatch(pattern, output) is not None


def _quoted(path: Path | str) -> str:
    return "'" + str(path).replace("'", "'\\''") + "'"
