"""Standard output for results, standard error for everything else."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO

from kubectl_llmfit.core.reasons import Problem, printable


def prepare() -> None:
    """Makes both streams take any text.

    Pipes and files get UTF-8, since YAML and JSON are UTF-8 whatever the locale is; a terminal
    that cannot show a character gets its escape instead of an error.

    Raises:
        OSError: standard output is closed, so a result could not be told from its absence.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - to the process's end
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if stream.isatty():
            reconfigure(errors="backslashreplace")
        else:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def write(text: str) -> None:
    """Writes a command's result to standard output, as it is."""
    sys.stdout.write(text)


def line(text: str) -> None:
    """One line of a command's result on standard output."""
    write(f"{printable(text)}\n")


def note(text: str) -> None:
    """One line of information on standard error."""
    sys.stderr.write(f"{printable(text)}\n")


def warn(text: str) -> None:
    """One line of warning on standard error, in kubectl's form."""
    note(f"Warning: {text}")


def report(problems: Iterable[Problem]) -> None:
    """The problems that ended a command, a line each, in kubectl's form."""
    for problem in problems:
        note(f"error: {problem}")


def flush() -> None:
    """Sends out what is buffered, so that a broken pipe shows here and not at exit."""
    sys.stdout.flush()
    sys.stderr.flush()


def abandon() -> None:
    """Points both streams at nothing: the reader is gone, and exit must not complain of it."""
    for stream in (sys.stdout, sys.stderr):
        _point_at_nothing(stream)


def abandon_output() -> None:
    """Points standard output at nothing: it cannot be written, but the error still can."""
    _point_at_nothing(sys.stdout)


def _point_at_nothing(stream: TextIO | None) -> None:
    if stream is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
