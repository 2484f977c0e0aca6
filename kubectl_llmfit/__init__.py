"""kubectl-llmfit: from a model's name to a claim that the stock kube-scheduler can satisfy.

The names below are the public library; everything else is internal. They are imported on first
use, because the command line should not pay for what it does not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_llmfit.version import __version__

if TYPE_CHECKING:
    from kubectl_llmfit.catalog import Catalog
    from kubectl_llmfit.core.claims.names import claim_name
    from kubectl_llmfit.core.claims.render import ObjectOptions, render, render_json
    from kubectl_llmfit.core.claims.sized import Placement
    from kubectl_llmfit.core.model import Model
    from kubectl_llmfit.core.reasons import Problem, Reason, Refused
    from kubectl_llmfit.core.sizing.floors import Shards
    from kubectl_llmfit.core.sizing.formula import (
        WEIGHTS_HEADROOM,
        ClaimTarget,
        FitBounds,
        estimate_disk_gb,
        fit_bounds,
    )

_HOMES = {
    "Catalog": "kubectl_llmfit.catalog",
    "claim_name": "kubectl_llmfit.core.claims.names",
    "ObjectOptions": "kubectl_llmfit.core.claims.render",
    "render": "kubectl_llmfit.core.claims.render",
    "render_json": "kubectl_llmfit.core.claims.render",
    "Placement": "kubectl_llmfit.core.claims.sized",
    "Shards": "kubectl_llmfit.core.sizing.floors",
    "Model": "kubectl_llmfit.core.model",
    "Problem": "kubectl_llmfit.core.reasons",
    "Reason": "kubectl_llmfit.core.reasons",
    "Refused": "kubectl_llmfit.core.reasons",
    "WEIGHTS_HEADROOM": "kubectl_llmfit.core.sizing.formula",
    "ClaimTarget": "kubectl_llmfit.core.sizing.formula",
    "FitBounds": "kubectl_llmfit.core.sizing.formula",
    "estimate_disk_gb": "kubectl_llmfit.core.sizing.formula",
    "fit_bounds": "kubectl_llmfit.core.sizing.formula",
}

__all__ = [
    "WEIGHTS_HEADROOM",
    "Catalog",
    "ClaimTarget",
    "FitBounds",
    "Model",
    "ObjectOptions",
    "Placement",
    "Problem",
    "Reason",
    "Refused",
    "Shards",
    "__version__",
    "claim_name",
    "estimate_disk_gb",
    "fit_bounds",
    "render",
    "render_json",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
