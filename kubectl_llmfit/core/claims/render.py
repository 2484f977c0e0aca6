"""Models to claims: the functions behind ``render`` and the library's public ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kubectl_llmfit.core import drivers
from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.claims.header import header
from kubectl_llmfit.core.claims.objects import V1, Metadata, claim_object
from kubectl_llmfit.core.claims.sized import Placement, SizedClaim, size_claim
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.sizing.formula import ClaimTarget
from kubectl_llmfit.core.sizing.quantity import GI
from kubectl_llmfit.version import __version__


@dataclass(frozen=True)
class ObjectOptions:
    """What the object carries besides the claim itself.

    Attributes:
        namespace: ``metadata.namespace``; left out when ``None``.
        labels: ``metadata.labels``; left out when empty.
        api_version: one of ``kubectl_llmfit.core.claims.objects.API_VERSIONS``.
    """

    namespace: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    api_version: str = V1


def render(
    model: Model,
    target: ClaimTarget = ClaimTarget(),
    options: ObjectOptions = ObjectOptions(),
    placement: Placement = Placement(),
) -> str:
    """The ResourceClaim or ResourceClaimTemplate for ``model`` as YAML below its audit header.

    Raises:
        Refused: every reason of ``size_claim``.
    """
    sized = size_claim(model, target, placement)
    return header(sized) + yaml.dump(render_object(sized, options))


def render_json(
    model: Model, target: ClaimTarget = ClaimTarget(), placement: Placement = Placement()
) -> str:
    """The summary of ``model``'s claim as JSON text, indented by two spaces as llmfit's.

    Raises:
        Refused: every reason of ``size_claim``.
    """
    import json  # only programs ask for it; the usual render does without

    return json.dumps(summary(size_claim(model, target, placement)), indent=2)


def render_object(sized: SizedClaim, options: ObjectOptions = ObjectOptions()) -> dict[str, Any]:
    """The ResourceClaim or ResourceClaimTemplate for ``sized`` as a plain dict."""
    return claim_object(
        sized.plan,
        Metadata(sized.name, options.namespace, options.labels),
        template=sized.target.template,
        api_version=options.api_version,
    )


def summary(sized: SizedClaim) -> dict[str, Any]:
    """llmfit's summary of a claim: the same keys and values, in llmfit's order.

    ``memoryGi`` and ``minBandwidthGBs`` are the floors of one device. ``weightsGb`` is rounded to
    one decimal, half away from zero. ``resolverVersion`` is this project's own version: it is
    what resolved the numbers. ``driver`` and ``count`` follow where they are not llmfit's.
    """
    values: dict[str, Any] = {
        "claimName": sized.name,
        "deviceClass": sized.target.device_class,
        "efficiencyPct": sized.target.efficiency_pct,
        "memoryGi": sized.floors.memory_bytes // GI,
        "minBandwidthGBs": sized.floors.bandwidth_gbs,
        "minTps": float(sized.target.min_tps),
        "model": sized.model.name,
        "quant": sized.demand.quant.name,
        "resolverVersion": __version__,
        "weightsGb": _one_decimal(sized.demand.weights_gb),
    }
    if sized.driver is not drivers.DEFAULT:
        values["driver"] = sized.driver.name
    if sized.placement.count != 1:
        values["count"] = sized.placement.count
    return values


def _one_decimal(value: float) -> float:
    """``value`` rounded to one decimal, half away from zero, as llmfit does it."""
    tenths = value * 10.0
    whole = math.floor(tenths)
    return (whole + 1 if tenths - whole >= 0.5 else whole) / 10.0
