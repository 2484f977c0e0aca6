"""From a decision to what is answered: the verdict, and what it takes before it may be said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.admission import claimed
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decision import Finish, Inject, Skip
from kubectl_llmfit.core.rewrite.operations import Operation, json_patch
from webhook.kube.client import Object
from webhook.reviews.answer import Outcome, Verdict
from webhook.reviews.notices import explanation, warnings

DENY, WARN = "deny", "warn"


@dataclass(frozen=True)
class Decided:
    """What a decision comes to; the decision itself is many times as large.

    Attributes:
        verdict: what is answered.
        template: what has to be there before; ``None`` where the pod refers to none.
        device_class: the class that the template asks for.
        pending: what is answered where the cluster lacks that class.
    """

    verdict: Verdict
    template: Object | None = None
    device_class: str = ""
    pending: Verdict | None = None


def concluded(decision: Inject | Finish | Skip | Refused, on_mistake: str) -> Decided:
    """What ``decision`` comes to; a pod with a mistake is refused, or only warned of it."""
    if isinstance(decision, Refused):
        return Decided(_mistaken(decision, on_mistake))
    if isinstance(decision, Skip):
        return Decided(_skipped(decision))
    if isinstance(decision, Finish):
        said = warnings(_pairs(decision.consequences))
        return Decided(Verdict(Outcome.FINISH, patch=_patch(decision.operations), warnings=said))
    return _injected(decision)


def _injected(inject: Inject) -> Decided:
    device_class = inject.sized.target.device_class
    sentence = f"the cluster has no DeviceClass {device_class}; the pod pends until it has"
    missing = Consequence(effects.DEVICE_CLASS_MISSING, sentence)
    claim = claimed(inject)
    verdict = Verdict(
        Outcome.INJECT,
        patch=_patch(inject.operations),
        warnings=warnings(_pairs((claim, *inject.consequences))),
        model=inject.sized.model.name,
        template=inject.template["metadata"]["name"],
    )
    pending = warnings(_pairs((claim, missing, *inject.consequences)))
    template = dict(inject.template)
    return Decided(verdict, template, device_class, replace(verdict, warnings=pending))


def _mistaken(refused: Refused, on_mistake: str) -> Verdict:
    token = refused.problems[0].reason.token
    if on_mistake == WARN:
        said = [(each.sentence, each.reason.token) for each in refused.problems]
        return Verdict(Outcome.ADMIT, token, warnings=warnings(said))
    return Verdict(Outcome.DENY, token, message=explanation(refused))


def _skipped(skip: Skip) -> Verdict:
    """A pod that asked for a model and got nothing should hear why, unless it opted out."""
    told_why = skip.reason is reasons.NO_LEGACY_DEVICES
    said = [(skip.sentence, skip.reason.token)] if told_why else []
    return Verdict(Outcome.SKIP, skip.reason.token, warnings=warnings(said))


def _patch(operations: Iterable[Operation]) -> bytes:
    made = json_patch(operations)
    return json.dumps(made, separators=(",", ":")).encode() if made else b""


def _pairs(consequences: Iterable[Consequence]) -> Iterator[tuple[str, str]]:
    return ((each.sentence, each.token) for each in consequences)
