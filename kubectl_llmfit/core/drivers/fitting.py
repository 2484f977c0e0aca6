"""Which boards of the table meet a bandwidth floor, whole or in part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Refused, refuse
from kubectl_llmfit.core.sizing.floors import Floors
from kubectl_llmfit.core.sizing.quantity import memory_quantity

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board

# Boards of one product name come with up to twice the memory of the smallest (8 and 16 GB), and
# drivers report up to a tenth more or less than the nominal figure.
_MEMORY_SPREAD = 2.2


def whole_boards(driver: str, floors: Floors, boards: Sequence[Board]) -> list[Board]:
    """Boards of ``driver`` with the bandwidth, and possibly the memory, that ``floors`` ask for.

    Memory is decided by the capacity that the driver publishes, in the selector; here it only
    keeps out boards that can't have enough, so that the list stays short.
    """
    return [
        board
        for board in boards
        if board.driver == driver
        and board.bandwidth_gbs >= floors.bandwidth_gbs
        and can_hold(board, floors.memory_bytes)
    ]


def can_hold(board: Board, memory_bytes: int) -> bool:
    """Whether a board of this name may have ``memory_bytes``, by the largest known spread."""
    return board.memory_bytes is not None and board.memory_bytes * _MEMORY_SPREAD >= memory_bytes


def no_board(driver: str, kind: str, floors: Floors, boards: Sequence[Board]) -> Refused:
    """The refusal when no board of the table meets ``floors``, with the nearest that there is."""
    known = [board for board in boards if board.driver == driver]
    fastest = max(known, key=lambda board: board.bandwidth_gbs, default=None)
    nearest = (
        f"; the fastest is {fastest.name} with {fastest.bandwidth_gbs} GB/s" if fastest else ""
    )
    return refuse(
        reasons.NO_BOARD_FITS,
        f"none of the {len(known)} known boards of {driver} is {kind} with "
        f"{memory_quantity(floors.memory_bytes)} and {floors.bandwidth_gbs} GB/s{nearest}; ask for "
        "less with --min-tps or --quant, for more devices with --count, or describe your board "
        "with --boards",
    )
