"""The driver gpu.intel.com: publishes memory and health, but no bandwidth.

Source: intel/intel-resource-drivers-for-kubernetes, cmd/kubelet-gpu-plugin/node_state.go
(attributes ``model``, "Unknown" for a board that the release does not list; ``pciId``;
``health`` Healthy, Unhealthy or Unknown; ``type`` "gpu" or "vf" in newer releases; capacity
``memory``, 0 where it is not known; the standard pcieRoot; no NUMA node) and
pkg/gpu/device/models.go (spelling of the models). The board table turns model or PCI id into a
bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_llmfit.core.claims.plan import Selector
from kubectl_llmfit.core.drivers.conditions import AnyOf, IsNot
from kubectl_llmfit.core.drivers.domain import Domain
from kubectl_llmfit.core.drivers.fitting import no_board, whole_boards
from kubectl_llmfit.core.drivers.interface import Candidate, Driver, Selection
from kubectl_llmfit.core.sizing.floors import Floors

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board

NAME = "gpu.intel.com"
_DOMAIN = Domain(NAME)


def select(floors: Floors, boards: Sequence[Board]) -> Selection:
    """GPUs that meet ``floors``, that are not said to be ill and are no virtual function.

    Health is "Unknown" wherever monitoring is off, so it must not be asked to be "Healthy".

    Raises:
        Refused: ``no-board-fits``.
    """
    fitting = whole_boards(NAME, floors, boards)
    if not fitting:
        raise no_board(NAME, "a GPU", floors, boards)
    models = _DOMAIN.has_named("model", (board.name for board in fitting))
    ids = [each for board in fitting for each in board.ids]
    conditions = (
        *_DOMAIN.memory(floors.memory_bytes),
        AnyOf((models, _DOMAIN.has_named("pciId", ids))) if ids else models,
        _DOMAIN.lacks_or("health", IsNot(NAME, "health", "Unhealthy")),
        _DOMAIN.lacks_or("type", _DOMAIN.is_("type", "gpu")),
    )
    return Selection(
        Selector(conditions),
        candidates=tuple(Candidate(board) for board in fitting),
        known_boards=sum(board.driver == NAME for board in boards),
    )


DRIVER = Driver(
    name=NAME, classes={NAME: select}, topology={"pcie": "resource.kubernetes.io/pcieRoot"}
)
