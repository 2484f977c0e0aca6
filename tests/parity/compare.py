"""One model and one set of options, theirs against ours: what differs."""

from __future__ import annotations

from typing import Any

from kubectl_llmfit.core.claims.render import render_object, summary
from kubectl_llmfit.core.claims.sized import size_claim
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.sizing.formula import ClaimTarget
from tests.parity import oracle
from tests.parity.oracle import Options

# Not the oracle's numbers: whose version resolved them.
OWN_KEYS = {"resolverVersion"}


def target(options: Options) -> ClaimTarget:
    """``options`` as our library takes them."""
    return ClaimTarget(
        min_tps=float(options.min_tps or 20),
        efficiency_pct=int(options.efficiency or 55),
        device_class=options.device_class or "llmfit.ai",
        template=options.template,
        quant=options.quant,
        name=options.name,
    )


def summary_differences(model: Model, options: Options) -> list[str]:
    """Where the summaries differ: keys, and every value but our own version."""
    theirs = oracle.summary(model.name, options)
    ours = summary(size_claim(model, target(options)))
    if theirs.keys() != ours.keys():
        return [f"keys: {sorted(theirs)} against {sorted(ours)}"]
    return [
        f"{key}: {theirs[key]!r} against {ours[key]!r}"
        for key in theirs.keys() - OWN_KEYS
        if theirs[key] != ours[key]
    ]


def claim_differences(model: Model, options: Options) -> list[str]:
    """Where the objects differ, selector text included, but for the mode and count we add."""
    theirs = oracle.claim(model.name, options)
    ours = render_object(size_claim(model, target(options)))
    request = _request(ours)
    added = {key: request["exactly"].pop(key) for key in ("allocationMode", "count")}
    differences = []
    if added != {"allocationMode": "ExactCount", "count": 1}:
        differences.append(f"added: {added}")
    if ours != theirs.document:
        differences.append(f"object: {theirs.document!r} against {ours!r}")
    quant = summary(size_claim(model, target(options)))["quant"]
    if quant != theirs.quant:
        differences.append(f"quant: {theirs.quant!r} against {quant!r}")
    return differences


def _request(claim: dict[str, Any]) -> dict[str, Any]:
    spec = claim["spec"]
    request: dict[str, Any] = spec.get("spec", spec)["devices"]["requests"][0]
    return request
