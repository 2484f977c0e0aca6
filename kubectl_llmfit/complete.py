"""The entry point ``kubectl_complete-llmfit`` of an installation by pip."""

from __future__ import annotations

import sys

from kubectl_llmfit import __main__ as entry


def main() -> int:
    """Prints the choices for the command line that kubectl passes."""
    return entry.main(["__complete", *sys.argv[1:]])
