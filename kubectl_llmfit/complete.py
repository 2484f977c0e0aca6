"""The entry point ``kubectl_complete-llmfit`` of an installation by pip."""

from __future__ import annotations

import sys


def main() -> int:
    """Prints the choices for the command line that kubectl passes."""
    from kubectl_llmfit import cli

    return cli.main(["__complete", *sys.argv[1:]])
