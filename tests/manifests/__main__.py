"""Builds the manifests that the plugin ships anew: ``python -m tests.manifests``."""

from __future__ import annotations

import sys

from tests.manifests.building import ROOT, pinned_kubectl, write_all


def main() -> int:
    """Writes each file and names it."""
    with pinned_kubectl() as kubectl:
        for path in write_all(kubectl):
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
