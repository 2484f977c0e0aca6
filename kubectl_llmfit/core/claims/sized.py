"""A model sized for a target on a driver's devices: everything that a claim is printed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.claims.names import claim_name, subdomain_problems
from kubectl_llmfit.core.claims.plan import ClaimPlan, Constraint, DeviceRequest
from kubectl_llmfit.core.drivers.interface import Driver, Selection
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Problem, Refused
from kubectl_llmfit.core.sizing.floors import Floors, Shards, device_floors
from kubectl_llmfit.core.sizing.formula import ClaimTarget, Demand, demand

if TYPE_CHECKING:
    # Only for types: the drivers that need no board table need not load it either.
    from kubectl_llmfit.core.boards import Board

REQUEST_NAME = "model"
"""Name of the request that holds the model; the same as llmfit's, so that pods can refer to it."""

MAX_DEVICES = 32
"""Devices of one claim; source: AllocationResultsMaxSize of k8s.io/api/resource/v1."""


@dataclass(frozen=True)
class Placement:
    """On which and how many devices a model goes.

    Attributes:
        driver: name of the DRA driver; ``None`` for the one that ships the target's device class.
        count: devices in the request.
        shards: how the engine splits the model; the floors of one device follow from it.
        topology: ``"pcie"`` or ``"numa"`` when all devices have to share one; else ``None``.
        boards: the board table, for drivers that publish no bandwidth.
    """

    driver: str | None = None
    count: int = 1
    shards: Shards = Shards()
    topology: str | None = None
    boards: tuple[Board, ...] = ()


@dataclass(frozen=True)
class SizedClaim:
    """A model, what it needs, what a device has to offer for it, and the plan that says so."""

    model: Model
    target: ClaimTarget
    placement: Placement
    driver: Driver
    demand: Demand
    floors: Floors
    selection: Selection
    plan: ClaimPlan

    @property
    def name(self) -> str:
        """``metadata.name``: the target's, else the one derived from the model's name."""
        return object_name(self.model, self.target)

    @property
    def copies(self) -> float:
        """How many copies of the model the devices hold; not whole when the counts disagree."""
        return self.placement.count / self.placement.shards.devices


def size_claim(
    model: Model, target: ClaimTarget = ClaimTarget(), placement: Placement = Placement()
) -> SizedClaim:
    """Sizes ``model`` for ``target`` and plans its claim.

    Raises:
        Refused: everything that is wrong with the three, all at once where it can be told.
    """
    problems = _name_problems(model, target)
    problems += subdomain_problems(target.device_class, "device_class")
    problems += _placement_problems(placement)
    needed: Demand | None = None
    driver: Driver | None = None
    try:
        needed = demand(model, target)
    except Refused as refused:
        problems = [*refused.problems, *problems]
    try:
        driver, _ = drivers.choose(placement.driver, target.device_class)
        problems += _topology_problems(placement, driver)
    except Refused as refused:
        problems += refused.problems
    if problems or needed is None or driver is None:
        raise Refused(problems)
    floors = device_floors(needed, placement.shards)
    # A class of the user's own is taken for one of whole accelerators.
    select = driver.classes.get(target.device_class, driver.classes[driver.default_class])
    selection = select(floors, placement.boards)
    plan = _plan(target, placement, driver, selection)
    return SizedClaim(model, target, placement, driver, needed, floors, selection, plan)


def object_name(model: Model, target: ClaimTarget) -> str:
    """``metadata.name``: the target's, else the one derived from the model's name.

    Raises:
        Refused: ``invalid-name`` where none can be derived.
    """
    return target.name if target.name is not None else claim_name(model)


def copies_warning(placement: Placement) -> str | None:
    """One sentence where the devices hold no whole number of copies of the model; else ``None``."""
    shards = placement.shards
    if placement.count % shards.devices == 0:
        return None
    return (
        f"{placement.count} devices hold no whole number of copies of a model that is split "
        f"over {shards.devices} (tensor parallel {shards.tensor}, pipeline parallel "
        f"{shards.pipeline}); the floors are for {shards.devices}"
    )


def _name_problems(model: Model, target: ClaimTarget) -> list[Problem]:
    try:
        return subdomain_problems(object_name(model, target), "name")
    except Refused as refused:
        return list(refused.problems)


def _plan(
    target: ClaimTarget, placement: Placement, driver: Driver, selection: Selection
) -> ClaimPlan:
    request = DeviceRequest(
        REQUEST_NAME, target.device_class, (selection.selector,), placement.count
    )
    if placement.topology is None:
        return ClaimPlan((request,))
    shared = Constraint((REQUEST_NAME,), driver.topology[placement.topology])
    return ClaimPlan((request,), (shared,))


def _placement_problems(placement: Placement) -> list[Problem]:
    problems = []
    if not 1 <= placement.count <= MAX_DEVICES:
        sentence = f"count: {placement.count} devices; a claim takes from 1 to {MAX_DEVICES}"
        problems.append(Problem(reasons.INVALID_VALUE, sentence))
    if placement.shards.tensor < 1 or placement.shards.pipeline < 1:
        sentence = "tensor and pipeline parallelism have to be 1 or more"
        problems.append(Problem(reasons.INVALID_VALUE, sentence))
    return problems


def _topology_problems(placement: Placement, driver: Driver) -> list[Problem]:
    if placement.topology is None:
        return []
    if placement.topology not in driver.topology:
        publishes = " and ".join(driver.topology) or "none"
        sentence = (
            f"--topology: driver {driver.name} does not publish {placement.topology} of its "
            f"devices; it publishes {publishes}"
        )
    elif placement.count < 2:
        sentence = "--topology: one device has nothing to share it with; give --count of 2 or more"
    else:
        return []
    return [Problem(reasons.INVALID_VALUE, sentence)]
