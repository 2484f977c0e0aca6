"""The transport: the user's kubectl as a child process, and its errors as typed refusals."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Problem, Reason, Refused

DEFAULT_TIMEOUT = "15s"
"""Longest wait for one answer, where the user's flags say nothing: an API server that does not
answer at all should not hang the command."""

FIELD_CONFLICT = "FieldConflict"
"""Status of a server-side apply that would change what another manager has set."""

_STATUS_RE = re.compile(
    r"^Error from server(?: \((\w+)\))?: (.*?)(?=^Error from server|\Z)", re.MULTILINE | re.DOTALL
)
_UNREACHABLE_RE = re.compile(
    r"connection to the server|unable to connect to the server|no route to host|connection refused"
    r"|connection reset|i/o timeout|deadline exceeded|client\.timeout exceeded|no such host|tls: "
    r"|\bEOF$",
    re.IGNORECASE,
)
_CONFLICT = "Apply failed with "
# Server-side apply: which manager owns which field; a paragraph of advice follows.
_CONFLICT_RE = re.compile(rf"{_CONFLICT}\d+ conflicts?: .*?(?=\nPlease review|\Z)", re.DOTALL)
# What kubectl asks when a server is given without any way to log in.
_PROMPT = "Please enter "
_UNAUTHORIZED = "You must be logged in to the server"
_NO_TYPE = "the server doesn't have a resource type"
NO_SUCH_TYPE = "NoSuchType"
"""Status of a request for a type that the cluster does not serve, which kubectl never sends."""


class ApiError(Refused):
    """The API server, or the way to it, said no.

    Attributes:
        status: its own word, such as Conflict; the first one's of several.
        output: what kubectl printed all the same, such as the objects that could be read.
    """

    def __init__(self, problem: Problem, status: str, *more: Problem, output: str = "") -> None:
        super().__init__((problem, *more))
        self.status = status
        self.output = output


def _ignore(line: str) -> None:
    """Drops a warning."""


@dataclass(frozen=True)
class Kubectl:
    """The user's kubectl with the global flags of this command line.

    Attributes:
        flags: global flags that are handed on with every call, such as ``--context=x``.
        warn: called with each line that kubectl warns with.
    """

    flags: tuple[str, ...] = ()
    warn: Callable[[str], None] = _ignore

    def run(self, arguments: Sequence[str], stdin: str | None = None) -> str:
        """Standard output of ``kubectl ARGUMENTS``; its warnings are handed to ``warn``.

        Raises:
            ApiError: kubectl failed; its own sentence, and what to do.
            Refused: ``no-kubectl``.
        """
        done = self.ended(arguments, stdin)
        if done.returncode:
            raise _failure(done.stderr.strip(), done.stdout)
        for line in done.stderr.splitlines():
            self.warn(line)
        return done.stdout

    def ended(
        self, arguments: Sequence[str], stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """``kubectl ARGUMENTS``, run to its end, however it ended.

        Raises:
            Refused: ``no-kubectl``.
        """
        command = [_program(), *self.flags, *self._timeout(), *arguments]
        try:
            # A list and no shell: what the user wrote is an argument, never a command.
            return subprocess.run(  # noqa: S603
                command,
                # An exec plugin may ask for a login at a terminal, but a pipe is ours to read.
                input=stdin if stdin is not None or _at_terminal() else "",
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except OSError as error:
            sentence = f"{command[0]} cannot be run: {error.strerror}"
            raise Refused((Problem(reasons.NO_KUBECTL, sentence),)) from None

    def _timeout(self) -> list[str]:
        if any(flag.startswith("--request-timeout") for flag in self.flags):
            return []
        return [f"--request-timeout={DEFAULT_TIMEOUT}"]


def _program() -> str:
    """``$KUBECTL``, else the kubectl of PATH."""
    program = os.environ.get("KUBECTL") or shutil.which("kubectl")
    if program:
        return program
    sentence = "kubectl is not on PATH; install it, or name it in the environment variable KUBECTL"
    raise Refused((Problem(reasons.NO_KUBECTL, sentence),))


def _at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _failure(output: str, printed: str) -> ApiError:
    """kubectl's error ``output`` as sentences with their reasons, and what it ``printed``."""
    if printed.startswith(_PROMPT):
        said = "kubectl has no credentials for the server"
        return ApiError(_problem(reasons.CLUSTER_FORBIDDEN, said), "Unauthorized")
    answers = _STATUS_RE.findall(output)
    if answers:
        first, *others = (_answer(status, said) for status, said in answers)
        return ApiError(first, answers[0][0], *others, output=printed)
    said = " ".join(_last_lines(output).split()).removeprefix("error: ")
    if _UNAUTHORIZED in said:
        return ApiError(_problem(reasons.CLUSTER_FORBIDDEN, said), "Unauthorized")
    if _UNREACHABLE_RE.search(said):
        said = f"the API server could not be reached: {said}"
        return ApiError(_problem(reasons.CLUSTER_UNREACHABLE, said), "Unreachable")
    said = said or "kubectl failed without a word"
    return ApiError(_problem(reasons.CLUSTER_ERROR, said), _status(said))


def _answer(status: str, said: str) -> Problem:
    is_forbidden = status in {"Forbidden", "Unauthorized"}
    reason = reasons.CLUSTER_FORBIDDEN if is_forbidden else reasons.CLUSTER_ERROR
    return _problem(reason, " ".join(said.split()))


def _problem(reason: Reason, said: str) -> Problem:
    advice = {
        reasons.CLUSTER_FORBIDDEN: "ask for the permission, or use another --context or --as",
        reasons.CLUSTER_UNREACHABLE: "check the cluster, --context and --kubeconfig",
    }.get(reason)
    return Problem(reason, f"{said.rstrip('.')}; {advice}" if advice else said.rstrip("."))


def _last_lines(output: str) -> str:
    """The error itself: klog lines that kubectl prints on its way there are left out."""
    if conflict := _CONFLICT_RE.search(output):
        return conflict.group()
    lines = [line for line in output.splitlines() if not re.match(r"^[EWI]\d{4} ", line)]
    return "\n".join(lines[-3:])


def _status(said: str) -> str:
    """A word for those of kubectl's own refusals that callers tell apart."""
    if said.startswith(_CONFLICT):
        return FIELD_CONFLICT
    return NO_SUCH_TYPE if _NO_TYPE in said else ""
