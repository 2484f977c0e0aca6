"""The entry point of every installation: ``kubectl-llmfit`` and ``python -m kubectl_llmfit``."""

from __future__ import annotations

import gc
import sys

# A run makes some ten thousand objects and ends. Collecting them while they are imported, and
# walking them all again at exit, took a sixth of the whole process.
_COLLECT_AFTER = 100_000


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; Ctrl-C while it is still being imported ends it quietly too."""
    gc.set_threshold(_COLLECT_AFTER)
    try:
        from kubectl_llmfit import cli

        return cli.main(arguments)
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
