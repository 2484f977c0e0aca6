"""Tables in kubectl's form: upper-case heads, columns three spaces apart, no rules."""

from __future__ import annotations

from collections.abc import Sequence

_GAP = 3


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, headers: bool = True) -> str:
    """``rows`` below ``heads``, every column as wide as its widest cell; ends with a newline."""
    lines = [*([heads] if headers else []), *rows]
    widths = [max((len(line[column]) for line in lines), default=0) for column in range(len(heads))]
    return "".join(
        (" " * _GAP)
        .join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        .rstrip()
        + "\n"
        for line in lines
    )
