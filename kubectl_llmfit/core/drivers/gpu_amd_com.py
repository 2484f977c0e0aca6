"""The driver gpu.amd.com: whole GPUs and their partitions; publishes memory, but no bandwidth.

Source: ROCm/k8s-gpu-dra-driver, cmd/gpu-kubeletplugin/deviceinfo.go and
docs/driver-attributes.md (``type`` "amdgpu" or "amdgpu-partition"; ``productName`` from the
board's FRU, empty on Radeon boards and virtual functions; ``deviceID`` the PCI id, since 2026;
capacity ``memory``, 0 where unreadable; ``numaNode`` in the driver's own domain),
pkg/amdgpu/amdgpu.go (spelling of the names) and helm-charts-k8s/templates/deviceclass.yaml (the
class tests no type). The board table turns name or id into a bandwidth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_llmfit.core.claims.plan import Selector
from kubectl_llmfit.core.drivers.conditions import All, AnyOf, Condition
from kubectl_llmfit.core.drivers.domain import Domain
from kubectl_llmfit.core.drivers.fitting import can_hold, no_board, whole_boards
from kubectl_llmfit.core.drivers.interface import Candidate, Driver, Selection
from kubectl_llmfit.core.sizing.floors import Floors
from kubectl_llmfit.core.sizing.quantity import MI

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board

NAME = "gpu.amd.com"
_DOMAIN = Domain(NAME)
# Under the driver's AutoPartition gate a device stands for all partitions of a mode together: it
# shows the memory of all of them, and a claim gets one.
_ALONE = _DOMAIN.lacks("computePartition")


def select(floors: Floors, boards: Sequence[Board]) -> Selection:
    """Whole GPUs, and partitions of GPUs that can be partitioned, that meet ``floors``.

    Raises:
        Refused: ``no-board-fits``.
    """
    fitting = whole_boards(NAME, floors, boards)
    if not fitting:
        raise no_board(NAME, "a GPU", floors, boards)
    by_threshold: dict[int, list[Board]] = defaultdict(list)
    candidates = [Candidate(board) for board in fitting]
    for board in fitting:
        parts = most_parts(board, floors)
        if parts > 1 and can_hold(board, floors.memory_bytes * 2):
            by_threshold[max(threshold_bytes(board, parts), floors.memory_bytes)].append(board)
            candidates.append(Candidate(board, f"1/{parts} or more"))
    kinds = [All((_DOMAIN.is_("type", "amdgpu"), _is_one_of(fitting)))]
    for threshold in sorted(by_threshold):
        part = (
            _DOMAIN.is_("type", "amdgpu-partition"),
            _ALONE,
            _is_one_of(by_threshold[threshold]),
        )
        higher = threshold != floors.memory_bytes
        kinds.append(All((*part, *([_DOMAIN.memory_at_least(threshold)] if higher else []))))
    conditions = (
        *_DOMAIN.memory(floors.memory_bytes),
        _DOMAIN.has("type"),
        AnyOf(tuple(kinds)),
    )
    return Selection(
        Selector(conditions),
        candidates=tuple(candidates),
        known_boards=sum(board.driver == NAME for board in boards),
    )


def most_parts(board: Board, floors: Floors) -> int:
    """Into how many parts ``board`` may be partitioned with each still fast enough."""
    return max(
        (
            parts
            for parts in board.partitions
            if board.bandwidth_gbs >= floors.bandwidth_gbs * parts
        ),
        default=1,
    )


def threshold_bytes(board: Board, parts: int) -> int:
    """Memory that tells a part of ``parts`` from the next smaller one, in whole Mi."""
    memory_bytes = board.memory_bytes or 0
    smaller = min((each for each in board.partitions if each > parts), default=None)
    if smaller is None:
        return 0
    return (memory_bytes // parts + memory_bytes // smaller) // 2 // MI * MI


def _is_one_of(boards: Sequence[Board]) -> Condition:
    """Whether a device is one of ``boards``, by its name or its PCI id."""
    names = [board.name for board in boards if board.name_published]
    ids = [each for board in boards for each in board.ids]
    tests = []
    if names:
        tests.append(_DOMAIN.has_named("productName", names))
    if ids:
        tests.append(_DOMAIN.has_named("deviceID", ids))
    return AnyOf(tuple(tests))


DRIVER = Driver(
    name=NAME,
    classes={NAME: select},
    topology={"pcie": "resource.kubernetes.io/pcieRoot", "numa": f"{NAME}/numaNode"},
)
