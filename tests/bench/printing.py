"""Tables as they are printed: Markdown, each figure with its unit."""

from __future__ import annotations

_HEADS = ("program", "form", "command", "file")


def row(*cells: str) -> None:
    """A row of a table; the first of a table is followed by the rule."""
    print(f"| {' | '.join(cells)} |", flush=True)
    if cells[0] in _HEADS:
        print(f"|{'|'.join(['---'] * len(cells))}|")


def ms(seconds: float) -> str:
    """A duration."""
    return f"{seconds * 1000:.1f} ms"


def mib(size: float) -> str:
    """A size, as programs' memory is given."""
    return f"{size / 2**20:.1f} MiB"


def mb(size: float) -> str:
    """A size, as files' are given."""
    return f"{size / 1e6:.2f} MB"
