"""The default formula: a memory floor and a bandwidth floor, equal to llmfit's.

Source: the claim renderer of the llmfit project (MIT); its released binary is the oracle that
the parity tests run. The order of the floating-point operations is part of the contract: another
order rounds differently for some models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Problem, Refused, quoted, refuse
from kubectl_llmfit.core.sizing import quantization
from kubectl_llmfit.core.sizing.quantity import GI
from kubectl_llmfit.core.sizing.quantization import Quantization

WEIGHTS_HEADROOM = 1.2
"""Factor on the weights for KV cache and runtime when the quantization is overridden, because
the catalog's own floor (which includes them) then no longer holds. Source: llmfit."""

DEFAULT_MIN_TPS = 20.0
DEFAULT_EFFICIENCY_PCT = 55
MAX_MIN_TPS = 1_000_000.0
"""No device decodes a single stream this fast; a larger number is a slip of the keyboard."""

# Attributes and capacities are signed 64-bit in the API; a floor beyond that matches nothing.
_INT64_MAX = 2**63 - 1


@dataclass(frozen=True)
class ClaimTarget:
    """The speed that a claim asks for, with the llmfit project's defaults.

    Attributes:
        min_tps: decode speed of one stream, tokens a second; above 0, at most ``MAX_MIN_TPS``.
        efficiency_pct: share of the peak bandwidth that the engine reaches, whole percent 1-100.
        device_class: the DeviceClass that the claim asks for.
        template: a ResourceClaimTemplate (for pod templates) instead of a ResourceClaim.
        quant: quantization that replaces the model's own; matched without case.
        name: ``metadata.name`` instead of the one derived from the model's name.
    """

    min_tps: float = DEFAULT_MIN_TPS
    efficiency_pct: int = DEFAULT_EFFICIENCY_PCT
    device_class: str = "llmfit.ai"
    template: bool = False
    quant: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class FitBounds:
    """What a device has to offer for a model at a target speed.

    Attributes:
        memory_gi: memory floor in whole Gi (2**30 bytes). llmfit takes its GB for Gi, so the
            floor is up to 7 % above the GB figure: on the safe side.
        min_bandwidth_gbs: memory bandwidth floor in whole GB/s (1e9 bytes a second).
        weights_gb: size of the weights in GB (1e9 bytes).
        quant: canonical name of the quantization that was sized.
    """

    memory_gi: int
    min_bandwidth_gbs: int
    weights_gb: float
    quant: str


@dataclass(frozen=True)
class Demand:
    """What a model needs in all, unrounded: GB (1e9 bytes) and GB/s."""

    quant: Quantization
    weights_gb: float
    memory_gb: float
    bandwidth_gbs: float


def estimate_disk_gb(model: Model, quant: str | None = None) -> float:
    """Size of the model's weights on disk in GB (1e9 bytes): parameters x bytes per parameter.

    Args:
        model: the model; only its parameter count counts.
        quant: quantization to size for, matched without case; the model's own when ``None``.

    Raises:
        Refused: ``unknown-quantization``.

    Source: llmfit's disk-size estimate, which its memory and bandwidth floors build on.
    """
    return _disk_gb(model, quantization_of(model, quant))


def quantization_of(model: Model, quant: str | None = None) -> Quantization:
    """The quantization to size ``model`` for: ``quant``, else the model's own.

    Raises:
        Refused: ``unknown-quantization``, saying whether ``quant`` or the model named it.
    """
    if quant is not None:
        return quantization.get(quant, origin="quant")
    return quantization.get(model.quantization, origin=f"model {model.name}")


def overrides_own(model: Model, quant: Quantization) -> bool:
    """Whether ``quant`` is another quantization than the model's own (matched without case)."""
    return quantization.find(model.quantization) != quant


def fit_bounds(model: Model, target: ClaimTarget = ClaimTarget()) -> FitBounds:
    """The memory and bandwidth floors of ``model`` at ``target``, on one device.

    - weights = parameters in billions x bytes per parameter of the quantization (GB)
    - memory = the model's ``min_vram_gb`` (else ``min_ram_gb``), not below the weights, for its
      own quantization; weights x ``WEIGHTS_HEADROOM`` for another; rounded up to whole Gi
    - bandwidth = min_tps x weights x 100 / efficiency_pct, rounded up to whole GB/s

    Raises:
        Refused: ``invalid-value``, ``unknown-quantization`` or ``unsized-model``, all at once.
    """
    needed = demand(model, target)
    return FitBounds(
        memory_gi=math.ceil(needed.memory_gb),
        min_bandwidth_gbs=math.ceil(needed.bandwidth_gbs),
        weights_gb=needed.weights_gb,
        quant=needed.quant.name,
    )


def demand(model: Model, target: ClaimTarget) -> Demand:
    """What ``model`` at ``target`` needs in all: the sums of ``fit_bounds`` before rounding.

    Raises:
        Refused: as ``fit_bounds``.
    """
    problems = target_problems(target)
    try:
        quant = quantization_of(model, target.quant)
    except Refused as refused:
        raise Refused((*problems, *refused.problems)) from None
    if problems:
        raise Refused(problems)
    try:
        weights_gb = _disk_gb(model, quant)
    except OverflowError:
        weights_gb = math.inf
    memory_gb = _memory_gb(model, quant, weights_gb)
    bandwidth_gbs = target.min_tps * weights_gb * 100.0 / float(target.efficiency_pct)
    if not (weights_gb > 0 and memory_gb * GI <= _INT64_MAX and bandwidth_gbs <= _INT64_MAX):
        raise refuse(
            reasons.UNSIZED_MODEL,
            f"model {quoted(model.name)} cannot be sized: its parameters and floors lead to "
            f"{weights_gb:g} GB of weights and {memory_gb:g} GB of memory; correct its entry",
        )
    return Demand(quant, weights_gb, memory_gb, bandwidth_gbs)


def target_problems(target: ClaimTarget) -> list[Problem]:
    """What is wrong with the numbers of ``target``: one ``invalid-value`` for each."""
    return [
        *min_tps_problems(target.min_tps, "min_tps"),
        *efficiency_problems(target.efficiency_pct, "efficiency_pct"),
    ]


def min_tps_problems(min_tps: float, origin: str) -> list[Problem]:
    """Why ``min_tps`` is no target speed; else empty. ``origin`` says where it was given."""
    if 0 < min_tps <= MAX_MIN_TPS:
        return []
    sentence = (
        f"{origin}: {min_tps:g} is no target speed; "
        f"give tokens a second above 0 and up to {MAX_MIN_TPS:.0f}"
    )
    return [Problem(reasons.INVALID_VALUE, sentence)]


def efficiency_problems(efficiency_pct: int, origin: str) -> list[Problem]:
    """Why ``efficiency_pct`` is no efficiency; else empty."""
    if 1 <= efficiency_pct <= 100:
        return []
    sentence = f"{origin}: {efficiency_pct} is no efficiency; give a whole percentage from 1 to 100"
    return [Problem(reasons.INVALID_VALUE, sentence)]


def _disk_gb(model: Model, quant: Quantization) -> float:
    return model.parameters_billion * quant.bytes_per_parameter


def _memory_gb(model: Model, quant: Quantization, weights_gb: float) -> float:
    if overrides_own(model, quant):
        return weights_gb * WEIGHTS_HEADROOM
    floor_gb = model.min_vram_gb if model.min_vram_gb is not None else model.min_ram_gb
    return weights_gb if floor_gb is None else max(floor_gb, weights_gb)
