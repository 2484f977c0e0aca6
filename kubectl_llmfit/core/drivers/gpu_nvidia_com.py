"""The driver gpu.nvidia.com: whole GPUs and MIG partitions; publishes memory, but no bandwidth.

Source: kubernetes-sigs/dra-driver-nvidia-gpu, cmd/gpu-kubelet-plugin: deviceinfo.go (``type``
"gpu", ``productName`` as NVML says it), mig.go (``type`` "mig", ``profile``, the parent's
``productName``), partitions.go (capacity ``memory``; absent where NVML reports none, GB10),
numa.go and the standard attributes ``resource.kubernetes.io/pcieRoot`` and ``/numaNode``; device
classes in deployments/helm/dra-driver-nvidia-gpu/templates. The product name turns into a
bandwidth by the board table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims.plan import Selector
from kubectl_llmfit.core.drivers.conditions import All, AnyOf, Condition
from kubectl_llmfit.core.drivers.domain import Domain
from kubectl_llmfit.core.drivers.fitting import can_hold, no_board, whole_boards
from kubectl_llmfit.core.drivers.interface import Candidate, Driver, Selection
from kubectl_llmfit.core.reasons import refuse
from kubectl_llmfit.core.sizing.floors import Floors
from kubectl_llmfit.core.sizing.quantity import MI

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board

NAME = "gpu.nvidia.com"
_DOMAIN = Domain(NAME)
_PRODUCT = "productName"

FIRST_MATCH = (
    "the scheduler takes the first device that matches, in the order of the node's slices, "
    "not the smallest"
)


def select_gpu(floors: Floors, boards: Sequence[Board]) -> Selection:
    """Whole GPUs that meet ``floors``.

    Raises:
        Refused: ``no-board-fits``.
    """
    fitting = whole_boards(NAME, floors, boards)
    if not fitting:
        raise no_board(NAME, "a whole GPU", floors, boards)
    named = _DOMAIN.named(_PRODUCT, (board.name for board in fitting))
    return Selection(
        Selector((*_common("gpu", floors), named)),
        candidates=tuple(Candidate(board) for board in fitting),
        known_boards=sum(board.driver == NAME for board in boards),
    )


def select_mig(floors: Floors, boards: Sequence[Board]) -> Selection:
    """MIG partitions that meet ``floors``.

    A partition has the bandwidth of its share of the board's memory slices, and its capacity
    tells the share: the threshold lies halfway between the last slice count that is too slow and
    the first that is fast enough, since real capacities stay below their nominal share by a
    margin that differs from board to board (1g.10gb of an H100 80GB: 9728Mi, an eighth would be
    10195Mi).

    Raises:
        Refused: ``no-board-fits``.
    """
    by_threshold: dict[int, list[Board]] = defaultdict(list)
    candidates: list[Candidate] = []
    mig_boards = [board for board in boards if board.driver == NAME and board.memory_slices]
    for board in mig_boards:
        slices = slices_needed(board, floors)
        if slices is None or not can_hold(board, floors.memory_bytes):
            continue
        by_threshold[max(threshold_bytes(board, slices), floors.memory_bytes)].append(board)
        candidates += _profiles(board, slices, floors)
    if not by_threshold:
        raise no_board(NAME, "one with a MIG partition", floors, boards)
    groups = tuple(
        _group(threshold, by_threshold[threshold], floors) for threshold in sorted(by_threshold)
    )
    return Selection(
        Selector((*_common("mig", floors), AnyOf(groups))),
        candidates=tuple(candidates),
        known_boards=len(mig_boards),
        kind="boards with MIG",
        notes=(FIRST_MATCH,),
    )


def slices_needed(board: Board, floors: Floors) -> int | None:
    """The fewest memory slices of ``board`` with the bandwidth; ``None`` if all are too few."""
    total = board.memory_slices or 0
    fast_enough = (
        count
        for count in range(1, total + 1)
        if board.bandwidth_gbs * count >= floors.bandwidth_gbs * total
    )
    return next(fast_enough, None)


def threshold_bytes(board: Board, slices: int) -> int:
    """Memory that tells ``slices`` memory slices of ``board`` from one slice fewer, whole Mi.

    One slice is the least that there is, so nothing has to be told from it.
    """
    if slices == 1:
        return 0
    total = board.memory_slices or 1
    return (board.memory_bytes or 0) * (2 * slices - 1) // (2 * total) // MI * MI


def _profiles(board: Board, slices: int, floors: Floors) -> list[Candidate]:
    """The profiles of ``board`` that suffice, as far as their capacity is known."""
    return [
        Candidate(board, profile.name)
        for profile in board.profiles
        if profile.memory_slices >= slices
        and (profile.memory_bytes is None or profile.memory_bytes >= floors.memory_bytes)
    ]


def _group(threshold: int, boards: Sequence[Board], floors: Floors) -> Condition:
    named = _DOMAIN.named(_PRODUCT, (board.name for board in boards))
    if threshold == floors.memory_bytes:
        return named
    return All((named, _DOMAIN.memory_at_least(threshold)))


def _common(kind: str, floors: Floors) -> tuple[Condition, ...]:
    """Kind, memory floor, and the guard of the product name.

    The kind is tested although the class tests it: a MIG device carries its parent's product
    name, and a class of the user's own may test nothing.
    """
    return (
        _DOMAIN.has("type"),
        _DOMAIN.is_("type", kind),
        *_DOMAIN.memory(floors.memory_bytes),
        _DOMAIN.has(_PRODUCT),
    )


def _select_vfio(floors: Floors, boards: Sequence[Board]) -> Selection:
    raise refuse(
        reasons.NO_MEMORY_PUBLISHED,
        f"devices of class vfio.{NAME} publish no memory, so no memory floor can be checked; "
        f"use class {NAME} or mig.nvidia.com",
    )


DRIVER = Driver(
    name=NAME,
    classes={NAME: select_gpu, "mig.nvidia.com": select_mig, f"vfio.{NAME}": _select_vfio},
    kinds={
        NAME: (_DOMAIN.is_("type", "gpu"),),
        "mig.nvidia.com": (_DOMAIN.is_("type", "mig"),),
        f"vfio.{NAME}": (_DOMAIN.is_("type", "vfio"),),
    },
    topology={
        "pcie": "resource.kubernetes.io/pcieRoot",
        "numa": "resource.kubernetes.io/numaNode",
    },
)
