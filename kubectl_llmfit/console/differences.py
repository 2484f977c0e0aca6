"""``--diff``: what would change, shown by the program and with the exit codes of ``kubectl diff``.

The two states are written into two folders, ``LIVE-…`` and ``MERGED-…``, a file an object, and
the program compares the folders.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kubectl_llmfit.console import objects, streams
from kubectl_llmfit.core.reasons import DIFF_FAILED, quoted, refuse

PROGRAM_VARIABLE = "KUBECTL_EXTERNAL_DIFF"
_DEFAULT = ("diff", "-u", "-N")
# What kubectl hands on of the variable's further words: neither paths nor anything quoted.
_SIMPLE_RE = re.compile(r"[a-zA-Z0-9=-]+")
_MAX_NAME = 200


@dataclass(frozen=True)
class State:
    """One thing before and after: the name of its file, and its texts.

    What is new has an empty text before, as kubectl writes it; what goes has none after.
    """

    name: str
    before: str
    after: str | None


def of_object(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> State:
    """An object's state as ``kubectl diff`` writes it: YAML without the managed fields."""
    group, _, version = str(after["apiVersion"]).rpartition("/")
    metadata = after["metadata"]
    parts = (version, after["kind"], metadata.get("namespace", ""), metadata["name"])
    name = ".".join((group, *parts) if group else parts)
    return State(name, "" if before is None else _yaml(before), _yaml(after))


def of_files(texts: Sequence[tuple[str, str, str]]) -> list[State]:
    """The states of files, each given by its name and its texts before and after."""
    states: list[State] = []
    taken: set[str] = set()
    for path, before, after in texts:
        # The program looks at no folders in the two, so that a path becomes a name.
        flat = path.strip("./").replace(os.sep, ".")[-_MAX_NAME:] or "manifest"
        name, number = flat, 1
        while name in taken:
            number += 1
            name = f"{flat}-{number}"
        taken.add(name)
        states.append(State(name, before, after))
    return states


def show(states: Sequence[State]) -> int:
    """Prints what is different in ``states``; 1 if anything is, else 0.

    Raises:
        Refused: ``diff-failed``.
        BrokenPipeError: the reader of the differences is gone.
    """
    with TemporaryDirectory(prefix="LIVE-") as live, TemporaryDirectory(prefix="MERGED-") as merged:
        for state in states:
            for folder, content in ((live, state.before), (merged, state.after)):
                if content is not None:
                    Path(folder, state.name).write_bytes(content.encode())
        return _compared(live, merged)


def _compared(live: str, merged: str) -> int:
    program, *arguments = _command(live, merged)
    # The program writes to the terminal or pipe itself: colours and pagers are its business.
    streams.flush()
    try:
        # A list and no shell, as kubectl has it.
        done = subprocess.run([program, *arguments], check=False)  # noqa: S603
    except OSError as error:
        raise refuse(
            DIFF_FAILED,
            f"the diff program {quoted(program)} cannot be run: {error.strerror}; install it, or "
            f"name another one in {PROGRAM_VARIABLE}",
        ) from None
    if done.returncode in (0, 1):
        return done.returncode
    if done.returncode == -signal.SIGPIPE:
        raise BrokenPipeError
    raise refuse(
        DIFF_FAILED,
        f"the diff program {quoted(program)} failed with exit code {done.returncode}; see "
        f"{PROGRAM_VARIABLE}",
    )


def _command(live: str, merged: str) -> list[str]:
    """The user's program with the folders before its own arguments, as kubectl runs it."""
    named = os.environ.get(PROGRAM_VARIABLE)
    if not named:
        return [*_DEFAULT, live, merged]
    program, *words = named.split(" ")
    return [program, live, merged, *(word for word in words if _SIMPLE_RE.fullmatch(word))]


def _yaml(item: Mapping[str, Any]) -> str:
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    return objects.text([{**item, "metadata": metadata}], "yaml")
