"""The entry point of every installation: ``kubectl-llmfit`` and ``python -m kubectl_llmfit``."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line; Ctrl-C while it is still being imported ends it quietly too."""
    try:
        from kubectl_llmfit import cli

        return cli.main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
