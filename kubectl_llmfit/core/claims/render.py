"""Models to claims: the functions behind ``render`` and the library's public ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kubectl_llmfit.core import drivers
from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.claims.header import header
from kubectl_llmfit.core.claims.names import claim_name, subdomain_problems
from kubectl_llmfit.core.claims.objects import V1, Metadata, claim_object
from kubectl_llmfit.core.claims.plan import ClaimPlan, DeviceRequest
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.sizing.formula import ClaimTarget, FitBounds, fit_bounds
from kubectl_llmfit.version import __version__

REQUEST_NAME = "model"
"""Name of the request that holds the model; the same as llmfit's, so that pods can refer to it."""


@dataclass(frozen=True, slots=True)
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


def claim_plan(bounds: FitBounds, target: ClaimTarget) -> ClaimPlan:
    """The plan for one model on one device.

    The class's own driver says the floors in CEL. For a class that no driver module knows it is
    llmfit.ai's CEL, as llmfit itself does; callers warn about that.
    """
    driver = drivers.for_device_class(target.device_class) or drivers.LLMFIT_AI
    request = DeviceRequest(REQUEST_NAME, target.device_class, (driver.selector(bounds),))
    return ClaimPlan((request,))


def render_object(
    model: Model, target: ClaimTarget = ClaimTarget(), options: ObjectOptions = ObjectOptions()
) -> dict[str, Any]:
    """The ResourceClaim or ResourceClaimTemplate for ``model`` as a plain dict.

    Raises:
        Refused: every reason of ``fit_bounds``, and ``invalid-name``.
    """
    return _object(model, target, options, _checked_bounds(model, target))


def render(
    model: Model, target: ClaimTarget = ClaimTarget(), options: ObjectOptions = ObjectOptions()
) -> str:
    """The object of ``render_object`` as YAML below its audit header.

    Raises:
        Refused: every reason of ``fit_bounds``, and ``invalid-name``.
    """
    bounds = _checked_bounds(model, target)
    return header(model, target, bounds) + yaml.dump(_object(model, target, options, bounds))


def summary(model: Model, target: ClaimTarget = ClaimTarget()) -> dict[str, Any]:
    """llmfit's summary of a claim: the same keys, order and values.

    ``weightsGb`` is rounded to one decimal, half away from zero. ``resolverVersion`` is this
    project's own version: it is what resolved the numbers.

    Raises:
        Refused: every reason of ``fit_bounds``, and ``invalid-name``.
    """
    bounds = _checked_bounds(model, target)
    return {
        "claimName": object_name(model, target),
        "deviceClass": target.device_class,
        "efficiencyPct": target.efficiency_pct,
        "memoryGi": bounds.memory_gi,
        "minBandwidthGBs": bounds.min_bandwidth_gbs,
        "minTps": float(target.min_tps),
        "model": model.name,
        "quant": bounds.quant,
        "resolverVersion": __version__,
        "weightsGb": _one_decimal(bounds.weights_gb),
    }


def render_json(model: Model, target: ClaimTarget = ClaimTarget()) -> str:
    """``summary`` as JSON text, indented by two spaces as llmfit's.

    Raises:
        Refused: every reason of ``fit_bounds``, and ``invalid-name``.
    """
    import json  # only programs ask for it; the usual render does without

    return json.dumps(summary(model, target), indent=2)


def object_name(model: Model, target: ClaimTarget) -> str:
    """``metadata.name``: the target's, else the one derived from the model's name."""
    return target.name if target.name is not None else claim_name(model)


def _checked_bounds(model: Model, target: ClaimTarget) -> FitBounds:
    origin = "name" if target.name is not None else f"name derived from model {model.name}"
    problems = subdomain_problems(object_name(model, target), origin)
    problems += subdomain_problems(target.device_class, "device_class")
    try:
        bounds = fit_bounds(model, target)
    except Refused as refused:
        raise Refused((*refused.problems, *problems)) from None
    if problems:
        raise Refused(problems)
    return bounds


def _object(
    model: Model, target: ClaimTarget, options: ObjectOptions, bounds: FitBounds
) -> dict[str, Any]:
    return claim_object(
        claim_plan(bounds, target),
        Metadata(object_name(model, target), options.namespace, options.labels),
        template=target.template,
        api_version=options.api_version,
    )


def _one_decimal(value: float) -> float:
    """``value`` rounded to one decimal, half away from zero, as llmfit does it."""
    tenths = value * 10.0
    whole = math.floor(tenths)
    return (whole + 1 if tenths - whole >= 0.5 else whole) / 10.0
