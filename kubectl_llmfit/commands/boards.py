"""``kubectl llmfit boards``: the board table, which turns product names into bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.console import flags, formats, streams
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.console.completion import one_of
from kubectl_llmfit.console.formats import as_json, as_yaml
from kubectl_llmfit.console.table import table
from kubectl_llmfit.core.boards import Board
from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.core.sizing.quantity import GI, memory_quantity

FORMATS = ("wide", "json", "yaml", "name")
_UNKNOWN = "<unknown>"
_NONE = "<none>"


@click.command(
    cls=KubectlCommand,
    examples="""
        # List every board that is known
        kubectl llmfit boards

        # Those whose names or drivers hold both words, with their sources
        kubectl llmfit boards nvidia h100 -o wide
    """,
)
@click.argument("words", metavar="[WORD...]", nargs=-1)
@click.option("--no-headers", is_flag=True, help="Leave out the line of column heads.")
@click.option(
    "-o",
    "--output",
    help=f"Output format. One of: ({', '.join(FORMATS)}). If empty, text for people.",
    shell_complete=one_of(FORMATS),
)
@flags.boards
def command(
    words: Sequence[str], no_headers: bool, output: str | None, board_files: Sequence[str]
) -> None:
    """List the boards whose names or drivers hold every WORD, or all. Case does not count.

    Drivers of vendors publish a board's name and memory, but no bandwidth: it comes from this
    table. A board that is not in it is matched by no claim for such a driver; --boards adds it.
    """
    formats.check(output, FORMATS)
    wanted = [word.lower() for word in words]
    found = [
        board
        for board in load_boards(board_files)
        if all(word in f"{board.driver} {board.name}".lower() for word in wanted)
    ]
    if output in ("json", "yaml"):
        data = {"boards": [_as_dict(board) for board in found]}
        streams.write(as_json(data) if output == "json" else as_yaml(data))
    elif output == "name":
        streams.write("".join(f"{board.name}\n" for board in found))
    elif found:
        streams.write(_table(found, wide=output == "wide", headers=not no_headers))
    if not found:
        streams.note(f"No boards found whose names hold {' and '.join(map(quoted, words))}.")


def _table(boards: Sequence[Board], *, wide: bool, headers: bool) -> str:
    heads = ["NAME", "DRIVER", "BANDWIDTH", "MEMORY", "MIG-SLICES"]
    if wide:
        heads += ["LABEL", "IDS", "SOURCE"]
    return table(heads, [_row(board, wide=wide) for board in boards], headers=headers)


def _row(board: Board, *, wide: bool) -> list[str]:
    row = [
        board.name,
        board.driver,
        f"{board.bandwidth_gbs}GB/s",
        _UNKNOWN if board.memory_bytes is None else memory_quantity(board.memory_bytes),
        _NONE if board.memory_slices is None else str(board.memory_slices),
    ]
    if not wide:
        return row
    return [*row, board.label or _NONE, ",".join(board.ids) or _NONE, board.source]


def _as_dict(board: Board) -> dict[str, Any]:
    """A board in the form of an entry of a file for ``--boards``."""
    entry: dict[str, Any] = {
        "driver": board.driver,
        "name": board.name,
        "bandwidthGBs": board.bandwidth_gbs,
    }
    if board.memory_bytes is not None:
        entry["memoryGi"] = board.memory_bytes / GI
    if board.memory_slices is not None:
        entry["memorySlices"] = board.memory_slices
    if board.ids:
        entry["ids"] = list(board.ids)
    return {**entry, "source": board.source}
