"""The command line beside the endpoint, run inside this process."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from kubectl_llmfit import cli


@dataclass(frozen=True)
class Printed:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


def printed(arguments: Sequence[str]) -> Printed:
    """What ``kubectl llmfit`` prints for ``arguments``."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main(list(arguments))
    return Printed(code, out.getvalue(), err.getvalue())
