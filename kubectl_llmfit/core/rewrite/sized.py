"""A container's model sized for the devices that the container asks for."""

from __future__ import annotations

from dataclasses import replace

from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.claims.sized import Placement, SizedClaim, size_claim
from kubectl_llmfit.core.engines import EngineFacts, precision, shards
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import refuse
from kubectl_llmfit.core.request import ClaimRequest, Sourced
from kubectl_llmfit.core.rewrite.fallback import Fallback
from kubectl_llmfit.core.rewrite.generated import class_in_place
from kubectl_llmfit.core.rewrite.inputs import Knowledge
from kubectl_llmfit.core.rewrite.serving import devices_of
from kubectl_llmfit.core.rewrite.sources import sources_of
from kubectl_llmfit.core.rewrite.survey import Container, Survey


def size_for(
    stated: ClaimRequest,
    fallback: Fallback,
    facts: EngineFacts | None,
    model: Model,
    container: Container,
    found: Survey,
    knowledge: Knowledge,
) -> tuple[SizedClaim, dict[str, Sourced[str]]]:
    """The model sized for the container's devices, and what was used beside the model's name.

    Raises:
        Refused: ``unknown-quantization``, or what sizing refuses.
    """
    count = devices_of(container)
    quant = stated.quant
    if quant is None and facts is not None:
        engines = precision(facts, model)
        if engines.quant is None and fallback.quant is None:
            sentence = f"{engines.assumption}; name the quantization with --quant"
            raise refuse(reasons.UNKNOWN_QUANTIZATION, sentence)
        quant = engines.quant
    quant = quant or fallback.quant
    topology = stated.topology or (fallback.topology if count > 1 else None)
    device_class = class_in_place(stated)(container.wants[0].legacy)
    driver = drivers.BY_NAME[found.driver or drivers.DEFAULT.name]
    placement = Placement(
        driver=driver.name,
        count=count,
        shards=shards(facts, count) if facts is not None else stated.placement().shards,
        topology=topology.value if topology else None,
        boards=knowledge.boards() if driver.uses_boards else (),
    )
    target = replace(
        replace(stated, device_class=Sourced(device_class, "legacy resource")).target(
            template=True
        ),
        quant=quant.value if quant is not None else None,
    )
    sized = size_claim(model, target, placement)
    return sized, sources_of(sized, stated, quant, facts, container)
