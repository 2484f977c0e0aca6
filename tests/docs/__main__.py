"""Writes the generated parts of docs/ anew: ``python -m tests.docs``."""

from __future__ import annotations

import sys

from tests.docs.generate import DOCUMENTS, FOLDER


def main() -> int:
    """Writes each document and names it."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in DOCUMENTS.items():
        (FOLDER / name).write_text(text(), "utf-8")
        print(FOLDER.name + "/" + name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
