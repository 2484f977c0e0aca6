"""Where each value comes from that a workload's claim was sized with."""

from __future__ import annotations

from typing import Any

from kubectl_llmfit.core import drivers
from kubectl_llmfit.core.claims.sized import SizedClaim
from kubectl_llmfit.core.engines import EngineFacts
from kubectl_llmfit.core.request import ClaimRequest, Sourced
from kubectl_llmfit.core.rewrite.survey import Container

Sources = dict[str, Sourced[str]]


def sources_of(
    sized: SizedClaim,
    stated: ClaimRequest,
    quant: Sourced[str] | None,
    facts: EngineFacts | None,
    container: Container,
) -> Sources:
    """What was used beside the model's name, by field, each value with its origin.

    What nothing says and that has no effect is left out: one device is not split.
    """
    found: Sources = {}
    if quant is not None:
        found["quant"] = quant
    found["min-tps"] = _text(stated.min_tps)
    found["efficiency"] = _text(stated.efficiency_pct)
    limit = container.wants[0].legacy.name
    asked = f"container {container.name}, {limit}"
    found["devices"] = Sourced(str(sized.placement.count), asked)
    if facts is not None:
        found |= _split(sized, facts)
    # A class names its driver, and a driver a class; what neither says the limit's name does.
    driver = stated.driver or stated.device_class
    found["driver"] = Sourced(sized.driver.name, driver.origin if driver else asked)
    device_class = stated.device_class
    if device_class is None and sized.driver is drivers.DEFAULT:
        device_class = stated.driver
    found["device-class"] = Sourced(
        sized.target.device_class, device_class.origin if device_class else asked
    )
    if stated.topology is not None:
        found["topology"] = stated.topology
    return found


def _split(sized: SizedClaim, facts: EngineFacts) -> Sources:
    """How the model is split: as stated, or over every device by the engine's own habit."""
    shards = sized.placement.shards
    habit = f"{facts.engine}'s default: all devices of its container"
    found: Sources = {}
    for field, fact, size in (
        ("tensor-parallel", facts.tensor_parallel, shards.tensor),
        ("pipeline-parallel", facts.pipeline_parallel, shards.pipeline),
    ):
        if fact is not None or size > 1:
            found[field] = Sourced(str(size), fact.origin if fact is not None else habit)
    return found


def _text(sourced: Sourced[Any]) -> Sourced[str]:
    return Sourced(f"{sourced.value:g}", sourced.origin)
