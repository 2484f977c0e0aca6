"""The claim that is made for a pod, and the template that holds it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kubectl_llmfit.core import drivers
from kubectl_llmfit.core.claims.objects import Metadata, claim_object
from kubectl_llmfit.core.claims.sized import SizedClaim
from kubectl_llmfit.core.request import ClaimRequest
from kubectl_llmfit.core.rewrite.claim import PodClaim, claim_for
from kubectl_llmfit.core.rewrite.held import TEMPLATE_DIGITS
from kubectl_llmfit.core.rewrite.inputs import Wishes
from kubectl_llmfit.core.rewrite.legacy import Legacy
from kubectl_llmfit.core.rewrite.survey import Container, Survey

TEMPLATE_LABEL = "app.kubernetes.io/managed-by"
"""The label that holds who made a template."""


def class_in_place(stated: ClaimRequest) -> Callable[[Legacy], str]:
    """What stands in for a legacy resource: the class that is asked for, else its own."""

    def class_of(legacy: Legacy) -> str:
        if stated.device_class is not None:
            return stated.device_class.value
        if stated.driver is not None and stated.driver.value == drivers.DEFAULT.name:
            # The class llmfit.ai tests no kind: a pod that asked for a GPU could get a CPU.
            return "gpu.llmfit.ai"
        return legacy.device_class

    return class_of


def pod_claim(
    found: Survey, container: Container, sized: SizedClaim, stated: ClaimRequest
) -> PodClaim:
    """The pod's claim, with ``sized`` in the request of the container that serves the model."""
    selectors = sized.plan.requests[0].selectors
    claim = claim_for(found.containers, container.name, selectors, class_in_place(stated))
    return replace(claim, plan=replace(claim.plan, constraints=sized.plan.constraints))


def template_for(claim: PodClaim, wishes: Wishes) -> dict[str, Any]:
    """The template, named after its own content: specs are immutable, so another one is needed
    for another content, and identical pods share one."""
    nameless = claim_object(
        claim.plan, Metadata("", wishes.namespace), template=True, api_version=wishes.api_version
    )
    canonical = json.dumps([nameless["apiVersion"], nameless["spec"]], sort_keys=True)
    digest = hashlib.sha256(canonical.encode()).hexdigest()[:TEMPLATE_DIGITS]
    metadata = Metadata(
        f"{wishes.maker.prefix}{digest}", wishes.namespace, {TEMPLATE_LABEL: wishes.maker.label}
    )
    return {**nameless, "metadata": metadata.as_dict()}
