"""A model as programs get it: its facts with the claim that follows from them."""

from __future__ import annotations

from typing import Any

from kubectl_llmfit.catalog.facts import as_dict
from kubectl_llmfit.core.claims.render import summary
from kubectl_llmfit.core.claims.sized import size_claim
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.sizing.formula import ClaimTarget


def facts_and_claim(model: Model, target: ClaimTarget = ClaimTarget()) -> dict[str, Any]:
    """The facts under ``model``, and the summary under ``claim`` or why there is none."""
    try:
        return {"model": as_dict(model), "claim": summary(size_claim(model, target))}
    except Refused as refused:
        problem = refused.problems[0]
        return {
            "model": as_dict(model),
            "noClaim": {"reason": problem.reason.token, "message": problem.sentence},
        }
